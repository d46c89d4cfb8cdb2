"""The port for words that wait to be stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime

    from omoide.domain import Owner
    from omoide.domain.waiting import Waiting, WaitingExchange


@dataclass(frozen=True, kw_only=True)
class SpoolStatus:
    """What waits, in all processes that use the same spool."""

    exchanges: int = 0
    refused: int = 0
    """Exchanges that are set aside, because storing them failed for another reason than the
    store's state."""
    bytes: int = 0
    oldest: datetime | None = None
    where: str = ""


class Spool(Protocol):
    """Keeps words durably, outside the store, until the store takes them."""

    async def prepare(self) -> None:
        """Set space aside now, while there is some. Raises `StoreError` if there is none."""

    async def keep(self, item: Waiting) -> None:
        """Keep an item; durable on return, even if power fails. Raises `StoreFull` if there is no
        room, and `StoreError` if it cannot be written."""

    async def drop(self, exchange: str) -> None:
        """Remove what this process keeps of an exchange: it is stored."""

    async def holds(self, owner: Owner) -> bool:
        """Whether something of the owner may wait, whichever process keeps it. Cheap as long as
        nothing waits: it is asked with every message."""

    async def replay(
        self,
        write: Callable[[WaitingExchange], Awaitable[None]],
        *,
        database: str = "",
        owner: Owner | None = None,
        skip: Collection[str] = (),
    ) -> int:
        """Hand each waiting exchange to `write`, oldest first, and remove it when that returns; of
        one owner only if given, and without the exchanges in `skip`. Includes what processes that
        died have left and, if `database` is given, what others have that is over; then nothing that
        was said to another database. Returns how many were written.

        If the process dies between, an exchange is handed out again, so `write` must know what it
        has written before. If `write` raises `StoreError` or `OSError`, that owner's exchanges
        stay, others' are written if the store takes them, and the first error is raised at the end.
        What fails otherwise is set aside for good, and each process tries it again once."""

    def erasing(
        self,
        owner: Owner,
        *,
        database: str = "",
        turns: Collection[str] | None = None,
        texts: Collection[str] = (),
    ) -> AbstractAsyncContextManager[int]:
        """Remove the owner's words, whichever process keeps them, also those that are set aside:
        all of them, or if `turns` is given only replies to these turns and what contains one of the
        texts. Nothing that was said to another database. Gives how many exchanges that were. While
        the block lasts nothing is replayed anywhere, so that the same words can be erased from the
        store before any are written."""

    async def status(self) -> SpoolStatus:
        """What waits."""

    async def close(self) -> None:
        """Release the files. What waits is replayed by the next process."""

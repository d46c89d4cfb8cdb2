"""What is kept of owners outside the database, and how an erasure reaches it.

There is no transaction over both. So an erasure notes in its own that there is something to remove
elsewhere, as a job, and tries to at once; the job does it again, however often it takes. Of an
owner who is erased as a whole no row is left to hang a job on: an owner without a name, a grave,
stands in until it is done.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from omoide.adapters.stores.sql.connection import Connection
    from omoide.domain import Owner

_MARK = "\x7f"
"""No name of a user may hold it: it cannot be printed."""


def grave_name(number: int) -> str:
    """What stands in the place of the name of an erased owner with this number."""
    return f"erased {number}{_MARK}"


def is_grave(user: str) -> bool:
    """Whether this is no user's name."""
    return user.endswith(_MARK)


def buried(user: str) -> int | None:
    """The number of the erased owner, if this is a grave."""
    return int(user.removesuffix(_MARK).removeprefix("erased ")) if is_grave(user) else None


@dataclass(frozen=True, kw_only=True)
class Doom:
    """What an erasure leaves to be removed elsewhere."""

    owner: Owner
    number: int
    whole: bool
    awaited: bool
    """Whether someone may be writing there at this moment: then the job must look again."""


class Elsewhere(Protocol):
    """A place outside the database."""

    def doom(self, connection: Connection, owner: Owner, number: int, *, whole: bool) -> Doom:
        """Note in the erasure's transaction, before it removes anything, that there is something
        to remove, as a job."""

    async def remove(self, doom: Doom) -> bool:
        """Try to remove it now; False if that is left to the job."""

"""The backend that stores documents."""

from __future__ import annotations

from typing import Protocol


class Documents(Protocol):
    """Stores documents by key. Keys are ASCII: letters, digits, `%`, `-`, `_` and `/`, up to some
    thousands of characters. All methods are safe to call from many tasks, and from many processes
    if the backend is shared; they raise `StoreError`."""

    async def read(self, key: str) -> bytes | None:
        """The document under the key, or None."""

    async def swap(self, key: str, *, old: bytes | None, new: bytes | None) -> bool:
        """Compare and swap: replace `old` by `new`, where None means no document. If something else
        is stored, do nothing and return False. Durable on return. No trace of `old` may be left: it
        may contain text that was erased."""

    async def keys(self) -> tuple[str, ...]:
        """All keys, in any order."""

    async def close(self) -> None:
        """Release its resources. Calling it again does nothing."""


class MemoryDocuments:
    """Documents in RAM, lost when the process ends."""

    def __init__(self) -> None:
        self._documents: dict[str, bytes] = {}

    async def read(self, key: str) -> bytes | None:
        """See `Documents.read`."""
        return self._documents.get(key)

    async def swap(self, key: str, *, old: bytes | None, new: bytes | None) -> bool:
        """See `Documents.swap`."""
        if self._documents.get(key) != old:
            return False
        if new is None:
            self._documents.pop(key, None)
        else:
            self._documents[key] = new
        return True

    async def keys(self) -> tuple[str, ...]:
        """See `Documents.keys`."""
        return tuple(self._documents)

    async def close(self) -> None:
        """Nothing to release."""

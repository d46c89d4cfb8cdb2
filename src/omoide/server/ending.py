"""The end of a streamed reply: its client learns that it is complete once it is stored."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

_MARKS = (b"data: [DONE]", b"data:[DONE]")


class Ending:
    """Records a reply once, whoever asks for it first: the last event of its stream, or the end of
    the connection. The recording goes on if one of them is cancelled."""

    def __init__(self, record: Callable[[], Coroutine[None, None, bytes]]) -> None:
        """`record` returns what the stream is to say before its last event."""
        self._record = record
        self._task: asyncio.Task[bytes] | None = None
        self._said = False

    async def last_words(self) -> bytes:
        """Wait until the reply is recorded. What the stream is to say then; nothing if it was asked
        for before."""
        if self._task is None:
            self._task = asyncio.ensure_future(self._record())
        words = await asyncio.shield(self._task)
        said, self._said = self._said, True
        return b"" if said else words


class EndMark:
    """Finds the end mark of a stream of server-sent events, however it is cut into blocks. Nothing
    is held but the beginning of a line that may be the mark."""

    def __init__(self) -> None:
        self._held = b""
        self._line_begins = True
        """Whether the next bytes begin a line."""

    def split(self, block: bytes) -> tuple[bytes, bytes]:
        """What can be passed on, and the mark with what follows it; empty until it comes."""
        if not self._held and b"[DONE]" not in block and block.endswith(b"\n"):
            self._line_begins = True
            return block, b""  # nearly every block: whole events
        block, self._held = self._held + block, b""
        for mark in _MARKS:
            places = [block.find(end + mark) + 1 for end in (b"\n", b"\r")]
            found = [place for place in places if place]
            if self._line_begins and block.startswith(mark):
                found = [0]
            if found:
                return block[: min(found)], block[min(found) :]
        line = max(block.rfind(b"\n"), block.rfind(b"\r")) + 1
        last = block[line:]
        begins = bool(line) or self._line_begins
        if last and begins and any(mark.startswith(last) for mark in _MARKS):
            block, self._held = block[:line], last
        self._line_begins = begins if not last or self._held else False
        return block, b""

    @property
    def rest(self) -> bytes:
        """What is held when the stream ends without a mark."""
        return self._held

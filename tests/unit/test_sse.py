"""Server-sent events: whole, and no more than can be held."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omoide.adapters.models.sse import events
from omoide.errors import ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


async def blocks(*parts: bytes) -> AsyncIterator[bytes]:
    """The bytes as they come."""
    for part in parts:
        yield part


async def test_events_come_whole_however_the_bytes_are_cut() -> None:
    """Several lines are one event; a ping is none; the last needs no blank line."""
    parts = (b"data: a\nda", b"ta: b\n\n: ping\n\ndata: \xe2\x80", b"\xa8c")
    assert [event async for event in events(blocks(*parts))] == ["a\nb", "\u2028c"]


@pytest.mark.parametrize("line", [b"x" * 1024, b"data: " + b"x" * 1017 + b"\n"])
async def test_an_event_without_an_end_is_told(line: bytes) -> None:
    """In one line or in many, it is not held for ever."""
    with pytest.raises(ModelUnavailable, match="4 MiB"):
        async for _ in events(blocks(*[line] * 5000)):
            pass


async def test_many_events_may_be_longer_than_one() -> None:
    """What counts is the single event."""
    event = b"data: " + b"x" * 65536 + b"\n\n"
    assert len([event async for event in events(blocks(*[event] * 100))]) == 100

"""What a stream of an answer says of itself to proxies and browsers on its way."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from omoide.server.relay import Relay

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from starlette.types import Message


async def blocks() -> AsyncGenerator[bytes]:
    """An answer."""
    yield b"one "
    yield b"two"


async def sent(headers: Mapping[str, str] | None = None) -> tuple[dict[str, str], bytes]:
    """The headers and the bytes that a client gets."""
    messages: list[Message] = []

    async def finish() -> bytes | None:
        return b" end"

    async def receive() -> Message:
        await asyncio.Event().wait()  # the client stays
        raise AssertionError

    async def send(message: Message) -> None:
        messages.append(message)

    relay = Relay(blocks(), finish=finish, headers=headers, media_type="text/event-stream")
    await relay({"type": "http"}, receive, send)
    begin, *rest = messages
    names = {name.decode(): value.decode() for name, value in begin["headers"]}
    return names, b"".join(message.get("body", b"") for message in rest)


async def test_nobody_on_the_way_keeps_a_stream() -> None:
    """Neither a buffer nor a cache, unless the upstream says how long it may be kept."""
    headers, body = await sent()
    assert body == b"one two end"
    assert headers["cache-control"] == "no-cache"
    assert headers["x-accel-buffering"] == "no"
    headers, _ = await sent({"cache-control": "max-age=5"})
    assert headers["cache-control"] == "max-age=5"

"""A streaming response that stops when the client disconnects."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

from starlette.responses import Response

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping

    from starlette.types import Receive, Scope, Send


class Relay(Response):
    """Sends blocks as they arrive. `finish` is called exactly once, whatever ends the stream: its
    end, a disconnect (even while no blocks arrive), or a server shutdown. The response ends after
    `finish` with what that returns, so a client that saw the end can rely on it being done. Most
    clients stop at the last event, before the end: see `Ending`."""

    def __init__(
        self,
        blocks: AsyncGenerator[bytes],
        *,
        finish: Callable[[], Awaitable[bytes | None]],
        status_code: int = 200,
        headers: Mapping[str, str] | None = None,
        media_type: str | None = None,
    ) -> None:
        self.status_code = status_code
        self.media_type = media_type
        self.background = None
        self._blocks = blocks
        self._finish = finish
        self.init_headers(headers)
        self.headers["x-accel-buffering"] = "no"
        self.headers.setdefault("cache-control", "no-cache")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the blocks end or the client disconnects."""
        del scope
        pump = asyncio.ensure_future(self._pump(send))
        disconnect = asyncio.ensure_future(_disconnected(receive))
        try:
            await asyncio.wait({pump, disconnect}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            disconnect.cancel()
            pump.cancel()
            await asyncio.wait({pump, disconnect})
            last = await self._finish()
        if not pump.cancelled():
            pump.result()
            await send({"type": "http.response.body", "body": last or b"", "more_body": False})

    async def _pump(self, send: Send) -> None:
        start = {"type": "http.response.start", "status": self.status_code}
        await send({**start, "headers": self.raw_headers})
        async with aclosing(self._blocks):
            async for block in self._blocks:
                await send({"type": "http.response.body", "body": block, "more_body": True})


async def _disconnected(receive: Receive) -> None:
    """Return when the client has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass

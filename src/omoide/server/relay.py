"""A response whose body is handed on as it comes, and broken off when the client leaves."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

from starlette.responses import Response

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping

    from starlette.types import Receive, Scope, Send


class Relay(Response):
    """Sends blocks as they come. `finish` is called once, whatever ends them: their own end, a
    client that leaves, also while nothing comes, or a server that is stopped. The response ends
    after it, so a client that saw the end finds everything done."""

    def __init__(
        self,
        blocks: AsyncGenerator[bytes],
        *,
        finish: Callable[[], Awaitable[None]],
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
        """Send until the blocks or the client's patience end."""
        del scope
        pump = asyncio.ensure_future(self._pump(send))
        leaving = asyncio.ensure_future(_left(receive))
        try:
            await asyncio.wait({pump, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
            pump.cancel()
            await asyncio.wait({pump, leaving})
            await self._finish()
        if not pump.cancelled():
            pump.result()
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _pump(self, send: Send) -> None:
        start = {"type": "http.response.start", "status": self.status_code}
        await send({**start, "headers": self.raw_headers})
        async with aclosing(self._blocks):
            async for block in self._blocks:
                await send({"type": "http.response.body", "body": block, "more_body": True})


async def _left(receive: Receive) -> None:
    """Returns when the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass

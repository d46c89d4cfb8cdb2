"""An upstream's stream on its way to the client; a response that stops when that disconnects."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

from starlette.responses import Response

from omoide.errors import OmoideError
from omoide.server.answer_parser import answer_too_long
from omoide.server.ending import EndMark
from omoide.server.problems import HttpProblem, encoded, openai_error, problem_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping

    from starlette.types import Receive, Scope, Send

    from omoide.server.answer_parser import AnswerParser
    from omoide.server.ending import Ending
    from omoide.server.upstream import UpstreamResponse


async def passed_on(
    answer: UpstreamResponse, parser: AnswerParser, ending: Ending
) -> AsyncGenerator[bytes]:
    """The upstream's blocks, unchanged, and an error if it breaks off or does not end. Each is
    parsed after it was passed on. Only the end mark waits until the reply is recorded."""
    end = EndMark()
    try:
        async for block in answer.blocks:
            before, mark = end.split(block)
            if before:
                yield before
            parser.feed(block)
            if mark:
                yield await ending.last_words() + mark
            if parser.too_long:
                raise answer_too_long()
        if end.rest:
            yield end.rest
    except (HttpProblem, OmoideError) as error:
        yield end.rest + _error_event(error)


async def parsed_first(answer: UpstreamResponse, parser: AnswerParser) -> AsyncGenerator[bytes]:
    """The same for blocks that are converted. Each is parsed before: whoever converts a block may
    stop in the middle of it, and all that came is to be recorded."""
    try:
        async for block in answer.blocks:
            parser.feed(block)
            yield block
            if parser.too_long:
                raise answer_too_long()
    except (HttpProblem, OmoideError) as error:
        yield _error_event(error)


def _error_event(error: HttpProblem | OmoideError) -> bytes:
    problem = problem_of(error) if isinstance(error, OmoideError) else error
    return b"\n\ndata: " + encoded(openai_error(problem)) + b"\n\n"


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

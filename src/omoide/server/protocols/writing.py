"""Writes an upstream's answer in the protocol of the client."""

from __future__ import annotations

import json
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from omoide.server.problems import HttpProblem
from omoide.server.protocols.answer import ChatAnswer, chunks

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from omoide.server.ending import Ending
    from omoide.server.protocols.answer import Piece
    from omoide.server.protocols.threads import Threads


class ReplyWriter(Protocol):
    """Writes one answer in a protocol. One writer serves one request."""

    @property
    def media_type(self) -> str:
        """The content type of a stream."""

    def begin(self, answer: ChatAnswer) -> bytes:
        """What a stream starts with; the answer is still empty."""

    def piece(self, piece: Piece, answer: ChatAnswer) -> bytes:
        """What a stream says when a piece arrives; the answer includes it."""

    async def end(self, answer: ChatAnswer) -> bytes:
        """What a complete stream ends with."""

    def broken(self, problem: HttpProblem) -> bytes:
        """What a stream ends with if the upstream fails in the middle."""

    async def whole(self, answer: ChatAnswer) -> dict[str, Any]:
        """The answer as one JSON object."""


@dataclass(frozen=True, kw_only=True)
class ConvertedRequest:
    """A request of another protocol, as a chat."""

    body: dict[str, Any]
    """The body of a Chat Completions request."""
    writer: ReplyWriter
    session: str | None = None
    """The session key that the request implies, if any."""
    openai: bool = False
    """Whether the client speaks to OpenAI: then its own headers, its API key among them, may go to
    the upstream. Another vendor's never do."""
    threads: Threads | None = None
    """Where the conversation may be stored for the client."""

    @property
    def stream(self) -> bool:
        """Whether the client wants a stream."""
        return bool(self.body.get("stream"))


def streamed(body: dict[str, Any], stream: bool | None) -> dict[str, Any]:
    """The chat body with its stream switched on, usage included, or off; fields without a value
    are left out."""
    body = {name: value for name, value in body.items() if value is not None}
    if stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return body


async def written_stream(
    writer: ReplyWriter,
    blocks: AsyncGenerator[bytes],
    *,
    sse: bool,
    model: str,
    ending: Ending | None = None,
) -> AsyncGenerator[bytes]:
    """The upstream's answer as a stream of the client's protocol. Its last events wait until
    `ending` has recorded the reply."""
    answer, ended = ChatAnswer(model=model), False
    yield writer.begin(answer)
    async with aclosing(blocks):
        async for chunk in chunks(blocks, stream=sse):
            if chunk is None:
                ended = True
            elif chunk.get("error"):  # some endpoints send it as null with every chunk
                yield writer.broken(problem_in(chunk, status=502))
                return
            else:
                for piece in answer.add(chunk):
                    if written := writer.piece(piece, answer):
                        yield written
    if ended or answer.finish is not None:
        written = await writer.end(answer)
        yield (await ending.last_words() if ending is not None else b"") + written
    else:
        yield writer.broken(_INCOMPLETE)


async def written_whole(
    writer: ReplyWriter, blocks: AsyncIterator[bytes], *, sse: bool, model: str
) -> dict[str, Any]:
    """The upstream's answer as one JSON object of the client's protocol. Raises `HttpProblem` if it
    is not a chat completion."""
    answer, ended = ChatAnswer(model=model), False
    async for chunk in chunks(blocks, stream=sse):
        if chunk is None:
            ended = True
        elif chunk.get("error"):
            raise problem_in(chunk, status=502)
        else:
            answer.add(chunk)
    if not ended and answer.finish is None and not answer.text and not answer.tool_calls:
        raise HttpProblem(502, "upstream-invalid", "the upstream's answer is not a chat completion")
    return await writer.whole(answer)


def upstream_problem(raw: bytes, *, status: int, headers: dict[str, str]) -> HttpProblem:
    """An upstream's error response, so that it can be written in another protocol."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        body = {}
    kept = {k: v for k, v in headers.items() if k in ("retry-after", "retry-after-ms")}
    problem = problem_in(body if isinstance(body, dict) else {}, status=status)
    problem.headers.update(kept)
    return problem


def problem_in(body: dict[str, Any], *, status: int) -> HttpProblem:
    """The error that an answer in OpenAI's format reports."""
    error = body.get("error")
    if isinstance(error, str):
        return HttpProblem(status, "upstream-error", error)
    error = error if isinstance(error, dict) else {}
    message = error.get("message")
    detail = message if isinstance(message, str) else f"the upstream answered with status {status}"
    code, param = error.get("code") or error.get("type"), error.get("param")
    return HttpProblem(
        status,
        code.replace("_", "-") if isinstance(code, str) else "upstream-error",
        detail,
        param=param if isinstance(param, str) else None,
    )


_INCOMPLETE = HttpProblem(
    502, "upstream-broke-off", "the upstream's stream ended before its answer was complete"
)

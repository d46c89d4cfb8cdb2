"""The Chat Completions routes: they add memory to chats and pass everything else through. Other
protocols come here as well, once they are converted."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from omoide.domain import CallPurpose
from omoide.domain import ModelCall as ModelCall
from omoide.domain.text import normal_name
from omoide.engine.asking import Answer as Reply
from omoide.engine.asking import Stored
from omoide.engine.messages import text_of
from omoide.errors import BadReply, OmoideError, TextTooLong
from omoide.mechanisms.base import PromptPlace
from omoide.server.answer_parser import AnswerParser, ParsedAnswer, answer_too_long
from omoide.server.collecting import Start, collected
from omoide.server.ending import Ending
from omoide.server.endpoint import RouteCall, RouteSpec, in_header
from omoide.server.keys import Scope
from omoide.server.latest_replies import LatestReply
from omoide.server.problems import HttpProblem, encoded, problem_of, slug_of
from omoide.server.problems import answer as error_response
from omoide.server.protocols.writing import upstream_problem, written_stream, written_whole
from omoide.server.relay import Relay, parsed_first, passed_on
from omoide.server.upstream import UpstreamRequest, forwarded, forwarded_query

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from omoide.engine.asking import Exchange
    from omoide.server.protocols.writing import ConvertedRequest

OWN_NAMES = (None, "", "omoide", "default")
"""Model names that mean the model the server was started with."""


OFF = {"X-Omoide-Status": "off"}
"""Response headers for a client that opted out of memory."""


async def chat(call: RouteCall) -> Response:
    """`/v1/chat/completions`."""
    return await _answer(call, dict(call.body), None)


async def converse(call: RouteCall, converted: ConvertedRequest) -> Response:
    """Answer a chat of another protocol in that protocol, with memory as in `chat`."""
    return await _answer(call, dict(converted.body), converted)


async def _answer(
    call: RouteCall, body: dict[str, Any], converted: ConvertedRequest | None
) -> Response:
    exchange = None
    changed = _name_model(call, body) or converted is not None
    if wants_memory(call):
        session = session_key(call) or (converted.session if converted else None)
        exchange = await call.memory.begin(
            call.user,
            body["messages"],
            session=session,
            tolerant=True,
            patience=call.context.patience,
        )
        _note_exchange(call, exchange)
        if converted is not None and converted.threads is not None:
            await converted.threads.begin(exchange)
        if exchange.prepared is not None:
            body["messages"] = exchange.prepared
            changed = True
    forward = UpstreamRequest(
        method="POST",
        path="/chat/completions" if converted else _path("/chat/completions", call),
        body=json.dumps(body, separators=(",", ":")).encode() if changed else call.raw,
        headers=forwarded_headers(call, openai=converted is None or converted.openai),
    )
    try:
        return await _forward(call, forward, exchange, body, converted)
    except (HttpProblem, OmoideError) as error:
        if exchange is not None:
            call.context.runtime.exchanges.abandon(exchange)
        problem = problem_of(error) if isinstance(error, OmoideError) else error
        failed = error_response(problem, path=call.route)
        failed.headers.update(_headers_of(exchange))
        return failed


def _headers_of(exchange: Exchange | None) -> dict[str, str]:
    """Response headers that report what memory did."""
    if exchange is None:
        return dict(OFF)
    recalled = sum(c.place is PromptPlace.RECALLED for c in exchange.why)
    headers = {
        "X-Omoide-Recalled": str(recalled),
        "X-Omoide-Memory-Version": str(exchange.version),
        "X-Omoide-Memory-Tokens": str(sum(c.tokens for c in exchange.why)),
        "X-Omoide-Status": "ok",
        "X-Omoide-Stored": exchange.stored.value,
    }
    if exchange.session is not None:
        headers["X-Omoide-Session"] = str(exchange.session)
    if exchange.changes:
        headers["X-Omoide-Changed"] = ", ".join(exchange.changes)
    if exchange.problems:
        headers["X-Omoide-Status"] = f"degraded; reason={slug_of(exchange.problems[0])}"
    return headers


def _note_exchange(call: RouteCall, exchange: Exchange) -> None:
    """Update the metrics, and keep what memory contributed to this reply for the page."""
    metrics = call.context.metrics
    for problem in exchange.problems:
        metrics.degraded[slug_of(problem)] += 1
    if exchange.turns:
        metrics.recall.observe(exchange.seconds)
    if (context := exchange.context) is not None:
        latest = LatestReply(
            text=context.reply_request.text,
            time=context.reply_request.now,
            session=exchange.turn.session,
            contributions=context.contributions,
        )
        mark = exchange.turns.mark
        call.context.latest_replies.note(call.caller.tenant, call.user, latest, mark=mark)


async def models(call: RouteCall) -> Response:
    """`/v1/models`."""
    return await _pass_through(call, UpstreamRequest(method="GET", path=_path("/models", call)))


async def embeddings(call: RouteCall) -> Response:
    """`/v1/embeddings`."""
    return await _pass_through(
        call, UpstreamRequest(method="POST", path=_path("/embeddings", call), body=call.raw)
    )


async def _pass_through(call: RouteCall, forward: UpstreamRequest) -> Response:
    forward = UpstreamRequest(
        method=forward.method,
        path=forward.path,
        body=forward.body,
        headers=forwarded_headers(call, openai=True),
    )
    async with AsyncExitStack() as stack:
        answer = await stack.enter_async_context(call.context.upstream.send(forward))
        start = await collected(answer)
        if start.complete:
            return Response(start.body, status_code=answer.status, headers=answer.headers)
        connection = stack.pop_all()
    return Relay(
        start.and_rest(answer),
        finish=connection.aclose,
        status_code=answer.status,
        headers=answer.headers,
    )


async def _forward(
    call: RouteCall,
    forward: UpstreamRequest,
    exchange: Exchange | None,
    body: Mapping[str, Any],
    converted: ConvertedRequest | None,
) -> Response:
    async with AsyncExitStack() as stack:
        answer = await stack.enter_async_context(call.context.upstream.send(forward))
        prompt = "\n".join(text_of(message) for message in body["messages"])
        parsed = ParsedAnswer(model=str(body.get("model") or "unknown")[:256], prompt=prompt)
        parser = AnswerParser(parsed, stream=answer.stream)
        streamed = answer.stream and answer.status < 400
        start = await collected(answer, parser.feed) if not streamed else Start()
        if start.complete:
            if answer.status < 400:
                await _finish(call, exchange, parser)
            elif exchange is not None:
                call.context.runtime.exchanges.abandon(exchange)
            headers = {**answer.headers, **_headers_of(exchange)}
            if converted is None:
                return Response(start.body, status_code=answer.status, headers=headers)
            if answer.status >= 400:
                raise upstream_problem(start.body, status=answer.status, headers=answer.headers)
            whole = _once(start.body)
            return await _whole(converted, whole, headers, sse=False, model=parsed.model)
        if not streamed:
            raise answer_too_long()
        headers = {**answer.headers, **_headers_of(exchange)}
        connection, streaming = stack.pop_all(), AsyncExitStack()
        streaming.enter_context(call.context.runtime.exchanges.streaming())
        call.context.metrics.streams += 1

        async def record() -> bytes:
            await _finish(call, exchange, parser)
            return _last_words(exchange, headers, converted)

        ending = Ending(record)

        async def finish() -> bytes:
            call.context.metrics.streams -= 1
            async with streaming:
                await connection.aclose()
                return await ending.last_words()

        if converted is None:
            relayed = passed_on(answer, parser, ending)
            return Relay(relayed, finish=finish, status_code=answer.status, headers=headers)
        relayed = parsed_first(answer, parser)
        if converted.stream:
            written = written_stream(
                converted.writer, relayed, sse=True, model=parsed.model, ending=ending
            )
            own = {**headers, "content-type": converted.writer.media_type}
            return Relay(written, finish=finish, headers=own)
        try:  # a stream although none was asked for
            response = await _whole(converted, relayed, headers, sse=True, model=parsed.model)
        finally:
            await finish()
        response.headers.update(_headers_of(exchange))
        return response


def _last_words(
    exchange: Exchange | None, headers: Mapping[str, str], converted: ConvertedRequest | None
) -> bytes:
    """What a stream of events says before its last event if more was lost or waits than its headers
    said: a comment, which clients skip."""
    media_type = converted.writer.media_type if converted else headers.get("content-type", "")
    said = headers.get("X-Omoide-Stored")
    if exchange is None or said in (None, exchange.stored.value) or "event" not in media_type:
        return b""
    return f": X-Omoide-Stored: {exchange.stored.value}\n\n".encode()


async def _whole(
    converted: ConvertedRequest,
    blocks: AsyncGenerator[bytes],
    headers: Mapping[str, str],
    *,
    sse: bool,
    model: str,
) -> Response:
    """A response in the client's protocol, made from a complete answer."""
    writer = converted.writer
    if converted.stream:  # asked for, but the upstream answered in one piece
        written = [b async for b in written_stream(writer, blocks, sse=sse, model=model)]
        headers = {**headers, "content-type": writer.media_type}
        return Response(b"".join(written), headers=headers)
    content = encoded(await written_whole(writer, blocks, sse=sse, model=model))
    return Response(content, headers={**headers, "content-type": "application/json"})


async def _once(content: bytes) -> AsyncGenerator[bytes]:
    yield content


async def _finish(call: RouteCall, exchange: Exchange | None, parser: AnswerParser) -> None:
    """Record as much of the reply as arrived, and what it cost."""
    parsed = parser.close()
    if exchange is None:
        return
    known = len(exchange.problems)
    if parsed.cut:
        exchange.problems.append(TextTooLong("the reply is too long to be recorded whole"))
    elif not parsed.understood:
        exchange.problems.append(BadReply("the upstream's answer is not a chat completion"))
    cost = ModelCall(
        purpose=CallPurpose.REPLY,
        model=parsed.model,
        session=None,
        prompt_tokens=parsed.prompt_tokens,
        completion_tokens=parsed.completion_tokens,
        seconds=parsed.seconds,
        time=call.context.runtime.clock.now(),
        failed=not parsed.finished,
    )
    await exchange.finish(
        Reply(text=parsed.recorded_text, once=True, complete=parsed.finished, call=cost)
    )
    if parsed.cut or not parsed.understood:
        exchange.stored = Stored.NO
    for problem in exchange.problems[known:]:
        call.context.metrics.degraded[slug_of(problem)] += 1


def may_store(call: RouteCall) -> bool:
    """Whether a conversation may be stored for its client to continue."""
    return call.context.store and wants_memory(call)


def session_key(call: RouteCall) -> str | None:
    """The caller's key for the session, if it gives one."""
    session = in_header(call.headers, "x-omoide-session")
    return None if session is None else normal_name(session, "the session")


def wants_memory(call: RouteCall) -> bool:
    """Whether the client wants memory. Unknown values are rejected: treating one as "on" could
    record someone who opted out."""
    value = call.headers.get("x-omoide-memory", "on").lower()
    if value not in ("on", "off"):
        raise HttpProblem(
            400, "invalid", "X-Omoide-Memory must be on or off", param="X-Omoide-Memory"
        )
    return value == "on"


def _name_model(call: RouteCall, body: dict[str, Any]) -> bool:
    """Fill in the upstream's model if the client did not choose one. True if it was filled in."""
    if body.get("model") in OWN_NAMES and call.context.upstream.model:
        body["model"] = call.context.upstream.model
        return True
    return False


def forwarded_headers(call: RouteCall, *, openai: bool) -> dict[str, str]:
    """The client's headers for the upstream. `Authorization` is kept only if it is not one of our
    own keys. A client of another vendor's protocol has none that an OpenAI endpoint would read."""
    if not openai:
        return {"content-type": "application/json"}
    return forwarded(call.headers, keep_authorization=not call.caller.key)


def _path(path: str, call: RouteCall) -> str:
    query = forwarded_query(call.raw_query)
    return f"{path}?{query}" if query else path


_BOTH = frozenset({Scope.READ, Scope.WRITE})

ROUTES = (
    RouteSpec(
        method="POST",
        path="/v1/chat/completions",
        handler=chat,
        tag="openai",
        about="Chat with memory",
        needs=_BOTH,
        takes="ChatRequest",
        answer="Passed",
        also={"text/event-stream": "Event"},
        headers=("X-Omoide-Session", "X-Omoide-Memory"),
        user_fields=("user", "safety_identifier", "metadata.user_id"),
        fails=(502, 504),
    ),
    RouteSpec(
        method="GET",
        path="/v1/models",
        handler=models,
        tag="openai",
        about="The upstream's models",
        needs=frozenset({Scope.READ}),
        answer="Passed",
        user=False,
        fails=(502, 504),
    ),
    RouteSpec(
        method="POST",
        path="/v1/embeddings",
        handler=embeddings,
        tag="openai",
        about="The upstream's embeddings",
        needs=frozenset({Scope.WRITE}),
        takes="Passed",
        answer="Passed",
        user=False,
        fails=(404, 502, 504),
    ),
)

"""The OpenAI-compatible routes: memory is put in, everything else goes by as it came."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from omoide.domain.text import checked_name
from omoide.errors import OmoideError
from omoide.server.conversation import asked, remembering, text_of
from omoide.server.endpoint import Call, Endpoint, in_header
from omoide.server.keys import Scope
from omoide.server.lately import Latest
from omoide.server.listening import Heard, Listener
from omoide.server.problems import Problem, encoded, openai_answer, openai_error, problem_of
from omoide.server.relay import Relay
from omoide.server.remembering import OFF
from omoide.server.upstream import Forward, forwarded

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from omoide.server.remembering import Exchange
    from omoide.server.upstream import Answer

OWN_NAMES = (None, "", "omoide", "default")
"""Names of models that stand for the one the server was started with."""


async def chat(call: Call) -> Response:
    """`/v1/chat/completions`."""
    body, raw, told, exchange = dict(call.body), call.raw, dict(OFF), None
    changed = _name_model(call, body)
    if _wanted(call):
        session = in_header(call.headers, "x-omoide-session")
        if session is not None:
            checked_name(session, "the session")
        heard = asked(body["messages"], session=session)
        exchange = await call.remembering.attend(call.user, heard, session=session)
        told = exchange.headers
        _note(call, exchange)
        if (attention := exchange.attention) is not None and attention.contributions:
            body["messages"] = remembering(
                body["messages"],
                attention.contributions,
                last=exchange.asked.words[-1].index,
                language=attention.moment.language,
            )
            changed = True
    forward = Forward(
        method="POST",
        path=_path("/chat/completions", call),
        body=json.dumps(body, separators=(",", ":")).encode() if changed else raw,
        headers=_headers(call),
    )
    try:
        return await _forward(call, forward, exchange, told, body)
    except (Problem, OmoideError) as error:
        problem = problem_of(error) if isinstance(error, OmoideError) else error
        failed = openai_answer(problem)
        failed.headers.update(told)
        return failed


def _note(call: Call, exchange: Exchange) -> None:
    """Remember for the page what memory gave to this reply."""
    if (attention := exchange.attention) is not None:
        latest = Latest(
            text=attention.moment.text,
            time=attention.moment.now,
            session=attention.moment.session[-1].session,
            contributions=attention.contributions,
        )
        call.desk.lately.note(call.caller.tenant, call.user, latest)


async def models(call: Call) -> Response:
    """`/v1/models`."""
    return await _passed(call, Forward(method="GET", path=_path("/models", call)))


async def embeddings(call: Call) -> Response:
    """`/v1/embeddings`."""
    return await _passed(
        call, Forward(method="POST", path=_path("/embeddings", call), body=call.raw)
    )


async def _passed(call: Call, forward: Forward) -> Response:
    forward = Forward(
        method=forward.method, path=forward.path, body=forward.body, headers=_headers(call)
    )
    async with call.desk.upstream.send(forward) as answer:
        blocks = [block async for block in answer.blocks]
    return Response(b"".join(blocks), status_code=answer.status, headers=answer.headers)


async def _forward(
    call: Call,
    forward: Forward,
    exchange: Exchange | None,
    told: Mapping[str, str],
    body: Mapping[str, Any],
) -> Response:
    async with AsyncExitStack() as stack:
        answer = await stack.enter_async_context(call.desk.upstream.send(forward))
        headers = {**answer.headers, **told}
        prompt = "\n".join(text_of(message) for message in body["messages"])
        heard = Heard(model=str(body.get("model") or "unknown")[:256], prompt=prompt)
        listener = Listener(heard, stream=answer.stream)
        if answer.stream and answer.status < 400:
            held = stack.pop_all()
            call.desk.metrics.streams += 1
            over = call.remembering.streaming()

            async def finish() -> None:
                call.desk.metrics.streams -= 1
                try:
                    await held.aclose()
                    if exchange is not None:
                        await call.remembering.answered(exchange, listener.close())
                finally:
                    over()

            return Relay(
                _relayed(answer, listener),
                finish=finish,
                status_code=answer.status,
                headers=headers,
            )
        blocks = []
        async for block in answer.blocks:
            listener.feed(block)
            blocks.append(block)
        if exchange is not None and answer.status < 400:
            await call.remembering.answered(exchange, listener.close())
    return Response(b"".join(blocks), status_code=answer.status, headers=headers)


async def _relayed(answer: Answer, listener: Listener) -> AsyncGenerator[bytes]:
    """The upstream's blocks, unchanged; what was handed on is listened to."""
    try:
        async for block in answer.blocks:
            yield block
            listener.feed(block)
    except (Problem, OmoideError) as error:
        problem = problem_of(error) if isinstance(error, OmoideError) else error
        yield b"data: " + encoded(openai_error(problem)) + b"\n\n"


def _wanted(call: Call) -> bool:
    """Whether the client wants memory. A misspelt wish not to is no wish to be recorded."""
    wish = call.headers.get("x-omoide-memory", "on").lower()
    if wish not in ("on", "off"):
        raise Problem(400, "invalid", "X-Omoide-Memory must be on or off", param="X-Omoide-Memory")
    return wish == "on"


def _name_model(call: Call, body: dict[str, Any]) -> bool:
    """Put the upstream's model where the client named none of its own; whether that was so."""
    if body.get("model") in OWN_NAMES and call.desk.upstream.model:
        body["model"] = call.desk.upstream.model
        return True
    return False


def _headers(call: Call) -> dict[str, str]:
    """The client's, with its `Authorization` only if that is none of our keys."""
    return forwarded(call.headers, keep_authorization=not call.caller.key)


def _path(path: str, call: Call) -> str:
    return f"{path}?{call.raw_query}" if call.raw_query else path


_BOTH = frozenset({Scope.READ, Scope.WRITE})

ROUTES = (
    Endpoint(
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
        fails=(502, 504),
    ),
    Endpoint(
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
    Endpoint(
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

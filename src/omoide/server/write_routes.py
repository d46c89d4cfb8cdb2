"""Routes that change something, or take text that does not belong in a URL."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from omoide.demo import load
from omoide.domain import Speaker
from omoide.engine.messages import Utterance
from omoide.engine.versions import When
from omoide.errors import BadCommand, OmoideError
from omoide.language import detect_language
from omoide.language.addressing import from_user
from omoide.server.addressing import Addressing
from omoide.server.endpoint import RouteCall, RouteSpec
from omoide.server.json_values import to_json_value
from omoide.server.keys import Scope
from omoide.server.latest_replies import LatestReply
from omoide.server.problems import HttpProblem, encoded, problem_of
from omoide.server.read_routes import READ, json_response
from omoide.server.relay import Relay
from omoide.server.schema import parse_time

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from datetime import datetime

    from starlette.responses import Response

    from omoide.engine.reply import Reply
    from omoide.server.endpoint import Handler

WRITE = frozenset({Scope.WRITE})
ADMIN = frozenset({Scope.ADMIN})
ONCE = ("Idempotency-Key",)


async def record(call: RouteCall) -> Response:
    """Record messages."""
    utterances = [
        Utterance(
            speaker=Speaker(turn["speaker"]),
            text=turn["text"],
            id=turn.get("id") or id_from_key(call, i),
            time=parse_time(turn["time"], where=f"turns[{i}].time") if "time" in turn else None,
            name=turn.get("name"),
        )
        for i, turn in enumerate(call.body["turns"])
    ]
    turns = await call.memory.record(
        call.user, utterances, session=call.body.get("session"), at=at_of(call)
    )
    return json_response({"turns": turns, "new": sorted(turns.new)}, status=201)


async def recall(call: RouteCall) -> Response:
    """Recall what is relevant to a query."""
    body = call.body
    recalled = await call.memory.recall(
        call.user,
        body["query"],
        k=body.get("k", 10),
        budget=body.get("budget"),
        at=at_of(call),
        asker=Speaker(body.get("asker", Speaker.USER)),
        kinds=body.get("kinds", ()),
        since=parse_time(body["since"], where="since") if "since" in body else None,
        until=parse_time(body["until"], where="until") if "until" in body else None,
        speaker=body.get("speaker"),
        about=body.get("about"),
        tags=body.get("tags", ()),
    )
    return json_response(
        {"items": recalled, "support": recalled.support.as_dict(), "degraded": recalled.degraded}
    )


async def reply(call: RouteCall) -> Response:
    """Answer a message, in one piece or as events: `begin`, `piece`…, `end` (or `error`)."""
    body = call.body
    pending = await call.memory.reply(
        call.user,
        body["text"],
        session=body.get("session"),
        at=at_of(call),
        id=body.get("id") or id_from_key(call, 0),
        again=body.get("again", False),
        replaces=body.get("replaces"),
    )
    latest = LatestReply(
        text=body["text"],
        time=pending.turn.time,
        session=pending.turn.session,
        contributions=pending.contributions,
    )
    call.context.latest_replies.note(call.caller.tenant, call.user, latest, mark=pending.mark)
    address = await Addressing.of(call.memory, call.user)
    contributions = [address.contribution(one) for one in pending.contributions]
    if body.get("stream"):
        return Relay(
            _events(pending, contributions),
            finish=pending.close,
            media_type="text/event-stream; charset=utf-8",
        )
    text = await pending.text()
    return json_response({"turn": pending.turn, "text": text, "contributions": contributions})


async def _events(reply: Reply, contributions: list[dict[str, Any]]) -> AsyncGenerator[bytes]:
    yield _event("begin", {"turn": reply.turn, "contributions": contributions})
    try:
        async for piece in reply:
            yield _event("piece", {"text": piece})
    except OmoideError as error:
        problem = problem_of(error)
        kind = f"urn:omoide:problem:{problem.slug}"
        yield _event("error", {"type": kind, "status": problem.status, "detail": problem.detail})
    else:
        yield _event("end", {})


async def end(call: RouteCall) -> Response:
    """End sessions."""
    ended = await call.memory.end_session(
        call.user, session=call.body.get("session"), at=at_of(call)
    )
    return json_response({"sessions": ended})


async def retry(call: RouteCall) -> Response:
    """Retry jobs that were given up."""
    retried = await call.memory.retry(call.user, job=call.body.get("job"), at=at_of(call))
    return json_response({"items": retried})


async def rollback(call: RouteCall) -> Response:
    """Restore an old version as a new one."""
    restored = await call.memory.rollback(
        call.user, When(version=call.body["version"]), at=at_of(call)
    )
    return json_response(restored, status=201)


async def amend(call: RouteCall) -> Response:
    """Correct a sentence."""
    sentence, text = call.body["sentence"], call.body["text"]
    if call.body.get("addressed"):
        address = await Addressing.of(call.memory, call.user)
        same = text == address.said(sentence)
        note = from_user(text, detect_language(sentence), instead_of=sentence)
        text = sentence if same else note
    said = call.body.get("said", call.body["text"])
    amended = await call.memory.amend(call.user, sentence, text, at=at_of(call), said=said)
    return json_response(amended, status=201)


async def use_memory_tool(call: RouteCall) -> Response:
    """Do a command of Anthropic's memory tool."""
    try:
        result = await call.memory.memory_tool(call.user, call.body, by=call.caller.name)
    except BadCommand as error:  # for the model to read, like a result
        return json_response({"result": str(error), "is_error": True})
    return json_response({"result": result, "is_error": False})


async def restore_memory_file(call: RouteCall) -> Response:
    """Give a file of the memory tool an earlier text."""
    restored = await call.memory.restore_file(
        call.user, call.body["path"], call.body["version"], by=call.caller.name
    )
    return json_response(restored, status=201)


async def demo(call: RouteCall) -> Response:
    """Load the demo conversation into a user without a memory."""
    if await call.memory.sessions(call.user):
        raise HttpProblem(
            409, "not-empty", f"{call.user} already has a memory: name another user, or erase it"
        )
    now = call.context.runtime.clock.now()
    loaded = await load(call.memory, call.user, call.body.get("language", "en"), now=now)
    return json_response(loaded, status=201)


async def erase(call: RouteCall) -> Response:
    """Erase permanently."""
    body = call.body.get("several", call.body)
    erased = await call.memory.erase(
        call.user,
        session=body.get("session"),
        turns=body.get("turns"),
        sentences=body.get("sentences"),
        facts=body.get("facts"),
    )
    call.context.forget(call.caller.tenant, call.user)
    return json_response(erased)


def at_of(call: RouteCall) -> datetime | None:
    """The time at which the caller wants it done; None for now."""
    return parse_time(call.body["at"], where="at") if "at" in call.body else None


def id_from_key(call: RouteCall, index: int) -> str | None:
    """A turn id derived from the idempotency key, so that a message is recorded once even if the
    server restarts in between."""
    if (seed := call.seed()) is None:
        return None
    return f"key-{hashlib.blake2b(seed.encode(), digest_size=16).hexdigest()}-{index}"


def _event(name: str, data: object) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + encoded(to_json_value(data)) + b"\n\n"


def post(
    path: str,
    handler: Handler,
    *,
    takes: str,
    answer: str,
    about: str,
    needs: frozenset[Scope] = WRITE,
    status: int = 200,
    fails: tuple[int, ...] = (404, 409),
    quotes: bool = True,
) -> RouteSpec:
    """A `RouteSpec` for a change, which is done once for each idempotency key."""
    return RouteSpec(
        method="POST",
        path=path,
        handler=handler,
        about=about,
        needs=needs,
        takes=takes,
        answer=answer,
        status=status,
        headers=ONCE,
        fails=fails,
        quotes=quotes,
    )


ROUTES = (
    post(
        "/api/turns",
        record,
        takes="Record",
        answer="Recorded",
        about="Record messages; durable on return",
        status=201,
    ),
    RouteSpec(
        method="POST",
        path="/api/recall",
        handler=recall,
        about="Recall what is relevant to a query, without a model call",
        needs=READ,
        takes="Query",
        answer="RecalledList",
        fails=(409,),
    ),
    RouteSpec(
        method="POST",
        path="/api/reply",
        handler=reply,
        about="Answer with the server's own model, and record both sides",
        needs=READ | WRITE,
        takes="Say",
        answer="Reply",
        also={"text/event-stream": "Event"},
        headers=ONCE,
        fails=(404, 409, 502, 504),
    ),
    post(
        "/api/sessions/end",
        end,
        takes="End",
        answer="Ended",
        about="End sessions; they are digested in the background",
    ),
    post(
        "/api/jobs/retry",
        retry,
        takes="Retry",
        answer="Retried",
        about="Retry dead jobs (GET /api/jobs?state=dead)",
    ),
    post(
        "/api/memory/rollback",
        rollback,
        takes="Rollback",
        answer="Memory",
        about="Restore an old version as a new one",
        status=201,
    ),
    post(
        "/api/memory/amend",
        amend,
        takes="Amendment",
        answer="Memory",
        about="Correct a sentence of the newest version, as a new version",
        status=201,
    ),
    post(
        "/api/memory/tool",
        use_memory_tool,
        takes="ToolCommand",
        answer="ToolResult",
        about="Do a command of Anthropic's memory tool in the user's folder",
        needs=READ | WRITE,
        fails=(409,),
    ),
    post(
        "/api/memory/files/restore",
        restore_memory_file,
        takes="FileRestoration",
        answer="FileVersion",
        about="Give a file of the memory tool the text of an earlier version, as a new version",
        status=201,
        needs=READ | WRITE,
        fails=(404,),
    ),
    post(
        "/api/demo",
        demo,
        takes="Demo",
        answer="Loaded",
        about="Load the demo conversation and its memory into a user without a memory",
        status=201,
        fails=(409,),
    ),
    post(
        "/api/erase",
        erase,
        takes="Erasure",
        answer="Erased",
        about="Erase permanently",
        needs=ADMIN,
        quotes=False,
    ),
)

"""The routes that change something, or take words that do not belong in an address."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from omoide.demo import load
from omoide.domain import Owner, Speaker
from omoide.engine import Utterance
from omoide.errors import OmoideError
from omoide.server.endpoint import Call, Endpoint
from omoide.server.keys import Scope
from omoide.server.lately import Latest
from omoide.server.plain import plain
from omoide.server.problems import Problem, encoded, problem_of
from omoide.server.reads import READ, shown
from omoide.server.relay import Relay
from omoide.server.schema import moment
from omoide.versions import When

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from starlette.responses import Response

    from omoide.reply import Reply
    from omoide.server.endpoint import Handler

WRITE = frozenset({Scope.WRITE})
ADMIN = frozenset({Scope.ADMIN})
ONCE = ("Idempotency-Key",)


async def record(call: Call) -> Response:
    """Record what was said."""
    said = [
        Utterance(
            speaker=Speaker(turn["speaker"]),
            text=turn["text"],
            id=turn.get("id") or _id(call, i),
            time=moment(turn["time"], where=f"turns[{i}].time") if "time" in turn else None,
            name=turn.get("name"),
        )
        for i, turn in enumerate(call.body["turns"])
    ]
    turns = await call.memory.record(call.user, said, session=call.body.get("session"))
    return shown({"turns": turns}, status=201)


async def recall(call: Call) -> Response:
    """What comes to mind."""
    body = call.body
    found = await call.memory.recall(
        call.user,
        body["query"],
        k=body.get("k", 10),
        budget=body.get("budget"),
        at=moment(body["at"], where="at") if "at" in body else None,
        asker=Speaker(body.get("asker", Speaker.USER)),
    )
    return shown({"items": found, "support": found.support.figures(), "lacking": found.lacking})


async def reply(call: Call) -> Response:
    """Answer, at once or in events: `begin`, `piece`…, `end` (or `error`)."""
    body = call.body
    coming = await call.memory.reply(
        call.user, body["text"], session=body.get("session"), id=body.get("id") or _id(call, 0)
    )
    latest = Latest(
        text=body["text"],
        time=coming.turn.time,
        session=coming.turn.session,
        contributions=coming.contributions,
    )
    call.desk.lately.note(call.caller.tenant, call.user, latest)
    if body.get("stream"):
        return Relay(
            _events(coming),
            finish=coming.close,
            media_type="text/event-stream; charset=utf-8",
        )
    text = await coming.text()
    return shown({"turn": coming.turn, "text": text, "contributions": coming.contributions})


async def _events(coming: Reply) -> AsyncGenerator[bytes]:
    began = {"turn": coming.turn, "contributions": coming.contributions}
    yield _event("begin", began)
    try:
        async for piece in coming:
            yield _event("piece", {"text": piece})
    except OmoideError as error:
        problem = problem_of(error)
        yield _event("error", {"status": problem.status, "detail": problem.detail})
    else:
        yield _event("end", {})


async def end(call: Call) -> Response:
    """End sessions."""
    ended = await call.memory.end_session(call.user, session=call.body.get("session"))
    return shown({"sessions": ended})


async def retry(call: Call) -> Response:
    """Give work another try."""
    return shown({"items": await call.memory.retry(call.user, job=call.body.get("job"))})


async def rollback(call: Call) -> Response:
    """Bring a version back."""
    back = await call.memory.rollback(call.user, When(version=call.body["version"]))
    return shown(back, status=201)


async def amend(call: Call) -> Response:
    """Put a sentence right."""
    edited = await call.memory.amend(call.user, call.body["sentence"], call.body["text"])
    return shown(edited, status=201)


async def demo(call: Call) -> Response:
    """Load the demo conversation into a user of whom nothing is stored."""
    if await call.memory.sessions(call.user):
        raise Problem(409, "not-empty", f"{call.user} has a memory: name another user, or erase it")
    owner = Owner(tenant=call.caller.tenant, user=call.user)
    now = call.desk.tenants.parts.clock.now()
    loaded = await load(call.memory.store, owner, call.body.get("language", "en"), now=now)
    call.memory.worker.wake()
    return shown(loaded, status=201)


async def erase(call: Call) -> Response:
    """Remove for good."""
    body = call.body
    erased = await call.memory.erase(
        call.user,
        session=body.get("session"),
        turns=body.get("turns"),
        sentences=body.get("sentences"),
    )
    call.desk.forget(call.caller.tenant, call.user)
    return shown(erased)


def _id(call: Call, place: int) -> str | None:
    """A turn's id out of the idempotency key: so recording is done once even if the server was
    started anew in between."""
    if (seed := call.seed()) is None:
        return None
    return f"key-{hashlib.blake2b(seed.encode(), digest_size=16).hexdigest()}-{place}"


def _event(name: str, data: object) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + encoded(plain(data)) + b"\n\n"


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
) -> Endpoint:
    """A row for a change, which is done once for each idempotency key."""
    return Endpoint(
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
    )


ROUTES = (
    post(
        "/api/turns",
        record,
        takes="Record",
        answer="Recorded",
        about="Record what was said; durable on return",
        status=201,
    ),
    Endpoint(
        method="POST",
        path="/api/recall",
        handler=recall,
        about="What comes to mind, without a model call",
        needs=READ,
        takes="Query",
        answer="RecalledList",
        fails=(409,),
    ),
    Endpoint(
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
        about="End sessions; the memory is rewritten in the background",
    ),
    post(
        "/api/jobs/retry",
        retry,
        takes="Retry",
        answer="Retried",
        about="Give work that was given up (GET /api/jobs?state=dead) another try",
    ),
    post(
        "/api/memory/rollback",
        rollback,
        takes="Rollback",
        answer="Memory",
        about="Bring an old version back, as a new one",
        status=201,
    ),
    post(
        "/api/memory/amend",
        amend,
        takes="Amendment",
        answer="Memory",
        about="Put a sentence of the newest memory right, as a new version",
        status=201,
    ),
    post(
        "/api/demo",
        demo,
        takes="Demo",
        answer="Loaded",
        about="Load the demo conversation, with its memory, into a user without any",
        status=201,
        fails=(409,),
    ),
    post(
        "/api/erase",
        erase,
        takes="Erasure",
        answer="Erased",
        about="Remove for good",
        needs=ADMIN,
    ),
)

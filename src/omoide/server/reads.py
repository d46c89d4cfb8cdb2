"""The routes that look: each parses, asks the memory one thing, and shows it."""

from __future__ import annotations

import json
from datetime import UTC
from typing import TYPE_CHECKING

from starlette.responses import Response, StreamingResponse

from omoide.domain import State
from omoide.domain.cost import GROUPS, grouped, summed
from omoide.server.endpoint import CURSOR, LIMIT, SESSION, Call, Endpoint, Parameter
from omoide.server.keys import Scope
from omoide.server.plain import plain
from omoide.server.problems import encoded
from omoide.server.shapes.words import TIME, WHOLE
from omoide.versions import When

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable
    from typing import TypeVar

    from omoide.server.endpoint import Handler

    T = TypeVar("T")

READ = frozenset({Scope.READ})
WHEN = (
    Parameter(name="version", shape=WHOLE, about="A version's number."),
    Parameter(name="session", shape=SESSION.shape, about="As it was after that session."),
    Parameter(name="at", shape=TIME, about="As it was at that time."),
)


def shown(value: object, *, status: int = 200) -> Response:
    """A value as an answer."""
    return Response(encoded(plain(value)), status_code=status, media_type="application/json")


def page(
    call: Call,
    items: Iterable[T],
    place: Callable[[T], int],
    seen: Callable[[T], object] = lambda item: item,
) -> Response:
    """One page of items that are in the order of their places; the cursor is the last place."""
    after, limit = int(call.query.get("cursor", -1)), call.query.get("limit", 100)
    rest = [item for item in items if place(item) > after]
    following = str(place(rest[limit - 1])) if len(rest) > limit else None
    return shown({"items": [seen(item) for item in rest[:limit]], "next": following})


async def turns(call: Call) -> Response:
    """What was said."""
    found = await call.memory.turns(call.user, session=call.query.get("session"))
    return page(call, found, lambda turn: turn.position)


async def sessions(call: Call) -> Response:
    """The sessions."""
    return page(call, await call.memory.sessions(call.user), lambda session: session.number)


async def memory(call: Call) -> Response:
    """A version of the memory."""
    when = _when(call)
    return shown(
        await call.memory.memory(call.user, version=when.version, session=when.session, at=when.at)
    )


async def history(call: Call) -> Response:
    """All versions."""
    return page(call, await call.memory.history(call.user), lambda version: version.number)


async def diff(call: Call) -> Response:
    """What changed."""
    new = When(version=call.query["to"]) if "to" in call.query else None
    old = When(version=call.query.get("from", 0))
    return shown({"items": await call.memory.diff(call.user, old, new)})


async def why(call: Call) -> Response:
    """What the memory rests on."""
    return shown({"items": await call.memory.why(call.user, _when(call))})


async def aside(call: Call) -> Response:
    """What was not allowed to become memory."""
    return shown({"items": await call.memory.aside(call.user)})


async def export(call: Call) -> Response:
    """Everything, as JSON lines."""

    async def lines() -> AsyncIterator[bytes]:
        async for record in call.memory.export(call.user):
            yield json.dumps(record, ensure_ascii=False).encode() + b"\n"

    return StreamingResponse(lines(), media_type="application/x-ndjson")


async def jobs(call: Call) -> Response:
    """Work in the background."""
    states = [State(state) for state in call.query.get("state", ())]
    found = await call.memory.jobs(call.user, states=states)
    return page(call, sorted(found, key=lambda job: job.id), lambda job: job.id)


async def users(call: Call) -> Response:
    """Everyone of whom anything is remembered. The cursor counts: names may hold anything."""
    everyone = enumerate(sorted(await call.memory.users()))
    return page(call, everyone, lambda pair: pair[0], lambda pair: pair[1])


async def cost(call: Call) -> Response:
    """What the models took; days are those of UTC."""
    calls = await call.memory.calls(call.user)
    groups = grouped(calls, call.query.get("by", "purpose"), zone=UTC)
    return shown({"groups": groups, "total": summed("total", calls)})


def _when(call: Call) -> When:
    return When(**{n: call.query[n] for n in ("version", "session", "at") if n in call.query})


def get(
    path: str,
    handler: Handler,
    answer: str,
    *query: Parameter,
    about: str,
    fails: tuple[int, ...] = (),
    user: bool = True,
) -> Endpoint:
    """A row for a look."""
    return Endpoint(
        method="GET",
        path=path,
        handler=handler,
        about=about,
        needs=READ,
        answer=answer,
        query=query,
        fails=fails,
        user=user,
    )


_VERSION = "A version's number."
_BY = {"type": "string", "enum": list(GROUPS)}
_STATE = {"type": "string", "enum": [state.value for state in State]}

ROUTES = (
    get("/api/turns", turns, "TurnPage", SESSION, LIMIT, CURSOR, about="What was said"),
    get("/api/sessions", sessions, "SessionPage", LIMIT, CURSOR, about="The sessions"),
    get("/api/memory", memory, "Memory", *WHEN, about="The memory, now or then", fails=(404,)),
    get("/api/memory/versions", history, "MemoryPage", LIMIT, CURSOR, about="All versions"),
    get(
        "/api/memory/diff",
        diff,
        "Changes",
        Parameter(name="from", shape=WHOLE, about=_VERSION),
        Parameter(name="to", shape=WHOLE, about=f"{_VERSION} The newest if left out."),
        about="What changed between two versions",
        fails=(404,),
    ),
    get("/api/memory/why", why, "Reasons", *WHEN, about="What it rests on", fails=(404,)),
    get("/api/memory/aside", aside, "RejectedList", about="Answers that were refused"),
    get("/api/export", export, "application/x-ndjson", about="Everything, as JSON lines"),
    get(
        "/api/cost",
        cost,
        "Cost",
        Parameter(name="by", shape=_BY, about="How to group."),
        about="What the models took",
    ),
    get(
        "/api/jobs",
        jobs,
        "JobPage",
        Parameter(name="state", shape=_STATE, about="Only in this state; may repeat.", many=True),
        LIMIT,
        CURSOR,
        about="Work in the background",
    ),
    get("/api/users", users, "UserPage", LIMIT, CURSOR, about="Who is remembered", user=False),
)

"""Read-only routes: each parses the request, calls one method of the memory and returns JSON."""

from __future__ import annotations

import json
from datetime import UTC
from typing import TYPE_CHECKING

from starlette.responses import Response, StreamingResponse

from omoide.domain import JobState
from omoide.domain.cost import GROUPS, grouped, total_cost
from omoide.engine.versions import When
from omoide.server.addressing import Addressing
from omoide.server.endpoint import CURSOR, LIMIT, SESSION, Parameter, RouteCall, RouteSpec
from omoide.server.json_values import to_json_value
from omoide.server.keys import Scope
from omoide.server.problems import encoded
from omoide.server.shapes.builders import FILE_PATH, NAME, NUMBERED, TIME, WHOLE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable
    from typing import TypeVar

    from omoide.server.endpoint import Handler

    T = TypeVar("T")

READ = frozenset({Scope.READ})
WHEN = (
    Parameter(name="version", shape=WHOLE, about="A version's number."),
    Parameter(name="session", shape=SESSION.shape, about="The version after that session."),
    Parameter(name="at", shape=TIME, about="The version at that time."),
)


def json_response(value: object, *, status: int = 200) -> Response:
    """A value as a JSON response."""
    return Response(
        encoded(to_json_value(value)), status_code=status, media_type="application/json"
    )


def page(
    call: RouteCall,
    items: Iterable[T],
    position: Callable[[T], int],
    show: Callable[[T], object] = lambda item: item,
    **more: object,
) -> Response:
    """One page of items, which are sorted by position, and `more`. The cursor is the last position
    shown."""
    after, limit = int(call.query.get("cursor", -1)), call.query.get("limit", 100)
    rest = [item for item in items if position(item) > after]
    following = str(position(rest[limit - 1])) if len(rest) > limit else None
    shown = [show(item) for item in rest[:limit]]
    return json_response({"items": shown, "next": following, **more})


async def turns(call: RouteCall) -> Response:
    """List turns."""
    query = call.query
    if "before" in query or "last" in query:
        items = await call.memory.turns(
            call.user,
            session=query.get("session"),
            before=query.get("before"),
            last=query.get("last", query.get("limit", 100)),
        )
        return json_response({"items": items, "next": None})
    items = await call.memory.turns(
        call.user,
        session=query.get("session"),
        after=int(query.get("cursor", 0)),
        first=query.get("limit", 100) + 1,  # one more tells whether there is another page
        ids=query.get("id"),
    )
    return page(call, items, lambda turn: turn.position)


async def sessions(call: RouteCall) -> Response:
    """List sessions."""
    return page(call, await call.memory.sessions(call.user), lambda session: session.number)


async def memory(call: RouteCall) -> Response:
    """One version of the summary."""
    when = _when(call)
    return json_response(
        await call.memory.summary(call.user, version=when.version, session=when.session, at=when.at)
    )


async def history(call: RouteCall) -> Response:
    """List all versions of the summary."""
    return page(call, await call.memory.history(call.user), lambda version: version.number)


async def files(call: RouteCall) -> Response:
    """List the versions of the memory tool's files."""
    versions = await call.memory.file_versions(call.user, call.query.get("path"))
    return page(call, versions, lambda version: version.number)


async def diff(call: RouteCall) -> Response:
    """What changed between two versions."""
    new = When(version=call.query["to"]) if "to" in call.query else None
    old = When(version=call.query.get("from", 0))
    address = await Addressing.of(call.memory, call.user)
    changes = await call.memory.diff(call.user, old, new)
    return json_response({"items": [address.change(change) for change in changes]})


async def why(call: RouteCall) -> Response:
    """The sentences of a version with their supporting turns."""
    reasons = await call.memory.why(call.user, _when(call))
    address = await Addressing.of(call.memory, call.user)
    items = [address.reason(because) for because in reasons]
    return json_response({"items": items, "name": address.name})


async def rejected(call: RouteCall) -> Response:
    """Model answers that did not pass the guards."""
    return json_response({"items": await call.memory.rejected(call.user)})


async def export(call: RouteCall) -> Response:
    """Export everything as JSON lines."""

    async def lines() -> AsyncIterator[bytes]:
        async for record in call.memory.export(call.user):
            yield json.dumps(record, ensure_ascii=False).encode() + b"\n"

    return StreamingResponse(lines(), media_type="application/x-ndjson")


async def jobs(call: RouteCall) -> Response:
    """List background jobs."""
    states = [JobState(state) for state in call.query.get("state", ())]
    items = await call.memory.jobs(call.user, states=states)
    return page(call, sorted(items, key=lambda job: job.id), lambda job: job.id)


async def users(call: RouteCall) -> Response:
    """List users with a memory. The cursor is an index, since names may contain any character."""
    everyone = enumerate(sorted(await call.memory.users()))
    return page(call, everyone, lambda pair: pair[0], lambda pair: pair[1])


async def cost(call: RouteCall) -> Response:
    """Cost of model calls; days are in UTC."""
    calls = await call.memory.calls(call.user)
    groups = grouped(calls, call.query.get("by", "purpose"), zone=UTC)
    return json_response({"groups": groups, "total": total_cost("total", calls)})


def _when(call: RouteCall) -> When:
    return When(**{n: call.query[n] for n in ("version", "session", "at") if n in call.query})


def get(
    path: str,
    handler: Handler,
    answer: str,
    *query: Parameter,
    about: str,
    fails: tuple[int, ...] = (),
    user: bool = True,
) -> RouteSpec:
    """A `RouteSpec` for reading."""
    return RouteSpec(
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
_STATE = {"type": "string", "enum": [state.value for state in JobState]}

ROUTES = (
    get(
        "/api/turns",
        turns,
        "TurnPage",
        SESSION,
        Parameter(name="id", shape=NAME, about="Only these turns; may be repeated.", many=True),
        Parameter(
            name="before",
            shape=NUMBERED,
            about="Only turns before this position: the last of them instead of the first.",
        ),
        Parameter(
            name="last",
            shape=LIMIT.shape,
            about="Only so many of the newest, on one page.",
        ),
        LIMIT,
        CURSOR,
        about="List turns",
    ),
    get("/api/sessions", sessions, "SessionPage", LIMIT, CURSOR, about="List sessions"),
    get(
        "/api/memory",
        memory,
        "Memory",
        *WHEN,
        about="The summary, now or at an earlier version",
        fails=(404,),
    ),
    get(
        "/api/memory/versions",
        history,
        "MemoryPage",
        LIMIT,
        CURSOR,
        about="List versions of the summary",
    ),
    get(
        "/api/memory/files",
        files,
        "FileVersionPage",
        Parameter(name="path", shape=FILE_PATH, about="Only the file at this path."),
        LIMIT,
        CURSOR,
        about="List versions of the memory tool's files: who wrote what when",
    ),
    get(
        "/api/memory/diff",
        diff,
        "Changes",
        Parameter(name="from", shape=WHOLE, about=_VERSION),
        Parameter(name="to", shape=WHOLE, about=f"{_VERSION} Defaults to the newest."),
        about="What changed between two versions",
        fails=(404,),
    ),
    get(
        "/api/memory/why",
        why,
        "Reasons",
        *WHEN,
        about="The supporting turns of each sentence",
        fails=(404,),
    ),
    get("/api/memory/rejected", rejected, "RejectedList", about="Model answers that were rejected"),
    get("/api/export", export, "application/x-ndjson", about="Export everything as JSON lines"),
    get(
        "/api/cost",
        cost,
        "Cost",
        Parameter(name="by", shape=_BY, about="What to group by."),
        about="Cost of model calls",
    ),
    get(
        "/api/jobs",
        jobs,
        "JobPage",
        Parameter(
            name="state", shape=_STATE, about="Only jobs in this state; may be repeated.", many=True
        ),
        LIMIT,
        CURSOR,
        about="List background jobs",
    ),
    get("/api/users", users, "UserPage", LIMIT, CURSOR, about="List users", user=False),
)

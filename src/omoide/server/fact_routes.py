"""Routes for facts: what holds, their timeline, marks, corrections and forgetting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import FactKind, FactMarks
from omoide.language.addressing import from_user
from omoide.server.addressing import Addressing
from omoide.server.endpoint import CURSOR, LIMIT, Parameter, RouteCall, RouteSpec
from omoide.server.read_routes import get, json_response, page
from omoide.server.schema import parse_time
from omoide.server.shapes.builders import NAME, TIME, YES_OR_NO
from omoide.server.write_routes import ADMIN, ONCE, WRITE, at_of, post

if TYPE_CHECKING:
    from starlette.responses import Response

    from omoide.domain import Fact

_KIND = {"type": "string", "enum": [kind.value for kind in FactKind]}
_ABOUT = Parameter(name="about", shape=NAME, about="`user`, `assistant` or a person's name.")
_FILTERS = (
    _ABOUT,
    Parameter(name="kind", shape=_KIND, about="Only of this kind; may be repeated.", many=True),
    Parameter(name="tag", shape=NAME, about="With one of these tags; may be repeated.", many=True),
)


async def facts(call: RouteCall) -> Response:
    """List what holds, or held at a time. The cursor is an index."""
    query = call.query
    found = await call.memory.facts(
        call.user,
        ids=query.get("id"),
        turns=query.get("turn"),
        at=query.get("at"),
        about=query.get("about"),
        kinds=query.get("kind", ()),
        tags=query.get("tag", ()),
        since=query.get("since"),
        until=query.get("until"),
        ended=query.get("ended", False),
    )
    address = await Addressing.of(call.memory, call.user)
    return page(
        call,
        enumerate(found),
        lambda pair: pair[0],
        lambda pair: address.fact(pair[1]),
        name=address.name,
    )


async def timeline(call: RouteCall) -> Response:
    """What began, changed, was confirmed, ended and expired. The cursor is an index."""
    query = call.query
    found = await call.memory.timeline(
        call.user,
        about=query.get("about"),
        kinds=query.get("kind", ()),
        tags=query.get("tag", ()),
        since=query.get("since"),
        until=query.get("until"),
    )
    address = await Addressing.of(call.memory, call.user)
    return page(call, enumerate(found), lambda pair: pair[0], lambda pair: address.entry(pair[1]))


async def mark_fact(call: RouteCall) -> Response:
    """Pin, tag or expire a fact."""
    body = call.body
    expires = body.get("expires")
    marks = FactMarks(
        pinned=body.get("pinned"),
        expires=parse_time(expires, where="expires") if expires is not None else None,
        forever="expires" in body and expires is None,
        tags=tuple(dict.fromkeys(body["tags"])) if "tags" in body else None,
    )
    return await _one(call, await call.memory.mark(call.user, body["id"], marks))


async def correct_fact(call: RouteCall) -> Response:
    """Replace a fact by what the user says instead."""
    body = call.body
    text = body["text"]
    if body.get("addressed"):
        (old,) = await call.memory.facts(call.user, ids=[body["id"]]) or (None,)
        if old is not None:
            address = await Addressing.of(call.memory, call.user)
            same = text == address.fact(old)["addressed"]
            note = from_user(text, old.language, instead_of=old.text)
            text = old.text if same else note
    said = body.get("said", body["text"])
    fact = await call.memory.correct(call.user, body["id"], text, at=at_of(call), said=said)
    return await _one(call, fact, status=201)


async def _one(call: RouteCall, fact: Fact, *, status: int = 200) -> Response:
    address = await Addressing.of(call.memory, call.user)
    return json_response(address.fact(fact), status=status)


async def forget_fact(call: RouteCall) -> Response:
    """Erase a fact permanently."""
    query = call.query
    erased = await call.memory.forget(
        call.user, query.get("id", ""), words=query.get("words", False)
    )
    call.context.forget(call.caller.tenant, call.user)
    return json_response(erased)


ROUTES = (
    get(
        "/api/facts",
        facts,
        "FactPage",
        Parameter(
            name="id",
            shape=NAME,
            about="Only these facts, whatever became of them; may be repeated.",
            many=True,
        ),
        Parameter(
            name="turn",
            shape=NAME,
            about="Only what one of these turns supports, by id; may be repeated.",
            many=True,
        ),
        Parameter(name="at", shape=TIME, about="What held at that time."),
        *_FILTERS,
        Parameter(name="since", shape=TIME, about="Said at that time or later."),
        Parameter(name="until", shape=TIME, about="Said before that time."),
        Parameter(name="ended", shape=YES_OR_NO, about="Also what had ended or expired."),
        LIMIT,
        CURSOR,
        about="List facts: what holds now, or held at a time",
    ),
    RouteSpec(
        method="PATCH",
        path="/api/facts",
        handler=mark_fact,
        about="Pin, tag or expire a fact",
        needs=WRITE,
        takes="Marks",
        answer="Fact",
        headers=ONCE,
        fails=(404, 409),
    ),
    RouteSpec(
        method="DELETE",
        path="/api/facts",
        handler=forget_fact,
        about="Erase a fact permanently, and its text wherever memory has it",
        needs=ADMIN,
        answer="Erased",
        query=(
            Parameter(name="id", shape=NAME, about="The id of the fact."),
            Parameter(name="words", shape=YES_OR_NO, about="Also erase the turns that support it."),
        ),
        fails=(404, 409),
    ),
    post(
        "/api/facts/correct",
        correct_fact,
        takes="Correction",
        answer="Fact",
        about="Replace a fact by what the user says instead; the old one ends",
        status=201,
    ),
    get(
        "/api/facts/timeline",
        timeline,
        "Timeline",
        *_FILTERS,
        Parameter(name="since", shape=TIME, about="From that time on."),
        Parameter(name="until", shape=TIME, about="Until that time."),
        LIMIT,
        CURSOR,
        about="What memory learned, and when and why it changed its mind",
    ),
)

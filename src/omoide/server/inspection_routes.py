"""Routes that inspect memory: memos, events and their forgetting curves, and why something was
recalled.

Events and memos are shown whichever mechanisms are enabled, because some may have been imported or
made under other settings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.demo import LANGUAGES
from omoide.domain import Speaker
from omoide.server.addressing import Addressing
from omoide.server.endpoint import CURSOR, LIMIT, Parameter, RouteCall, RouteSpec
from omoide.server.read_routes import READ, get, json_response, page
from omoide.server.shapes.builders import NUMBERED, TIME
from omoide.server.write_routes import ONCE, WRITE, at_of, post
from omoide.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from starlette.responses import Response

    from omoide.domain import Session, Turn
    from omoide.mechanisms.events.scoring import EventCandidate

OPENING_LENGTH = 80
"""Characters of a session's first message that are shown."""
OPENING_TURNS = 4
"""Turns of a session among which the user's first message is looked for."""


async def about(call: RouteCall) -> Response:
    """Describe this server and what the caller may do."""
    memory = call.memory.about
    return json_response(
        {
            "version": __version__,
            "tenant": call.caller.tenant,
            "model": memory.model,
            "summariser": memory.summariser,
            "embedder": memory.embedder,
            "mechanisms": memory.mechanisms,
            "layers": [layer.mechanism.name for layer in call.context.runtime.layers],
            "preset": memory.preset,
            "user": call.context.default_user,
            "scopes": sorted(call.caller.scopes),
            "now": call.context.runtime.clock.now(),
            "demos": LANGUAGES,
        }
    )


async def session_cards(call: RouteCall) -> Response:
    """List sessions by their latest turn, newest first, each with its first words. An imported
    conversation stands where it belongs, though its number is higher than those of newer ones."""
    before, limit = call.query.get("before"), call.query.get("limit", 100)
    newest = sorted(await call.memory.sessions(call.user), key=_recency, reverse=True)
    at = next((i for i, s in enumerate(newest, start=1) if s.number == before), 0)
    selected = newest[at : at + limit]
    titles = await call.memory.titles(call.user) if selected else {}
    cards = [
        _card(
            session,
            await call.memory.turns(call.user, session=session.number, first=OPENING_TURNS),
            title=titles.get(session.number, ""),
        )
        for session in selected
    ]
    return json_response({"items": cards})


async def rename_session(call: RouteCall) -> Response:
    """Give a session a title."""
    session, title = call.body["session"], call.body["title"]
    await call.memory.rename(call.user, session, title)
    titles = await call.memory.titles(call.user)
    return json_response({"session": session, "title": titles.get(session, "")})


def _recency(session: Session) -> tuple[datetime, int]:
    return session.last, session.number


def _card(session: Session, turns: Sequence[Turn], *, title: str) -> dict[str, object]:
    first = next((t for t in turns if t.speaker is Speaker.USER), turns[0] if turns else None)
    opening = " ".join(first.text.split())[:OPENING_LENGTH] if first else ""
    return {**vars(session), "opening": opening, "title": title}


async def memos(call: RouteCall) -> Response:
    """List memos, oldest first."""
    items = await call.memory.memos(call.user)
    address = await Addressing.of(call.memory, call.user)
    return page(call, enumerate(items), lambda pair: pair[0], lambda pair: address.memo(pair[1]))


async def events(call: RouteCall) -> Response:
    """List events, in the order they were mentioned."""
    items = await call.memory.events(call.user)
    address = await Addressing.of(call.memory, call.user)
    return page(call, enumerate(items), lambda pair: pair[0], lambda pair: address.event(pair[1]))


async def curves(call: RouteCall) -> Response:
    """Forgetting curves of the newest events, now and if they were recalled now."""
    items = await call.memory.curves(
        call.user,
        at=call.query.get("at"),
        days=call.query.get("days", 365),
        newest=call.query.get("limit", 100),
    )
    address = await Addressing.of(call.memory, call.user)
    return json_response({"items": [address.curve(curve) for curve in items]})


async def explain(call: RouteCall) -> Response:
    """List every event that is scored for a text."""
    body = call.body
    explained = await call.memory.explain(
        call.user,
        body["text"],
        at=at_of(call),
    )
    address = await Addressing.of(call.memory, call.user)
    items = [_scored(candidate, address) for candidate in explained.candidates]
    return json_response({"items": items, "calibration": explained.calibration})


def _scored(candidate: EventCandidate, address: Addressing) -> dict[str, object]:
    return {
        "event": address.event(candidate.event),
        "cosine": candidate.cosine,
        "words": candidate.words,
        "by": candidate.by,
        "odds": candidate.odds,
        "recalled": candidate.recalled,
        "why": candidate.why,
    }


async def calibrate(call: RouteCall) -> Response:
    """Fit the calibration to the user's own data."""
    return json_response(await call.memory.calibrate(call.user, at=at_of(call)))


async def latest(call: RouteCall) -> Response:
    """What memory contributed to the user's latest reply."""
    mark = await call.erasure_mark()
    reply = call.context.latest_replies.of(call.caller.tenant, call.user, mark=mark)
    if reply is None:
        return json_response({"latest": None})
    address = await Addressing.of(call.memory, call.user)
    contributions = [address.contribution(one) for one in reply.contributions]
    return json_response({"latest": {**vars(reply), "contributions": contributions}})


_DAYS = {"type": "integer", "minimum": 1, "maximum": 3650, "default": 365}

ROUTES = (
    get("/api/about", about, "About", about="Describe this server", user=False),
    get(
        "/api/sessions/latest",
        session_cards,
        "SessionCards",
        Parameter(
            name="before",
            shape=NUMBERED,
            about="Only sessions after this one in the list; all if it is no longer there.",
        ),
        LIMIT,
        about="Sessions by their latest turn, newest first, with their first words",
    ),
    RouteSpec(
        method="PATCH",
        path="/api/sessions",
        handler=rename_session,
        about="Give a session a title; an empty one removes it",
        needs=WRITE,
        takes="Title",
        answer="Titled",
        headers=ONCE,
        fails=(404, 409),
    ),
    get("/api/memos", memos, "MemoPage", LIMIT, CURSOR, about="List memos"),
    get("/api/events", events, "EventPage", LIMIT, CURSOR, about="List events"),
    get(
        "/api/events/curves",
        curves,
        "Curves",
        Parameter(name="days", shape=_DAYS, about="Days to look ahead."),
        Parameter(name="at", shape=TIME, about="The time to look ahead from; now if left out."),
        LIMIT,
        about="Forgetting curves of the newest events",
    ),
    post(
        "/api/events/calibrate",
        calibrate,
        takes="When",
        answer="Calibration",
        about="Fit what counts as relevant to the user's own data; it is used from now on",
        quotes=False,
    ),
    get(
        "/api/latest",
        latest,
        "LatestReply",
        about="What memory contributed to the latest reply, and why",
    ),
    RouteSpec(
        method="POST",
        path="/api/explain",
        handler=explain,
        about="Every event that is scored for a text, with r, t, g and p",
        needs=READ,
        takes="Explain",
        answer="Explained",
        fails=(409,),
    ),
)

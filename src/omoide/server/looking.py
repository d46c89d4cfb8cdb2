"""The routes that look inside: memos, events and how they fade, and why something came to mind.

Events and memos are shown whichever mechanisms run: those that were imported, or made under other
settings, are there all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.demo import LANGUAGES
from omoide.domain import Owner, Speaker
from omoide.language import detect
from omoide.memory.events.human_recall import HumanRecall
from omoide.memory.events.writer import ModelWriter
from omoide.server.endpoint import CURSOR, LIMIT, Call, Endpoint, Parameter
from omoide.server.reads import READ, get, page, shown
from omoide.server.schema import moment
from omoide.server.shapes.words import NUMBERED
from omoide.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.responses import Response

    from omoide.domain import Session, Turn
    from omoide.memory.events.scoring import Candidate

SHOWN = 80
"""Characters of a session's first words."""


async def about(call: Call) -> Response:
    """What this server is, and what the caller may."""
    tenants = call.desk.tenants
    return shown(
        {
            "version": __version__,
            "model": call.memory.model.name,
            "mechanisms": [mechanism.name for mechanism in call.memory.mechanisms],
            "user": call.desk.default_user,
            "scopes": sorted(call.caller.scopes),
            "now": tenants.parts.clock.now(),
            "demos": LANGUAGES,
        }
    )


async def cards(call: Call) -> Response:
    """The newest sessions first, each with its opening words."""
    before, limit = call.query.get("before"), call.query.get("limit", 100)
    sessions = await call.memory.sessions(call.user)
    wanted = [s for s in reversed(sessions) if before is None or s.number < before][:limit]
    turns = [await call.memory.turns(call.user, session=s.number) for s in wanted]
    return shown({"items": [_card(s, said) for s, said in zip(wanted, turns, strict=True)]})


def _card(session: Session, turns: Sequence[Turn]) -> dict[str, object]:
    first = next((t for t in turns if t.speaker is Speaker.USER), turns[0] if turns else None)
    opening = " ".join(first.text.split())[:SHOWN] if first else ""
    return {**vars(session), "opening": opening}


async def memos(call: Call) -> Response:
    """Dialogue by topic, oldest first."""
    found = await call.memory.store.memos.read(_owner(call))
    return page(call, enumerate(found), lambda pair: pair[0], lambda pair: pair[1])


async def events(call: Call) -> Response:
    """What happened, in the order it was told."""
    found = await call.memory.store.events.read(_owner(call))
    return page(call, enumerate(found), lambda pair: pair[0], lambda pair: pair[1])


async def curves(call: Call) -> Response:
    """How the newest events fade, and would fade if they came to mind now."""
    found = await _human_recall(call).curves(
        _owner(call),
        now=call.desk.tenants.parts.clock.now(),
        days=call.query.get("days", 365),
        newest=call.query.get("limit", 100),
    )
    return shown({"items": found})


async def explain(call: Call) -> Response:
    """Every event that was weighed for a text."""
    body = call.body
    weighed = await _human_recall(call).explain(
        _owner(call),
        body["text"],
        now=moment(body["at"], where="at") if "at" in body else call.desk.tenants.parts.clock.now(),
        language=detect(body["text"]),
    )
    items = [_weighed(candidate) for candidate in weighed.candidates]
    return shown({"items": items, "calibration": weighed.calibration})


def _weighed(candidate: Candidate) -> dict[str, object]:
    return {
        "event": candidate.event,
        "by": candidate.by,
        "odds": candidate.odds,
        "recalled": candidate.recalled,
        "why": candidate.why,
    }


async def latest(call: Call) -> Response:
    """What memory gave to the user's latest reply."""
    return shown({"latest": call.desk.lately.of(call.caller.tenant, call.user)})


def _owner(call: Call) -> Owner:
    return Owner(tenant=call.caller.tenant, user=call.user)


def _human_recall(call: Call) -> HumanRecall:
    """The mechanism as it runs; or, where it does not, one to look with."""
    memory = call.memory
    for mechanism in memory.mechanisms:
        if isinstance(mechanism, HumanRecall):
            return mechanism
    model = memory.iterator
    writer = ModelWriter(window=model.window, count=model.count, name=model.name)
    parts = call.desk.tenants.parts
    return HumanRecall(store=parts.store, embedder=parts.embedder, writer=writer)


_DAYS = {"type": "integer", "minimum": 1, "maximum": 3650, "default": 365}

ROUTES = (
    get("/api/about", about, "About", about="What this server is", user=False),
    get(
        "/api/sessions/latest",
        cards,
        "SessionCards",
        Parameter(name="before", shape=NUMBERED, about="Only sessions with a lower number."),
        LIMIT,
        about="The newest sessions first, with their opening words",
    ),
    get("/api/memos", memos, "MemoPage", LIMIT, CURSOR, about="Dialogue by topic"),
    get("/api/events", events, "EventPage", LIMIT, CURSOR, about="What happened"),
    get(
        "/api/events/curves",
        curves,
        "Curves",
        Parameter(name="days", shape=_DAYS, about="How far to look ahead."),
        LIMIT,
        about="How the newest events fade",
    ),
    get("/api/latest", latest, "LatestReply", about="What the latest reply was given, and why"),
    Endpoint(
        method="POST",
        path="/api/explain",
        handler=explain,
        about="Every event that is weighed for a text, with r, t, g and p",
        needs=READ,
        takes="Explain",
        answer="Explained",
        fails=(409,),
    ),
)

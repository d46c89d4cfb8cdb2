"""Chooses the current habit when a query names a day of the week.

Paper B states as a limitation that recall prefers long-term patterns after behaviour has changed;
its task 0 fails for that reason. Here the places mentioned for that weekday compete. The habit
confirmed last wins; older habits and single occasions yield in this recall. Nothing is stored.
(`claims.contradiction` handles what a newer event makes untrue.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.claims.overlap import coverage
from omoide.domain.time import in_zone
from omoide.language import content_terms, pack
from omoide.mechanisms.events.human_time import weekday_named

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from omoide.domain import Event

ESTABLISHED = 2
"""How often something must have been mentioned or recalled to be a habit."""


@dataclass(frozen=True, kw_only=True)
class YieldingEvent:
    """Why an event yields to another in one recall."""

    to: str
    why: str


def yielding_events(
    events: Sequence[Event], query: str, *, language: str, zone: tzinfo | None = None
) -> dict[str, YieldingEvent]:
    """Which events yield to which if the query names a day of the week."""
    day = weekday_named(query, language)
    if day is None:
        return {}
    asked = content_terms(query)
    places: dict[str, list[Event]] = {}
    for event in events:
        where = _whereabouts(event, language)
        named = weekday_named(event.text, language)
        if (
            where is None
            or (in_zone(event.time, zone).weekday() if named is None else named) != day
        ):
            continue
        if not coverage(content_terms(where), asked):  # a place named in the query does not compete
            places.setdefault(where, []).append(event)
    habits = {
        where: max(event.last_recalled for event in mentions)
        for where, mentions in places.items()
        if sum(1 + event.recalls for event in mentions) >= ESTABLISHED
    }
    if not habits or len(places) < 2:
        return {}
    current = max(habits, key=lambda where: habits[where])
    latest = max(places[current], key=lambda event: event.last_recalled).id
    return {
        event.id: YieldingEvent(
            to=latest, why="an older habit" if where in habits else "a single occasion"
        )
        for where, mentions in places.items()
        if where != current
        for event in mentions
    }


def _whereabouts(event: Event, language: str) -> str | None:
    match = pack(language).change.whereabouts.search(event.text)
    return match.group("where").lower() if match else None

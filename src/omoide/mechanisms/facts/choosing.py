"""Chooses the facts that make up the summary: who the user is, what holds now, open plans and
promises first. What is not chosen is still remembered, and found by recall."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

from omoide.claims.names import name_in
from omoide.domain import FactKind, Sentence, Speaker
from omoide.domain.fact import ASSISTANT, USER
from omoide.mechanisms.facts.days import may_be_over

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from omoide.domain import Fact

KINDS = {
    FactKind.TRAIT: 6.0,
    FactKind.RELATION: 6.0,
    FactKind.STATE: 5.0,
    FactKind.PLAN: 5.0,
    FactKind.PROMISE: 5.0,
    FactKind.PREFERENCE: 4.5,
    FactKind.EVENT: 2.5,
}
"""How much each kind weighs."""
NAME = 20.0
"""What a name weighs besides: it is the first thing an old friend knows."""
OVERDUE = 1.5
"""What a plan weighs once its day has passed, and what was to hold until a day that has."""
OF_USER, OF_OTHERS = 2.0, 0.5
"""What it weighs besides to be about the user, or about a person in their life."""
RECENT, DAYS = 3.0, 90.0
"""What a fact of today weighs besides, and the days in which that falls to a third."""
LASTING = frozenset({FactKind.TRAIT, FactKind.RELATION, FactKind.PREFERENCE})
"""Kinds that do not age. After a year of long talks, how things were last week would otherwise take
the place of who somebody is (docs/experiments/2026-11-18-a-year-with-an-assistant.md)."""
LASTS = 3.0
"""What a fact of such a kind weighs besides, whatever its age."""


def weight(fact: Fact, at: datetime) -> float:
    """How much a fact deserves a place in the summary at that time."""
    today = at.date()
    passed = fact.overdue(today) and not fact.supersedes  # else it is how things are now
    passed = passed or may_be_over(fact, today)
    total = OVERDUE if passed else KINDS.get(fact.kind, KINDS[FactKind.STATE])
    if fact.about == USER:
        total += OF_USER + (NAME if name_in(fact.text, fact.language) else 0.0)
    elif fact.about != ASSISTANT:
        total += OF_OTHERS
    if fact.kind in LASTING:
        return total + LASTS
    age = at - max(fact.said, fact.confirmed or fact.said)
    return total + RECENT * exp(-max(age.total_seconds(), 0.0) / (86400 * DAYS))


def choose(facts: Iterable[Fact], *, at: datetime, limit: int) -> tuple[Fact, ...]:
    """At most `limit` of the facts that hold: pinned ones, then by weight. In the order in which
    they read well: about the user, about others, about the assistant, each by when it was said."""
    holding = {fact.id: fact for fact in facts if fact.holds(at)}
    ranked = sorted(
        holding.values(),
        key=lambda fact: (fact.pinned, weight(fact, at), fact.said, fact.id),
        reverse=True,
    )
    return tuple(sorted(ranked[:limit], key=_place))


def _place(fact: Fact) -> tuple[bool, bool, bool, datetime]:
    named = fact.about == USER and bool(name_in(fact.text, fact.language))
    return fact.about == ASSISTANT, fact.about != USER, not named, fact.said


def sentence(fact: Fact) -> Sentence:
    """A fact as a sentence of the summary."""
    about = Speaker(fact.about) if fact.about in (USER, ASSISTANT) else None
    return Sentence(text=fact.text, about=about, sources=fact.sources, fact=fact.id)

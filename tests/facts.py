"""What must hold of all facts of a user together."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omoide.domain import Fact


def disagreeing(facts: Iterable[Fact]) -> list[Fact]:
    """Facts whose two sides disagree: one that claims to have replaced what another ended, or
    nobody; one whose successor does not know of it or is not there; one with half an end."""
    known = {fact.id: fact for fact in facts}
    return [
        fact
        for fact in known.values()
        if any(name not in known or known[name].ended_by != fact.id for name in fact.supersedes)
        or (fact.ended_by and fact.ended_by not in known)
        or (fact.ended_by and fact.id not in known[fact.ended_by].supersedes)
        or (fact.ended is None and (fact.ended_by or fact.end_reason))
    ]

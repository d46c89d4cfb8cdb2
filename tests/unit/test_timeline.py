"""The moments in the life of a fact, in order."""

from __future__ import annotations

from dataclasses import replace

from omoide.domain.timeline import FactChange, timeline
from omoide.testing.contracts.making import HOUR, START, fact

LATER, LAST = START + HOUR, START + 2 * HOUR


def changes(**life: object) -> list[FactChange]:
    """What happened to one fact."""
    lived = replace(fact("likes tea"), **life)  # type: ignore[arg-type]
    return [entry.change for entry in timeline([lived], until=START + 9 * HOUR)]


def test_a_fact_that_expires_has_an_entry_for_it() -> None:
    """Unless it never does, or had ended before."""
    began = [FactChange.BEGAN]
    assert changes() == began
    assert changes(expires=LATER) == [*began, FactChange.EXPIRED]
    assert changes(expires=START - HOUR) == [*began, FactChange.EXPIRED]
    ended = {"ended": LATER, "end_reason": "no more"}
    assert changes(**ended) == [*began, FactChange.ENDED]
    assert changes(**ended, expires=LAST) == [*began, FactChange.ENDED]
    assert changes(ended=LAST, end_reason="no more", expires=LATER) == [
        *began,
        FactChange.EXPIRED,
        FactChange.ENDED,
    ]


def test_a_fact_that_took_the_place_of_another_names_it() -> None:
    """The other has no entry for its end, and nothing is told of the time after `until`."""
    old = replace(fact("lives in Oslo"), ended=LATER, ended_by="new", end_reason="moved")
    new = fact("lives in Bergen", id="new", at=LATER)
    first, second = timeline([new, old], until=LATER)
    assert (first.fact, first.change) == (old, FactChange.BEGAN)
    assert (second.fact, second.change, second.replaced) == (new, FactChange.CHANGED, (old,))
    assert second.reason == "moved"
    assert [entry.fact for entry in timeline([new, old], until=START)] == [old]

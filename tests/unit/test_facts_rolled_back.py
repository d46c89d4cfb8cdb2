"""Rolling facts back, and their timeline, for any history of changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from omoide.domain import FactChange, FactChanges, FactEnd, FactKind, applied, timeline
from omoide.engine.rolling_back import roll_back
from omoide.testing.contracts.making import HOUR, START, fact, version

if TYPE_CHECKING:
    from datetime import datetime

    from omoide.domain import Fact

    Facts = dict[str, Fact]

LENGTH = 8
AHEAD = 100
"""The hour of every plan."""
DONE_AT_ONCE = ("add", "replace", "end", "roll back")


def steps_of(*kinds: str) -> st.SearchStrategy[list[tuple[str, str, int]]]:
    """What happens in each hour: to which fact, or back to which hour."""
    places = st.sampled_from(["Oslo", "Bergen", "Rome"])
    step = st.tuples(places, st.sampled_from(kinds), st.integers(0, LENGTH))
    return st.lists(step, max_size=LENGTH)


def hour(number: int) -> datetime:
    """So many hours after the start."""
    return START + number * HOUR


def after(facts: Facts, changes: FactChanges) -> Facts:
    """The facts once the changes are made."""
    done = applied(changes, facts)
    return {**facts, **{f.id: f for f in (*done.changed, *done.added)}}


def holding(facts: Facts, at: datetime) -> set[str]:
    """What holds then; each text once."""
    found = [f.text for f in facts.values() if f.holds(at)]
    assert len(found) == len(set(found))
    return set(found)


def rolled_back(facts: Facts, *, to: int, now: int) -> Facts:
    """The facts once the memory was rolled back from one hour to an earlier one."""
    target = version(to, at=hour(to))
    return after(facts, roll_back(tuple(facts.values()), target, number=now, now=hour(now)).changes)


def lived(steps: list[tuple[str, str, int]]) -> Facts:
    """The facts after all steps; each text holds at most once at a time."""
    facts: Facts = {}
    for now, (place, step, back) in enumerate(steps, start=1):
        open_ = [f for f in facts.values() if f.holds(hour(now))]
        new = fact(place, id=f"{place} {now}", at=hour(now))
        ended: list[FactEnd] = []
        if step == "roll back":
            facts = rolled_back(facts, to=min(back, now - 1), now=now)
        elif step == "end":
            ends = [FactEnd(id=f.id, at=hour(now)) for f in open_ if f.text == place]
            facts = after(facts, FactChanges(ended=tuple(ends)))
        elif place not in {f.text for f in open_}:
            if step == "replace":
                ended = [FactEnd(id=f.id, at=hour(now), by=new.id) for f in open_]
            elif step == "plan":
                new = replace(new, kind=FactKind.PLAN)
                ended = [FactEnd(id=f.id, at=hour(AHEAD), by=new.id) for f in open_]
            facts = after(facts, FactChanges(added=(new,), ended=tuple(ended)))
    return facts


@given(steps=steps_of(*DONE_AT_ONCE, "plan"), to=st.integers(0, LENGTH))
def test_what_held_then_holds_again_and_nothing_is_lost(
    steps: list[tuple[str, str, int]], to: int
) -> None:
    """After a rollback the same texts hold as at that time, every fact is still there with its
    text, and doing it again changes nothing."""
    facts, now = lived(steps), len(steps) + 1
    to = min(to, len(steps))
    back = rolled_back(facts, to=to, now=now)
    believed = holding(facts, hour(to)) if to else set()
    assert holding(back, hour(now)) == believed
    assert facts.keys() <= back.keys()
    assert all(back[id_].text == old.text for id_, old in facts.items())
    assert rolled_back(back, to=to, now=now + 1) == back


@given(steps=steps_of(*DONE_AT_ONCE))
def test_the_timeline_tells_every_change_once(steps: list[tuple[str, str, int]]) -> None:
    """Played from the start, it ends with what holds; each fact begins once."""
    facts, now = lived(steps), hour(len(steps) + 1)
    entries = timeline(facts.values(), until=now)
    assert [e.time for e in entries] == sorted(e.time for e in entries)
    begun = [e.fact.id for e in entries if e.change in (FactChange.BEGAN, FactChange.CHANGED)]
    assert sorted(begun) == sorted(facts)
    gone = {old.id for e in entries for old in e.replaced}
    gone |= {e.fact.id for e in entries if e.change is FactChange.ENDED}
    assert {facts[id_].text for id_ in begun if id_ not in gone} == holding(facts, now)

"""Properties that every store of ours keeps, tried on what hypothesis makes up."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from omoide.domain import (
    FactChanges,
    FactConfirmation,
    FactEnd,
    FactFilter,
    FactMarks,
    MemoryKind,
    applied,
)
from omoide.errors import ConflictingTurn
from omoide.testing.contracts.making import ANN, ANN_ELSEWHERE, BOB, HOUR, START, event, fact, say
from tests.contract.stores import MAKERS, SHARED
from tests.examples import examples
from tests.facts import disagreeing
from tests.lanes import some

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.domain import Event, Fact, NewTurn, Owner
    from omoide.ports import Store


LIGHT = ("sqlite-file", "documents")
"""The stores that `make test` tries."""


@dataclass
class Model:
    """What a store of turns must amount to."""

    turns: dict[Owner, list[NewTurn]] = field(default_factory=dict)
    sessions: dict[Owner, list[int]] = field(default_factory=dict)

    def append(self, owner: Owner, said: list[NewTurn]) -> bool:
        """Record a batch; False if it conflicts."""
        turns = list(self.turns.get(owner, []))
        sessions = list(self.sessions.get(owner, []))
        for words in said:
            known = [t for t in turns if t.id == words.id]
            if known and (known[0].text, known[0].speaker) != (words.text, words.speaker):
                return False
            if known:
                continue
            if not turns:
                sessions.append(1)
            else:
                here = [t.time for t, s in zip(turns, sessions, strict=True) if s == sessions[-1]]
                sessions.append(sessions[-1] + (words.time - max(here) > HOUR))
            turns.append(words)
        self.turns[owner], self.sessions[owner] = turns, sessions
        return True


words = st.builds(
    lambda number, text, minutes: say(text, id=f"id{number}", at=START + minutes * HOUR / 60),
    st.integers(0, 7),
    st.sampled_from(["green tea", "green tea", "green tea", "東京"]),
    st.integers(0, 300),
)
batches = st.lists(
    st.tuples(st.sampled_from([ANN, BOB, ANN_ELSEWHERE]), st.lists(words, max_size=4)), max_size=12
)


@pytest.mark.parametrize("maker", some(MAKERS, LIGHT))
@settings(
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(batches=batches)
def test_like_a_simple_model(
    maker: str, batches: list[tuple[Owner, list[NewTurn]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever is appended in whatever order, with ids repeated, equals a simple model."""
    asyncio.run(_compare(maker, batches, tmp_path_factory.mktemp("model")))


async def _compare(maker: str, batches: list[tuple[Owner, list[NewTurn]]], folder: Path) -> None:
    store, model = await MAKERS[maker](folder), Model()
    try:
        for owner, said in batches:
            before = {t.id for t in model.turns.get(owner, [])}
            try:
                turns = await store.turns.append(owner, said, session=None, idle=HOUR)
            except ConflictingTurn:
                assert not model.append(owner, said)
            else:
                assert model.append(owner, said)
                assert [t.id for t in turns] == [s.id for s in said]
                assert turns.new == {s.id for s in said} - before
        for owner in (ANN, BOB, ANN_ELSEWHERE):
            expected = model.turns.get(owner, [])
            found = await store.turns.read(owner)
            assert [(t.id, t.text, t.time) for t in found] == [
                (s.id, s.text, s.time) for s in expected
            ]
            assert [t.position for t in found] == list(range(1, len(expected) + 1))
            assert [t.session for t in found] == model.sessions.get(owner, [])
            hits = await store.index.search_words(owner, ["green"], k=100)
            assert {h.id for h in hits} == {s.id for s in expected if "green" in s.text}
    finally:
        await store.close()


async def recall(store: Store, ids: list[str], *, ready: asyncio.Barrier) -> int:
    """Read events, wait until all others have read them, and write down that they came to mind."""
    before = await store.events.read(ANN, ids=ids)
    await ready.wait()
    return await store.events.consolidate(ANN, [e.recalled(START + HOUR) for e in before])


rounds = st.lists(
    st.lists(
        st.tuples(st.integers(0, 1), st.lists(st.sampled_from("abcd"), min_size=1, unique=True)),
        min_size=1,
        max_size=6,
    ),
    max_size=4,
)


@pytest.mark.parametrize("maker", some(MAKERS, LIGHT))
@settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(rounds=rounds)
def test_recalled_at_once_counts_once(
    maker: str,
    rounds: list[list[tuple[int, list[str]]]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Of tasks and processes that recalled one event from the same state, exactly one is written,
    and no recall from a later state is lost."""
    asyncio.run(_recall_at_once(maker, rounds, tmp_path_factory.mktemp("events")))


async def _recall_at_once(
    maker: str, rounds: list[list[tuple[int, list[str]]]], folder: Path
) -> None:
    one = await MAKERS[maker](folder)
    two = await SHARED[maker](folder) if maker in SHARED else one
    try:
        told: dict[str, Event] = {text: event(text) for text in "abcd"}
        await one.events.add(ANN, list(told.values()))
        for tasks in rounds:
            ready = asyncio.Barrier(len(tasks))
            written = await asyncio.gather(
                *(recall((one, two)[which], ids, ready=ready) for which, ids in tasks)
            )
            recalled = {name for _, ids in tasks for name in ids}
            assert sum(written) == len(recalled)
            told |= {name: told[name].recalled(START + HOUR) for name in recalled}
        assert await two.events.read(ANN) == tuple(told.values())
    finally:
        await one.close()
        await two.close()


NAMES = st.sampled_from("abcdef")
AT = st.integers(0, 5).map(lambda hours: START + hours * HOUR)
CHANGES = st.builds(
    FactChanges,
    added=st.lists(
        st.builds(
            lambda name, at, old: replace(
                fact(f"fact {name}", id=name, at=at), supersedes=tuple(old)
            ),
            NAMES,
            AT,
            st.lists(NAMES, max_size=2),
        ),
        max_size=3,
    ).map(tuple),
    ended=st.lists(
        st.builds(FactEnd, id=NAMES, at=AT, by=st.sampled_from(["", *"abcdef"])), max_size=3
    ).map(tuple),
    confirmed=st.lists(
        st.builds(FactConfirmation, id=NAMES, at=AT, sources=st.tuples(NAMES)), max_size=3
    ).map(tuple),
)
STEPS = st.lists(st.tuples(CHANGES, st.booleans(), NAMES, st.booleans()), max_size=8)


@pytest.mark.parametrize("maker", some(MAKERS, LIGHT))
@settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=STEPS)
def test_facts_like_a_simple_model(
    maker: str,
    steps: list[tuple[FactChanges, bool, str, bool]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Whatever is added, ended, confirmed and marked, also twice: nothing is ever lost or said
    otherwise, every filter agrees with `FactFilter.matches`, and a search finds what holds. What
    ended a fact and what it ended agree, whatever a new fact says to have replaced."""
    asyncio.run(_compare_facts(maker, steps, tmp_path_factory.mktemp("facts")))


async def _compare_facts(
    maker: str, steps: list[tuple[FactChanges, bool, str, bool]], folder: Path
) -> None:
    store = await MAKERS[maker](folder)
    known: dict[str, Fact] = {}
    try:
        for changes, again, name, pinned in steps:
            result = applied(changes, known)
            known |= {f.id: f for f in (*result.changed, *result.added)}
            for _ in range(1 + again):
                await store.facts.apply(ANN, changes)
            marked = await store.facts.mark(ANN, name, FactMarks(pinned=pinned))
            if name in known:
                known[name] = known[name].marked(FactMarks(pinned=pinned))
            assert marked == known.get(name)
        expected = sorted(known.values(), key=lambda f: f.said)
        assert await store.facts.read(ANN) == tuple(expected)
        assert disagreeing(expected) == []
        for hours in range(6):
            for only in (
                FactFilter(at=START + hours * HOUR),
                FactFilter(at=START + hours * HOUR, about="user", newest=2),
                FactFilter(since=START + hours * HOUR, pinned=True),
            ):
                matching = [f for f in expected if only.matches(f)][-(only.newest or 99) :]
                assert await store.facts.read(ANN, only=only) == tuple(matching)
        hits = await store.index.search_words(ANN, ["fact"], k=99, kind=MemoryKind.FACT)
        assert {h.id for h in hits} == {f.id for f in expected if f.ended is None}
    finally:
        await store.close()


ERASING = st.lists(
    st.tuples(st.lists(NAMES, max_size=3), st.lists(NAMES, max_size=2)), min_size=1, max_size=3
)


@pytest.mark.parametrize("maker", some(MAKERS, LIGHT))
@settings(
    max_examples=examples(20),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(changes=st.lists(CHANGES, max_size=4), erasing=ERASING)
def test_only_what_is_erased_goes(
    maker: str,
    changes: list[FactChanges],
    erasing: list[tuple[list[str], list[str]]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Erasing facts and turns removes exactly the facts that are named or cite them; what is left
    is found unless it has ended, and refers to nothing that is gone."""
    asyncio.run(_erase_facts(maker, changes, erasing, tmp_path_factory.mktemp("erasing")))


async def _erase_facts(
    maker: str, changes: list[FactChanges], erasing: list[tuple[list[str], list[str]]], folder: Path
) -> None:
    store = await MAKERS[maker](folder)
    try:
        said = [say(f"turn {name}", id=name) for name in "abcdef"]
        await store.turns.append(ANN, said, session=None, idle=HOUR)
        rest = FactChanges(added=tuple(fact(f"fact {name}", name, id=name) for name in "abcdef"))
        for some in (*changes, rest):
            await store.facts.apply(ANN, some)
        for facts, turns in erasing:
            before = await store.facts.read(ANN)
            existing = {turn.id for turn in await store.turns.read(ANN)} & set(turns)
            erased = await store.archive.erase(ANN, facts=facts, turns=turns)
            after = await store.facts.read(ANN)
            gone = {
                f.id
                for f in before
                if f.id in facts
                or not existing.isdisjoint(f.sources)
                or (existing and not f.sources)
            }
            assert [f.id for f in after] == [f.id for f in before if f.id not in gone]
            assert erased.facts == len(gone)
            assert disagreeing(after) == []
            assert all((f.ended is None) or f.ended_by != f.id for f in after)
            hits = await store.index.search_words(ANN, ["fact"], k=99, kind=MemoryKind.FACT)
            assert {h.id for h in hits} == {f.id for f in after if f.ended is None}
    finally:
        await store.close()

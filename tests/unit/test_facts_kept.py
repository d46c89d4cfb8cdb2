"""Facts as values, and what the engine does with the ones that are stored."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide import Settings, Speaker, Utterance
from omoide.documents import DocumentStore, MemoryDocuments
from omoide.domain import (
    FactChanges,
    FactConfirmation,
    FactEnd,
    FactErasure,
    FactMarks,
    MemoryKind,
    Origin,
    Owner,
    Sentence,
    Summary,
    TurnPlace,
    applied,
)
from omoide.engine.runtime import Runtime
from omoide.testing import FrozenClock, HashEmbedder
from omoide.testing.contracts.making import HOUR, START, fact

if TYPE_CHECKING:
    from omoide.domain import Fact
    from omoide.engine.memory import Memory

ANA = Owner(tenant="default", user="ana")
NAMES = st.sampled_from("abcde")


def memory_over(store: DocumentStore) -> Memory:
    """A memory without a chat model."""
    settings = Settings(mechanisms=("search",))
    runtime = Runtime(settings, store=store, embedder=HashEmbedder(), clock=FrozenClock(START))
    return runtime.memory()


def test_an_end_keeps_the_first_and_the_known_last_day() -> None:
    """A fact ends once; a last day that was known stays if the end names none."""
    plan = replace(fact("a"), until=date(2024, 6, 1))
    over = plan.ended_with(FactEnd(id="a", at=START, by="b", reason="so", sources=("t",)))
    assert (over.ended, over.ended_by, over.until) == (START, "b", date(2024, 6, 1))
    assert over.ended_with(FactEnd(id="a", at=START + HOUR, by="c")) == over
    assert plan.ended_with(FactEnd(id="a", at=START, by="a")) == plan
    assert over.holding_again() == replace(plan, until=None)


def test_marks_leave_what_they_do_not_name() -> None:
    """`forever` removes the time of expiry; None changes nothing."""
    marked = fact("a").marked(FactMarks(pinned=True, expires=START, tags=("x",)))
    assert marked.marked(FactMarks()) == marked
    assert marked.marked(FactMarks(forever=True)) == replace(marked, expires=None)


def test_changes_name_what_must_be_read() -> None:
    """The ids of everything that is added, ended, confirmed, or ends another."""
    changes = FactChanges(
        added=(fact("a"),),
        ended=(FactEnd(id="b", at=START, by="c"), FactEnd(id="d", at=START)),
        confirmed=(FactConfirmation(id="e", at=START),),
    )
    assert changes.named == set("abcde")


def test_changes_tell_what_they_cite() -> None:
    """Only what is applied counts: not the sources of unknown or known facts."""
    known = {"a": fact("a", "old")}
    changes = FactChanges(
        added=(fact("a", "skipped"), fact("b", "t1", session=7)),
        ended=(
            FactEnd(id="a", at=START, sources=("t2",)),
            FactEnd(id="x", at=START, sources=("skipped",)),
        ),
        confirmed=(FactConfirmation(id="b", at=START, sources=("t3",)),),
    )
    result = applied(changes, known)
    assert result.cited == {"t1", "t2", "t3"}
    assert result.sessions == {7}
    assert [f.id for f in result.added] == ["b"]
    assert [f.id for f in result.changed] == ["a"]


@st.composite
def histories(draw: st.DrawFn) -> list[Fact]:
    """Facts that ended and superseded each other in any way, rings included."""
    facts = []
    for name in draw(st.lists(NAMES, unique=True)):
        by = draw(st.sampled_from([other for other in ("", *"abcde") if other != name]))
        over = bool(by) or draw(st.booleans())
        facts.append(
            replace(
                fact(f"fact {name}", draw(NAMES), id=name),
                ended=START if over else None,
                ended_by=by,
                end_reason="why" if over else "",
                end_sources=(draw(NAMES),) if over and draw(st.booleans()) else (),
                supersedes=tuple(draw(st.lists(NAMES, max_size=2))),
            )
        )
    return facts


@given(histories(), st.sets(NAMES), st.sets(NAMES))
def test_an_erasure_leaves_no_trace_of_what_goes(
    facts: list[Fact], ids: set[str], turns: set[str]
) -> None:
    """What stays names no removed fact or turn, is ended by another or by nobody, and says the
    same as before; what had nothing to do with it is not changed."""
    places = dict.fromkeys(turns, TurnPlace(1, START))
    erased = FactErasure(ids=ids, turns=places).of(facts)
    assert set(erased.removed) == {
        f.id for f in facts if f.id in ids or not turns.isdisjoint(f.sources)
    }
    changed = {f.id: f for f in erased.changed}
    for before in facts:
        if before.id in erased.removed:
            continue
        after = changed.get(before.id, before)
        assert after.ended_by not in erased.removed
        assert after.ended_by != after.id
        assert turns.isdisjoint(after.end_sources)
        assert erased.removed.keys().isdisjoint(after.supersedes)
        assert (after.text, after.sources) == (before.text, before.sources)
        touched = (
            before.ended_by in erased.removed
            or not turns.isdisjoint(before.end_sources)
            or not erased.removed.keys().isdisjoint(before.supersedes)
        )
        if not touched and len(set(before.supersedes) - {before.id}) == len(before.supersedes):
            assert after == before


async def test_forgetting_finds_facts() -> None:
    """A stored fact that says it goes with its turns and with the sentence that states it, though
    neither uses these words."""
    store = DocumentStore(MemoryDocuments())
    memory = memory_over(store)
    said = [
        Utterance(speaker=Speaker.USER, text="She is called Miso.", id="t1"),
        Utterance(speaker=Speaker.USER, text="I live in York.", id="t2"),
    ]
    await memory.record("ana", said)
    stated = fact("The user owns a tabby kitten.", "t1", id="f")
    over = replace(fact("The user wants a kitten.", id="g"), ended=START)
    await store.facts.apply(ANA, FactChanges(added=(stated, over, fact("Lives in York.", "t2"))))
    summary = Summary(
        number=1,
        sentences=(Sentence(text="There is Miso.", fact="f"),),
        origin=Origin.EDIT,
        session=None,
        time=START,
        language="en",
    )
    await store.summaries.commit(ANA, summary)
    found = await memory.find_fact("ana", "kitten")
    assert [f.id for f in found.stored] == ["f", "g"]
    assert [turn.id for turn in found.turns] == ["t1"]
    erased = await memory.forget("ana", found)
    assert (erased.facts, erased.turns, erased.sentences) == (2, 1, 1)
    assert [f.text for f in await memory.facts("ana")] == ["Lives in York."]
    assert (await memory.summary("ana")).sentences == ()
    assert (await memory.find_fact("ana", "kitten")).empty
    await store.close()


async def test_the_preview_leaves_out_what_only_was_confirmed() -> None:
    """A fact of another session that a removed turn only confirmed is not announced as removed, and
    stays; one that the turn told goes too, and is announced."""
    store = DocumentStore(MemoryDocuments())
    memory = memory_over(store)
    told = Utterance(speaker=Speaker.USER, text="I live in York.", id="t1", time=START - HOUR)
    later = Utterance(
        speaker=Speaker.USER, text="York is wet, says my kitten.", id="t2", time=START
    )
    await memory.record("ana", [told], session="one")
    await memory.record("ana", [later], session="two")
    york = fact("Lives in York.", "t1", at=START - HOUR)
    wet = fact("Finds York wet.", "t2", at=START, session=2)
    again = FactConfirmation(id=york.id, at=START, sources=("t2",))
    await store.facts.apply(ANA, FactChanges(added=(york, wet), confirmed=(again,)))
    found = await memory.find_fact("ana", "kitten")
    assert found.also_removed == (wet.text,)
    assert (await memory.forget("ana", found)).facts == 1
    assert await memory.facts("ana") == (york,)
    await store.close()


async def test_facts_are_embedded_by_the_job() -> None:
    """After the EMBED job a fact that holds is found by meaning; one that has ended has no
    vector."""
    store = DocumentStore(MemoryDocuments())
    memory, space = memory_over(store), HashEmbedder().space
    over = replace(fact("Lives in Rome."), ended=START)
    await store.facts.apply(ANA, FactChanges(added=(fact("Lives in York."), over)))
    await memory.run_jobs()
    query = await HashEmbedder().embed(["Lives in York."])
    hits = await store.index.nearest(ANA, space, query, k=9, kind=MemoryKind.FACT)
    assert [hit.id for hit in hits] == ["Lives in York."]
    assert hits[0].score == pytest.approx(1)
    await store.close()

"""The contract of `Archive.erase` for facts."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

import pytest

from omoide.domain import FactChanges, FactConfirmation, FactEnd, FactFilter, JobState, MemoryKind
from omoide.errors import StaleVersion
from omoide.testing.contracts.making import (
    ANN,
    BOB,
    HOUR,
    SPACE,
    START,
    event,
    fact,
    memo,
    note,
    rejected,
    rows,
    sentence,
    tell,
    version,
)
from omoide.testing.contracts.store.base import StoreSuite

if TYPE_CHECKING:
    from omoide.domain import Fact
    from omoide.ports import Store


async def add(store: Store, *facts: Fact) -> None:
    """Store Ann's facts."""
    await store.facts.apply(ANN, FactChanges(added=facts))


async def chain(store: Store, *places: str) -> None:
    """Facts of turns `t1`, `t2` …, of which each ends the one before, at the time it was said."""
    await tell(store, ANN, *(f"t{n}" for n, _ in enumerate(places, 1)))
    for n, place in enumerate(places, 1):
        before = places[n - 2 : n - 1]
        at = START + n * HOUR
        new = replace(fact(place, f"t{n}", at=at), supersedes=tuple(before), reason="moved")
        ends = [
            FactEnd(
                id=old, at=at, until=date(2024, 5, n), by=place, reason="moved", sources=("t1",)
            )
            for old in before
        ]
        await store.facts.apply(ANN, FactChanges(added=(new,), ended=tuple(ends)))


async def ids(store: Store) -> list[str]:
    """Ann's facts."""
    return [f.id for f in await store.facts.read(ANN)]


async def words(store: Store, *terms: str) -> set[str]:
    """Ann's facts with one of these words."""
    hits = await store.index.search_words(ANN, terms, k=9, kind=MemoryKind.FACT)
    return {hit.id for hit in hits}


async def nearest(store: Store) -> set[str]:
    """Ann's facts that have a vector."""
    hits = await store.index.nearest(ANN, SPACE, rows((1, 1, 1)), k=9, kind=MemoryKind.FACT)
    return {hit.id for hit in hits}


async def _confirmed(store: Store, told: Fact, *turns: str) -> None:
    """Store a fact of the turn `t1`, confirmed by `turns`, each in a later session of its own."""
    await tell(store, ANN, "t1", key="k1")
    await add(store, told)
    for n, turn in enumerate(turns, 2):
        at = START + n * HOUR
        await tell(store, ANN, turn, key=f"k{n}", at=at)
        again = FactConfirmation(id=told.id, at=at, sources=(turn,))
        await store.facts.apply(ANN, FactChanges(confirmed=(again,)))


class FactErasureContract(StoreSuite):
    """The contract of `Archive.erase` for facts."""

    async def test_erase_all_facts_of_an_owner(self, store: Store) -> None:
        """Nothing of the owner remains, others keep theirs, and the count is right."""
        await chain(store, "in Rome", "in Nice")
        await store.facts.apply(BOB, FactChanges(added=(fact("in Rome"),)))
        assert (await store.archive.erase(ANN)).facts == 2
        assert await ids(store) == []
        assert await words(store, "in") == set()
        assert len(await store.facts.read(BOB)) == 1

    async def test_facts_of_erased_turns(self, store: Store) -> None:
        """Facts that cite an erased turn go, with words and vectors, even if they cite others."""
        await tell(store, ANN, "t1", "t2")
        await add(store, fact("a", "t1"), fact("b", "t1", "t2"), fact("c", "t2"))
        vectors = rows((1, 0, 0), (1, 0, 0), (1, 0, 0))
        await store.index.put(ANN, SPACE, ids=[*"abc"], vectors=vectors, kind=MemoryKind.FACT)
        erased = await store.archive.erase(ANN, turns=["t2", "unknown"])
        assert erased.facts == 2
        assert await store.facts.read(ANN) == (fact("a", "t1"),)
        assert await words(store, "a", "b", "c") == {"a"}
        assert await nearest(store) == {"a"}

    async def test_a_turn_that_only_confirmed_a_fact(self, store: Store) -> None:
        """A fact told in one session and confirmed in later ones outlives the turns that confirmed
        it, and so does the sentence that states it; neither cites them any more."""
        told = fact("in Rome", "t1")
        await _confirmed(store, told, "t2", "t3")
        cited = replace(sentence("in Rome", "t1", "t2", "t3"), fact="in Rome")
        other = replace(sentence("in Rome, still", "t1", "t3"), fact="in Rome")
        await store.summaries.commit(ANN, version(1, cited, other, session=3))
        erased = await store.archive.erase(ANN, turns=["t3"])
        assert (erased.facts, erased.sentences) == (0, 1)
        assert await store.facts.read(ANN) == (replace(told, sources=("t1", "t2")),)
        assert [f.id for f in await store.facts.read(ANN, only=FactFilter(turns=["t3"]))] == []
        assert await words(store, "rome") == {"in Rome"}
        [newest] = await store.summaries.history(ANN)
        assert newest.sentences == (replace(cited, sources=("t1", "t2")),)
        assert (await store.archive.erase(ANN, session=2)).facts == 0
        assert await store.facts.read(ANN) == (told,)
        assert (await store.archive.erase(ANN, turns=["t1"])).facts == 1

    async def test_the_turn_that_told_a_confirmed_fact(self, store: Store) -> None:
        """A fact goes with the turn that told it, whatever confirmed it: its words are that
        turn's."""
        await _confirmed(store, fact("in Rome", "t1"), "t2", "t3")
        assert (await store.archive.erase(ANN, turns=["t1"])).facts == 1
        assert await ids(store) == []

    @pytest.mark.parametrize(
        "told",
        [
            fact("of session 2", "t1", session=2),
            fact("learned later", "t1", at=START + 3 * HOUR),
            fact("of no session", "t1", session=None),
            fact("told by nobody"),
        ],
        ids=lambda told: told.text,
    )
    async def test_a_turn_that_may_have_told_a_fact(self, store: Store, told: Fact) -> None:
        """A fact goes with a turn of its own session, one from before it was learned, and the only
        one that it cites."""
        await _confirmed(store, told, "t2")
        assert (await store.archive.erase(ANN, turns=["t2"])).facts == 1
        assert await ids(store) == []

    async def test_an_earlier_confirmation(self, store: Store) -> None:
        """When a fact was last confirmed is known as long as the turn that did it is there."""
        await _confirmed(store, fact("in Rome", "t1"), "t2", "t3")
        await store.archive.erase(ANN, turns=["t2"])
        [left] = await store.facts.read(ANN)
        assert (left.sources, left.confirmed) == (("t1", "t3"), START + 3 * HOUR)

    async def test_facts_without_sources(self, store: Store) -> None:
        """Without sources, a fact is erased if its session, or an earlier one, loses a turn. One
        that comes from no session stays."""
        for number in (1, 2, 3):
            await tell(store, ANN, f"t{number}", key=f"k{number}")
            await add(store, fact(f"f{number}", session=number))
        await add(store, fact("by hand", session=None))
        assert (await store.archive.erase(ANN, session=2)).facts == 2
        assert await ids(store) == ["f1", "by hand"]

    async def test_erase_facts_by_id(self, store: Store) -> None:
        """The facts go, with the sentences of every version and the events that state them and all
        that quotes them; turns, and what is unknown, are left alone."""
        await tell(store, ANN, "t1")
        await add(store, fact("Ann has a cat.", "t1", id="f"), fact("Ann likes tea.", "t1", id="g"))
        stated = replace(sentence("A cat is hers.", "t1"), fact="f")
        other = replace(sentence("Ann likes tea.", "t1"), fact="g")
        await store.summaries.commit(ANN, version(1, stated, other, notes=("Ann has a cat.",)))
        await store.summaries.commit(ANN, version(2, other, stated, session=None))
        await store.events.add(
            ANN, [replace(event("got a cat", "t1"), fact="f"), event("drank tea", "t1")]
        )
        await store.memos.add(ANN, [memo("Ann has a cat. Nice.", "t1"), memo("tea", "t1")])
        await store.notes.put(ANN, note("Today: Ann has a cat.", key="1"))
        await store.notes.put(ANN, note("Tea.", key="2"))
        await store.summaries.add_rejected(ANN, rejected("- Ann has a cat."))
        erased = await store.archive.erase(ANN, facts=["f", "unknown"])
        assert (erased.facts, erased.sentences, erased.turns, erased.sessions) == (1, 2, 0, 0)
        assert await ids(store) == ["g"]
        history = await store.summaries.history(ANN)
        assert [v.sentences for v in history] == [(other,), (other,)]
        assert [v.notes for v in history] == [(), ()]
        assert [e.id for e in await store.events.read(ANN)] == ["drank tea"]
        assert [m.id for m in await store.memos.read(ANN)] == ["tea"]
        assert [n.key for n in await store.notes.read(ANN)] == ["2"]
        assert await store.summaries.rejected(ANN) == ()
        assert len(await store.turns.read(ANN)) == 1

    async def test_what_it_had_ended_holds_again(self, store: Store) -> None:
        """If the fact that replaced another is erased, the other is found again and is queued for
        embedding; if that one was replaced in turn, its successor ends the first."""
        await chain(store, "in Rome", "in Nice", "in Bonn")
        names = ["in Rome", "in Nice", "in Bonn"]
        vectors = rows((1, 0, 0), (1, 0, 0), (1, 0, 0))
        await store.index.put(ANN, SPACE, ids=names, vectors=vectors, kind=MemoryKind.FACT)
        await store.archive.erase(ANN, turns=["t2"])
        rome, bonn = await store.facts.read(ANN)
        first = fact("in Rome", "t1", at=START + HOUR)
        assert rome == replace(first, reason="moved", ended=START + 3 * HOUR, ended_by="in Bonn")
        assert (bonn.supersedes, bonn.reason) == (("in Rome",), "")
        assert await words(store, "in") == {"in Bonn"}
        job = await store.jobs.claim("acme", worker="w", now=START, lease=HOUR)
        assert job is not None
        await store.jobs.set_state(job, state=JobState.DONE)

        await store.archive.erase(ANN, facts=["in Bonn"])
        assert await store.facts.read(ANN) == (replace(first, reason="moved"),)
        assert await words(store, "in") == {"in Rome"}
        assert await nearest(store) == set()
        [lack] = await store.index.without_vector(ANN, SPACE, limit=9, kind=MemoryKind.FACT)
        assert lack.id == "in Rome"
        assert JobState.WAITING in [j.state for j in await store.jobs.list("acme")]

    async def test_all_successors_erased_at_once(self, store: Store) -> None:
        """If all later facts of a chain are erased at once, the first holds again."""
        await chain(store, "in Rome", "in Nice", "in Bonn")
        await store.archive.erase(ANN, facts=["in Nice", "in Bonn"])
        [rome] = await store.facts.read(ANN)
        assert (rome.ended, rome.ended_by, rome.until) == (None, "", None)
        assert await words(store, "in") == {"in Rome"}

    async def test_two_that_ended_each_other(self, store: Store) -> None:
        """If two facts ended each other and one is erased, the other holds again."""
        await tell(store, ANN, "t1", "t2")
        await add(
            store,
            replace(fact("a", "t1"), ended=START, ended_by="b", supersedes=("b",)),
            replace(fact("b", "t2"), ended=START, ended_by="a", supersedes=("a",)),
        )
        await store.archive.erase(ANN, turns=["t2"])
        assert await store.facts.read(ANN) == (fact("a", "t1"),)
        assert await words(store, "a") == {"a"}

    async def test_an_end_without_a_successor(self, store: Store) -> None:
        """A fact whose end cites an erased turn holds again; an end without sources stays, and its
        reason goes if it was made in that session or later."""
        early, late = START - HOUR, START + HOUR
        await tell(store, ANN, "t1", "t2")
        await add(
            store,
            replace(
                fact("quit", session=None), ended=late, end_reason="Quit.", end_sources=("t1",)
            ),
            replace(fact("late", session=None), ended=late, end_reason="Quit."),
            replace(fact("early", session=None), ended=early, end_reason="Quit."),
            replace(fact("other", "t2"), ended=late, end_reason="Quit.", end_sources=("t2",)),
        )
        await store.archive.erase(ANN, turns=["t1"])
        assert {f.id: (f.ended, f.end_reason) for f in await store.facts.read(ANN)} == {
            "quit": (None, ""),
            "late": (late, ""),
            "early": (early, "Quit."),
            "other": (late, "Quit."),
        }
        assert await words(store, "quit", "late", "early", "other") == {"quit"}

    @pytest.mark.parametrize("text", ["green tea.", "Green Bob", "Ann likes green"])
    async def test_erase_sentences_from_facts(self, store: Store, text: str) -> None:
        """A fact whose text or person contains the sentence is erased."""
        quoting = replace(fact("Ann likes green tea.", id="f"), about="Green Bob")
        await add(store, quoting, fact("Ann likes black tea."))
        erased = await store.archive.erase(ANN, sentences=[text, "Likes"])
        assert erased.facts == 1
        assert await ids(store) == ["Ann likes black tea."]
        assert await words(store, "green", "black") == {"Ann likes black tea."}

    async def test_erase_sentences_from_reasons(self, store: Store) -> None:
        """Reasons, tags and flags that contain the sentence are cleared, and the fact stays."""
        quoting = replace(
            fact("a"),
            reason="So: Secret.",
            ended=START,
            end_reason="Secret. Too",
            tags=("Secret.", "work"),
            flags=("said Secret.", "odd"),
        )
        await add(store, quoting)
        assert (await store.archive.erase(ANN, sentences=["Secret."])).facts == 0
        assert await store.facts.read(ANN) == (
            replace(quoting, reason="", end_reason="", tags=("work",), flags=("odd",)),
        )

    async def test_erase_sentences_that_state_facts(self, store: Store) -> None:
        """The fact that an erased sentence states goes too, or the sentence would come back."""
        await tell(store, ANN, "t1")
        await add(store, fact("Ann owns a cat.", "t1", id="f"), fact("other", "t1"))
        stated = replace(sentence("Ann has a cat.", "t1"), fact="f")
        await store.summaries.commit(ANN, version(1, stated, sentence("other", "t1")))
        erased = await store.archive.erase(ANN, sentences=["Ann has a cat."])
        assert (erased.sentences, erased.facts) == (1, 1)
        assert await ids(store) == ["other"]

    async def test_erasing_unknown_facts_takes_nothing(self, store: Store) -> None:
        """Erasing unknown facts, or none, removes nothing."""
        await chain(store, "in Rome", "in Nice")
        before = await store.facts.read(ANN)
        for named in ([], ["unknown"], [""]):
            erased = await store.archive.erase(ANN, facts=named)
            assert (erased.facts, erased.sentences, erased.turns) == (0, 0, 0)
        assert await store.facts.read(ANN) == before
        assert (await store.archive.erase(BOB, facts=["in Rome"])).facts == 0

    async def test_numbers_of_facts_are_never_used_again(self, stores: tuple[Store, Store]) -> None:
        """A fact stored after an erasure is not confused with the erased one, not even by a process
        that has cached its vector."""
        one, two = stores
        await tell(one, ANN, "t")
        await add(one, fact("old", "t"))
        await one.index.put(ANN, SPACE, ids=["old"], vectors=rows((1, 1, 1)), kind=MemoryKind.FACT)
        assert await nearest(two) == {"old"}
        await one.archive.erase(ANN, turns=["t"])
        await add(one, fact("new"))
        assert await nearest(two) == set()

    async def test_facts_of_erased_turns_are_refused(self, store: Store) -> None:
        """Changes that cite an erased turn or session change nothing at all."""
        await tell(store, ANN, "t1", "t2", key="k")
        await tell(store, ANN, "t3", key="l")
        await add(store, fact("known", "t1"))
        await store.archive.erase(ANN, turns=["t2"])
        await store.archive.erase(ANN, session=2)
        before = await store.facts.read(ANN)
        fine = fact("fine", "t1")
        for changes in (
            FactChanges(added=(fine, fact("a", "t2"))),
            FactChanges(added=(fine, fact("a", session=2))),
            FactChanges(
                added=(fine,), confirmed=(FactConfirmation(id="known", at=START, sources=("t2",)),)
            ),
            FactChanges(added=(fine,), ended=(FactEnd(id="known", at=START, sources=("t3",)),)),
        ):
            with pytest.raises(StaleVersion):
                await store.facts.apply(ANN, changes)
            assert await store.facts.read(ANN) == before
        await add(store, fine)
        assert await ids(store) == ["known", "fine"]

    async def test_what_states_an_erased_fact_is_refused(self, store: Store) -> None:
        """A version or an event made from a fact that was erased meanwhile is not stored."""
        await tell(store, ANN, "t1")
        await add(store, fact("a", "t1"), fact("b", "t1"))
        await store.archive.erase(ANN, facts=["a"])
        with pytest.raises(StaleVersion):
            await store.summaries.commit(ANN, version(1, replace(sentence("A."), fact="a")))
        with pytest.raises(StaleVersion):
            await store.events.add(ANN, [replace(event("A."), fact="a")])
        await store.summaries.commit(ANN, version(1, replace(sentence("B."), fact="b")))
        await store.events.add(ANN, [replace(event("B."), fact="b")])
        [stated], [happened] = (await store.summaries.history(ANN)), await store.events.read(ANN)
        assert (stated.sentences[0].fact, happened.fact) == ("b", "b")

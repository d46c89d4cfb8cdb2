"""The contract of `Archive.erase` for events, memos and notes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from omoide.domain import JobState, MemoryKind
from omoide.testing.contracts.making import (
    ANN,
    ANN_ELSEWHERE,
    BOB,
    HOUR,
    SPACE,
    START,
    event,
    memo,
    note,
    rows,
    tell,
)
from omoide.testing.contracts.store.base import StoreSuite

if TYPE_CHECKING:
    from omoide.domain import Owner
    from omoide.ports import Store


EVERYONE = (ANN, BOB, ANN_ELSEWHERE)


FOUND = (MemoryKind.TURN, MemoryKind.EVENT, MemoryKind.MEMO, MemoryKind.FACT)


async def fill(store: Store, owner: Owner) -> None:
    """Store two sessions, and events, memos and notes that cite them."""
    for number in (1, 2):
        await tell(store, owner, f"a{number}", f"b{number}", key=f"k{number}")
        added = [
            event(f"event a{number}", f"a{number}", session=number),
            event(f"event b{number}", "elsewhere", f"b{number}", session=number),
        ]
        await store.events.add(owner, added)
        await store.events.consolidate(owner, [added[0].recalled(START + HOUR)])
        kept = memo(f"memo {number}", f"a{number}", f"b{number}", session=number)
        await store.memos.add(owner, [kept])
        await store.notes.put(owner, note(f"day {number}", key=str(number), session=number))
        vectors = rows((1, 0, 0), (0, 1, 0))
        ids = [e.id for e in added]
        await store.index.put(owner, SPACE, ids=ids, vectors=vectors, kind=MemoryKind.EVENT)
        await store.index.put(
            owner, SPACE, ids=[kept.id], vectors=vectors[:1], kind=MemoryKind.MEMO
        )


async def view(store: Store, owner: Owner) -> tuple[object, ...]:
    """All events, memos and notes of an owner, and what searches find."""
    terms = ["event", "memo", "a1", "b2"]
    return (
        await store.events.read(owner),
        await store.memos.read(owner),
        await store.notes.read(owner, kind="day"),
        await store.jobs.list(owner.tenant, owner=owner),
        *[await store.index.search_words(owner, terms, k=9, kind=kind) for kind in FOUND],
        *[await nearest(store, kind, owner=owner) for kind in FOUND],
    )


async def nearest(store: Store, kind: MemoryKind, *, owner: Owner = ANN) -> set[str]:
    """Items that have a vector."""
    hits = await store.index.nearest(owner, SPACE, rows((1, 1, 1)), k=9, kind=kind)
    return {hit.id for hit in hits}


async def words(store: Store, kind: MemoryKind, *terms: str) -> set[str]:
    """Ann's items with one of these words."""
    return {hit.id for hit in await store.index.search_words(ANN, terms, k=9, kind=kind)}


async def events(store: Store) -> list[str]:
    """Ann's events."""
    return [e.id for e in await store.events.read(ANN)]


async def memos(store: Store) -> list[str]:
    """Ann's memos."""
    return [m.id for m in await store.memos.read(ANN)]


class MemoryErasureContract(StoreSuite):
    """The contract of `Archive.erase` for events, memos and notes."""

    async def test_erase_everything_of_an_owner_memory_erasure(self, store: Store) -> None:
        """Nothing of the owner remains, others are not affected, and the owner can start again."""
        empty = await view(store, ANN)
        for owner in EVERYONE:
            await fill(store, owner)
        others = [await view(store, owner) for owner in EVERYONE[1:]]
        await store.archive.erase(ANN)
        assert await view(store, ANN) == empty
        assert [await view(store, owner) for owner in EVERYONE[1:]] == others
        await fill(store, ANN)
        assert len(await store.events.read(ANN)) == 4

    async def test_erase_a_session_memory_erasure(self, store: Store) -> None:
        """Events and memos that cite one of its turns are erased with their postings and vectors,
        and all notes; what cites other turns stays unchanged."""
        for owner in EVERYONE:
            await fill(store, owner)
        others = [await view(store, owner) for owner in EVERYONE[1:]]
        kept = [e for e in await store.events.read(ANN) if e.session == 1]
        await store.archive.erase(ANN, session=2)
        assert await store.events.read(ANN) == tuple(kept)
        assert await memos(store) == ["memo 1"]
        assert await store.notes.read(ANN, kind="day") == ()
        assert await words(store, MemoryKind.EVENT, "event") == {"event a1", "event b1"}
        assert await nearest(store, MemoryKind.EVENT) == {"event a1", "event b1"}
        assert await words(store, MemoryKind.MEMO, "memo") == {"memo 1"}
        assert await nearest(store, MemoryKind.MEMO) == {"memo 1"}
        assert [await view(store, owner) for owner in EVERYONE[1:]] == others

    async def test_erase_turns_memory_erasure(self, store: Store) -> None:
        """What cites one of these turns is erased, even if it cites others too."""
        await fill(store, ANN)
        await store.archive.erase(ANN, turns=["b1", "unknown"])
        assert await events(store) == ["event a1", "event a2", "event b2"]
        assert await memos(store) == ["memo 2"]
        assert await store.notes.read(ANN, kind="day") == ()

    async def test_scores_after_an_erasure(self, store: Store) -> None:
        """What remains is ranked as if the erased items had never existed."""
        await fill(store, ANN)
        await tell(store, BOB, "a1", key="k")
        await store.events.add(BOB, [event("event a1", "a1")])
        await store.archive.erase(ANN, turns=["b1", "a2", "b2"])
        [mine] = await store.index.search_words(ANN, ["event"], k=9, kind=MemoryKind.EVENT)
        assert (mine,) == await store.index.search_words(BOB, ["event"], k=9, kind=MemoryKind.EVENT)

    async def test_erase_unknown_turns_takes_nothing(self, store: Store) -> None:
        """Erasing unknown turns removes nothing, in particular no notes."""
        await fill(store, ANN)
        before = await view(store, ANN)
        await store.archive.erase(ANN, turns=["unknown"])
        await store.archive.erase(ANN, session=9)
        await store.archive.erase(ANN, sentences=["nowhere", ""])
        assert await view(store, ANN) == before

    async def test_without_sources(self, store: Store) -> None:
        """An event or memo without sources is erased if its session, or an earlier one, loses a
        turn."""
        for number in (1, 2, 3):
            await tell(store, ANN, f"t{number}", key=f"k{number}")
            await store.events.add(ANN, [event(f"e{number}", session=number)])
            await store.memos.add(ANN, [memo(f"m{number}", session=number)])
        await store.archive.erase(ANN, turns=["t2"])
        assert await events(store) == ["e1"]
        assert await memos(store) == ["m1"]

    @pytest.mark.parametrize(
        "sentence", ["likes green tea.", 'the "green" one', "green topic", "green guest"]
    )
    async def test_erase_sentences_from_events(self, store: Store, sentence: str) -> None:
        """An event whose text, topics, keywords or participants contain the sentence is erased."""
        quoting = replace(
            event("Ann likes green tea."),
            id="e",
            topics=("green topic",),
            keywords=('the "green" one',),
            participants=("green guest",),
        )
        await store.events.add(ANN, [quoting, event("Ann likes black tea.")])
        await store.events.add(BOB, [quoting])
        await store.archive.erase(ANN, sentences=[sentence, "Likes"])
        assert await events(store) == ["Ann likes black tea."]
        assert await words(store, MemoryKind.EVENT, "green", "black") == {"Ann likes black tea."}
        assert await store.events.read(BOB) == (quoting,)

    @pytest.mark.parametrize("sentence", ["Green topic", "Green sum.", "Green dialogue"])
    async def test_erase_sentences_from_memos(self, store: Store, sentence: str) -> None:
        """A memo whose topic, summary or compressed text contains the sentence is erased."""
        quoting = memo(
            "A Green sum.", id="m", topic="The Green topic", compressed="x Green dialogue y"
        )
        await store.memos.add(ANN, [quoting, memo("green sum.")])
        await store.archive.erase(ANN, sentences=[sentence])
        assert await memos(store) == ["green sum."]

    async def test_erase_sentences_from_notes(self, store: Store) -> None:
        """A note that contains the sentence is erased, and the others stay."""
        await tell(store, ANN, "a")
        await store.notes.put(ANN, note("She said: Secret. Then tea.", key="1"))
        await store.notes.put(ANN, note("secret.", key="2"))
        await store.archive.erase(ANN, sentences=["Secret."])
        assert await store.notes.read(ANN, kind="day") == (note("secret.", key="2"),)
        assert len(await store.turns.read(ANN)) == 1

    async def test_what_was_superseded_by_it_is_true_again(self, store: Store) -> None:
        """If the newer event is erased, the older one is found again and is queued for embedding,
        as if the newer had never existed; if there is a still newer one, that one supersedes it."""
        await tell(store, ANN, "t1", "t2", "t3")
        chain = [event("in Rome", "t1"), event("in Nice", "t2"), event("in Bonn", "t3")]
        await store.events.add(ANN, chain)
        vectors = rows((1, 0, 0), (1, 0, 0), (1, 0, 0))
        await store.index.put(
            ANN, SPACE, ids=[e.id for e in chain], vectors=vectors, kind=MemoryKind.EVENT
        )
        await store.events.supersede(ANN, old="in Rome", by="in Nice")
        await store.events.supersede(ANN, old="in Nice", by="in Bonn")
        await store.archive.erase(ANN, turns=["t2"])
        assert await store.events.read(ANN) == (
            event("in Rome", "t1", superseded_by="in Bonn"),
            chain[2],
        )
        assert await words(store, MemoryKind.EVENT, "in") == {"in Bonn"}
        job = await store.jobs.claim("acme", worker="w", now=START, lease=HOUR)
        assert job is not None
        await store.jobs.set_state(job, state=JobState.DONE)

        await store.archive.erase(ANN, turns=["t3"])
        assert await store.events.read(ANN) == (chain[0],)
        assert await words(store, MemoryKind.EVENT, "in") == {"in Rome"}
        [lack] = await store.index.without_vector(ANN, SPACE, limit=9, kind=MemoryKind.EVENT)
        assert lack.id == "in Rome"
        assert JobState.WAITING in [j.state for j in await store.jobs.list("acme")]

    async def test_all_of_a_chain_but_its_beginning(self, store: Store) -> None:
        """If all successors in a chain are erased at once, the first event is found again."""
        await tell(store, ANN, "t1", "t2", "t3")
        await store.events.add(ANN, [event("x1", "t1"), event("x2", "t2"), event("x3", "t3")])
        await store.events.supersede(ANN, old="x1", by="x2")
        await store.events.supersede(ANN, old="x2", by="x3")
        await store.events.supersede(ANN, old="x3", by="x2")
        await store.archive.erase(ANN, turns=["t2", "t3"])
        assert await store.events.read(ANN) == (event("x1", "t1"),)
        assert await words(store, MemoryKind.EVENT, "x1") == {"x1"}

    async def test_two_that_superseded_each_other(self, store: Store) -> None:
        """If two events superseded each other and one is erased, the other is found again."""
        await tell(store, ANN, "t1", "t2")
        await store.events.add(ANN, [event("x1", "t1"), event("x2", "t2")])
        await store.events.supersede(ANN, old="x1", by="x2")
        await store.events.supersede(ANN, old="x2", by="x1")
        await store.archive.erase(ANN, turns=["t2"])
        assert await store.events.read(ANN) == (event("x1", "t1"),)
        assert await words(store, MemoryKind.EVENT, "x1") == {"x1"}

    async def test_what_was_folded_into_it_is_searched_again(self, store: Store) -> None:
        """Erasing a turn erases the folded memo that covers it; the other memos folded into that
        one are found again."""
        await tell(store, ANN, "t1", "t2")
        await store.memos.add(ANN, [memo("one", "t1"), memo("two", "t2")])
        await store.memos.fold(ANN, ids=["one", "two"], into=memo("both", "t1", "t2"))
        await store.archive.erase(ANN, turns=["t2"])
        assert await store.memos.read(ANN) == (memo("one", "t1"),)
        assert await words(store, MemoryKind.MEMO, "one", "two", "both", "tea") == {"one"}

    async def test_numbers_are_never_used_again_memory_erasure(
        self, stores: tuple[Store, Store]
    ) -> None:
        """An event stored after an erasure is not confused with the erased one, not even by a
        process that has cached its vector."""
        one, two = stores
        await tell(one, ANN, "t")
        await one.events.add(ANN, [event("old", "t")])
        await one.index.put(ANN, SPACE, ids=["old"], vectors=rows((1, 1, 1)), kind=MemoryKind.EVENT)
        assert await nearest(two, MemoryKind.EVENT) == {"old"}
        await one.archive.erase(ANN, turns=["t"])
        await one.events.add(ANN, [event("new")])
        assert await nearest(two, MemoryKind.EVENT) == set()

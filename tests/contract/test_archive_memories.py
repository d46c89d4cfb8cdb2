"""The contract of `Archive.erase` for events, memos and notes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from omoide.domain import Kind, State
from tests.contract.making import (
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

if TYPE_CHECKING:
    from omoide.domain import Owner
    from omoide.ports import Store

EVERYONE = (ANN, BOB, ANN_ELSEWHERE)
FOUND = (Kind.TURN, Kind.EVENT, Kind.MEMO)


async def fill(store: Store, owner: Owner) -> None:
    """Two sessions, and events, memos and notes that rest on them."""
    for number in (1, 2):
        await tell(store, owner, f"a{number}", f"b{number}", key=f"k{number}")
        told = [
            event(f"event a{number}", f"a{number}", session=number),
            event(f"event b{number}", "elsewhere", f"b{number}", session=number),
        ]
        await store.events.add(owner, told)
        await store.events.consolidate(owner, [told[0].recalled(START + HOUR)])
        kept = memo(f"memo {number}", f"a{number}", f"b{number}", session=number)
        await store.memos.add(owner, [kept])
        await store.notes.put(owner, note(f"day {number}", key=str(number), session=number))
        vectors = rows((1, 0, 0), (0, 1, 0))
        ids = [e.id for e in told]
        await store.index.put(owner, SPACE, ids=ids, vectors=vectors, kind=Kind.EVENT)
        await store.index.put(owner, SPACE, ids=[kept.id], vectors=vectors[:1], kind=Kind.MEMO)


async def view(store: Store, owner: Owner) -> tuple[object, ...]:
    """All events, memos and notes of an owner, and what finds them."""
    terms = ["event", "memo", "a1", "b2"]
    return (
        await store.events.read(owner),
        await store.memos.read(owner),
        await store.notes.read(owner, kind="day"),
        await store.jobs.list(owner.tenant, owner=owner),
        *[await store.index.words(owner, terms, k=9, kind=kind) for kind in FOUND],
        *[await nearest(store, kind, owner=owner) for kind in FOUND],
    )


async def nearest(store: Store, kind: Kind, *, owner: Owner = ANN) -> set[str]:
    """Items that have a vector."""
    hits = await store.index.nearest(owner, SPACE, rows((1, 1, 1)), k=9, kind=kind)
    return {hit.id for hit in hits}


async def words(store: Store, kind: Kind, *terms: str) -> set[str]:
    """Ann's items with one of these words."""
    return {hit.id for hit in await store.index.words(ANN, terms, k=9, kind=kind)}


async def events(store: Store) -> list[str]:
    """Ann's events."""
    return [e.id for e in await store.events.read(ANN)]


async def memos(store: Store) -> list[str]:
    """Ann's memos."""
    return [m.id for m in await store.memos.read(ANN)]


async def test_erase_everything_of_an_owner(store: Store) -> None:
    """Nothing of the owner remains, nothing of others is touched, and all begins anew."""
    empty = await view(store, ANN)
    for owner in EVERYONE:
        await fill(store, owner)
    others = [await view(store, owner) for owner in EVERYONE[1:]]
    await store.archive.erase(ANN)
    assert await view(store, ANN) == empty
    assert [await view(store, owner) for owner in EVERYONE[1:]] == others
    await fill(store, ANN)
    assert len(await store.events.read(ANN)) == 4


async def test_erase_a_session(store: Store) -> None:
    """Events and memos that cite one of its turns go with their words and vectors, and all notes;
    what rests on other turns stays as it was."""
    for owner in EVERYONE:
        await fill(store, owner)
    others = [await view(store, owner) for owner in EVERYONE[1:]]
    kept = [e for e in await store.events.read(ANN) if e.session == 1]
    await store.archive.erase(ANN, session=2)
    assert await store.events.read(ANN) == tuple(kept)
    assert await memos(store) == ["memo 1"]
    assert await store.notes.read(ANN, kind="day") == ()
    assert await words(store, Kind.EVENT, "event") == {"event a1", "event b1"}
    assert await nearest(store, Kind.EVENT) == {"event a1", "event b1"}
    assert await words(store, Kind.MEMO, "memo") == {"memo 1"}
    assert await nearest(store, Kind.MEMO) == {"memo 1"}
    assert [await view(store, owner) for owner in EVERYONE[1:]] == others


async def test_erase_turns(store: Store) -> None:
    """What cites one of these turns goes, even if it cites others too."""
    await fill(store, ANN)
    await store.archive.erase(ANN, turns=["b1", "unknown"])
    assert await events(store) == ["event a1", "event a2", "event b2"]
    assert await memos(store) == ["memo 2"]
    assert await store.notes.read(ANN, kind="day") == ()


async def test_scores_after_an_erasure(store: Store) -> None:
    """What remains is ranked as if what went had never been."""
    await fill(store, ANN)
    await tell(store, BOB, "a1", key="k")
    await store.events.add(BOB, [event("event a1", "a1")])
    await store.archive.erase(ANN, turns=["b1", "a2", "b2"])
    [mine] = await store.index.words(ANN, ["event"], k=9, kind=Kind.EVENT)
    assert (mine,) == await store.index.words(BOB, ["event"], k=9, kind=Kind.EVENT)


async def test_erase_unknown_turns_takes_nothing(store: Store) -> None:
    """Turns that are not there take nothing along, least of all notes."""
    await fill(store, ANN)
    before = await view(store, ANN)
    await store.archive.erase(ANN, turns=["unknown"])
    await store.archive.erase(ANN, session=9)
    await store.archive.erase(ANN, sentences=["nowhere", ""])
    assert await view(store, ANN) == before


async def test_without_sources(store: Store) -> None:
    """An event or memo that cites nothing goes if its session, or an earlier one, loses words."""
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
async def test_erase_sentences_from_events(store: Store, sentence: str) -> None:
    """An event in whose text, topics, keywords or participants the sentence stands goes."""
    told = replace(
        event("Ann likes green tea."),
        id="e",
        topics=("green topic",),
        keywords=('the "green" one',),
        participants=("green guest",),
    )
    await store.events.add(ANN, [told, event("Ann likes black tea.")])
    await store.events.add(BOB, [told])
    await store.archive.erase(ANN, sentences=[sentence, "Likes"])
    assert await events(store) == ["Ann likes black tea."]
    assert await words(store, Kind.EVENT, "green", "black") == {"Ann likes black tea."}
    assert await store.events.read(BOB) == (told,)


@pytest.mark.parametrize("sentence", ["Green topic", "Green sum.", "Green dialogue"])
async def test_erase_sentences_from_memos(store: Store, sentence: str) -> None:
    """A memo in whose topic, summary or compressed text the sentence stands goes."""
    doomed = memo("A Green sum.", id="m", topic="The Green topic", compressed="x Green dialogue y")
    await store.memos.add(ANN, [doomed, memo("green sum.")])
    await store.archive.erase(ANN, sentences=[sentence])
    assert await memos(store) == ["green sum."]


async def test_erase_sentences_from_notes(store: Store) -> None:
    """A note in which the sentence stands goes, and the others stay."""
    await tell(store, ANN, "a")
    await store.notes.put(ANN, note("She said: Secret. Then tea.", key="1"))
    await store.notes.put(ANN, note("secret.", key="2"))
    await store.archive.erase(ANN, sentences=["Secret."])
    assert await store.notes.read(ANN, kind="day") == (note("secret.", key="2"),)
    assert len(await store.turns.read(ANN)) == 1


async def test_what_was_superseded_by_it_is_true_again(store: Store) -> None:
    """If the newer event goes, the older one is found again and asks for its vector, as if the
    newer had never been told; if a still newer one is there, that one supersedes it."""
    await tell(store, ANN, "t1", "t2", "t3")
    chain = [event("in Rome", "t1"), event("in Nice", "t2"), event("in Bonn", "t3")]
    await store.events.add(ANN, chain)
    vectors = rows((1, 0, 0), (1, 0, 0), (1, 0, 0))
    await store.index.put(ANN, SPACE, ids=[e.id for e in chain], vectors=vectors, kind=Kind.EVENT)
    await store.events.supersede(ANN, old="in Rome", by="in Nice")
    await store.events.supersede(ANN, old="in Nice", by="in Bonn")
    await store.archive.erase(ANN, turns=["t2"])
    assert await store.events.read(ANN) == (
        event("in Rome", "t1", superseded_by="in Bonn"),
        chain[2],
    )
    assert await words(store, Kind.EVENT, "in") == {"in Bonn"}
    job = await store.jobs.claim("acme", worker="w", now=START, lease=HOUR)
    assert job is not None
    await store.jobs.settle(job, state=State.DONE)

    await store.archive.erase(ANN, turns=["t3"])
    assert await store.events.read(ANN) == (chain[0],)
    assert await words(store, Kind.EVENT, "in") == {"in Rome"}
    [lack] = await store.index.without_vector(ANN, SPACE, limit=9, kind=Kind.EVENT)
    assert lack.id == "in Rome"
    assert State.WAITING in [j.state for j in await store.jobs.list("acme")]


async def test_all_of_a_chain_but_its_beginning(store: Store) -> None:
    """If several that followed each other go at once, what they stood for is found again."""
    await tell(store, ANN, "t1", "t2", "t3")
    await store.events.add(ANN, [event("x1", "t1"), event("x2", "t2"), event("x3", "t3")])
    await store.events.supersede(ANN, old="x1", by="x2")
    await store.events.supersede(ANN, old="x2", by="x3")
    await store.events.supersede(ANN, old="x3", by="x2")
    await store.archive.erase(ANN, turns=["t2", "t3"])
    assert await store.events.read(ANN) == (event("x1", "t1"),)
    assert await words(store, Kind.EVENT, "x1") == {"x1"}


async def test_two_that_superseded_each_other(store: Store) -> None:
    """If one of two goes that stood for each other, the other stands for itself."""
    await tell(store, ANN, "t1", "t2")
    await store.events.add(ANN, [event("x1", "t1"), event("x2", "t2")])
    await store.events.supersede(ANN, old="x1", by="x2")
    await store.events.supersede(ANN, old="x2", by="x1")
    await store.archive.erase(ANN, turns=["t2"])
    assert await store.events.read(ANN) == (event("x1", "t1"),)
    assert await words(store, Kind.EVENT, "x1") == {"x1"}


async def test_what_was_folded_into_it_is_searched_again(store: Store) -> None:
    """Erasing a turn takes the memo it was folded into; the rest of what that one held is not
    lost with it."""
    await tell(store, ANN, "t1", "t2")
    await store.memos.add(ANN, [memo("one", "t1"), memo("two", "t2")])
    await store.memos.fold(ANN, ids=["one", "two"], into=memo("both", "t1", "t2"))
    await store.archive.erase(ANN, turns=["t2"])
    assert await store.memos.read(ANN) == (memo("one", "t1"),)
    assert await words(store, Kind.MEMO, "one", "two", "both", "tea") == {"one"}


async def test_numbers_are_never_used_again(stores: tuple[Store, Store]) -> None:
    """An event stored after an erasure is not taken for the one that went, not even by a process
    that remembers its vector."""
    one, two = stores
    await tell(one, ANN, "t")
    await one.events.add(ANN, [event("old", "t")])
    await one.index.put(ANN, SPACE, ids=["old"], vectors=rows((1, 1, 1)), kind=Kind.EVENT)
    assert await nearest(two, Kind.EVENT) == {"old"}
    await one.archive.erase(ANN, turns=["t"])
    await one.events.add(ANN, [event("new")])
    assert await nearest(two, Kind.EVENT) == set()

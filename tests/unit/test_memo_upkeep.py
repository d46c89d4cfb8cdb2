"""Upkeep: similar memos become one, old ones are folded, and nothing is lost on the way."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import Memo, MemoryKind, NewTurn, Owner, Speaker
from omoide.language import estimate_tokens, query_terms
from omoide.mechanisms.memos.upkeep import MemoLimits, MemoUpkeep, merged_memo
from omoide.testing import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from omoide.ports import Store

OWNER = Owner(tenant="t", user="u")
NOW = datetime(2026, 1, 5, tzinfo=UTC)


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    """A database in memory."""
    opened = await SqliteStore.open(":memory:")
    yield opened
    await opened.close()


async def memo(store: Store, topic: str, summary: str, *, session: int, text: str = "") -> Memo:
    """A stored memo of one turn."""
    time = NOW + timedelta(days=session)
    said = NewTurn(
        speaker=Speaker.USER, text=text or summary, time=time, id=f"t{session}", language="en"
    )
    await store.turns.append(OWNER, [said], session=f"s{session}", idle=timedelta(days=1))
    made = Memo(
        id=f"memos-{session}",
        session=session,
        topic=topic,
        summary=summary,
        sources=(f"t{session}",),
        time=time,
        compressed=f"User: {text or summary}",
        method="none",
    )
    await store.memos.add(OWNER, [made])
    return made


async def test_memos_on_one_topic_are_merged(store: Store) -> None:
    """One memo says what both said, newest facts last, and cites the turns of both."""
    await memo(store, "Miso the cat", "The User has a cat, Miso. Miso is shy.", session=1)
    await memo(store, "Trip to Peru", "The User flew to Lima in June.", session=2)
    await memo(store, "Miso the cat", "Miso the cat had kittens. Miso is shy.", session=3)
    assert await MemoUpkeep(store=store, embedder=None).tidy(OWNER, mechanism="memos") == 2
    first, peru, third, both = await store.memos.read(OWNER)
    assert first.folded_into == third.folded_into == both.id
    assert peru.folded_into is None
    assert both.topic == "Miso the cat"
    assert both.summary == "The User has a cat, Miso. Miso the cat had kittens. Miso is shy."
    assert both.sources == ("t1", "t3")
    found = await store.index.search_words(OWNER, query_terms("kittens"), k=9, kind=MemoryKind.MEMO)
    assert [hit.id for hit in found] == [both.id]


async def test_other_topics_are_left_alone(store: Store) -> None:
    """Two trips are two memos."""
    await memo(store, "Trip to Peru", "The User flew to Lima in June.", session=1)
    await memo(store, "Trip to Norway", "The User sailed to Bergen in May.", session=2)
    assert await MemoUpkeep(store=store, embedder=None).tidy(OWNER, mechanism="memos") == 0


async def test_near_vectors_merge_what_words_do_not(store: Store) -> None:
    """Where the embedder sees one thing in two texts, they are merged."""
    embedder = HashEmbedder()
    one = await memo(store, "Miso", "A cat, Miso, lives with the User now.", session=1)
    await memo(store, "Miso", "Now Miso lives with the User, a cat.", session=2)
    vectors = await embedder.embed([f"{one.topic}: {one.summary}"])
    await store.index.put(
        OWNER, embedder.space, ids=[one.id], vectors=vectors, kind=MemoryKind.MEMO
    )
    upkeep = MemoUpkeep(store=store, embedder=embedder, bounds=MemoLimits(alike=2.0))
    assert await upkeep.tidy(OWNER, mechanism="memos") == 2


async def test_beyond_the_limit_old_memos_are_folded_and_still_found(store: Store) -> None:
    """The newest stay as they are; every old fact is in a memo that search finds."""
    things = "apple boat candle drum engine flute garden hammer island jacket".split()
    for n, thing in enumerate(things, start=1):
        await memo(store, f"The {thing}", f"The User bought one {thing} from {n}.", session=n)
    upkeep = MemoUpkeep(store=store, embedder=None, bounds=MemoLimits(memos=6, alike=0.9))
    await upkeep.tidy(OWNER, mechanism="memos")
    memos = await store.memos.read(OWNER)
    unfolded = [one for one in memos if one.folded_into is None]
    assert len(unfolded) == 6
    assert {one.topic for one in unfolded} >= {"The jacket", "The island", "The hammer"}
    for thing in things:
        assert await store.index.search_words(
            OWNER, query_terms(thing), k=9, kind=MemoryKind.MEMO
        ), thing
    assert {name for one in unfolded for name in one.sources} == {f"t{n}" for n in range(1, 11)}


async def test_many_memos_are_folded_a_few_at_a_time(store: Store) -> None:
    """Where nothing tidied them for a year: the rest is folded the next time."""
    things = "apple boat candle drum engine flute garden hammer island jacket".split()
    for n, thing in enumerate(things, start=1):
        await memo(store, f"The {thing}", f"The User bought one {thing} from {n}.", session=n)
    bounds = MemoLimits(memos=4, alike=0.9, folds=3, compared=2)
    upkeep = MemoUpkeep(store=store, embedder=None, bounds=bounds)
    for left in (7, 4, 4):
        await upkeep.tidy(OWNER, mechanism="memos")
        memos = await store.memos.read(OWNER)
        assert sum(one.folded_into is None for one in memos) == left


def test_a_merged_memo_stays_within_its_bounds() -> None:
    """However much goes in, summary and dialogue do not grow beyond the limit."""
    bounds = MemoLimits(sentences=4, tokens=60)
    kept = Memo(
        id="memos-0",
        session=0,
        topic="Start",
        summary="It began.",
        sources=("t0",),
        time=NOW,
        compressed="User: it began",
        method="budget 50%",
    )
    for n in range(1, 30):
        new = Memo(
            id=f"memos-{n}",
            session=n,
            topic=f"Topic {n}",
            summary=f"Fact {n} was told. So was fact {n + 100}.",
            sources=(f"t{n}",),
            time=NOW + timedelta(days=n),
            compressed=f"User: thing {n} and thing {n + 100} and thing {n + 200}",
            method="budget 50%",
        )
        kept = merged_memo(kept, new, bounds=bounds, weight={}, mechanism="memos")
        assert estimate_tokens(kept.compressed) <= 60 + 10
        assert kept.summary.count(".") <= 4
        assert len(kept.topic.split(" / ")) <= 3
    assert len(kept.sources) == 30
    assert kept.method == "merged (budget 50%)"

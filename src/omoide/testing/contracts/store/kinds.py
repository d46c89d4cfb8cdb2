"""The contract of `SearchIndex` for events, memos and facts."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from omoide.domain import FactChanges, FactEnd, MemoryKind
from omoide.errors import EmbedderMismatch
from omoide.ports import TextToEmbed
from omoide.testing.contracts.making import (
    ANN,
    ANN_ELSEWHERE,
    BOB,
    SPACE,
    START,
    event,
    fact,
    memo,
    rows,
    tell,
)
from omoide.testing.contracts.store.base import StoreSuite
from omoide.testing.contracts.store.words import by_hand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Owner
    from omoide.ports import Store


KINDS = (MemoryKind.TURN, MemoryKind.EVENT, MemoryKind.MEMO, MemoryKind.FACT)


NEWER = (MemoryKind.EVENT, MemoryKind.MEMO, MemoryKind.FACT)


async def keep(store: Store, kind: MemoryKind, *texts: str, owner: Owner = ANN) -> None:
    """Store items of a kind whose ids are their texts."""
    match kind:
        case MemoryKind.EVENT:
            await store.events.add(owner, [event(text) for text in texts])
        case MemoryKind.MEMO:
            await store.memos.add(owner, [memo(t, topic="", compressed="") for t in texts])
        case MemoryKind.FACT:
            await store.facts.apply(owner, FactChanges(added=tuple(map(fact, texts))))
        case _:
            await tell(store, owner, *texts)


async def replace_by(store: Store, kind: MemoryKind, *, old: str, new: str) -> None:
    """Replace an item by another, so that it is no longer found."""
    match kind:
        case MemoryKind.EVENT:
            await keep(store, kind, new)
            await store.events.supersede(ANN, old=old, by=new)
        case MemoryKind.FACT:
            ended = FactEnd(id=old, at=START, by=new)
            await store.facts.apply(ANN, FactChanges(added=(fact(new),), ended=(ended,)))
        case _:
            await store.memos.fold(ANN, ids=[old], into=memo(new, topic="", compressed=""))


async def put(
    store: Store,
    kind: MemoryKind,
    ids: Sequence[str],
    *vectors: tuple[float, ...],
    owner: Owner = ANN,
) -> None:
    """Give vectors to items."""
    await store.index.put(owner, SPACE, ids=ids, vectors=rows(*vectors), kind=kind)


async def near(store: Store, kind: MemoryKind, *, owner: Owner = ANN, k: int = 9) -> list[str]:
    """Items by similarity to the first axis."""
    hits = await store.index.nearest(owner, SPACE, rows((1, 0, 0)), k=k, kind=kind)
    return [hit.id for hit in hits]


async def without_vectors(store: Store, kind: MemoryKind, *, limit: int = 9) -> list[str]:
    """Ann's items without a vector."""
    texts = await store.index.without_vector(ANN, SPACE, limit=limit, kind=kind)
    return [text.id for text in texts]


async def found(store: Store, kind: MemoryKind, *terms: str, owner: Owner = ANN) -> list[str]:
    """Items found by words."""
    return [hit.id for hit in await store.index.search_words(owner, terms, k=9, kind=kind)]


class KindsContract(StoreSuite):
    """The contract of `SearchIndex` for events, memos and facts."""

    @pytest.mark.parametrize("kind", KINDS)
    async def test_words_follow_the_formula_of_their_kind(
        self, store: Store, kind: MemoryKind
    ) -> None:
        """Scores are BM25 over the visible items of that kind only."""
        dice = random.Random(5)
        texts = [f"n{i} " + " ".join(dice.choices("abcdefgh", k=12)) for i in range(60)]
        await keep(store, kind, *texts)
        for other in KINDS:
            if other is not kind:
                await keep(store, other, *(f"{text} a b z" for text in texts[:7]))
        await keep(store, kind, "a b c", owner=BOB)
        if kind is not MemoryKind.TURN:
            await replace_by(store, kind, old=texts[0], new="a z y")
            texts = [*texts[1:], "a z y"]
        for query in (["a"], ["a", "z"], ["b", "n7", "h"]):
            expected = by_hand(texts, query)
            hits = await store.index.search_words(ANN, query, k=100, kind=kind)
            assert {h.id: h.score for h in hits} == pytest.approx(expected)
            assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
            best = await store.index.search_words(ANN, query, k=2, kind=kind)
            assert best == hits[:2]

    @pytest.mark.parametrize("kind", NEWER)
    async def test_equal_items_newest_first(self, store: Store, kind: MemoryKind) -> None:
        """Of items that match equally well, the one stored later comes first."""
        await keep(store, kind, "tea 1", "tea 2", "tea 3")
        await put(store, kind, ["tea 1", "tea 2", "tea 3"], (1, 0, 0), (1, 0, 0), (1, 0, 0))
        assert await found(store, kind, "tea") == ["tea 3", "tea 2", "tea 1"]
        assert await near(store, kind, k=2) == ["tea 3", "tea 2"]

    async def test_turns_are_meant_if_nothing_is_said(self, store: Store) -> None:
        """Without a kind, turns are searched."""
        for kind in KINDS:
            await keep(store, kind, f"tea {kind}")
        assert [h.id for h in await store.index.search_words(ANN, ["tea"], k=9)] == ["tea turn"]
        [lack] = await store.index.without_vector(ANN, SPACE, limit=9)
        assert lack == TextToEmbed(id="tea turn", text="tea turn")
        both = rows((1, 0, 0), (1, 0, 0))
        await store.index.put(ANN, SPACE, ids=["tea turn", "tea memo"], vectors=both)
        [hit] = await store.index.nearest(ANN, SPACE, rows((1, 0, 0)), k=9)
        assert hit.id == "tea turn"
        assert await near(store, MemoryKind.MEMO) == []

    async def test_kinds_with_the_same_ids(self, store: Store) -> None:
        """Items of all kinds may have the same id: each has its own words and vector."""
        for n, kind in enumerate(KINDS):
            await keep(store, kind, "same", *(f"{kind} {i}" for i in range(n)))
            await put(store, kind, ["same"], (1, n, 0))
        for n, kind in enumerate(KINDS):
            [hit] = await store.index.nearest(ANN, SPACE, rows((1, n, 0)), k=1, kind=kind)
            assert hit.id == "same"
            assert hit.score == pytest.approx(1)
            assert await found(store, kind, "same") == ["same"]
            assert len(await without_vectors(store, kind)) == n

    async def test_what_is_embedded(self, store: Store) -> None:
        """The text of an event or fact is embedded, and a memo's topic and summary."""
        await keep(store, MemoryKind.FACT, "She lives in Rome.")
        await store.events.add(ANN, [event("She moved.", id="e")])
        await store.memos.add(ANN, [memo("She likes it.", id="m", topic="Tea", compressed="long")])
        assert await store.index.without_vector(ANN, SPACE, limit=9, kind=MemoryKind.EVENT) == (
            TextToEmbed(id="e", text="She moved."),
        )
        assert await store.index.without_vector(ANN, SPACE, limit=9, kind=MemoryKind.MEMO) == (
            TextToEmbed(id="m", text="Tea: She likes it."),
        )
        assert await store.index.without_vector(ANN, SPACE, limit=9, kind=MemoryKind.FACT) == (
            TextToEmbed(id="She lives in Rome.", text="She lives in Rome."),
        )

    @pytest.mark.parametrize("kind", NEWER)
    async def test_without_vector_gives_the_oldest_kinds(
        self, store: Store, kind: MemoryKind
    ) -> None:
        """Items without a vector come in the order they were stored, up to the limit."""
        await keep(store, kind, *"abcde")
        await keep(store, kind, "theirs", owner=BOB)
        assert await without_vectors(store, kind, limit=2) == ["a", "b"]
        assert await without_vectors(store, kind, limit=0) == []
        await put(store, kind, ["a", "c"], (1, 0, 0), (1, 0, 0))
        assert await without_vectors(store, kind) == ["b", "d", "e"]
        await put(store, kind, ["b", "e", "d"], (1, 0, 0), (1, 0, 0), (1, 0, 0))
        assert await without_vectors(store, kind) == []
        await keep(store, kind, "f")
        assert await without_vectors(store, kind) == ["f"]

    @pytest.mark.parametrize("kind", NEWER)
    async def test_nearest_sees_what_came_since_kinds(
        self, stores: tuple[Store, Store], kind: MemoryKind
    ) -> None:
        """What another process puts, replaces or hides is seen at once."""
        one, two = stores
        await keep(one, kind, *"abc")
        await tell(one, ANN, *"xyz")
        assert await near(two, kind) == []
        await put(one, MemoryKind.TURN, ["x", "y"], (1, 0, 0), (0, 1, 0))
        await put(one, kind, ["a", "b"], (1, 0, 0), (0, 1, 0))
        assert await near(two, kind) == ["a", "b"]
        assert await near(two, MemoryKind.TURN) == ["x", "y"]
        await put(one, MemoryKind.TURN, ["z"], (1, 0, 0))
        await put(one, kind, ["c"], (1, 1, 0))
        assert await near(two, kind) == ["a", "c", "b"]
        await put(one, kind, ["a"], (0, 0, 1))
        assert (await near(two, kind))[0] == "c"
        await replace_by(one, kind, old="c", new="d")
        assert set(await near(two, kind)) == {"a", "b"}
        assert await near(two, MemoryKind.TURN) == ["z", "x", "y"]

    @pytest.mark.parametrize("kind", NEWER)
    async def test_replaced_items_are_not_found(self, store: Store, kind: MemoryKind) -> None:
        """Superseded, folded or ended items are found neither by words nor by vector, need no
        vector, and cannot be given one later."""
        await keep(store, kind, "tea a", "tea b", "tea c")
        await put(store, kind, ["tea a", "tea c"], (1, 0, 0), (1, 1, 0))
        assert await near(store, kind) == ["tea a", "tea c"]
        await replace_by(store, kind, old="tea a", new="new a")
        await replace_by(store, kind, old="tea b", new="new b")
        assert await found(store, kind, "tea", "a", "b") == ["new b", "new a", "tea c"]
        assert await near(store, kind, k=1) == ["tea c"]
        assert await without_vectors(store, kind) == ["new a", "new b"]
        await put(store, kind, ["tea a", "tea b"], (1, 0, 0), (1, 0, 0))
        assert await near(store, kind) == ["tea c"]

    @pytest.mark.parametrize("kind", NEWER)
    async def test_each_owner_finds_their_own(self, store: Store, kind: MemoryKind) -> None:
        """Words, vectors and counts never leak to another owner or tenant."""
        for owner in (ANN, BOB, ANN_ELSEWHERE):
            await keep(store, kind, "tea", f"tea of {owner.tenant} {owner.user}", owner=owner)
        before = await store.index.search_words(ANN, ["tea", "bob"], k=9, kind=kind)
        await keep(store, kind, *(f"tea {i}" for i in range(20)), owner=BOB)
        assert await store.index.search_words(ANN, ["tea", "bob"], k=9, kind=kind) == before
        await put(store, kind, ["tea"], (1, 0, 0), owner=BOB)
        await put(store, kind, ["tea of acme bob"], (1, 0, 0))
        assert await near(store, kind) == []
        assert await near(store, kind, owner=BOB) == ["tea"]
        assert await near(store, kind, owner=ANN_ELSEWHERE) == []
        assert await without_vectors(store, kind) == ["tea", "tea of acme ann"]
        stranger = replace(ANN, tenant="new")
        assert await found(store, kind, "tea", owner=stranger) == []
        assert await near(store, kind, owner=stranger) == []

    @pytest.mark.parametrize("kind", NEWER)
    async def test_vectors_of_the_wrong_shape_kinds(self, store: Store, kind: MemoryKind) -> None:
        """All kinds share a space, and vectors that do not fit it are rejected."""
        await keep(store, kind, "a")
        await tell(store, ANN, "a")
        await put(store, MemoryKind.TURN, ["a"], (1, 0, 0))
        other = replace(SPACE, version="2")
        with pytest.raises(EmbedderMismatch):
            await store.index.put(ANN, other, ids=["a"], vectors=rows((1, 0, 0)), kind=kind)
        with pytest.raises(EmbedderMismatch):
            await store.index.put(ANN, SPACE, ids=["a"], vectors=rows((1, 0)), kind=kind)
        with pytest.raises(EmbedderMismatch):
            await store.index.nearest(ANN, other, rows((1, 0, 0)), k=1, kind=kind)
        with pytest.raises(EmbedderMismatch):
            await store.index.nearest(ANN, SPACE, rows((1, 0)), k=1, kind=kind)

    async def test_sentences_are_not_indexed(self, store: Store) -> None:
        """Asking for a kind that is not searched is an error, not an empty answer."""
        vector = rows((1, 0, 0))
        with pytest.raises(ValueError, match="sentence"):
            await store.index.search_words(ANN, ["tea"], k=1, kind=MemoryKind.SENTENCE)
        with pytest.raises(ValueError, match="sentence"):
            await store.index.without_vector(ANN, SPACE, limit=1, kind=MemoryKind.SENTENCE)
        with pytest.raises(ValueError, match="sentence"):
            await store.index.put(ANN, SPACE, ids=["a"], vectors=vector, kind=MemoryKind.SENTENCE)
        with pytest.raises(ValueError, match="sentence"):
            await store.index.nearest(ANN, SPACE, vector, k=1, kind=MemoryKind.SENTENCE)

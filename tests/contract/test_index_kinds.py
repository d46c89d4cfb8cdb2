"""The contract of `Index` for events and memos beside turns."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from omoide.domain import Kind
from omoide.errors import EmbedderMismatch
from omoide.ports import Text
from tests.contract.making import ANN, ANN_ELSEWHERE, BOB, SPACE, event, memo, rows, tell
from tests.contract.test_index import by_hand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Owner
    from omoide.ports import Store

KINDS = (Kind.TURN, Kind.EVENT, Kind.MEMO)
NEWER = (Kind.EVENT, Kind.MEMO)


async def keep(store: Store, kind: Kind, *texts: str, owner: Owner = ANN) -> None:
    """Store items of a kind whose ids are their texts."""
    match kind:
        case Kind.EVENT:
            await store.events.add(owner, [event(text) for text in texts])
        case Kind.MEMO:
            await store.memos.add(owner, [memo(t, topic="", compressed="") for t in texts])
        case _:
            await tell(store, owner, *texts)


async def replace_by(store: Store, kind: Kind, *, old: str, new: str) -> None:
    """Put an item in the place of another, so that the other is not found any more."""
    if kind is Kind.EVENT:
        await keep(store, kind, new)
        await store.events.supersede(ANN, old=old, by=new)
    else:
        await store.memos.fold(ANN, ids=[old], into=memo(new, topic="", compressed=""))


async def put(
    store: Store, kind: Kind, ids: Sequence[str], *vectors: tuple[float, ...], owner: Owner = ANN
) -> None:
    """Give vectors to items."""
    await store.index.put(owner, SPACE, ids=ids, vectors=rows(*vectors), kind=kind)


async def near(store: Store, kind: Kind, *, owner: Owner = ANN, k: int = 9) -> list[str]:
    """Items by how near they are to the first axis."""
    hits = await store.index.nearest(owner, SPACE, rows((1, 0, 0)), k=k, kind=kind)
    return [hit.id for hit in hits]


async def lacking(store: Store, kind: Kind, *, limit: int = 9) -> list[str]:
    """Ann's items without a vector."""
    found = await store.index.without_vector(ANN, SPACE, limit=limit, kind=kind)
    return [text.id for text in found]


async def found(store: Store, kind: Kind, *terms: str, owner: Owner = ANN) -> list[str]:
    """Items found by words."""
    return [hit.id for hit in await store.index.words(owner, terms, k=9, kind=kind)]


@pytest.mark.parametrize("kind", KINDS)
async def test_words_follow_the_formula_of_their_kind(store: Store, kind: Kind) -> None:
    """Scores are BM25's over the items of that kind alone, whatever the others say, and without
    those that are not found any more."""
    dice = random.Random(5)
    texts = [f"n{i} " + " ".join(dice.choices("abcdefgh", k=12)) for i in range(60)]
    await keep(store, kind, *texts)
    for other in KINDS:
        if other is not kind:
            await keep(store, other, *(f"{text} a b z" for text in texts[:7]))
    await keep(store, kind, "a b c", owner=BOB)
    if kind is not Kind.TURN:
        await replace_by(store, kind, old=texts[0], new="a z y")
        texts = [*texts[1:], "a z y"]
    for query in (["a"], ["a", "z"], ["b", "n7", "h"]):
        expected = by_hand(texts, query)
        hits = await store.index.words(ANN, query, k=100, kind=kind)
        assert {h.id: h.score for h in hits} == pytest.approx(expected)
        assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
        best = await store.index.words(ANN, query, k=2, kind=kind)
        assert best == hits[:2]


@pytest.mark.parametrize("kind", NEWER)
async def test_equal_items_newest_first(store: Store, kind: Kind) -> None:
    """Of items that match equally well the one stored later comes first."""
    await keep(store, kind, "tea 1", "tea 2", "tea 3")
    await put(store, kind, ["tea 1", "tea 2", "tea 3"], (1, 0, 0), (1, 0, 0), (1, 0, 0))
    assert await found(store, kind, "tea") == ["tea 3", "tea 2", "tea 1"]
    assert await near(store, kind, k=2) == ["tea 3", "tea 2"]


async def test_turns_are_meant_if_nothing_is_said(store: Store) -> None:
    """Without a kind, turns are searched."""
    for kind in KINDS:
        await keep(store, kind, f"tea {kind}")
    assert [h.id for h in await store.index.words(ANN, ["tea"], k=9)] == ["tea turn"]
    [lack] = await store.index.without_vector(ANN, SPACE, limit=9)
    assert lack == Text(id="tea turn", text="tea turn")
    both = rows((1, 0, 0), (1, 0, 0))
    await store.index.put(ANN, SPACE, ids=["tea turn", "tea memo"], vectors=both)
    [hit] = await store.index.nearest(ANN, SPACE, rows((1, 0, 0)), k=9)
    assert hit.id == "tea turn"
    assert await near(store, Kind.MEMO) == []


async def test_kinds_with_the_same_ids(store: Store) -> None:
    """An id may name a turn, an event and a memo: each has its own words and vector."""
    for place, kind in enumerate(KINDS):
        await keep(store, kind, "same", *(f"{kind} {i}" for i in range(place)))
        await put(store, kind, ["same"], (1, place, 0))
    for place, kind in enumerate(KINDS):
        [hit] = await store.index.nearest(ANN, SPACE, rows((1, place, 0)), k=1, kind=kind)
        assert hit.id == "same"
        assert hit.score == pytest.approx(1)
        assert await found(store, kind, "same") == ["same"]
        assert len(await lacking(store, kind)) == place


async def test_what_is_embedded(store: Store) -> None:
    """Of an event its text, of a memo its topic and summary."""
    await store.events.add(ANN, [event("She moved.", id="e")])
    await store.memos.add(ANN, [memo("She likes it.", id="m", topic="Tea", compressed="long")])
    assert await store.index.without_vector(ANN, SPACE, limit=9, kind=Kind.EVENT) == (
        Text(id="e", text="She moved."),
    )
    assert await store.index.without_vector(ANN, SPACE, limit=9, kind=Kind.MEMO) == (
        Text(id="m", text="Tea: She likes it."),
    )


@pytest.mark.parametrize("kind", NEWER)
async def test_without_vector_gives_the_oldest(store: Store, kind: Kind) -> None:
    """Items without a vector come in the order they were stored, up to the limit."""
    await keep(store, kind, *"abcde")
    await keep(store, kind, "theirs", owner=BOB)
    assert await lacking(store, kind, limit=2) == ["a", "b"]
    assert await lacking(store, kind, limit=0) == []
    await put(store, kind, ["a", "c"], (1, 0, 0), (1, 0, 0))
    assert await lacking(store, kind) == ["b", "d", "e"]
    await put(store, kind, ["b", "e", "d"], (1, 0, 0), (1, 0, 0), (1, 0, 0))
    assert await lacking(store, kind) == []
    await keep(store, kind, "f")
    assert await lacking(store, kind) == ["f"]


@pytest.mark.parametrize("kind", NEWER)
async def test_nearest_sees_what_came_since(stores: tuple[Store, Store], kind: Kind) -> None:
    """What another process puts, replaces or puts in the place of another is seen at once."""
    one, two = stores
    await keep(one, kind, *"abc")
    await tell(one, ANN, *"xyz")
    assert await near(two, kind) == []
    await put(one, Kind.TURN, ["x", "y"], (1, 0, 0), (0, 1, 0))
    await put(one, kind, ["a", "b"], (1, 0, 0), (0, 1, 0))
    assert await near(two, kind) == ["a", "b"]
    assert await near(two, Kind.TURN) == ["x", "y"]
    await put(one, Kind.TURN, ["z"], (1, 0, 0))
    await put(one, kind, ["c"], (1, 1, 0))
    assert await near(two, kind) == ["a", "c", "b"]
    await put(one, kind, ["a"], (0, 0, 1))
    assert (await near(two, kind))[0] == "c"
    await replace_by(one, kind, old="c", new="d")
    assert set(await near(two, kind)) == {"a", "b"}
    assert await near(two, Kind.TURN) == ["z", "x", "y"]


@pytest.mark.parametrize("kind", NEWER)
async def test_replaced_items_are_not_found(store: Store, kind: Kind) -> None:
    """What was superseded or folded is found neither by words nor by its vector, wants none any
    more, and cannot be given one late."""
    await keep(store, kind, "tea a", "tea b", "tea c")
    await put(store, kind, ["tea a", "tea c"], (1, 0, 0), (1, 1, 0))
    assert await near(store, kind) == ["tea a", "tea c"]
    await replace_by(store, kind, old="tea a", new="new a")
    await replace_by(store, kind, old="tea b", new="new b")
    assert await found(store, kind, "tea", "a", "b") == ["new b", "new a", "tea c"]
    assert await near(store, kind, k=1) == ["tea c"]
    assert await lacking(store, kind) == ["new a", "new b"]
    await put(store, kind, ["tea a", "tea b"], (1, 0, 0), (1, 0, 0))
    assert await near(store, kind) == ["tea c"]


@pytest.mark.parametrize("kind", NEWER)
async def test_each_owner_finds_their_own(store: Store, kind: Kind) -> None:
    """Neither words nor vectors nor their number cross to another owner or tenant."""
    for owner in (ANN, BOB, ANN_ELSEWHERE):
        await keep(store, kind, "tea", f"tea of {owner.tenant} {owner.user}", owner=owner)
    before = await store.index.words(ANN, ["tea", "bob"], k=9, kind=kind)
    await keep(store, kind, *(f"tea {i}" for i in range(20)), owner=BOB)
    assert await store.index.words(ANN, ["tea", "bob"], k=9, kind=kind) == before
    await put(store, kind, ["tea"], (1, 0, 0), owner=BOB)
    await put(store, kind, ["tea of acme bob"], (1, 0, 0))
    assert await near(store, kind) == []
    assert await near(store, kind, owner=BOB) == ["tea"]
    assert await near(store, kind, owner=ANN_ELSEWHERE) == []
    assert await lacking(store, kind) == ["tea", "tea of acme ann"]
    stranger = replace(ANN, tenant="new")
    assert await found(store, kind, "tea", owner=stranger) == []
    assert await near(store, kind, owner=stranger) == []


@pytest.mark.parametrize("kind", NEWER)
async def test_vectors_of_the_wrong_shape(store: Store, kind: Kind) -> None:
    """A space is one for all kinds, and vectors that are not of it are refused."""
    await keep(store, kind, "a")
    await tell(store, ANN, "a")
    await put(store, Kind.TURN, ["a"], (1, 0, 0))
    other = replace(SPACE, version="2")
    with pytest.raises(EmbedderMismatch):
        await store.index.put(ANN, other, ids=["a"], vectors=rows((1, 0, 0)), kind=kind)
    with pytest.raises(EmbedderMismatch):
        await store.index.put(ANN, SPACE, ids=["a"], vectors=rows((1, 0)), kind=kind)
    with pytest.raises(EmbedderMismatch):
        await store.index.nearest(ANN, other, rows((1, 0, 0)), k=1, kind=kind)
    with pytest.raises(EmbedderMismatch):
        await store.index.nearest(ANN, SPACE, rows((1, 0)), k=1, kind=kind)


async def test_sentences_are_not_indexed(store: Store) -> None:
    """Asking for a kind that is not searched is an error, not an empty answer."""
    vector = rows((1, 0, 0))
    with pytest.raises(ValueError, match="sentence"):
        await store.index.words(ANN, ["tea"], k=1, kind=Kind.SENTENCE)
    with pytest.raises(ValueError, match="sentence"):
        await store.index.without_vector(ANN, SPACE, limit=1, kind=Kind.SENTENCE)
    with pytest.raises(ValueError, match="sentence"):
        await store.index.put(ANN, SPACE, ids=["a"], vectors=vector, kind=Kind.SENTENCE)
    with pytest.raises(ValueError, match="sentence"):
        await store.index.nearest(ANN, SPACE, vector, k=1, kind=Kind.SENTENCE)

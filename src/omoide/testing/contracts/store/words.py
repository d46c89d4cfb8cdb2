"""The contract of `SearchIndex`."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omoide.errors import EmbedderMismatch
from omoide.language.terms import query_terms, terms
from omoide.ports import TextToEmbed
from omoide.testing.contracts.making import ANN, ANN_ELSEWHERE, BOB, SPACE, rows, tell
from omoide.testing.contracts.store.base import StoreSuite

if TYPE_CHECKING:
    from omoide.domain import Owner
    from omoide.ports import Hit, Store


async def find(store: Store, query: str, *, owner: Owner = ANN, k: int = 10) -> list[str]:
    """Texts found by words (ids equal texts)."""
    return [hit.id for hit in await store.index.search_words(owner, query_terms(query), k=k)]


def by_hand(texts: list[str], query: list[str]) -> dict[str, float]:
    """BM25 with k1 = 1.2, b = 0.75 and the fixed average length, computed from the formula."""
    documents = {text: terms(text) for text in texts}
    scores: dict[str, float] = {}
    for term in query:
        having = sum(term in document for document in documents.values())
        rare = math.log(1 + (len(texts) - having + 0.5) / (having + 0.5))
        for text, document in documents.items():
            tf = document.count(term)
            if tf:
                norm = 1.2 * (0.25 + 0.75 * len(document) / 25)
                scores[text] = scores.get(text, 0) + rare * tf * 2.2 / (tf + norm)
    return scores


async def near(
    store: Store, *query: float, owner: Owner = ANN, k: int = 10
) -> list[tuple[str, float]]:
    """Turns nearest to a vector, with their cosines."""
    hits: tuple[Hit, ...] = await store.index.nearest(owner, SPACE, rows(query), k=k)
    return [(hit.id, round(hit.score, 4)) for hit in hits]


class WordsContract(StoreSuite):
    """The contract of `SearchIndex`."""

    async def test_found_as_soon_as_recorded(self, store: Store) -> None:
        """Words find the right turn at once, in every language, and no other turns."""
        texts = ["She runs in 東京都", "Tôi thích phở", "我住在北京市", "저는 서울에 살아요", "x"]
        await tell(store, ANN, *texts)
        for query, text in (
            ("running", texts[0]),
            ("京都", texts[0]),
            ("pho", texts[1]),
            ("phở", texts[1]),
            ("北京", texts[2]),
            ("서울", texts[3]),
        ):
            assert await find(store, query) == [text]
        assert await find(store, "nothing") == []
        assert await store.index.search_words(ANN, [], k=5) == ()

    async def test_one_character_finds_every_text_that_has_it(self, store: Store) -> None:
        """A query of one character finds it at the beginning, in the middle, at the end and alone;
        more occurrences rank higher; no other text is found."""
        texts = ["猫が好きです", "うちの猫は寝ている", "黒猫", "猫 猫、猫。", "犬が好きです", "cat"]
        await tell(store, ANN, *texts)
        found = await find(store, "猫")
        assert set(found) == set(texts[:4])
        assert found[0] == texts[3]
        assert await find(store, "犬") == [texts[4]]
        await tell(store, BOB, "我养了一只猫", "호밀빵을 샀어요", "이 빵", "밥을 먹었다")
        assert await find(store, "猫", owner=BOB) == ["我养了一只猫"]
        assert set(await find(store, "빵", owner=BOB)) == {"호밀빵을 샀어요", "이 빵"}
        both = await find(store, "빵 밥", owner=BOB)
        assert set(both) == {"호밀빵을 샀어요", "이 빵", "밥을 먹었다"}

    async def test_words_follow_the_formula(self, store: Store) -> None:
        """Scores are BM25 over all of the owner's turns, best first, exactly the k best."""
        dice = random.Random(7)
        vocabulary = [f"w{int(dice.paretovariate(0.7)) % 40}" for _ in range(3000)]
        texts = [
            f"{' '.join(dice.choices(vocabulary, k=dice.randint(1, 40)))} n{i}" for i in range(300)
        ]
        await tell(store, ANN, *texts)
        await tell(store, BOB, *(["w1 w2 w3"] * 3))
        for _ in range(40):
            query = [*dice.choices(vocabulary, k=dice.randint(1, 7)), "absent"]
            expected = by_hand(texts, list(dict.fromkeys(query)))
            k = dice.choice([1, 3, 10, 1000])
            hits = await store.index.search_words(ANN, query, k=k)
            best = sorted(expected.values(), reverse=True)[:k]
            assert [h.score for h in hits] == pytest.approx(best)
            assert all(h.score == pytest.approx(expected[h.id]) for h in hits)
            assert len({h.id for h in hits}) == len(hits)

    async def test_equal_turns_newest_first(self, store: Store) -> None:
        """Of turns that match equally well, the newer comes first; `k` limits the number."""
        said = await tell(store, ANN, "green tea 1", "green tea 2", "green tea 3")
        assert await find(store, "green tea") == [t.id for t in reversed(said)]
        assert await find(store, "green tea", k=1) == ["green tea 3"]
        assert await find(store, "green tea", k=0) == []

    async def test_words_stay_with_their_owner(self, store: Store) -> None:
        """Other owners' turns and their number do not change what an owner finds."""
        await tell(store, ANN, "green tea", "black tea")
        before = await store.index.search_words(ANN, ["tea", "green"], k=5)
        for other in (BOB, ANN_ELSEWHERE):
            await tell(store, other, *(f"tea and more tea {i}" for i in range(20)))
        assert await store.index.search_words(ANN, ["tea", "green"], k=5) == before
        assert await find(store, "green", owner=BOB) == []

    async def test_nearest_by_cosine(self, store: Store) -> None:
        """The nearest come first with their cosines, newer first if equal, at most `k`."""
        await tell(store, ANN, "x", "y", "xy", "x2")
        vectors = rows((1, 0, 0), (0, 1, 0), (1, 1, 0), (1, 0, 0))
        await store.index.put(ANN, SPACE, ids=["x", "y", "xy", "x2"], vectors=vectors)
        assert await near(store, 1, 0, 0) == [("x2", 1), ("x", 1), ("xy", 0.7071), ("y", 0)]
        assert await near(store, 0, 2, 0, k=2) == [("y", 1), ("xy", 0.7071)]
        assert await near(store, 1, 0, 0, k=0) == []

    async def test_nearest_sees_what_came_since_words(self, store: Store) -> None:
        """Vectors put or replaced after a search are found by the next."""
        await tell(store, ANN, *"abcdef")
        await store.index.put(ANN, SPACE, ids=["a"], vectors=rows((1, 0, 0)))
        assert await near(store, 1, 0, 0) == [("a", 1)]
        for turn in "bcdef":
            await store.index.put(ANN, SPACE, ids=[turn], vectors=rows((0, 1, 0)))
            assert (turn, 1) in await near(store, 0, 1, 0)
        await store.index.put(ANN, SPACE, ids=["a"], vectors=rows((0, 0, 1)))
        assert (await near(store, 1, 0, 0, k=6))[-1] == ("a", 0)
        assert await near(store, 0, 0, 1, k=1) == [("a", 1)]

    async def test_nearest_sees_another_process(self, stores: tuple[Store, Store]) -> None:
        """What another process puts or erases is seen at once, despite caches."""
        one, two = stores
        await tell(one, ANN, "a", "b")
        await one.index.put(ANN, SPACE, ids=["a"], vectors=rows((1, 0, 0)))
        assert await near(two, 1, 0, 0) == [("a", 1)]
        await one.index.put(ANN, SPACE, ids=["b"], vectors=rows((1, 0, 0)))
        assert await near(two, 1, 0, 0) == [("b", 1), ("a", 1)]
        await one.archive.erase(ANN, turns=["a"])
        assert await near(two, 1, 0, 0) == [("b", 1)]
        await one.archive.erase(ANN)
        assert await near(two, 1, 0, 0) == []
        await tell(one, ANN, "c")
        await one.index.put(ANN, SPACE, ids=["c"], vectors=rows((0, 1, 0)))
        assert await near(two, 0, 1, 0) == [("c", 1)]

    async def test_nearest_stays_with_its_owner_and_space(self, store: Store) -> None:
        """Vectors of other owners and of other spaces are never compared."""
        other_space = replace(SPACE, name="another", dimensions=2)
        for owner in (ANN, BOB, ANN_ELSEWHERE):
            await tell(store, owner, "a", f"of {owner.tenant} {owner.user}")
        await store.index.put(ANN, SPACE, ids=["a"], vectors=rows((1, 0, 0)))
        await store.index.put(ANN, other_space, ids=["of acme ann"], vectors=rows((1, 0)))
        await store.index.put(BOB, SPACE, ids=["of acme bob"], vectors=rows((1, 0, 0)))
        assert await near(store, 1, 0, 0) == [("a", 1)]
        assert await near(store, 1, 0, 0, owner=BOB) == [("of acme bob", 1)]
        assert await near(store, 1, 0, 0, owner=ANN_ELSEWHERE) == []
        [hit] = await store.index.nearest(ANN, other_space, rows((1, 0)), k=5)
        assert hit.id == "of acme ann"

    async def test_without_vector_gives_the_oldest_words(self, store: Store) -> None:
        """Turns without a vector in that space come oldest first, up to the limit."""
        said = await tell(store, ANN, *"abcde")
        await tell(store, BOB, "theirs")

        async def without_vectors(*, limit: int = 10) -> str:
            missing = await store.index.without_vector(ANN, SPACE, limit=limit)
            assert set(missing) <= {TextToEmbed(id=turn.id, text=turn.text) for turn in said}
            return "".join(turn.id for turn in missing)

        assert await without_vectors() == "abcde"
        assert await without_vectors(limit=2) == "ab"
        await store.index.put(ANN, SPACE, ids=["a", "c"], vectors=rows((1, 0, 0), (1, 0, 0)))
        assert await without_vectors() == "bde"
        await store.index.put(ANN, SPACE, ids=["b"], vectors=rows((1, 0, 0)))
        assert await without_vectors() == "de"
        await store.index.put(ANN, SPACE, ids=["e", "d"], vectors=rows((1, 0, 0), (1, 0, 0)))
        assert await without_vectors() == ""
        await tell(store, ANN, "f")
        assert await store.index.without_vector(ANN, SPACE, limit=5) == (
            TextToEmbed(id="f", text="f"),
        )
        new_space = replace(SPACE, name="another")
        assert len(await store.index.without_vector(ANN, new_space, limit=10)) == 6

    async def test_put_passes_over_unknown_turns(self, store: Store) -> None:
        """A vector for an unknown turn, perhaps erased meanwhile, is not stored."""
        await tell(store, ANN, "a")
        await tell(store, BOB, "theirs")
        vectors = rows((1, 0, 0), (1, 0, 0), (1, 0, 0))
        await store.index.put(ANN, SPACE, ids=["gone", "a", "theirs"], vectors=vectors)
        await store.index.put(ANN_ELSEWHERE, SPACE, ids=["gone"], vectors=rows((1, 0, 0)))
        assert await near(store, 1, 0, 0) == [("a", 1)]
        assert await store.archive.owners("other") == ()

    @pytest.mark.parametrize(
        "other",
        [replace(SPACE, version="2"), replace(SPACE, dimensions=4)],
        ids=["version", "size"],
    )
    async def test_spaces_are_not_mixed(self, store: Store, other: object) -> None:
        """A space's name with another version or size raises, for any owner."""
        space = replace(SPACE, **vars(other))
        await tell(store, ANN, "a")
        await tell(store, BOB, "b")
        await store.index.put(ANN, SPACE, ids=["a"], vectors=rows((1, 0, 0)))
        vector = np.ones((1, space.dimensions), dtype=np.float32)
        for owner, turn in ((ANN, "a"), (BOB, "b")):
            with pytest.raises(EmbedderMismatch, match="test"):
                await store.index.put(owner, space, ids=[turn], vectors=vector)
            with pytest.raises(EmbedderMismatch, match="test"):
                await store.index.nearest(owner, space, vector, k=1)
            assert len(await store.index.without_vector(owner, space, limit=5)) == 1

    async def test_vectors_of_the_wrong_shape_words(self, store: Store) -> None:
        """Vectors that do not fit their space are rejected."""
        await tell(store, ANN, "a")
        with pytest.raises(EmbedderMismatch):
            await store.index.put(ANN, SPACE, ids=["a"], vectors=rows((1, 0)))
        with pytest.raises(EmbedderMismatch):
            await store.index.put(ANN, SPACE, ids=["a"], vectors=rows((1, 0, 0), (1, 0, 0)))
        with pytest.raises(EmbedderMismatch):
            await store.index.nearest(ANN, SPACE, rows((1, 0)), k=1)

    async def test_nothing_of_a_stranger_words(self, store: Store) -> None:
        """Nothing is found for an unknown owner."""
        assert await store.index.search_words(ANN, ["tea"], k=5) == ()
        assert await store.index.without_vector(ANN, SPACE, limit=5) == ()
        assert await near(store, 1, 0, 0) == []

"""The contract of `MemoStore`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omoide.domain import JobState, JobTask, MemoryKind
from omoide.errors import StaleVersion
from omoide.testing.contracts.making import ANN, ANN_ELSEWHERE, BOB, HOUR, START, memo, tell
from omoide.testing.contracts.store.base import StoreSuite

if TYPE_CHECKING:
    from omoide.domain import Owner
    from omoide.ports import Store


async def found(store: Store, *terms: str, owner: Owner = ANN) -> list[str]:
    """Memos found by words."""
    return [h.id for h in await store.index.search_words(owner, terms, k=9, kind=MemoryKind.MEMO)]


async def ids(store: Store, owner: Owner = ANN) -> list[str]:
    """An owner's memos in order."""
    return [m.id for m in await store.memos.read(owner)]


class MemosContract(StoreSuite):
    """The contract of `MemoStore`."""

    async def test_read_as_added_memos(self, store: Store) -> None:
        """Every field comes back unchanged."""
        kept = (memo("a", "t1", "t2"), memo("b", whole=False, topic=""), memo("c", folded_into="b"))
        await store.memos.add(ANN, kept)
        assert await store.memos.read(ANN) == kept

    async def test_read_oldest_first(self, store: Store) -> None:
        """Memos are ordered by time; those with the same time by order of storing."""
        await store.memos.add(ANN, [memo("late", at=START + HOUR), memo("b"), memo("a")])
        assert await ids(store) == ["b", "a", "late"]

    async def test_read_by_id_memos(self, store: Store) -> None:
        """Memos with these ids come in their own order, each once; unknown ids are ignored."""
        await store.memos.add(ANN, [memo(name) for name in "abcd"])
        chosen = await store.memos.read(ANN, ids=["d", "unknown", "b", "d"])
        assert [m.id for m in chosen] == ["b", "d"]
        assert await store.memos.read(ANN, ids=[]) == ()
        assert await store.memos.read(BOB, ids=["b"]) == ()

    async def test_found_by_topic_summary_and_compressed_text(self, store: Store) -> None:
        """All three are searched, and no term spans the boundary between two of them."""
        kept = memo("Xavier swims", topic="東京", compressed="都内 lake", id="m")
        await store.memos.add(ANN, [kept])
        for term in ("東京", "xavier", "swim", "都内", "lake"):
            assert await found(store, term) == ["m"]
        assert await found(store, "京都") == []

    async def test_known_ids_are_passed_over_memos(self, store: Store) -> None:
        """Memos with known ids stay unchanged, and new ones in the batch are stored."""
        await store.memos.add(ANN, [memo("first", id="a")])
        await store.memos.add(ANN, [memo("second", id="a"), memo("b"), memo("third", id="b")])
        assert [m.summary for m in await store.memos.read(ANN)] == ["first", "b"]
        assert await found(store, "second", "third") == []

    async def test_adding_queues_one_embedding_memos(self, store: Store) -> None:
        """At most one EMBED job waits. An empty batch creates no owner, and a repeated one queues
        no job."""
        await store.memos.add(ANN, [])
        assert await store.archive.owners("acme") == ()
        await store.memos.add(ANN, [memo("a")])
        await store.memos.fold(ANN, ids=["a"], into=memo("b"))
        [job] = await store.jobs.list("acme")
        assert (job.task, job.state, job.owner) == (JobTask.EMBED, JobState.WAITING, ANN)
        job_taken = await store.jobs.claim("acme", worker="w", now=START, lease=HOUR)
        assert job_taken is not None
        await store.memos.add(ANN, [memo("a")])
        assert len(await store.jobs.list("acme")) == 1
        await store.memos.add(ANN, [memo("c")])
        assert len(await store.jobs.list("acme")) == 2

    async def test_fold(self, store: Store) -> None:
        """Folded memos refer to the new one, can still be read, and are no longer found."""
        for owner in (ANN, BOB, ANN_ELSEWHERE):
            await store.memos.add(owner, [memo("tea one"), memo("tea two"), memo("tea three")])
        folded = memo("all tea", "t1", at=START + HOUR)
        await store.memos.fold(ANN, ids=["tea one", "tea two", "unknown"], into=folded)
        assert await store.memos.read(ANN) == (
            memo("tea one", folded_into="all tea"),
            memo("tea two", folded_into="all tea"),
            memo("tea three"),
            folded,
        )
        assert set(await found(store, "tea")) == {"tea three", "all tea"}
        for owner in (BOB, ANN_ELSEWHERE):
            assert await ids(store, owner) == ["tea one", "tea two", "tea three"]
            assert len(await found(store, "tea", owner=owner)) == 3

    async def test_fold_again_changes_nothing(self, store: Store) -> None:
        """Repeating a fold, as after a crash, changes nothing; and a memo is never folded into
        itself."""
        await store.memos.add(ANN, [memo("one"), memo("two")])
        await store.memos.fold(ANN, ids=["one", "two"], into=memo("both"))
        before = await store.memos.read(ANN), await found(store, "tea", "one", "both")
        await store.memos.fold(ANN, ids=["one", "two", "both"], into=memo("other words", id="both"))
        assert (await store.memos.read(ANN), await found(store, "tea", "one", "both")) == before

    async def test_memos_of_erased_words_come_too_late(self, store: Store) -> None:
        """A memo that covers a turn erased meanwhile is rejected, and so is a fold into it."""
        await tell(store, ANN, "a", "b")
        await store.memos.add(ANN, [memo("fine", "b")])
        await store.archive.erase(ANN, turns=["a"])
        with pytest.raises(StaleVersion, match="erased meanwhile"):
            await store.memos.add(ANN, [memo("late", "a")])
        with pytest.raises(StaleVersion, match="erased meanwhile"):
            await store.memos.fold(ANN, ids=["fine"], into=memo("late", "b", "a"))
        assert await store.memos.read(ANN) == (memo("fine", "b"),)

    async def test_nothing_of_a_stranger_memos(self, store: Store) -> None:
        """Nothing is read for an unknown owner."""
        assert await store.memos.read(ANN) == ()
        assert await store.memos.read(ANN, ids=["a"]) == ()

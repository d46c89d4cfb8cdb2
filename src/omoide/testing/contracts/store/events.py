"""The contract of `EventStore`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from omoide.domain import JobState, JobTask, MemoryKind
from omoide.errors import StaleVersion
from omoide.testing.contracts.making import ANN, ANN_ELSEWHERE, BOB, HOUR, START, event, tell
from omoide.testing.contracts.store.base import StoreSuite

if TYPE_CHECKING:
    import asyncio

    from omoide.domain import Owner
    from omoide.ports import Store


async def texts(store: Store, owner: Owner = ANN) -> list[str]:
    """Texts of an owner's events, in order."""
    return [e.text for e in await store.events.read(owner)]


async def found(store: Store, *terms: str, owner: Owner = ANN) -> list[str]:
    """Events found by words."""
    return [h.id for h in await store.index.search_words(owner, terms, k=9, kind=MemoryKind.EVENT)]


async def embeddings(store: Store) -> list[JobState]:
    """States of Ann's EMBED jobs."""
    jobs = await store.jobs.list("acme", owner=ANN)
    return [job.state for job in jobs if job.task is JobTask.EMBED]


async def recall(store: Store, ids: list[str], *, ready: asyncio.Barrier) -> int:
    """Read events, wait until all others have read them, and record the recall."""
    before = await store.events.read(ANN, ids=ids)
    await ready.wait()
    return await store.events.consolidate(ANN, [e.recalled(START + HOUR) for e in before])


class EventsContract(StoreSuite):
    """The contract of `EventStore`."""

    async def test_read_as_added_events(self, store: Store) -> None:
        """Every field comes back unchanged, including the statistics."""
        added = (
            event("She moved to 東京.", "t1", "t2"),
            replace(event("later", at=START + HOUR), recalls=3, consolidation=2.718281828459045),
            replace(event("plain"), topics=(), keywords=(), participants=(), feeling=0.0),
            event("old", superseded_by="later"),
        )
        await store.events.add(ANN, added)
        assert set(await store.events.read(ANN)) == set(added)

    async def test_read_in_the_order_they_were_told(self, store: Store) -> None:
        """Events are ordered by time; those with the same time by order of storing."""
        await store.events.add(ANN, [event("c", at=START + 2 * HOUR), event("a"), event("b")])
        await store.events.add(ANN, [event("between", at=START + HOUR)])
        assert await texts(store) == ["a", "b", "between", "c"]

    async def test_read_by_id_events(self, store: Store) -> None:
        """Events with these ids come in their own order, each once; unknown ids are ignored."""
        await store.events.add(ANN, [event(text) for text in "abcd"])
        chosen = await store.events.read(ANN, ids=["d", "unknown", "b", "d"])
        assert [e.id for e in chosen] == ["b", "d"]
        assert await store.events.read(ANN, ids=[]) == ()
        assert await store.events.read(BOB, ids=["b"]) == ()

    async def test_found_as_soon_as_added(self, store: Store) -> None:
        """Events can be found by words at once, in every language."""
        await store.events.add(
            ANN, [event("She runs"), event("我住在北京市"), event("Tôi thích phở")]
        )
        assert await found(store, "run") == ["She runs"]
        assert await found(store, "北京") == ["我住在北京市"]
        assert await found(store, "~pho") == ["Tôi thích phở"]

    async def test_known_ids_are_passed_over_events(self, store: Store) -> None:
        """Events with known ids stay unchanged, and new ones in the batch are stored."""
        await store.events.add(ANN, [event("first", id="a")])
        await store.events.add(ANN, [event("second", id="a"), event("b"), event("other", id="b")])
        assert await texts(store) == ["first", "b"]
        assert await found(store, "second", "other") == []

    async def test_nothing_new_writes_nothing(self, store: Store) -> None:
        """An empty batch creates no owner, and a repeated one queues no job."""
        await store.events.add(ANN, [])
        assert await store.archive.owners("acme") == ()
        await store.events.add(ANN, [event("a")])
        job = await store.jobs.claim("acme", worker="w", now=START, lease=HOUR)
        assert job is not None
        await store.jobs.set_state(job, state=JobState.DONE)
        await store.events.add(ANN, [event("a")])
        assert await embeddings(store) == [JobState.DONE]

    async def test_adding_queues_one_embedding_events(self, store: Store) -> None:
        """At most one EMBED job waits, and another is queued while one is running."""
        await store.events.add(ANN, [event("a"), event("b")])
        await store.events.add(ANN, [event("c")])
        await tell(store, ANN, "words")
        assert await embeddings(store) == [JobState.WAITING]
        job = await store.jobs.claim("acme", worker="w", now=START, lease=HOUR)
        assert job is not None
        await store.events.add(ANN, [event("d")])
        assert await embeddings(store) == [JobState.RUNNING, JobState.WAITING]

    async def test_consolidate_writes_what_came_to_mind(self, store: Store) -> None:
        """Only the statistics of the recalled events are replaced."""
        added = [event(text) for text in "abc"]
        await store.events.add(ANN, added)
        after = [e.recalled(START + HOUR) for e in added[:2]]
        assert await store.events.consolidate(ANN, after) == 2
        assert await store.events.read(ANN) == (*after, added[2])
        other_words = replace(after[0].recalled(START + 2 * HOUR), text="other words")
        assert await store.events.consolidate(ANN, [other_words]) == 1
        [stored] = await store.events.read(ANN, ids=["a"])
        assert stored == replace(other_words, text="a")
        assert await store.events.consolidate(ANN, []) == 0

    @pytest.mark.parametrize("recalls", [0, 2, 7])
    async def test_consolidate_needs_one_recall_less(self, store: Store, recalls: int) -> None:
        """An event is not written if its number of recalls does not follow the stored one."""
        await store.events.add(ANN, [event("a"), event("b")])
        stale = replace(event("a").recalled(START + HOUR), recalls=recalls)
        fresh = event("b").recalled(START + HOUR)
        unknown = event("unknown").recalled(START)
        assert await store.events.consolidate(ANN, [stale, fresh, unknown]) == 1
        assert await store.events.read(ANN) == (event("a"), fresh)

    async def test_each_method_stays_with_its_owner(self, store: Store) -> None:
        """The same id of another owner or tenant is another event and stays unchanged."""
        added = [event("same"), event("newer")]
        for owner in (ANN, BOB, ANN_ELSEWHERE):
            await store.events.add(owner, added)
        assert await store.events.consolidate(ANN, [added[0].recalled(START + HOUR)]) == 1
        await store.events.supersede(ANN, old="same", by="newer")
        for owner in (BOB, ANN_ELSEWHERE):
            assert await store.events.read(owner) == tuple(added)
            assert await found(store, "same", owner=owner) == ["same"]
        assert await found(store, "same") == []

    async def test_nothing_of_a_stranger_events(self, store: Store) -> None:
        """Nothing is read or written for an unknown owner, who stays unknown."""
        assert await store.events.read(ANN) == ()
        assert await store.events.consolidate(ANN, [event("a").recalled(START)]) == 0
        await store.events.supersede(ANN, old="a", by="b")
        assert await store.archive.owners("acme") == ()

    async def test_supersede(self, store: Store) -> None:
        """The old event refers to the new one, can still be read, and is no longer found."""
        await store.events.add(ANN, [event("lives in Rome"), event("lives in Nice")])
        await store.events.supersede(ANN, old="lives in Rome", by="lives in Nice")
        assert await found(store, "live", "rome") == ["lives in Nice"]
        [old] = await store.events.read(ANN, ids=["lives in Rome"])
        assert old == event("lives in Rome", superseded_by="lives in Nice")
        again = old.recalled(START + HOUR)
        assert await store.events.consolidate(ANN, [again]) == 1
        await store.events.supersede(ANN, old="lives in Rome", by="lives in Nice")
        assert (await store.events.read(ANN))[0] == again
        assert await found(store, "live", "rome") == ["lives in Nice"]

    @pytest.mark.parametrize(("old", "by"), [("a", "unknown"), ("unknown", "a"), ("a", "a")])
    async def test_supersede_passes_over(self, store: Store, old: str, by: str) -> None:
        """Unknown ids, and an event superseding itself, are ignored."""
        await store.events.add(ANN, [event("a")])
        await store.events.add(BOB, [event("unknown")])
        await store.events.supersede(ANN, old=old, by=by)
        assert await store.events.read(ANN) == (event("a"),)
        assert await found(store, "a") == ["a"]

    async def test_added_as_superseded(self, store: Store) -> None:
        """An event added as superseded can be read, but is neither found nor embedded."""
        await store.events.add(ANN, [event("old tea", superseded_by="gone")])
        assert await texts(store) == ["old tea"]
        assert await found(store, "tea") == []
        assert await embeddings(store) == []

    async def test_events_of_erased_words_come_too_late(self, store: Store) -> None:
        """An event that cites a turn or session erased meanwhile is rejected."""
        await tell(store, ANN, "a", "b", key="one")
        await tell(store, ANN, "c", key="two")
        await store.archive.erase(ANN, turns=["a"])
        await store.archive.erase(ANN, session=2)
        for late in (event("late", "b", "a"), event("late", session=2)):
            with pytest.raises(StaleVersion, match="erased meanwhile"):
                await store.events.add(ANN, [event("fine", "b"), late])
        assert await texts(store) == []
        await store.events.add(ANN, [event("fine", "b")])
        assert await texts(store) == ["fine"]

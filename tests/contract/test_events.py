"""The contract of `Events`."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from omoide.domain import Kind, State, Task
from omoide.errors import StaleVersion, StoreError
from tests.contract.conftest import MAKERS, SHARED
from tests.contract.making import ANN, ANN_ELSEWHERE, BOB, HOUR, START, event, tell

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.domain import Event, Owner
    from omoide.ports import Store


async def texts(store: Store, owner: Owner = ANN) -> list[str]:
    """What happened to an owner, in order."""
    return [e.text for e in await store.events.read(owner)]


async def found(store: Store, *terms: str, owner: Owner = ANN) -> list[str]:
    """Events found by words."""
    return [h.id for h in await store.index.words(owner, terms, k=9, kind=Kind.EVENT)]


async def embeddings(store: Store) -> list[State]:
    """Where Ann's jobs for vectors stand."""
    jobs = await store.jobs.list("acme", owner=ANN)
    return [job.state for job in jobs if job.task is Task.EMBED]


async def test_read_as_added(store: Store) -> None:
    """Every field comes back as it was given, statistics included."""
    told = (
        event("She moved to 東京.", "t1", "t2"),
        replace(event("later", at=START + HOUR), recalls=3, consolidation=2.718281828459045),
        replace(event("plain"), topics=(), keywords=(), participants=(), feeling=0.0),
        event("old", superseded_by="later"),
    )
    await store.events.add(ANN, told)
    assert set(await store.events.read(ANN)) == set(told)


async def test_read_in_the_order_they_were_told(store: Store) -> None:
    """By the time they were told, whenever they were stored; those of one time as stored."""
    await store.events.add(ANN, [event("c", at=START + 2 * HOUR), event("a"), event("b")])
    await store.events.add(ANN, [event("between", at=START + HOUR)])
    assert await texts(store) == ["a", "b", "between", "c"]


async def test_read_by_id(store: Store) -> None:
    """Those with these ids, in their own order, each once; unknown ids are left out."""
    await store.events.add(ANN, [event(text) for text in "abcd"])
    chosen = await store.events.read(ANN, ids=["d", "unknown", "b", "d"])
    assert [e.id for e in chosen] == ["b", "d"]
    assert await store.events.read(ANN, ids=[]) == ()
    assert await store.events.read(BOB, ids=["b"]) == ()


async def test_found_as_soon_as_added(store: Store) -> None:
    """Words find an event at once, in every language."""
    await store.events.add(ANN, [event("She runs"), event("我住在北京市"), event("Tôi thích phở")])
    assert await found(store, "run") == ["She runs"]
    assert await found(store, "北京") == ["我住在北京市"]
    assert await found(store, "~pho") == ["Tôi thích phở"]


async def test_known_ids_are_passed_over(store: Store) -> None:
    """What is there stays as it is, and new events beside it are stored."""
    await store.events.add(ANN, [event("first", id="a")])
    await store.events.add(ANN, [event("second", id="a"), event("b"), event("other", id="b")])
    assert await texts(store) == ["first", "b"]
    assert await found(store, "second", "other") == []


async def test_nothing_new_writes_nothing(store: Store) -> None:
    """An empty batch makes no owner, and a repeated one queues no work."""
    await store.events.add(ANN, [])
    assert await store.archive.owners("acme") == ()
    await store.events.add(ANN, [event("a")])
    job = await store.jobs.claim("acme", worker="w", now=START, lease=HOUR)
    assert job is not None
    await store.jobs.settle(job, state=State.DONE)
    await store.events.add(ANN, [event("a")])
    assert await embeddings(store) == [State.DONE]


async def test_adding_queues_one_embedding(store: Store) -> None:
    """One EMBED job waits however much is added, and another follows one that is running."""
    await store.events.add(ANN, [event("a"), event("b")])
    await store.events.add(ANN, [event("c")])
    await tell(store, ANN, "words")
    assert await embeddings(store) == [State.WAITING]
    job = await store.jobs.claim("acme", worker="w", now=START, lease=HOUR)
    assert job is not None
    await store.events.add(ANN, [event("d")])
    assert await embeddings(store) == [State.RUNNING, State.WAITING]


async def test_added_in_one_transaction(store: Store) -> None:
    """If one event of a batch cannot be stored, none is, nor its words, nor the job."""
    broken = replace(event("green two"), consolidation=None)  # type: ignore[arg-type]
    with pytest.raises(StoreError):
        await store.events.add(ANN, [event("green one"), broken])
    assert await texts(store) == []
    assert await found(store, "green") == []
    assert await store.jobs.list("acme") == ()


async def test_consolidate_writes_what_came_to_mind(store: Store) -> None:
    """Statistics of the recalled events are replaced, and nothing else of them or of others."""
    told = [event(text) for text in "abc"]
    await store.events.add(ANN, told)
    after = [e.recalled(START + HOUR) for e in told[:2]]
    assert await store.events.consolidate(ANN, after) == 2
    assert await store.events.read(ANN) == (*after, told[2])
    other_words = replace(after[0].recalled(START + 2 * HOUR), text="other words")
    assert await store.events.consolidate(ANN, [other_words]) == 1
    [stored] = await store.events.read(ANN, ids=["a"])
    assert stored == replace(other_words, text="a")
    assert await store.events.consolidate(ANN, []) == 0


@pytest.mark.parametrize("recalls", [0, 2, 7])
async def test_consolidate_needs_one_recall_less(store: Store, recalls: int) -> None:
    """An event that was recalled otherwise meanwhile, or not at all, is not written."""
    await store.events.add(ANN, [event("a"), event("b")])
    stale = replace(event("a").recalled(START + HOUR), recalls=recalls)
    fresh = event("b").recalled(START + HOUR)
    unknown = event("unknown").recalled(START)
    assert await store.events.consolidate(ANN, [stale, fresh, unknown]) == 1
    assert await store.events.read(ANN) == (event("a"), fresh)


async def test_each_method_stays_with_its_owner(store: Store) -> None:
    """The same id of another owner or tenant is another event, whatever is done to one."""
    told = [event("same"), event("newer")]
    for owner in (ANN, BOB, ANN_ELSEWHERE):
        await store.events.add(owner, told)
    assert await store.events.consolidate(ANN, [told[0].recalled(START + HOUR)]) == 1
    await store.events.supersede(ANN, old="same", by="newer")
    for owner in (BOB, ANN_ELSEWHERE):
        assert await store.events.read(owner) == tuple(told)
        assert await found(store, "same", owner=owner) == ["same"]
    assert await found(store, "same") == []


async def test_nothing_of_a_stranger(store: Store) -> None:
    """Of someone unknown nothing is read or written, and they stay unknown."""
    assert await store.events.read(ANN) == ()
    assert await store.events.consolidate(ANN, [event("a").recalled(START)]) == 0
    await store.events.supersede(ANN, old="a", by="b")
    assert await store.archive.owners("acme") == ()


async def test_supersede(store: Store) -> None:
    """The old event names the new one, is still read, and is no longer found."""
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
async def test_supersede_passes_over(store: Store, old: str, by: str) -> None:
    """With an unknown id, or an event by itself, nothing happens."""
    await store.events.add(ANN, [event("a")])
    await store.events.add(BOB, [event("unknown")])
    await store.events.supersede(ANN, old=old, by=by)
    assert await store.events.read(ANN) == (event("a"),)
    assert await found(store, "a") == ["a"]


async def test_added_as_superseded(store: Store) -> None:
    """An event that is brought along as superseded is read and not found, nor to be embedded."""
    await store.events.add(ANN, [event("old tea", superseded_by="gone")])
    assert await texts(store) == ["old tea"]
    assert await found(store, "tea") == []
    assert await embeddings(store) == []


async def test_events_of_erased_words_come_too_late(store: Store) -> None:
    """An event that cites a turn, or tells of a session, erased meanwhile is refused."""
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


async def recall(store: Store, ids: list[str], *, ready: asyncio.Barrier) -> int:
    """Read events, wait until all others have read them, and write down that they came to mind."""
    before = await store.events.read(ANN, ids=ids)
    await ready.wait()
    return await store.events.consolidate(ANN, [e.recalled(START + HOUR) for e in before])


rounds = st.lists(
    st.lists(
        st.tuples(st.integers(0, 1), st.lists(st.sampled_from("abcd"), min_size=1, unique=True)),
        min_size=1,
        max_size=6,
    ),
    max_size=4,
)


@pytest.mark.parametrize("maker", list(MAKERS))
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rounds=rounds)
def test_recalled_at_once_counts_once(
    maker: str,
    rounds: list[list[tuple[int, list[str]]]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Of tasks and processes that recalled one event from the same state, exactly one is written,
    and no recall from a later state is lost."""
    asyncio.run(_recall_at_once(maker, rounds, tmp_path_factory.mktemp("events")))


async def _recall_at_once(
    maker: str, rounds: list[list[tuple[int, list[str]]]], folder: Path
) -> None:
    one = await MAKERS[maker](folder)
    two = await SHARED[maker](folder) if maker in SHARED else one
    try:
        told: dict[str, Event] = {text: event(text) for text in "abcd"}
        await one.events.add(ANN, list(told.values()))
        for tasks in rounds:
            ready = asyncio.Barrier(len(tasks))
            written = await asyncio.gather(
                *(recall((one, two)[which], ids, ready=ready) for which, ids in tasks)
            )
            recalled = {name for _, ids in tasks for name in ids}
            assert sum(written) == len(recalled)
            told |= {name: told[name].recalled(START + HOUR) for name in recalled}
        assert await two.events.read(ANN) == tuple(told.values())
    finally:
        await one.close()
        await two.close()

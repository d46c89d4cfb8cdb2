"""Vectors in Qdrant: what happens when it is away, when something is erased, and on the wire.

Qdrant is the client's local mode here (`tests/qdrant.py`): there is no server to be had."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from qdrant_client import models

from omoide import bootstrap
from omoide.adapters.stores.outside import JoinedStore
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import JobState, JobTask, MemoryKind, Owner, Speaker
from omoide.engine.messages import Utterance
from omoide.engine.runtime import Runtime
from omoide.errors import BadInput, EmbedderMismatch, VectorsUnavailable
from omoide.ports import Erased
from omoide.ports.store import ExternalVectors
from omoide.ports.vectors import VectorItem, VectorOwner
from omoide.settings import Settings
from omoide.testing import FrozenClock, HashEmbedder, ScriptedModel
from omoide.testing.contracts.making import ANN, BOB, HOUR, SPACE, START, event, rows, tell
from omoide_qdrant import connect
from omoide_qdrant.points import item_of, point_id
from tests.examples import examples
from tests.qdrant import Line
from tests.qdrant_wire import Wire, serving

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.engine.memory import Memory

SAID = ("I keep bees behind the house.", "We drank green tea in Uji.", "東京に引っ越した。")


async def opened(line: Line, path: str | Path = ":memory:") -> JoinedStore:
    """A database with its vectors at the end of the line."""
    return await JoinedStore.join(await SqliteStore.open(path), line.points())


def memory_of(store: JoinedStore, clock: FrozenClock, tenant: str = "acme") -> Memory:
    """A memory that asks no model."""
    model = ScriptedModel()
    return Runtime(
        Settings(tenant=tenant, mechanisms=("search",)),
        store=store,
        model=model,
        summariser=model,
        embedder=HashEmbedder(),
        clock=clock,
        name="w",
    ).memory()


async def said(memory: Memory, user: str = "ann") -> tuple[str, ...]:
    """Record some turns; their ids."""
    turns = [Utterance(speaker=Speaker.USER, text=text) for text in SAID]
    return tuple(turn.id for turn in await memory.record(user, turns))


async def test_words_are_never_lost_while_it_is_away(caplog: pytest.LogCaptureFixture) -> None:
    """What is said while Qdrant is away is recorded and found by its words, and recall says what it
    lacks; the job waits, for longer than any other would, and does it when Qdrant is back."""
    line, clock = Line(), FrozenClock(START)
    memory = memory_of(store := await opened(line), clock)
    line.cut = True
    with caplog.at_level(logging.WARNING):
        await said(memory)
        for _ in range(12):
            await memory.run_jobs()
            clock.advance(HOUR)
        found = await memory.recall("ann", "green tea")
    assert found[0].text == SAID[1]
    assert "Qdrant here" in found.degraded
    assert "recall uses words only" in caplog.text
    assert not [text for text in SAID if text in caplog.text]
    (job,) = await memory.jobs("ann")
    assert (job.task, job.state, job.attempts) == (JobTask.EMBED, JobState.WAITING, 12)
    assert "Qdrant here cannot be reached" in job.error
    line.cut = False
    await memory.run_jobs()
    fine = await memory.recall("ann", "green tea")
    assert fine.degraded == ""
    assert fine[0].text == SAID[1]
    assert len(line.all()) == len(SAID)
    await store.close()


async def test_searches_do_not_wait_for_what_has_just_failed() -> None:
    """After a failure nobody asks for a few seconds; then it is tried again."""
    line, seconds = Line(), [0.0]
    within = await SqliteStore.open(":memory:")
    store = await JoinedStore.join(within, line.points(), now=lambda: seconds[0])
    await tell(store, ANN, "a")
    await store.index.put(ANN, SPACE, ids=["a"], vectors=rows((1, 0, 0)))
    line.cut = True
    for _ in range(3):
        assert await store.index.nearest(ANN, SPACE, rows((1, 0, 0)), k=1) == ()
    assert line.asked.count("query_points") == 1
    line.cut = False
    assert (await store.index.search_data(ANN, [], space=SPACE, query=rows((1, 0, 0)))).degraded
    seconds[0] = 5.0
    assert [h.id for h in await store.index.nearest(ANN, SPACE, rows((1, 0, 0)), k=1)] == ["a"]
    await store.close()


async def test_an_erasure_reaches_every_point() -> None:
    """A turn, a session, a user: the whole of Qdrant is looked through after each, and others'
    points are as they were. Nothing in it was ever a word or a name of a user."""
    line, clock = Line(), FrozenClock(START)
    store = await opened(line)
    memory, abroad = memory_of(store, clock), memory_of(store, clock, "other")
    ids = await said(memory)
    await memory.end_session("ann")
    clock.advance(HOUR)
    later = await said(memory)
    for other, user in ((memory, "bob"), (abroad, "ann")):
        await said(other, user)
        await other.run_jobs()
    await memory.run_jobs()
    everything = line.all()
    assert len(everything) == 12
    assert {tuple(sorted(point.payload)) for point in everything} == {("kind", "owner", "tenant")}
    assert not [
        t for t in ("ann", "bob", *SAID, *ids) if t in repr([p.payload for p in everything])
    ]
    rest = [p for p in everything if p.payload != everything[0].payload]
    owner = everything[0].payload["owner"]

    def left() -> set[int]:
        return {item_of(p.id).number for p in line.all() if p.payload["owner"] == owner}

    assert left() == {1, 2, 3, 4, 5, 6}
    assert not (await memory.erase("ann", turns=[ids[1]])).pending
    assert left() == {1, 3, 4, 5, 6}
    await memory.erase("ann", session=1)
    assert left() == {4, 5, 6}
    assert await memory.erase("ann") == Erased(sessions=1, turns=3, sentences=0)
    assert left() == set()
    assert len(later) == 3
    assert {p.id: p.vector for p in line.all()} == {p.id: p.vector for p in rest}
    assert await memory.jobs() == tuple(await memory.jobs("bob"))  # nothing waits
    await store.close()


async def test_an_erasure_waits_for_it_and_is_seen_to(caplog: pytest.LogCaptureFixture) -> None:
    """Erased while Qdrant is away: nothing of it is found from then on, it is said that something
    is pending, the work is listed without a name, and all points are gone when Qdrant is back."""
    line, clock = Line(), FrozenClock(START)
    memory = memory_of(store := await opened(line), clock)
    for user in ("ann", "bob"):
        ids = await said(memory, user)
    await memory.run_jobs()
    line.cut = True
    with caplog.at_level(logging.WARNING):
        gone = await memory.erase("ann")
        part = await memory.erase("bob", turns=ids[:1])
    assert gone.pending
    assert part.pending
    assert "will be removed later" in caplog.text
    assert await memory.users() == ("bob",)
    for _ in range(10):
        await memory.run_jobs()
        clock.advance(HOUR)
    waiting = await memory.jobs(states=[JobState.WAITING])
    assert [(job.task, job.state) for job in waiting] == [(JobTask.EMBED, JobState.WAITING)] * 2
    assert all("cannot be reached" in job.error for job in waiting)
    assert [job.owner.user for job in waiting] == ["erased 1\x7f", "bob"]
    # The same name again is another owner: whatever Qdrant still holds is not theirs.
    line.cut = False
    assert await memory.recall("ann", SAID[0]) == ()
    await memory.record("ann", [Utterance(speaker=Speaker.USER, text="Hello.")])
    assert [i.text for i in await memory.recall("ann", SAID[0])] == []
    assert SAID[0] not in [i.text for i in await memory.recall("bob", SAID[0])]
    assert len(line.all()) == 6
    await memory.run_jobs()
    owners = sorted((int(p.payload["owner"]), item_of(p.id).number) for p in line.all())
    assert owners == [(2, 2), (2, 3), (4, 1)]
    assert await memory.jobs(states=[JobState.WAITING, JobState.DEAD]) == ()
    assert await memory.users() == ("ann", "bob")
    await store.close()


@pytest.mark.parametrize("whole", [True, False])
async def test_erased_while_it_is_embedded(whole: bool, tmp_path: Path) -> None:
    """What is erased between its embedding and its arrival leaves no point behind."""
    line, clock = Line(), FrozenClock(START)
    store = await opened(line, tmp_path / "m.sqlite")
    memory = memory_of(store, clock)
    ids = await said(memory)

    def erase() -> None:  # by another process, in a thread of its own
        async def work() -> None:
            other = await opened(line, tmp_path / "m.sqlite")
            await memory_of(other, clock).erase("ann", turns=None if whole else ids)
            await other.close()

        asyncio.run(work())

    line.before["upsert"] = erase
    await memory.run_jobs()
    assert line.all() == []
    await store.close()


async def test_a_worker_that_died_in_between_leaves_nothing(tmp_path: Path) -> None:
    """A worker puts points and dies; the user is erased meanwhile: the work comes again after the
    worker's hold has ended, and removes what arrived late."""
    line, clock = Line(), FrozenClock(START)
    memory = memory_of(store := await opened(line), clock)
    await said(memory)
    job = await store.jobs.claim("acme", worker="died", now=clock.now(), lease=HOUR)
    assert job is not None
    await memory.erase("ann")
    assert line.all() == []
    (grave,) = await memory.jobs()
    assert grave.due > clock.now() + HOUR
    await tell(store, BOB, "x")
    await store.index.put(BOB, SPACE, ids=["x"], vectors=rows((1, 0, 0)))
    (point,) = line.all()
    late = point_id(1, VectorItem(1, 1))
    collection = line.client.get_collections().collections[0].name
    line.client.upsert(
        collection,
        points=[
            models.PointStruct(
                id=late, vector=point.vector, payload={**point.payload, "owner": "1"}
            )
        ],
    )
    clock.advance(3 * HOUR)
    await memory.run_jobs()
    assert late not in {p.id for p in line.all()}
    assert await memory.users() == ("bob",)
    await store.close()


async def test_what_it_lost_is_embedded_again() -> None:
    """Points that vanished, a collection that was dropped, and points of nobody: the next job sees
    to all of them."""
    line, clock = Line(), FrozenClock(START)
    memory = memory_of(store := await opened(line), clock)
    await said(memory)
    await memory.run_jobs()
    collection = line.client.get_collections().collections[0].name
    whole = {p.id: p.vector for p in line.all()}
    line.client.delete_collection(collection)
    await store.jobs.enqueue(ANN, JobTask.EMBED, session=None, at=clock.now())
    for _ in range(2):
        await memory.run_jobs()
        clock.advance(HOUR)
    assert {p.id: p.vector for p in line.all()} == whole
    line.client.delete(collection, points_selector=[point_id(1, VectorItem(1, 2))])
    stray = {**line.all()[0].payload}
    for number in (77, 78):
        line.client.upsert(
            collection,
            points=[
                models.PointStruct(
                    id=point_id(1, VectorItem(1, number)),
                    vector=whole[point_id(1, VectorItem(1, 2))],
                    payload=stray,
                )
            ],
        )
    await store.jobs.enqueue(ANN, JobTask.EMBED, session=None, at=clock.now())
    await memory.run_jobs()
    assert {p.id: p.vector for p in line.all()} == whole
    await store.close()


async def test_hidden_points_take_nobodys_place() -> None:
    """An event that was superseded has its point until the next job; a search for the nearest one
    finds the one behind it."""
    line = Line()
    store = await opened(line)
    (turn,) = await tell(store, ANN, "a turn")
    events = [event(f"e{i}", turn.id) for i in range(6)]
    await store.events.add(ANN, events)
    vectors = rows(*((1.0, i / 10, 0.0) for i in range(6)))
    names = [e.id for e in events]
    await store.index.put(ANN, SPACE, ids=names, vectors=vectors, kind=MemoryKind.EVENT)
    for old in names[:4]:
        await store.events.supersede(ANN, old=old, by=names[5])
    assert len(line.all()) == 6
    near = await store.index.nearest(ANN, SPACE, rows((1, 0, 0)), k=1, kind=MemoryKind.EVENT)
    assert [hit.id for hit in near] == [names[4]]
    assert isinstance(store.index, ExternalVectors)  # the EMBED job asks this
    await store.index.reconcile(ANN)
    assert {item_of(p.id).number for p in line.all()} == {5, 6}
    await store.close()


NAMES = st.sampled_from(["ann", "a' OR 1=1 --", "1", "思い出", "*", "ann "])


@settings(
    max_examples=examples(25), deadline=None, phases=[Phase.explicit, Phase.generate, Phase.shrink]
)
@given(
    owners=st.lists(st.tuples(NAMES, NAMES), min_size=2, max_size=5, unique=True),
    erased=st.integers(0, 4),
    query=st.tuples(*[st.floats(-1, 1, width=16)] * 3).filter(any),
)
def test_nobody_finds_anothers_points(
    owners: list[tuple[str, str]], erased: int, query: tuple[float, ...]
) -> None:
    """Whatever tenants and users are called, each finds their own turns by vector and no others,
    also after one of them was erased; and each point says whose it is."""

    async def work() -> None:
        line = Line()
        store = await opened(line)
        everyone = [Owner(tenant=tenant, user=user) for tenant, user in owners]
        for place, owner in enumerate(everyone):
            await tell(store, owner, *(f"{place} says {i}" for i in range(3)))
            vectors = rows((1, 0, 0), (0, 1, 0), (place + 1, 1, 1))
            ids = [f"{place} says {i}" for i in range(3)]
            await store.index.put(owner, SPACE, ids=ids, vectors=vectors)
        gone = everyone[erased % len(everyone)]
        await store.archive.erase(gone)
        for place, owner in enumerate(everyone):
            hits = await store.index.nearest(owner, SPACE, rows(query), k=99)
            wanted = set() if owner == gone else {f"{place} says {i}" for i in range(3)}
            assert {hit.id for hit in hits} == wanted
            survey = await store.index.search_data(owner, [], space=SPACE, query=rows(query))
            assert set(survey.table.ids) == wanted
        tenants = sorted(point.payload["tenant"] for point in line.all())
        assert tenants == sorted(o.tenant for o in everyone if o != gone for _ in range(3))
        await store.close()

    asyncio.run(work())


async def test_another_version_of_an_embedder_is_refused() -> None:
    """As elsewhere: vectors of one name and two versions are never mixed."""
    store = await opened(Line())
    await tell(store, ANN, "a")
    await store.index.put(ANN, SPACE, ids=["a"], vectors=rows((1, 0, 0)))
    other = replace(SPACE, version="2")
    with pytest.raises(EmbedderMismatch, match="version '1'"):
        await store.index.put(ANN, other, ids=["a"], vectors=rows((1, 0, 0)))
    with pytest.raises(EmbedderMismatch, match="version '1'"):
        await store.index.search_data(ANN, [], space=other, query=rows((1, 0, 0)))
    await store.close()


async def test_a_collection_of_other_measures_is_refused() -> None:
    """A keeper may make the collection beforehand, with shards and replicas; if its vectors are of
    another length, it is said."""
    line = Line()
    store = await opened(line)
    await tell(store, ANN, "a")
    name = store.index._place.collection(2)
    line.client.create_collection(
        name, vectors_config=models.VectorParams(size=7, distance=models.Distance.COSINE)
    )
    with pytest.raises(EmbedderMismatch, match="one unnamed vector of 3 numbers"):
        await store.index.put(ANN, SPACE, ids=["a"], vectors=rows((1, 0, 0)))
    await store.close()


async def test_on_the_wire(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """By HTTP and with a key: the owner's field is the tenants' index, every search is exact and
    filtered by owner, tenant and kind; a wrong key is told of, and no key is ever in a message."""
    wire = Wire(key="sesame-open")
    with serving(wire), caplog.at_level(logging.DEBUG):
        made = Settings(
            db=tmp_path / "m.sqlite",
            vectors=f"qdrant://127.0.0.1:{wire.port}",
            vectors_key="sesame-open",
            embedder="none",
        )
        assert "sesame" not in repr(made)
        runtime = await bootstrap.open_runtime(made)
        store = runtime.store
        await tell(store, ANN, "x", "y")
        await store.index.put(ANN, SPACE, ids=["x", "y"], vectors=rows((1, 0, 0), (0, 1, 0)))
        near = await store.index.nearest(ANN, SPACE, rows((1, 0.5, 0)), k=1)
        assert [hit.id for hit in near] == ["x"]
        assert not (await store.archive.erase(ANN, turns=["x"])).pending
        assert wire.client.count(store.index._place.collection(2)).count == 1  # type: ignore[attr-defined]
        assert not (await store.archive.erase(ANN)).pending
        assert wire.client.count(store.index._place.collection(2)).count == 0  # type: ignore[attr-defined]
        await runtime.close()
        indexes = {b["field_name"]: b["field_schema"] for _, p, b in wire.came if "/index" in p}
        assert indexes["owner"] == {"type": "keyword", "is_tenant": True}
        assert set(indexes) == {"owner", "tenant", "kind"}
        (asked,) = [body for _, path, body in wire.came if "/query" in path]
        assert asked["params"] == {"exact": True}
        assert {c["key"] for c in asked["filter"]["must"]} == {"owner", "tenant", "kind"}
        (made_as,) = [b for m, p, b in wire.came if m == "PUT" and p.count("/") == 2]
        assert made_as["hnsw_config"] == {"m": 0, "payload_m": 0}
        assert made_as["vectors"] == {"size": 3, "distance": "Cosine", "on_disk": True}
        writes = [p for m, p, _ in wire.came if m == "PUT" and "/points" in p]
        assert all("wait=true" in path for path in writes)
        runtime = await bootstrap.open_runtime(replace(made, vectors_key="wrong-sesame"))
        await tell(runtime.store, BOB, "x")
        with pytest.raises(VectorsUnavailable, match="refused the key") as refused:
            await runtime.store.index.put(BOB, SPACE, ids=["x"], vectors=rows((1, 0, 0)))
        await runtime.close()
    assert "sesame" not in str(refused.value) + caplog.text


async def test_a_database_says_where_its_vectors_are(tmp_path: Path) -> None:
    """It is not opened without them, or an erasure would not reach them; `omoide migrate` brings
    everything into one that has none there."""
    line, path = Line(), tmp_path / "m.sqlite"
    store = await opened(line, path)
    memory = memory_of(store, FrozenClock(START))
    await said(memory)
    await memory.run_jobs()
    await store.close()
    with pytest.raises(BadInput, match="OMOIDE_VECTORS as before"):
        await bootstrap.open_runtime(Settings(db=path, embedder="none"))
    moved = await bootstrap.migrate(path, tmp_path / "n.sqlite")
    assert moved.owners == 1
    plain = await SqliteStore.open(tmp_path / "n.sqlite")
    unembedded = await plain.index.without_vector(ANN, HashEmbedder().space, limit=9)
    assert [text.text for text in unembedded] == list(SAID)
    await plain.close()
    reopened = await bootstrap.open_runtime(Settings(db=tmp_path / "n.sqlite", embedder="none"))
    await reopened.close()


@pytest.mark.parametrize(
    "url",
    ["http://h:1", "qdrant://", "qdrant://me:pw@h:1", "h:6333", "qdrant+ftp://h", "qdrant://h:x"],
)
def test_an_address_that_is_none(url: str) -> None:
    """Anything but a host, and a password in it, is refused with what is wanted."""
    with pytest.raises(BadInput, match=r"qdrant://HOST:PORT.*OMOIDE_VECTORS_KEY") as refused:
        connect(url)
    assert "pw" not in str(refused.value)


async def test_nobody_at_the_address() -> None:
    """A port where nothing listens is told of with host and port."""
    points = connect("qdrant://127.0.0.1:1", timeout=1)
    with pytest.raises(VectorsUnavailable, match=r"Qdrant at 127\.0\.0\.1:1 cannot be reached"):
        points.count(VectorOwner(collection="c", tenant="t", owner=1))
    points.close()


def test_without_the_extra_it_says_what_to_install() -> None:
    """Importing the adapter needs no vendor; connecting does, and names the command."""
    code = (
        "import sys\n"
        "sys.modules['qdrant_client'] = None\n"
        "from omoide_qdrant import connect\n"
        "connect('qdrant://localhost')\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MissingExtra: Qdrant needs qdrant_client: pip install 'omoide[qdrant]'" in run.stderr

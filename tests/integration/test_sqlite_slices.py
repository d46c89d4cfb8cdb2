"""How much a slice of a large erasure removes, and how long others have the lock in between."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from omoide.adapters.stores.sql import reindexing, slices
from omoide.adapters.stores.sql.slices import SliceSize, TableSliceSizes, leave_time
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import FactChanges
from omoide.testing.contracts.making import ANN, BOB, HOUR, event, fact, say, tell
from tests.virtual_time import VirtualTimeLoop

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.adapters.stores.sql.connection import Connection


@pytest.mark.parametrize(
    ("seconds", "pages", "size"),
    [
        (0.01, 0, 100),  # as long as wanted
        (0.008, 0, 125),
        (0.02, 0, 50),
        (0.0125, 0, 80),
        (0.0, 0, 200),  # at most twice
        (5.0, 0, 50),  # at least half
        (0.0, 60, 100),  # as many pages as wanted
        (0.0, 80, 75),
        (0.0, 30, 200),
        (0.0, 9999, 50),
        (0.02, 30, 50),  # the worse of the two
        (0.005, 90, 66),
    ],
)
def test_the_next_slice_takes_as_long_and_writes_as_many_pages_as_wanted(
    seconds: float, pages: int, size: int
) -> None:
    """By what the last one took, a step at a time."""
    slice_ = SliceSize(size=100, most=1000)
    slice_.adapt(seconds, pages)
    assert slice_.size == size


def test_a_slice_stays_within_bounds() -> None:
    """Never more than the most, and never less than a twentieth of it."""
    slice_ = SliceSize(size=900, most=1000)
    slice_.adapt(0.0)
    assert slice_.size == 1000
    for _ in range(20):
        slice_.adapt(1.0)
    assert slice_.size == 50


def test_each_table_has_a_size_of_its_own() -> None:
    """The one at which a slice ended learns from it."""
    sizes = TableSliceSizes()
    sizes.adapt(1.0)  # nothing was removed yet
    assert [sizes.of("turns"), sizes.of("postings")] == [250, 250]
    sizes.adapt(0.0)
    assert [sizes.of("postings"), sizes.of("turns")] == [500, 250]
    sizes.adapt(1.0, 0)
    assert [sizes.of("postings"), sizes.of("turns")] == [500, 125]
    sizes.adapt(0.0, 9999)
    assert sizes.of("turns") == 62


@pytest.mark.parametrize(("taken", "left"), [(0.0, 0.002), (0.01, 0.01), (9.0, 0.05)])
def test_others_get_as_much_time_as_they_had_to_wait(taken: float, left: float) -> None:
    """Within bounds: a pause can be too short to be seen, and an erasure has to end."""
    loop = VirtualTimeLoop()
    loop.run_until_complete(leave_time(taken))
    assert loop.time() == pytest.approx(left)
    loop.close()
    asyncio.set_event_loop(None)


async def removed(store: SqliteStore) -> list[dict[str, int]]:
    """Remove Ann slice by slice, each as large as may be; how many rows of each table went."""
    sizes, done = TableSliceSizes(), False
    for table in slices._KEYS:
        sizes.sizes[table] = SliceSize(size=1000, most=1000)
    found = []

    def work(connection: Connection) -> slices.RemovedRows:
        connection.execute("INSERT INTO erasing VALUES (1)")
        rows = slices.remove_rows(connection, 1, sizes)
        connection.execute("DELETE FROM erasing WHERE owner = 1")
        return rows

    while not done:
        rows = await store.file.write(ANN.tenant, work)
        found.append({table: count for table, count in rows.rows.items() if count})
        done = rows.done
    return found


async def test_rows_that_cost_more_fill_a_slice_sooner(tmp_path: Path) -> None:
    """A turn counts as twenty postings do; what is left of a slice goes to the next table."""
    store = await SqliteStore.open(tmp_path / "omoide.db")
    said = [say("", id=f"t{number}") for number in range(120)]
    await store.turns.append(ANN, said, session="k", idle=HOUR)
    await tell(store, BOB, "hello")
    [*before, last] = await removed(store)
    turns = [found["turns"] for found in (*before, last) if "turns" in found]
    assert sum(turns) == 120
    assert max(turns) == 50
    assert len(before) == 2
    assert [turn.text for turn in await store.turns.read(BOB)] == ["hello"]
    await store.close()


async def test_the_next_table_gets_what_the_last_left_of_a_slice(tmp_path: Path) -> None:
    """Half of a slice for events leaves half for others."""
    store = await SqliteStore.open(tmp_path / "omoide.db")
    facts = tuple(fact("", "t", id=f"f{n}") for n in range(40))
    await store.facts.apply(ANN, FactChanges(added=facts))
    await store.events.add(ANN, [event("", "t", id=f"e{n}") for n in range(60)])
    found = await removed(store)
    assert sum(rows.get("facts", 0) for rows in found) == 40
    assert sum(rows.get("events", 0) for rows in found) == 60
    for rows in found:
        assert 20 * rows.get("facts", 0) + 10 * rows.get("events", 0) <= 1000 + 20
    assert len(found) == 2
    await store.close()


async def test_texts_are_split_again_a_chunk_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every text with a word next to unspaced characters, of every owner, however many there
    are; what a search does not find stays unfound."""
    monkeypatch.setattr(reindexing, "_CHUNK", 3)
    store = await SqliteStore.open(tmp_path / "omoide.db")
    texts = [f"我用Word{number}写代码" for number in range(7)]
    for owner in (ANN, BOB):
        await tell(store, owner, *texts, "plain text")
        await store.events.add(owner, [event("用Event写", id="e"), event("用Older写", id="old")])
        await store.events.supersede(owner, old="old", by="e")

    def spoil(connection: Connection) -> None:
        connection.execute("UPDATE postings SET term = 'spoilt' || item WHERE term LIKE 'word%'")
        connection.execute("DELETE FROM postings WHERE term = 'event'")
        connection.execute("UPDATE outlines SET length = 99, telling = 0")

    def shown(connection: Connection) -> list[Any]:
        return [
            *connection.execute(
                "SELECT owner, kind, item, term, tf, length FROM postings "
                "WHERE term NOT LIKE 'spoilt%' ORDER BY 1, 2, 3, 4"
            ),
            *connection.execute("SELECT length, telling FROM outlines ORDER BY owner, position"),
        ]

    before = await store.file.read("acme", shown)
    await store.file.write("acme", spoil)
    await store.file.write("acme", reindexing.reindex)
    after = await store.file.read("acme", shown)
    plain = [(99, 0.0)]
    assert after[:-16] == before[:-16]
    assert [row for row in after[-16:] if row not in plain] == [
        row for n, row in enumerate(before[-16:]) if n % 8 != 7
    ]
    await store.close()

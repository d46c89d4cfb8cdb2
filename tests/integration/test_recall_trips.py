"""What a recall asks of SQLite: one trip to a thread, one snapshot, and not more for more turns."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import apsw
import pytest

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import FactChanges, empty_summary
from omoide.mechanisms.search.recall import Recall
from omoide.testing import HashEmbedder
from omoide.testing.contracts.making import ANN, event, fact, memo, tell

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from omoide.domain import RecallResult, Summary

NOW = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    """An empty file."""
    made = await SqliteStore.open(tmp_path / "omoide.db")
    yield made
    await made.close()


async def recall(store: SqliteStore, query: str = "Which tea?") -> RecallResult:
    """With the summary read from the store, as `Memory.recall` does."""

    async def summary() -> Summary:
        return await store.summaries.find(ANN) or empty_summary(NOW)

    search = Recall(store=store, embedder=HashEmbedder())
    return await search(ANN, query, summary=summary, at=NOW, k=5)


async def test_a_recall_takes_one_trip(store: SqliteStore) -> None:
    """However many kinds of memory there are to be read."""
    await tell(store, ANN, "green tea", "black tea")
    await store.facts.apply(ANN, FactChanges(added=(fact("Ann likes tea."),)))
    await store.events.add(ANN, [event("tea")])
    await store.memos.add(ANN, [memo("tea")])
    before = store.file.round_trips
    found = await recall(store)
    assert {item.kind.value for item in found} == {"turn", "fact", "event", "memo"}
    assert store.file.round_trips == before + 1


async def test_several_questions_take_one_trip(store: SqliteStore) -> None:
    """A message is searched whole and for each of its questions, all in one snapshot."""
    await tell(store, ANN, "green tea", "black bread")
    before = store.file.round_trips
    found = await recall(store, "Which tea do I like? And which bread did I buy?")
    assert {item.text for item in found} == {"green tea", "black bread"}
    assert store.file.round_trips == before + 1


async def test_a_recall_reads_no_more_of_more_turns(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the table of turns is in memory, a recall runs as many statements and reads as many
    rows for a thousand turns as for twenty: one row per term, and the turns that it returns."""
    counts = []
    for first, last in ((0, 20), (20, 1000)):
        await tell(store, ANN, *(f"{n} tea" for n in range(first, last)))
        await recall(store)
        rows: list[object] = []

        def traced(_: apsw.Cursor, row: object, rows: list[object] = rows) -> object:
            rows.append(row)
            return row

        for connection in store.file._all:
            monkeypatch.setattr(connection, "row_trace", traced)
        assert len(await recall(store)) == 5
        counts.append(len(rows))
    assert counts[0] == counts[1]
    assert 5 < counts[0] < 20


async def test_a_recall_sees_one_moment(store: SqliteStore, tmp_path: Path) -> None:
    """What another process writes in the middle of reads that run together is not seen by them."""
    await tell(store, ANN, "green tea")

    async def reads() -> tuple[int, int]:
        before = await store.turns.read(ANN)
        other = apsw.Connection(str(tmp_path / "omoide.db"))
        other.execute("UPDATE owners SET user = 'gone'")
        other.close()
        return len(before), len(await store.turns.read(ANN))

    assert await store.index.together(ANN, reads) == (1, 1)
    assert await store.turns.read(ANN) == ()


async def test_reads_that_wait_for_something_else_are_refused(store: SqliteStore) -> None:
    """There is no event loop in their thread: better an error than a thread that hangs."""

    async def reads() -> None:
        await store.turns.read(ANN)
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="that is no read"):
        await store.index.together(ANN, reads)
    assert await store.turns.read(ANN) == ()

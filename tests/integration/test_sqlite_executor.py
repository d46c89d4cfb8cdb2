"""What is asked of SQLite in one turn of the event loop goes to its threads in one trip."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import TYPE_CHECKING

import pytest

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.adapters.stores.sqlite.executor import TOGETHER, BatchingExecutor
from omoide.domain import Owner

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ANN = Owner(tenant="t", user="ann")


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    """One thread."""
    with ThreadPoolExecutor(1) as threads:
        yield threads


async def test_what_is_asked_at_once_goes_together(threads: ThreadPoolExecutor) -> None:
    """A few pieces of work take one trip, more take more, and each comes back to who asked."""
    errands = BatchingExecutor(threads)
    numbers = [str(n) for n in range(TOGETHER + 1)]
    found = await asyncio.gather(*(errands.run(str, n) for n in range(TOGETHER)))
    assert (found, errands.trips) == (numbers[:-1], 1)
    found = await asyncio.gather(*(errands.run(str, n) for n in range(TOGETHER + 1)))
    assert (found, errands.trips) == (numbers, 3)
    assert (await errands.run(str, 7), errands.trips) == ("7", 4)


async def test_what_a_nested_gather_asks_goes_along(threads: ThreadPoolExecutor) -> None:
    """It is asked one iteration of the loop later, and would be a trip beside the other one."""
    errands = BatchingExecutor(threads)

    async def two() -> list[str]:
        return [*await asyncio.gather(errands.run(str, 2), errands.run(str, 3))]

    one, others = await asyncio.gather(errands.run(str, 1), two())
    assert (one, others) == ("1", ["2", "3"])
    assert errands.trips == 1


async def test_one_that_fails_fails_alone(threads: ThreadPoolExecutor) -> None:
    """The companions of work that raises get what they asked for."""
    errands = BatchingExecutor(threads)
    first, second, third = await asyncio.gather(
        errands.run(int, "1"), errands.run(int, "x"), errands.run(int, "3"), return_exceptions=True
    )
    assert (first, third) == (1, 3)
    assert isinstance(second, ValueError)


async def test_a_batch_shares_what_is_around_it(threads: ThreadPoolExecutor) -> None:
    """It is entered once for all work of the batch, and if that fails, all of it does."""
    entered: list[int] = []

    @contextmanager
    def around(count: int) -> Iterator[tuple[int]]:
        assert count == 2
        entered.append(len(entered))
        if len(entered) > 1:
            raise OSError("no connection")
        yield (40,)

    errands = BatchingExecutor(threads, around=around)
    assert [*await asyncio.gather(errands.run(max, 7), errands.run(max, 70))] == [40, 70]
    assert entered == [0]
    failed = await asyncio.gather(errands.run(max, 7), errands.run(max, 8), return_exceptions=True)
    assert [type(error) for error in failed] == [OSError, OSError]


async def test_work_that_nobody_waits_for_is_left_undone(threads: ThreadPoolExecutor) -> None:
    """Cancelled before its turn came it is not begun; cancelled later it is finished."""
    errands, done = BatchingExecutor(threads), list[str]()
    began, goes_on = Event(), Event()

    def slow() -> None:
        began.set()
        goes_on.wait(300)
        done.append("slow")

    running = asyncio.ensure_future(errands.run(slow))
    await asyncio.to_thread(began.wait, 5)
    behind = asyncio.ensure_future(errands.run(done.append, "behind"))
    await asyncio.sleep(0)
    behind.cancel()
    running.cancel()
    await asyncio.wait({running, behind})
    goes_on.set()
    await errands.run(done.append, "last")
    assert done == ["slow", "last"]


async def test_threads_that_are_gone_are_an_error(threads: ThreadPoolExecutor) -> None:
    """Nobody waits for ever for what cannot be done any more."""
    errands = BatchingExecutor(threads)
    threads.shutdown()
    with pytest.raises(RuntimeError):
        await errands.run(str, 1)


async def test_closing_finishes_what_was_asked_for(tmp_path: Path) -> None:
    """A read that was asked for in the same turn of the loop as the closing is answered."""
    store = await SqliteStore.open(tmp_path / "db")
    reading = asyncio.ensure_future(store.turns.read(ANN))
    await asyncio.sleep(0)
    await store.close()
    assert await reading == ()


async def test_reads_of_one_moment_take_one_trip(tmp_path: Path) -> None:
    """Three sides of a store, asked at once."""
    store = await SqliteStore.open(tmp_path / "db")
    before = store.file.round_trips
    await asyncio.gather(
        store.turns.read(ANN), store.summaries.find(ANN), store.index.search_data(ANN, ["tea"])
    )
    assert store.file.round_trips == before + 1
    await store.close()

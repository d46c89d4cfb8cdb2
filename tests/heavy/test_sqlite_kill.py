"""A process that is killed while it writes loses nothing that it was told is recorded. With a key
where `apsw-sqlite3mc` is installed: `make encrypted`."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import JobState, JobTask
from omoide.testing.contracts.making import ANN, BOB, START

ROOT = Path(__file__).parents[2]
able = pytest.mark.skipif(
    not hasattr(apsw, "mc_version"),
    reason="the apsw that is installed cannot encrypt; `make encrypted` runs this where it can",
)
WRITING = """
import asyncio, sys
from datetime import timedelta
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.testing.contracts.making import ANN, HOUR, event, say
async def main():
    path, run, key = sys.argv[1:]
    store = await SqliteStore.open(path, key=key)
    for number in range(100_000):
        ids = [f"{run}-{number}-{i}" for i in range(3)]
        print("try", *ids, flush=True)
        said = [say(f"words of {id} " + "and more " * 40, id=id) for id in ids]
        await store.turns.append(ANN, said, session=run, idle=HOUR)
        await store.events.add(ANN, [event(id, id) for id in ids])
        print("kept", *ids, flush=True)
asyncio.run(main())
"""
WORKING = """
import asyncio, sys
from omoide.adapters.stores.sqlite import SqliteStore, worker_name
from omoide.domain import JobState
from omoide.testing.contracts.making import HOUR, START
async def main():
    store = await SqliteStore.open(sys.argv[1], create=False)
    misses = 0
    while misses < 50:
        job = await store.jobs.claim("acme", worker=worker_name(), now=START + HOUR, lease=HOUR)
        if job is None:
            misses += 1
        else:
            print(job.id, flush=True)
            assert await store.jobs.set_state(job, state=JobState.DONE)
    await store.close()
asyncio.run(main())
"""


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Run code in a process of its own, with the apsw of this one."""
    paths = (ROOT / "src", ROOT, Path(apsw.__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
    )


def readable(path: Path) -> bool:
    """Whether a word can be read in a database file or its log."""
    files = (path, path.with_name(f"{path.name}-wal"))
    return any(b"words of" in file.read_bytes() for file in files if file.exists())


@pytest.mark.parametrize("key", ["", pytest.param("correct horse battery", marks=able)])
async def test_kill_9_loses_nothing(tmp_path: Path, key: str) -> None:
    """Killed fifteen times at any moment: every acknowledged turn and event is there once, and no
    batch is torn. Under a key no word can be read in what a killed process left."""
    path = tmp_path / "omoide.db"
    dice = random.Random(5)
    tried: list[str] = []
    kept: list[str] = []
    for run in range(15):
        with start(WRITING, path, run, key) as process:
            assert process.stdout is not None
            lines = dice.randrange(2, 60)
            for number, line in enumerate(process.stdout):
                what, *ids = line.split()
                (tried if what == "try" else kept).extend(ids)
                if number == lines:
                    process.send_signal(signal.SIGKILL)
        assert readable(path) is not bool(key)
        store = await SqliteStore.open(path, key=key)
        turns = await store.turns.read(ANN)
        events = [event.id for event in await store.events.read(ANN)]
        await store.close()
        ids = [turn.id for turn in turns]
        assert set(kept) <= set(ids) <= set(tried)
        assert len(ids) == len(set(ids))
        assert len(ids) % 3 == 0  # a batch of three is there as a whole or not at all
        assert [turn.position for turn in turns] == list(range(1, len(turns) + 1))
        assert set(kept) <= set(events) <= set(ids)
        assert len(events) % 3 == 0
    assert len(kept) > 200
    connection = apsw.Connection(str(path))
    if key:
        connection.pragma("key", key)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    expected = [(1, len(ids)), (2, len(events))]
    for sql in (
        "SELECT kind, count(DISTINCT item) FROM postings GROUP BY kind",
        "SELECT kind, found FROM counts ORDER BY kind",
        "SELECT 1, count(*) FROM turns UNION SELECT 2, count(*) FROM recalls",
    ):
        assert connection.execute(sql).fetchall() == expected
    connection.close()


async def test_two_processes_never_share_a_job(tmp_path: Path) -> None:
    """Two processes that take jobs at once do each job once."""
    path = tmp_path / "omoide.db"
    store = await SqliteStore.open(path)
    for number in range(100):
        for owner in (ANN, BOB):
            await store.jobs.enqueue(owner, JobTask.DIGEST, session=number, at=START)
    workers = [start(WORKING, path), start(WORKING, path)]
    outputs = [worker.communicate()[0].split() for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0]
    done = [int(number) for output in outputs for number in output]
    assert len(done) == len(set(done)) == 200
    assert {job.state for job in await store.jobs.list("acme")} == {JobState.DONE}
    assert {job.attempts for job in await store.jobs.list("acme")} == {1}
    await store.close()

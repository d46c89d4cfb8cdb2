"""How long others wait for an erasure.

    python benchmarks/erasure_waits.py [--turns 200000] [--postgres] [--memories] [--out FILE]

One user has so many synthetic turns (`speed/corpus.py`) in sessions of twenty. While turns, a
session of twenty, a session of a hundredth of all turns and in the end the whole user are erased,
other processes write one turn after another: for somebody else and, with `--postgres`, also for
this user, because there a lock is for one user. There a worker looks for jobs and for idle sessions
of everybody, too. "Waits" is how long such a write took by the wall, which shows the machine's load
too: compare it with the first row, in which nothing is erased. "Lock" is for how long the erasing
process held the write lock (of a file, or of a user on a server) at a time, by the wall and in CPU
milliseconds, which do not depend on the load, and how many rows it changed and pages it wrote
meanwhile. "Moved" is how many pages another process moved from the log into the file in its own
commits: those that somebody else has written. "For a lock" are waits of more than a millisecond
that the server itself noted, and "for the erasure" those of them for which the erasing process was
the reason: others are for each other's writes. With `--memories` there is a fact and an event for
each turn of the two sessions.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from pathlib import Path
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent / "speed"))

from corpus import BATCH, NOW, lines
from locks import CommitFiles, WriteLocks
from ours import RandomEmbedder, said
from server_locks import SETTINGS, LockLog, LockWait, OwnerLocks, add_roles

from omoide import Memory, Settings
from omoide.bootstrap import open_store
from omoide.domain import Event, Fact, FactChanges, JobState, JobTask, Owner
from omoide.engine import Runtime
from omoide.settings import database
from omoide.testing import FrozenClock

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

    from corpus import Line
    from locks import Hold

    from omoide.ports import Store

ERASER = "postgres"
"""The role of the erasing process."""
USER, OTHER, WORKER = "user", "somebody else", "a worker"
SESSION, LARGE = 7, "large"
"""The number of the small session, and the name of the large one."""
FIRST_LARGE, FIRST_MORE = 400_000, 500_000
"""The numbers of the first turn of it, and of those that others write."""
LEASE, JOBS = timedelta(hours=1), 50
PAUSE = 0.005
"""Seconds between two writes of another process."""


async def opened(
    where: str, *, embedder: RandomEmbedder | None = None, store: Store | None = None
) -> Runtime:
    """A runtime that only records and searches."""
    store = store or await open_store(database(where))
    settings = Settings(mechanisms=("search",))
    clock = FrozenClock(NOW)
    return Runtime(
        settings, store=store, embedder=embedder, clock=clock, name="bench", owns=[store]
    )


@dataclass(frozen=True, kw_only=True)
class Waits:
    """What the writes of a process waited."""

    times: list[float]
    """Milliseconds of each."""
    moved: int
    """Pages that they moved from the log into the file."""


@dataclass(frozen=True, kw_only=True)
class Writer:
    """A process that writes turns for one user."""

    user: str
    process: subprocess.Popen[str]

    @classmethod
    def start(cls, where: str, user: str) -> Writer:
        """Start it, and wait until it writes."""
        process = subprocess.Popen(
            [sys.executable, __file__, "--write", where, user],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        writer = cls(user=user, process=process)
        writer._read()
        return writer

    def waits(self) -> Waits:
        """What its writes waited since the last call."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return Waits(**json.loads(self._read()))

    def _read(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()


async def write(where: str, user: str) -> None:
    """What a `Writer` runs, until its input ends."""
    files = CommitFiles()
    runtime = await opened(where)
    numbers, waits = count(FIRST_MORE), list[float]()
    asked = asyncio.create_task(asyncio.to_thread(sys.stdin.readline))
    print("ready", flush=True)
    while True:
        batch = said(lines(next(numbers), 1))
        began = perf_counter()
        if user == WORKER:
            await _look_for_work(runtime)
        else:
            await runtime.memory().record(user, batch, session="more")
        waits.append(1e3 * (perf_counter() - began))
        sleep(10 * PAUSE if user == WORKER else PAUSE)  # noqa: ASYNC251 - a process of its own
        await asyncio.sleep(0)
        if asked.done():
            if not asked.result():
                break
            print(json.dumps({"times": waits, "moved": files.moved}), flush=True)
            asked, waits = asyncio.create_task(asyncio.to_thread(sys.stdin.readline)), []
            files.moved = 0
    await runtime.close()


async def _look_for_work(runtime: Runtime) -> None:
    """What a worker does, but for the work: end what went idle, and take a job."""
    await runtime.memory().end_idle()
    jobs, tenant = runtime.store.jobs, runtime.settings.tenant
    if job := await jobs.claim(tenant, worker=WORKER, now=NOW, lease=LEASE):
        await jobs.set_state(job, state=JobState.DONE)


async def measured(
    where: str,
    turns: int,
    *,
    writers: Mapping[str, str],
    memories: bool,
    log: LockLog | None = None,
) -> dict[str, dict[str, float]]:
    """Fill the database, and erase in steps; what others waited in each."""
    locks = WriteLocks()
    locks.watch()
    store = await open_store(database(where))
    held = OwnerLocks(store).taken if log else locks.taken
    runtime = await opened(where, embedder=RandomEmbedder(), store=store)
    memory = runtime.memory()
    large = said(lines(FIRST_LARGE, turns // 100))
    for first in range(0, turns, BATCH):
        await memory.record(USER, said(lines(first, min(BATCH, turns - first))))
        await memory.run_jobs()
    [*_, last] = await memory.record(USER, large, session=LARGE)
    if memories:
        await _remember(runtime, [*lines(20 * (SESSION - 1), 20), *lines(FIRST_LARGE, len(large))])
    await memory.run_jobs()
    started = [
        await asyncio.to_thread(Writer.start, address, name) for name, address in writers.items()
    ]
    steps: dict[str, Callable[[], Coroutine[Any, Any, object]]] = {
        "nothing": lambda: asyncio.sleep(10.0),
        "one turn, ten times": lambda: _ten_turns(memory),
        "a session of 20 turns": lambda: memory.erase(USER, session=SESSION),
        f"a session of {len(large):,} turns": lambda: memory.erase(USER, session=last.session),
        f"the user, {turns:,} turns": lambda: memory.erase(USER),
    }
    found: dict[str, dict[str, float]] = {}
    for name, erase in steps.items():
        if log:
            await _queue_jobs(runtime)
        for writer in started:
            await asyncio.to_thread(writer.waits)
        held()
        if log:
            log.waits()
        await erase()
        of_lock = held()
        waits = {w.user: await asyncio.to_thread(w.waits) for w in started}
        found[name] = figures(waits, of_lock, log.waits() if log else None)
        sys.stderr.write(f"{name}: {json.dumps(found[name])}\n")
    for writer in started:
        writer.process.communicate()
    await runtime.close()
    return found


async def _queue_jobs(runtime: Runtime) -> None:
    """Jobs of the user, so that a worker takes one after another meanwhile."""
    owner = Owner(tenant=runtime.settings.tenant, user=USER)
    for session in range(JOBS):
        await runtime.store.jobs.enqueue(owner, JobTask.DIGEST, session=session, at=NOW)


async def _remember(runtime: Runtime, said: Sequence[Line]) -> None:
    """A fact and an event of as many words for each turn."""
    owner = Owner(tenant=runtime.settings.tenant, user=USER)
    facts = [
        Fact(id=line.id, about="user", text=line.text, said=NOW, learned=NOW, sources=(line.id,))
        for line in said
    ]
    events = [
        Event(
            id=line.id,
            session=SESSION,
            text=line.text,
            time=NOW,
            last_recalled=NOW,
            sources=(line.id,),
        )
        for line in said
    ]
    await runtime.store.facts.apply(owner, FactChanges(added=tuple(facts)))
    await runtime.store.events.add(owner, events)


async def _ten_turns(memory: Memory) -> None:
    for number in range(10):
        await memory.erase(USER, turns=[f"{200 + 20 * number:032x}"])


def figures(
    waits: Mapping[str, Waits],
    held: Sequence[Hold],
    for_locks: Sequence[LockWait] | None,
) -> dict[str, float]:
    """The longest and the 99th percentile of each."""
    found: dict[str, float] = {}
    for user, of_user in waits.items():
        times = of_user.times
        found |= {f"writes of {user}": len(times), **_ends(f"waits of {user}", times)}
        if for_locks is None:
            found[f"moved by {user}"] = of_user.moved
        else:
            found |= _for_locks(f"waits of {user}", [w for w in for_locks if w.role == user])
    if held:
        found |= {"locks": len(held), "rows, most": max(hold.rows for hold in held)}
        found["pages, most"] = max(hold.pages for hold in held)
        found |= _ends("lock, wall", [hold.wall for hold in held])
        found |= _ends("lock, CPU", [hold.cpu for hold in held])
    return found


def _for_locks(name: str, waits: Sequence[LockWait]) -> dict[str, float]:
    of_erasure = [wait.milliseconds for wait in waits if wait.erasure]
    return {
        f"{name} for a lock, longest": max((wait.milliseconds for wait in waits), default=0.0),
        f"{name} for the erasure": len(of_erasure),
        f"{name} for the erasure, longest": max(of_erasure, default=0.0),
    }


def _ends(name: str, times: Sequence[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {
        f"{name}, 99 %": round(ordered[int(0.99 * (len(ordered) - 1))], 2),
        f"{name}, longest": round(ordered[-1], 2),
    }


def table(found: dict[str, dict[str, float]]) -> str:
    """A row for each erasure."""
    columns = list(dict.fromkeys(name for row in found.values() for name in row))
    rows = [f"| erased | {' | '.join(columns)} |", f"|---|{'---:|' * len(columns)}"]
    for name, row in found.items():
        cells = (f"{row[column]:,}" if column in row else "-" for column in columns)
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(rows)


def main() -> None:
    """Fill, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--turns", type=int, default=200_000)
    parser.add_argument("--postgres", action="store_true", help="on a server that it starts")
    parser.add_argument("--memories", action="store_true", help="facts and events, too")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--write", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.write:
        asyncio.run(write(*given.write))
        return
    with ExitStack() as stack:
        if given.postgres:
            from tests.postgres import running

            server = stack.enter_context(running(("fsync=on", *SETTINGS)))
            where, log = server.url(), LockLog(server.log, ERASER)
            writers = {name: server.url(role=quote(name)) for name in (OTHER, USER, WORKER)}
            add_roles(where, tuple(writers))
        else:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            where, log = str(Path(folder) / "waits.db"), None
            writers = {OTHER: where}
        work = measured(where, given.turns, writers=writers, memories=given.memories, log=log)
        found = asyncio.run(work)
    print(table(found))
    if given.out:
        given.out.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

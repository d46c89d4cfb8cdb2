"""How long others wait for an erasure.

    python benchmarks/erasure_waits.py [--turns 200000] [--postgres] [--out result.json]

One user has so many synthetic turns (`speed/corpus.py`) in sessions of twenty. While turns, a
session of twenty, a session of a hundredth of all turns and in the end the whole user are erased,
other processes write one turn after another: for somebody else and, with `--postgres`, also for
this user, because there a lock is for one user. "Waits" is how long such a write took by the wall,
which shows the machine's load too: compare it with the first row, in which nothing is erased.
"Lock" is for how long the erasing process held the write lock of a file at a time, by the wall and
in CPU milliseconds, which do not depend on the load, and how many rows it changed and pages it
wrote meanwhile. "Moved" is how many pages another process moved from the log into the file in its
own commits: those that somebody else has written.
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
from pathlib import Path
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent / "speed"))

from corpus import BATCH, NOW, lines
from locks import CommitFiles, WriteLocks
from ours import RandomEmbedder, said

from omoide import Memory, Settings
from omoide.bootstrap import open_store
from omoide.engine import Runtime
from omoide.settings import database
from omoide.testing import FrozenClock

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from locks import Hold

USER, OTHER = "user", "somebody else"
LARGE = "large"
"""The name of the large session."""
FIRST_LARGE, FIRST_MORE = 400_000, 500_000
"""The numbers of the first turn of it, and of those that others write."""
PAUSE = 0.005
"""Seconds between two writes of another process."""


async def opened(where: str, *, embedder: RandomEmbedder | None = None) -> Runtime:
    """A runtime that only records and searches."""
    store = await open_store(database(where))
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
    memory, number, waits = runtime.memory(), FIRST_MORE, list[float]()
    asked = asyncio.create_task(asyncio.to_thread(sys.stdin.readline))
    print("ready", flush=True)
    while True:
        number += 1
        batch = said(lines(number, 1))
        began = perf_counter()
        await memory.record(user, batch, session="more")
        waits.append(1e3 * (perf_counter() - began))
        sleep(PAUSE)  # noqa: ASYNC251 - a process of its own
        await asyncio.sleep(0)
        if asked.done():
            if not asked.result():
                break
            print(json.dumps({"times": waits, "moved": files.moved}), flush=True)
            asked, waits = asyncio.create_task(asyncio.to_thread(sys.stdin.readline)), []
            files.moved = 0
    await runtime.close()


async def measured(where: str, turns: int, *, same_user: bool) -> dict[str, dict[str, float]]:
    """Fill the database, and erase in steps; what others waited in each."""
    locks = WriteLocks()
    locks.watch()
    runtime = await opened(where, embedder=RandomEmbedder())
    memory = runtime.memory()
    large = said(lines(FIRST_LARGE, turns // 100))
    for first in range(0, turns, BATCH):
        await memory.record(USER, said(lines(first, min(BATCH, turns - first))))
        await memory.run_jobs()
    [*_, last] = await memory.record(USER, large, session=LARGE)
    await memory.run_jobs()
    names = (OTHER, USER) if same_user else (OTHER,)
    writers = [await asyncio.to_thread(Writer.start, where, name) for name in names]
    steps: dict[str, Callable[[], Coroutine[Any, Any, object]]] = {
        "nothing": lambda: asyncio.sleep(10.0),
        "one turn, ten times": lambda: _ten_turns(memory),
        "a session of 20 turns": lambda: memory.erase(USER, session=7),
        f"a session of {len(large):,} turns": lambda: memory.erase(USER, session=last.session),
        f"the user, {turns:,} turns": lambda: memory.erase(USER),
    }
    found: dict[str, dict[str, float]] = {}
    for name, erase in steps.items():
        for writer in writers:
            await asyncio.to_thread(writer.waits)
        locks.taken()
        await erase()
        held = locks.taken()
        waits = {w.user: await asyncio.to_thread(w.waits) for w in writers}
        found[name] = figures(waits, held)
        sys.stderr.write(f"{name}: {json.dumps(found[name])}\n")
    for writer in writers:
        writer.process.communicate()
    await runtime.close()
    return found


async def _ten_turns(memory: Memory) -> None:
    for number in range(10):
        await memory.erase(USER, turns=[f"{200 + 20 * number:032x}"])


def figures(waits: dict[str, Waits], held: Sequence[Hold]) -> dict[str, float]:
    """The longest and the 99th percentile of each."""
    found: dict[str, float] = {}
    for user, of_user in waits.items():
        times = of_user.times
        found |= {f"writes of {user}": len(times), **_ends(f"waits of {user}", times)}
        found[f"moved by {user}"] = of_user.moved
    if held:
        found |= {"locks": len(held), "rows, most": max(hold.rows for hold in held)}
        found["pages, most"] = max(hold.pages for hold in held)
        found |= _ends("lock, wall", [hold.wall for hold in held])
        found |= _ends("lock, CPU", [hold.cpu for hold in held])
    return found


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
    parser.add_argument("--out", type=Path)
    parser.add_argument("--write", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.write:
        asyncio.run(write(*given.write))
        return
    with ExitStack() as stack:
        if given.postgres:
            from tests.postgres import running

            where = stack.enter_context(running(("fsync=on",))).url()
        else:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            where = str(Path(folder) / "waits.db")
        found = asyncio.run(measured(where, given.turns, same_user=given.postgres))
    print(table(found))
    if given.out:
        given.out.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

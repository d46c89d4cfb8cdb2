"""What a user with very many turns costs, and one user among very many: every verb, as ratios.

    python benchmarks/large_user.py [--sizes 1000,200000] [--users 1000] [--out result.json]

Each size is a file with one user of so many synthetic turns (`speed/corpus.py`). The last file has
`--users` users with the smallest size each, copies of the first. Figures are CPU milliseconds of
this verb without the embedder, and how often the first size's; every step is a process of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "speed"))

from corpus import NOW, lines, queries
from measure import Stopwatch, peak_mb, report
from ours import FIRST, RandomEmbedder, said
from recall_speed import step

from omoide import Memory, Settings
from omoide.bootstrap import open_store
from omoide.domain import JobState
from omoide.engine import Runtime
from omoide.testing import FrozenClock, ScriptedModel

TIMES = 20
"""How often a verb is measured; the median counts."""
SMALL = "somebody small"
"""A user with few turns."""


@dataclass
class Verbs:
    """Stopwatches by verb."""

    embedder: RandomEmbedder = field(default_factory=RandomEmbedder)
    watches: dict[str, Stopwatch] = field(default_factory=dict)

    def of(self, verb: str) -> Stopwatch:
        """The stopwatch of a verb."""
        return self.watches.setdefault(verb, Stopwatch(lambda: self.embedder.spent))

    def figures(self) -> dict[str, float]:
        """The median CPU of each verb."""
        return {verb: statistics.median(watch.cpu) for verb, watch in self.watches.items()}


async def measured(path: Path, user: str, turns: int) -> None:
    """Every verb for one user of the file; the last erases the user."""
    verbs = Verbs()
    store = await open_store(path)
    model = ScriptedModel(["The user talks."] * 10 * TIMES)
    runtime = Runtime(
        Settings(mechanisms=("summary", "search")),
        store=store,
        embedder=verbs.embedder,
        summariser=model,
        clock=FrozenClock(NOW),
        name="bench",
        owns=[store],
    )
    memory = runtime.memory()
    asked = queries(TIMES)
    with verbs.of("look for a job behind all undigested sessions"):
        await memory.run_jobs()
    for job in await memory.jobs(user):  # a new session shall be digested, not the filled ones
        await store.jobs.set_state(job, state=JobState.DEAD, error="", due=NOW)
    with verbs.of("first recall"):
        await memory.recall(user, asked[0])
    for number, query in enumerate(asked):
        with verbs.of("recall"):
            await memory.recall(user, query)
        more = said(lines(turns + 2 * number, 2))
        with verbs.of("record two turns"):
            recorded = await memory.record(user, more, session=f"new {number}")
        with verbs.of("recall after them"):
            await memory.recall(user, query)
        with verbs.of("end and digest"):
            await memory.end_session(user, session=recorded[-1].session)
            await memory.run_jobs()
    with verbs.of("export, by 1,000 turns"):
        async for _ in memory.export(user):
            pass
    exporting = verbs.watches["export, by 1,000 turns"]
    exporting.cpu[0] *= 1_000 / turns
    await erased(verbs, memory, user)
    await runtime.close()
    verbs.watches["erase the user, by 1,000 turns"].cpu[0] *= 1_000 / turns
    figures = verbs.figures() | {"peak MB": peak_mb()}
    sys.stderr.write(f"{turns:,} turns of {user}: {json.dumps(figures)}\n")
    report(figures)


async def erased(verbs: Verbs, memory: Memory, user: str) -> None:
    """Erase a few turns, a session, a small user and the user. How long others wait for that
    measures `erasure_waits.py`."""
    await memory.record(SMALL, said(lines(0, 40)))
    for number in range(3):
        with verbs.of("erase one turn"):
            await memory.erase(user, turns=[f"{10 * number:032x}"])
    with verbs.of("erase a session"):
        await memory.erase(user, session=7)
    with verbs.of("erase a user of 40 turns beside"):
        await memory.erase(SMALL)
    with verbs.of("erase the user, by 1,000 turns"):
        await memory.erase(user)


def run(path: Path, user: str, turns: int) -> dict[str, Any]:
    """`measured` in a process of its own."""
    return step("../large_user.py", "--measure", path, user, turns)


def main() -> None:
    """Fill, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sizes", default="1000,200000")
    parser.add_argument("--users", type=int, default=1000, help="0 skips the file of many users")
    parser.add_argument("--work", type=Path, help="folder for the databases; several GB")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        path, user, turns = given.measure
        asyncio.run(measured(Path(path), user, int(turns)))
        return
    sizes = [int(size) for size in given.sizes.split(",")]
    results: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory(dir=given.work) as folder:
        for size in sizes:
            path = Path(folder) / f"{size}.db"
            filled = step("ours.py", "fill", path, size)
            results[f"{size:,} turns of one user"] = filled | run(path, FIRST, size)
            path.unlink()
        if given.users:
            path = Path(folder) / "many.db"
            step("ours.py", "fill", path, sizes[0])
            copied = step("ours.py", "copy", path, given.users)
            name = f"{sizes[0] * given.users:,} turns of {given.users:,} users"
            results[name] = copied | run(path, f"u{given.users // 2}", sizes[0])
    print("\n".join(table(results)))
    if given.out:
        given.out.write_text(json.dumps(results, indent=1), encoding="utf-8")


def table(results: dict[str, dict[str, Any]]) -> list[str]:
    """A row for each verb, a column for each file, each with its ratio to the first."""
    first = next(iter(results.values()))
    rows = [f"| | {' | '.join(results)} |", f"|---|{'---:|' * len(results)}"]
    for verb in dict.fromkeys(verb for figures in results.values() for verb in figures):
        cells = [_cell(figures.get(verb), first.get(verb)) for figures in results.values()]
        rows.append(f"| {verb} | {' | '.join(cells)} |")
    return rows


def _cell(figure: float | None, first: float | None) -> str:
    if figure is None:
        return "-"
    return f"{figure:,.2f}" + (f" (x {figure / first:.1f})" if first else "")


if __name__ == "__main__":
    main()

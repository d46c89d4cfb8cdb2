"""omoide's part of the comparison, one process per step, so that memory and start-up are separate.

    python ours.py fill PATH TURNS       record and embed TURNS turns of one user
    python ours.py copy PATH USERS       copy the first user until there are USERS
    python ours.py ask PATH USER TURNS   recall, and record more
    python ours.py cold PATH USER STARTED    one recall; STARTED is when the process was begun

Everything goes through `Memory` on a database file, as for users; only `copy` writes rows directly.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

LOADED = time.time()

import numpy as np  # noqa: E402 - after the clock
from corpus import BATCH, DIMENSIONS, NOW, Line, lines, queries, vectors  # noqa: E402
from measure import Stopwatch, peak_mb, report, resident_mb, size_mb  # noqa: E402

from omoide import Settings, Speaker, Utterance  # noqa: E402
from omoide.bootstrap import open_store  # noqa: E402
from omoide.domain import Owner, empty_summary  # noqa: E402
from omoide.engine import Runtime  # noqa: E402
from omoide.mechanisms.search import Recall  # noqa: E402
from omoide.ports import Space  # noqa: E402
from omoide.testing import FrozenClock  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.ports import Vectors

FIRST = "u0"
PASSING = ("jobs", "erasing")
"""Tables of unfinished work."""
EXCHANGES = 100
QUERIES = 60
OPEN = 10
"""Turns of the open session, which are in the prompt."""


class RandomEmbedder:
    """Random vectors, with the time that they took."""

    space = Space(name="random", version="1", dimensions=DIMENSIONS)

    def __init__(self) -> None:
        self.spent = 0.0
        self._seed = 0

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Different vectors each time."""
        began = time.process_time()
        self._seed += 1
        rows = vectors(self._seed, len(texts))
        self.spent += time.process_time() - began
        return rows

    async def close(self) -> None:
        """Nothing to release."""


async def opened(path: Path, embedder: RandomEmbedder | None) -> Runtime:
    """A runtime whose only mechanism is search."""
    store = await open_store(path)
    return Runtime(
        Settings(mechanisms=("search",)),
        store=store,
        embedder=embedder,
        clock=FrozenClock(NOW),
        name="bench",
        owns=[store],
    )


def said(batch: Sequence[Line]) -> list[Utterance]:
    """Turns as a caller passes them."""
    return [
        Utterance(
            speaker=Speaker.USER if line.user else Speaker.ASSISTANT,
            text=line.text,
            id=line.id,
            time=line.time,
        )
        for line in batch
    ]


async def fill(path: Path, turns: int) -> None:
    """Record and embed; prints CPU milliseconds per turn for each."""
    embedder = RandomEmbedder()
    runtime = await opened(path, embedder)
    memory = runtime.memory()
    recording, embedding = Stopwatch(), Stopwatch(lambda: embedder.spent)
    for first in range(0, turns, BATCH):
        batch = said(lines(first, min(BATCH, turns - first)))
        with recording:
            await memory.record(FIRST, batch)
        with embedding:
            await memory.run_jobs()
    await runtime.close()
    report(
        {
            "record_cpu": sum(recording.cpu) / turns,
            "vector_cpu": sum(embedding.cpu) / turns,
            "peak_mb": peak_mb(),
            "file_mb": size_mb(path.parent.glob(f"{path.name}*")),
        }
    )


def copy(path: Path, users: int) -> None:
    """Copy the first user's rows, table by table, under other names."""
    import apsw

    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA synchronous = OFF").fetchall()
    names = [
        row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type='table'")
    ]
    columns = {
        name: [row[1] for row in connection.execute(f"PRAGMA table_info({name})")] for name in names
    }
    held = [
        name for name, its in columns.items() if "owner" in its and name not in ("jobs", "erasing")
    ]
    others = [name for name in columns["owners"] if name not in ("id", "user")]
    for user in range(1, users):
        with connection:
            connection.execute(
                f"INSERT INTO owners (user, {', '.join(others)}) "  # noqa: S608
                f"SELECT ?, {', '.join(others)} FROM owners WHERE user = ?",
                (f"u{user}", FIRST),
            )
            owner = connection.last_insert_rowid()
            for name in held:
                its = ["?" if column == "owner" else column for column in columns[name]]
                connection.execute(
                    f"INSERT INTO {name} ({', '.join(columns[name])}) "  # noqa: S608
                    f"SELECT {', '.join(its)} "
                    f"FROM {name} WHERE owner = (SELECT id FROM owners WHERE user = ?)",
                    (owner, FIRST),
                )
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()
    report({"file_mb": size_mb(path.parent.glob(f"{path.name}*"))})


async def ask(path: Path, user: str, turns: int) -> None:
    """Measure recall: repeatedly, with the open session left out, without vectors, and after each
    exchange."""
    embedder = RandomEmbedder()
    runtime = await opened(path, embedder)
    memory = runtime.memory()
    start, first, again, beside, recording, fresh, wordy = (
        Stopwatch(lambda: embedder.spent) for _ in range(7)
    )
    asked = queries(QUERIES)
    with start:  # somebody without turns: what only the first recall of a process does
        await memory.recall("nobody", asked[0])
    with first:
        await memory.recall(user, asked[0])
    for query in asked[1:]:
        with again:
            found = await memory.recall(user, query)
    assert len(found) == 10, found
    resident = resident_mb()
    recall = Recall(store=runtime.store, embedder=embedder)
    owner = Owner(tenant=runtime.settings.tenant, user=user)
    in_prompt = [line.id for line in lines(turns - BATCH, BATCH)[-OPEN:]]
    for query in asked:
        with beside:
            await recall(owner, query, summary=empty_summary(NOW), at=NOW, k=10, besides=in_prompt)
    for i in range(EXCHANGES):
        more = said(lines(turns + 2 * i, 2))
        with recording:
            await memory.record(user, more)
        if i < QUERIES // 2:
            await memory.run_jobs()
            with fresh:
                await memory.recall(user, asked[i])
    await runtime.close()
    runtime = await opened(path, None)
    memory = runtime.memory()
    for i, query in enumerate(asked):
        with wordy if i else Stopwatch():
            await memory.recall(user, query)
    await runtime.close()
    report(
        {
            "start_cpu": start.cpu[0],
            "first_ms": first.wall[0],
            "first_cpu": first.cpu[0],
            "recall": again.figures(),
            "in_session": beside.figures(),
            "after_a_turn": fresh.figures(),
            "words_only": wordy.figures(),
            "exchange_cpu": np.mean(recording.cpu) / 2,
            "resident_mb": resident,
        }
    )


async def cold(path: Path, user: str, started: float) -> None:
    """From the start of a process to its first answer."""
    imported = time.time()
    embedder, opening = RandomEmbedder(), Stopwatch()
    with opening:
        runtime = await opened(path, embedder)
        memory = runtime.memory()
    await memory.recall(user, queries(1)[0])
    answered, spent = time.time(), time.process_time()
    await runtime.close()
    report(
        {
            "python_ms": 1e3 * (LOADED - started),
            "import_ms": 1e3 * (imported - LOADED),
            "open_ms": opening.wall[0],
            "open_cpu": opening.cpu[0],
            "answer_ms": 1e3 * (answered - started),
            "answer_cpu": 1e3 * spent,
        }
    )


def main() -> None:
    """One step."""
    step, path, *rest = sys.argv[1], Path(sys.argv[2]), *sys.argv[3:]
    match step, rest:
        case "fill", [turns]:
            asyncio.run(fill(path, int(turns)))
        case "copy", [users]:
            copy(path, int(users))
        case "ask", [user, turns]:
            asyncio.run(ask(path, user, int(turns)))
        case "cold", [user, started]:
            asyncio.run(cold(path, user, float(started)))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()

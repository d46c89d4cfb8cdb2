"""What a recall and a recorded turn cost, at 1 k, 10 k and 100 k turns of one user.

    OPENBLAS_NUM_THREADS=1 python benchmarks/recall_speed.py [--sizes 1000,10000,100000]
        [--out result.json] [--plot latency.svg]

The turns are written here: sentences of words drawn by Zipf's law, in sessions of twenty, with
random vectors of 512 numbers in place of an embedder's, which is not measured. Queries have five
words of middling rarity. Measured is `Recall` as the engine calls it, on a database file, beside
the bare baseline: the same BM25 and vector search of the store, fused by rank, with the texts of
the best ten read. CPU is of the whole process; load on the machine moves wall time more than CPU.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import resource
import statistics
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import Owner, Said, Speaker, nothing
from omoide.evals.plot import Chart, Series
from omoide.language import query_terms
from omoide.memory.search.recall import Recall
from omoide.ports import Space

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from omoide.ports import Vectors

SPACE = Space(name="random", version="1", dimensions=512)
START = datetime(2020, 1, 1, tzinfo=UTC)
BATCH = 1000
QUERIES = 40


class RandomEmbedder:
    """A vector for each text, at no cost worth naming."""

    space = SPACE

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Drawn anew each time."""
        dice = np.random.default_rng(len(texts[0]))
        return dice.standard_normal((len(texts), SPACE.dimensions)).astype(np.float32)

    async def close(self) -> None:
        """Nothing to let go."""


def vocabulary() -> list[str]:
    """Words by falling frequency."""
    dice = random.Random(1)  # noqa: S311 - reproducible, no secret
    return ["".join(dice.choices("bcdfglmnprst", k=3)) + f"a{i:x}" for i in range(20_000)]


WORDS = vocabulary()
FREQUENCY = [1 / (i + 3) for i in range(len(WORDS))]


def spoken(count: int, dice: random.Random, first: int) -> list[Said]:
    """Turns of about twenty words; one in eleven names a day."""
    said = []
    for i in range(first, first + count):
        words = dice.choices(WORDS, FREQUENCY, k=dice.randint(4, 36))
        when = " yesterday" if i % 11 == 0 else ""
        said.append(
            Said(
                speaker=(Speaker.USER, Speaker.ASSISTANT)[i % 2],
                text=f"{' '.join(words)}{when}.",
                time=START + timedelta(hours=2 * (i // 20), minutes=i % 20),
                id=f"{i:032x}",
                language="en",
            )
        )
    return said


async def fill(store: SqliteStore, owner: Owner, size: int) -> float:
    """Record and embed; CPU milliseconds per recorded turn."""
    dice, vectors = random.Random(2), np.random.default_rng(3)  # noqa: S311
    spent = 0.0
    for first in range(0, size, BATCH):
        said = spoken(min(BATCH, size - first), dice, first)
        began = time.process_time()
        turns = await store.turns.append(owner, said, session=None, idle=timedelta(hours=1))
        spent += time.process_time() - began
        rows = vectors.standard_normal((len(turns), SPACE.dimensions)).astype(np.float32)
        await store.index.put(owner, SPACE, ids=[t.id for t in turns], vectors=rows)
    return 1e3 * spent / size


async def timed(work: Callable[[str], Awaitable[object]], queries: list[str]) -> dict[str, float]:
    """Milliseconds of the first call, and of the later ones."""
    cpu, wall = [], []
    for query in queries:
        began, used = time.perf_counter(), time.process_time()
        await work(query)
        wall.append(1e3 * (time.perf_counter() - began))
        cpu.append(1e3 * (time.process_time() - used))
    return {
        "first": wall[0],
        "cpu": statistics.mean(cpu[1:]),
        "p50": statistics.median(wall[1:]),
        "p99": sorted(wall[1:])[-1],
    }


async def measured(size: int, folder: Path) -> dict[str, Any]:
    """All figures at one size."""
    path = folder / f"{size}.db"
    owner, embedder = Owner(tenant="t", user="u"), RandomEmbedder()
    store = await SqliteStore.open(path)
    per_turn = await fill(store, owner, size)
    await store.close()

    began = time.perf_counter()
    store = await SqliteStore.open(path)
    opened = 1e3 * (time.perf_counter() - began)
    dice = random.Random(4)  # noqa: S311
    queries = [
        f"What about {' '.join(dice.sample(WORDS[30:3000], k=5))} yesterday?"
        for _ in range(QUERIES)
    ]
    now = START + timedelta(days=3650)

    async def bare(query: str) -> None:
        vector = await embedder.embed([query])
        words = await store.index.words(owner, query_terms(query), k=50)
        near = await store.index.nearest(owner, SPACE, vector, k=50)
        scores: dict[str, float] = {}
        for ranking in (words, near):
            for rank, hit in enumerate(ranking):
                scores[hit.id] = scores.get(hit.id, 0.0) + 1 / (60 + rank)
        best = sorted(scores, key=lambda name: -scores[name])[:10]
        await store.turns.read(owner, ids=best)

    recall = Recall(store=store, embedder=embedder)

    async def whole(query: str) -> None:
        await recall(owner, query, summary=nothing(now), at=now, k=10)

    async def without(query: str) -> None:
        words_only = Recall(store=store, embedder=None)
        await words_only(owner, query, summary=nothing(now), at=now, k=10)

    figures: dict[str, Any] = {
        "turns": size,
        "record_cpu_ms": per_turn,
        "open_ms": opened,
        "recall": await timed(whole, queries),
        "words_only": await timed(without, queries),
        "baseline": await timed(bare, queries),
    }
    spent = []
    for i, query in enumerate(queries[:10]):
        said = spoken(1, dice, size + i)
        await store.turns.append(owner, said, session=None, idle=timedelta(hours=1))
        used = time.process_time()
        await whole(query)
        spent.append(1e3 * (time.process_time() - used))
    figures["after_a_turn_cpu_ms"] = statistics.mean(spent)
    await store.close()
    figures["file_mb"] = path.stat().st_size / 1e6
    figures["peak_rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return figures


def drawn(results: list[dict[str, Any]]) -> str:
    """CPU time against size, as SVG."""
    names = {"recall": "recall", "words_only": "without vectors", "baseline": "bare BM25 + dense"}
    series = [
        Series(name=name, points=tuple((r["turns"], r[key]["cpu"]) for r in results))
        for key, name in names.items()
    ]
    return Chart(
        title="CPU a recall, beyond the embedder",
        x="turns of the user",
        y="ms",
        series=series,
        log_y=True,
    ).svg()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    results = []
    print(
        "turns     recall CPU (wall p50/worst)   words only   baseline     ratio  "
        "after a turn  first  record  open   file   RSS"
    )
    for size in map(int, given.sizes.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            got = asyncio.run(measured(size, Path(folder)))
        results.append(got)
        r, w, b = got["recall"], got["words_only"], got["baseline"]
        print(
            f"{size:7,d}  {r['cpu']:6.2f} ms ({r['p50']:.1f}/{r['p99']:.1f})"
            f"  {w['cpu']:9.2f} ms  {b['cpu']:7.2f} ms  {r['cpu'] / b['cpu']:6.2f}"
            f"  {got['after_a_turn_cpu_ms']:8.2f} ms  {r['first']:.0f} ms"
            f"  {got['record_cpu_ms']:.2f} ms  {got['open_ms']:.0f} ms"
            f"  {got['file_mb']:.0f} MB  {got['peak_rss_mb']:.0f} MB",
            flush=True,
        )
    if given.plot:
        given.plot.write_text(drawn(results))
    if given.out:
        load = os.getloadavg()
        given.out.write_text(json.dumps({"load": load, "results": results}, indent=1))


if __name__ == "__main__":
    main()

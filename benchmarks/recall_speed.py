"""Measures recording and recall: omoide, BM25 with a dense search, and mem0, in one run.

    python benchmarks/recall_speed.py [--sizes 1000,10000,100000] [--users 1000]
        [--mem0-python PATH] [--out result.json] [--plot latency.svg]

Turns and vectors are synthetic (`speed/corpus.py`); the embedder's own time is excluded everywhere.
Every step is a separate process with one BLAS thread. Figures are CPU unless marked as wall,
since load on the machine affects wall time more. `bm25s` is included if it is installed, mem0
if you name an interpreter that has `mem0ai` and `faiss-cpu`; else the run says what is missing.
Since mem0 takes longer and longer to add a turn to faiss, the turns for which no time is left are
put straight into its vector store, so that its search has all of them.
The last part is a database of many users with the smallest size each: the first is recorded, the
others are copies of its rows.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omoide_bench.reports.drawing import Lines, Series, svg

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent / "speed"
STARTS = 7


def step(script: str, *arguments: object, python: str = sys.executable) -> dict[str, Any]:
    """Run one step in its own process and return its figures."""
    done = subprocess.run(
        [python, str(HERE / script), *map(str, arguments)],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def cold(path: Path, user: str) -> dict[str, float]:
    """The median of several starts, with the file in the system's cache."""
    starts = [step("ours.py", "cold", path, user, time.time()) for _ in range(STARTS)]
    return {name: statistics.median(start[name] for start in starts) for name in starts[0]}


def one_user(size: int, args: argparse.Namespace) -> dict[str, Any]:
    """The figures of every system at one size."""
    with tempfile.TemporaryDirectory(dir=args.work) as folder:
        path = Path(folder) / "omoide.db"
        ours = step("ours.py", "fill", path, size)
        result: dict[str, Any] = {"turns": size, "cold": cold(path, "u0")}
        result["omoide"] = ours | step("ours.py", "ask", path, "u0", size)
    if find_spec("bm25s"):
        result["bm25s + numpy"] = step("bare.py", size)
    if args.mem0_python:
        for store in args.mem0_stores.split(","):
            with tempfile.TemporaryDirectory(dir=args.work) as folder:
                result[f"mem0, {store}"] = step(
                    "mem0_side.py",
                    store,
                    folder,
                    size,
                    args.mem0_seconds,
                    python=args.mem0_python,
                )
    return result


def many_users(size: int, args: argparse.Namespace) -> dict[str, Any]:
    """One of many users, compared with the same user alone."""
    with tempfile.TemporaryDirectory(dir=args.work) as folder:
        path, user = Path(folder) / "omoide.db", f"u{args.users // 2}"
        step("ours.py", "fill", path, size)
        copied = step("ours.py", "copy", path, args.users)
        result = {"turns": size * args.users, "users": args.users, "cold": cold(path, user)}
        return result | copied | step("ours.py", "ask", path, user, size)


def shown(result: dict[str, Any]) -> Iterator[str]:
    """The figures at one size, one line per system."""
    ours = result["omoide"]["recall"]["cpu"]
    yield f"\n{result['turns']:,} turns of one user"
    for name, side in result.items():
        if not isinstance(side, dict) or "recall" not in side:
            continue
        recall = side["recall"]
        exchange = side.get("exchange_cpu", side.get("index_cpu"))
        short = side.get("turns", result["turns"])
        yield (
            f"  {name:14s} recall {recall['cpu']:7.2f} ms (wall p50 {recall['wall_p50']:.1f}), "
            f"{recall['cpu'] / ours:5.2f} x; per turn {exchange:.2f} ms; "
            f"RSS {side['resident_mb']:.0f} MB; disk {side.get('file_mb', 0):.0f} MB"
            + (f"; cut short at {short:,} turns" if short < result["turns"] else "")
        )
    side, start = result["omoide"], result["cold"]
    yield (
        f"  omoide besides: without vectors {side['words_only']['cpu']:.2f} ms, with an open "
        f"session left out {side['in_session']['cpu']:.2f} ms, after a new turn "
        f"{side['after_a_turn']['cpu']:.2f} ms, batches {side['record_cpu']:.2f} ms per turn, "
        f"{side['vector_cpu']:.2f} ms per vector; opens in {start['open_ms']:.0f} ms, first recall "
        f"of the user {side['first_cpu']:.1f} ms, of a process {side['start_cpu']:.0f} ms more; "
        f"{start['answer_ms']:.0f} ms from the start of Python (wall; "
        f"{start['answer_cpu']:.0f} CPU)"
    )


def drawn(results: list[dict[str, Any]]) -> str:
    """CPU time against size, as SVG, without systems that were cut short at a size."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for result in results:
        for name, side in result.items():
            whole = isinstance(side, dict) and side.get("turns", result["turns"]) == result["turns"]
            if whole and "recall" in side:
                lines.setdefault(name, []).append((result["turns"], side["recall"]["cpu"]))
        words = result["omoide"]["words_only"]["cpu"]
        lines.setdefault("omoide, no vectors", []).append((result["turns"], words))
    return svg(
        Lines(
            title="CPU per recall, without the embedder",
            x="turns of the user",
            y="ms",
            series=tuple(Series(name=name, points=tuple(p)) for name, p in lines.items()),
            log_y=True,
        )
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--users", type=int, default=1000, help="0 skips the test with many users")
    parser.add_argument("--mem0-python", help="an interpreter that has mem0ai and faiss-cpu")
    parser.add_argument("--mem0-seconds", type=int, default=120, help="stop adding after this time")
    parser.add_argument("--mem0-stores", default="faiss,qdrant")
    parser.add_argument("--work", type=Path, help="folder for the databases; several GB")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--plot", type=Path)
    args = parser.parse_args()
    if not find_spec("bm25s"):
        print("bm25s is not installed (pip install bm25s): skipped")
    if not args.mem0_python:
        print("no --mem0-python with mem0ai and faiss-cpu given: mem0 is skipped")
    sizes = [int(size) for size in args.sizes.split(",")]
    results = []
    for size in sizes:
        results.append(one_user(size, args))
        print("\n".join(shown(results[-1])), flush=True)
    everyone = None
    if args.users:
        everyone = many_users(sizes[0], args)
        alone, start = results[0]["omoide"], everyone["cold"]
        print(
            f"\n{everyone['turns']:,} turns of {args.users:,} users: recall "
            f"{everyone['recall']['cpu']:.2f} ms ({alone['recall']['cpu']:.2f} alone), per turn "
            f"{everyone['exchange_cpu']:.2f} ms ({alone['exchange_cpu']:.2f} alone); RSS "
            f"{everyone['resident_mb']:.0f} MB, disk {everyone['file_mb']:.0f} MB; opens in "
            f"{start['open_ms']:.1f} ms ({start['open_cpu']:.1f} CPU); from the start of Python to "
            f"the first answer {start['answer_ms']:.0f} ms ({start['answer_cpu']:.0f} CPU)"
        )
    if args.plot:
        args.plot.write_text(drawn(results), encoding="utf-8")
    if args.out:
        outcome = {"load": os.getloadavg(), "one user": results, "many users": everyone}
        args.out.write_text(json.dumps(outcome, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

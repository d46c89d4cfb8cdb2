"""Timers and sizes that every system in the comparison uses."""

from __future__ import annotations

import json
import resource
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Stopwatch:
    """CPU and wall time of pieces of work, in milliseconds, without the embedder's own."""

    def __init__(self, embedder_cpu: Callable[[], float] = lambda: 0.0) -> None:
        self._embedder_cpu = embedder_cpu
        self.cpu: list[float] = []
        self.wall: list[float] = []

    def __enter__(self) -> None:
        self._embedder = self._embedder_cpu()
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def __exit__(self, *error: object) -> None:
        spent = time.process_time() - self._cpu - (self._embedder_cpu() - self._embedder)
        self.cpu.append(1e3 * spent)
        self.wall.append(1e3 * (time.perf_counter() - self._wall))

    def figures(self) -> dict[str, float]:
        """Mean and median of CPU, median and worst of wall time."""
        return {
            "cpu": statistics.mean(self.cpu),
            "cpu_median": statistics.median(self.cpu),
            "wall_p50": statistics.median(self.wall),
            "wall_worst": max(self.wall),
        }


def resident_mb() -> float:
    """Resident memory of the process now."""
    [line] = [x for x in Path("/proc/self/status").read_text().splitlines() if "VmRSS" in x]
    return int(line.split()[1]) / 1024


def peak_mb() -> float:
    """Peak resident memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def size_mb(paths: Iterable[Path]) -> float:
    """Size of files on disk."""
    return sum(path.stat().st_size for path in paths if path.is_file()) / 1e6


def report(figures: object) -> None:
    """Print the figures for the parent process."""
    print(json.dumps(figures), flush=True)

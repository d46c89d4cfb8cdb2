"""Chooses the number of threads for a model."""

from __future__ import annotations

import os
from pathlib import Path

MAX_THREADS = 8
"""Token generation is limited by memory bandwidth: more threads than this rarely help."""


def compute_threads(*, system: Path = Path("/sys")) -> int:
    """Physical cores that this process may use, within its container's CPU quota, at most eight.

    Hyper-threads of one core slow each other down, so a core counts once.
    """
    if not hasattr(os, "sched_getaffinity"):  # macOS, Windows
        return max(1, min(MAX_THREADS, os.cpu_count() or 1))
    allowed = os.sched_getaffinity(0)
    cores = {_core(system, cpu) for cpu in allowed}
    return max(1, min(MAX_THREADS, len(cores), _quota(system)))


def _core(system: Path, cpu: int) -> str:
    siblings = system / f"devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
    try:
        return siblings.read_text().strip()
    except OSError:
        return str(cpu)


def _quota(system: Path) -> int:
    """Whole CPUs of the control group's quota; `MAX_THREADS` if there is none."""
    try:
        quota, period = (system / "fs/cgroup/cpu.max").read_text().split()
        return max(1, int(quota) // int(period))
    except (OSError, ValueError):
        return MAX_THREADS

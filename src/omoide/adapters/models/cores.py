"""How many threads a model should compute with."""

from __future__ import annotations

import os
from pathlib import Path

MOST = 8
"""Token generation is bound by memory: more threads than this rarely help."""


def compute_threads(*, system: Path = Path("/sys")) -> int:
    """Physical cores this process may run on, within its container's share, at most eight.

    Two hyper-threads of one core hinder each other, so they count once.
    """
    if not hasattr(os, "sched_getaffinity"):  # macOS, Windows
        return max(1, min(MOST, os.cpu_count() or 1))
    allowed = os.sched_getaffinity(0)
    cores = {_core(system, cpu) for cpu in allowed}
    return max(1, min(MOST, len(cores), _share(system)))


def _core(system: Path, cpu: int) -> str:
    siblings = system / f"devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
    try:
        return siblings.read_text().strip()
    except OSError:
        return str(cpu)


def _share(system: Path) -> int:
    """Whole processors of the control group's quota; plenty where there is none."""
    try:
        quota, period = (system / "fs/cgroup/cpu.max").read_text().split()
        return max(1, int(quota) // int(period))
    except (OSError, ValueError):
        return MOST

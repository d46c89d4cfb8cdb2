"""What this machine has: memory and cores."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from omoide.adapters.models.threads import compute_threads


@dataclass(frozen=True, kw_only=True)
class Machine:
    """The means of a machine that decide which model it can run."""

    memory: float
    """Gigabytes of memory that this process may use; 0 if unknown."""
    cores: int


def this_machine(*, system: Path = Path("/sys")) -> Machine:
    """The memory of the machine, or of its container if that has less, and its cores."""
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows
        total = 0
    limit = system / "fs/cgroup/memory.max"
    try:
        allowed = int(limit.read_text())
    except (OSError, ValueError):
        allowed = 0
    known = [size for size in (total, allowed) if size > 0]
    return Machine(memory=min(known, default=0) / 1e9, cores=compute_threads(system=system))

"""Which model suits this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omoide.adapters.models.machine import Machine

SHARE = 0.6
"""The share of the machine's memory that a model may take: people run other programs too."""
CORES = {2.0: 1, 6.0: 4, 9.0: 6}
"""Cores from which a model that needs up to that many gigabytes answers at reading speed."""


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """A model for a machine, and why."""

    alias: str
    name: str
    memory: float
    reason: str


@dataclass(frozen=True, kw_only=True)
class CandidateModel:
    """A model that can be recommended."""

    alias: str
    name: str
    memory: float


def recommend(machine: Machine, candidates: tuple[CandidateModel, ...]) -> Recommendation:
    """The largest model that fits into the machine's memory and that its cores can run at reading
    speed; the first candidate where the memory is unknown; else the smallest."""
    allowed = machine.memory * SHARE if machine.memory else candidates[0].memory
    fitting = [c for c in candidates if c.memory <= allowed]
    quick = [c for c in fitting if machine.cores >= _cores_for(c.memory)]
    best = max(quick or fitting, key=lambda c: c.memory, default=None)
    if best is None:
        least = min(candidates, key=lambda c: c.memory)
        reason = f"the smallest; even it needs {least.memory:g} GB of memory"
        return Recommendation(**vars(least), reason=reason)
    larger = [c for c in fitting if c.memory > best.memory]
    reason = f"needs {best.memory:g} GB of memory"
    if larger:
        reason += f"; larger ones fit too, but would be slow on {machine.cores} cores"
    return Recommendation(**vars(best), reason=reason)


def _cores_for(memory: float) -> int:
    return next((cores for limit, cores in CORES.items() if memory <= limit), 8)

"""Totals of what model calls cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import tzinfo

    from omoide.domain.jobs import ModelCall

GROUPS: dict[str, Callable[[ModelCall, tzinfo | None], str]] = {
    "purpose": lambda call, _: call.purpose.value,
    "session": lambda call, _: f"session {call.session}" if call.session else "no session",
    "model": lambda call, _: call.model,
    "day": lambda call, zone: f"{call.time.astimezone(zone):%Y-%m-%d}",
}
"""What calls can be grouped by."""


@dataclass(frozen=True, kw_only=True)
class CostSum:
    """What a group of calls cost. Failed calls are included: they cost as much."""

    name: str
    calls: int
    failed: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float


def total_cost(name: str, calls: Sequence[ModelCall]) -> CostSum:
    """The sum of some calls."""
    return CostSum(
        name=name,
        calls=len(calls),
        failed=sum(call.failed for call in calls),
        prompt_tokens=sum(call.prompt_tokens for call in calls),
        completion_tokens=sum(call.completion_tokens for call in calls),
        seconds=round(sum(call.seconds for call in calls), 3),
    )


def grouped(calls: Iterable[ModelCall], by: str, *, zone: tzinfo | None = None) -> list[CostSum]:
    """Totals by group, in order of first appearance. Days are those of `zone`, by default the
    machine's time zone."""
    groups: dict[str, list[ModelCall]] = {}
    for call in calls:
        groups.setdefault(GROUPS[by](call, zone), []).append(call)
    return [total_cost(name, members) for name, members in groups.items()]

"""What calls of models took together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import tzinfo

    from omoide.domain.work import Call

GROUPS: dict[str, Callable[[Call, tzinfo | None], str]] = {
    "purpose": lambda call, _: call.purpose.value,
    "session": lambda call, _: f"session {call.session}" if call.session else "no session",
    "model": lambda call, _: call.model,
    "day": lambda call, zone: f"{call.time.astimezone(zone):%Y-%m-%d}",
}
"""What calls can be grouped by."""


@dataclass(frozen=True, kw_only=True)
class Sum:
    """What a group of calls took. Calls that failed were paid for all the same."""

    name: str
    calls: int
    failed: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float


def summed(name: str, calls: Sequence[Call]) -> Sum:
    """The sum of some calls."""
    return Sum(
        name=name,
        calls=len(calls),
        failed=sum(call.failed for call in calls),
        prompt_tokens=sum(call.prompt_tokens for call in calls),
        completion_tokens=sum(call.completion_tokens for call in calls),
        seconds=round(sum(call.seconds for call in calls), 3),
    )


def grouped(calls: Iterable[Call], by: str, *, zone: tzinfo | None = None) -> list[Sum]:
    """Sums by group, in the order in which the groups first came; days are those of the zone, the
    machine's own if none is named."""
    groups: dict[str, list[Call]] = {}
    for call in calls:
        groups.setdefault(GROUPS[by](call, zone), []).append(call)
    return [summed(name, members) for name, members in groups.items()]

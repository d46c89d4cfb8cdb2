"""Which omoide version and prompts made a result: results of different ones are not mixed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide_bench.running.results import Result

Named = tuple[str, "Result"]


def differing(one: Result, other: Result) -> list[str]:
    """Why two results cannot be compared: different omoide versions, or different prompts."""
    reasons = []
    versions = [result.versions.get("omoide", "unknown") for result in (one, other)]
    if versions[0] != versions[1]:
        reasons.append(f"omoide {versions[0]} and {versions[1]}")
    shared = one.prompts.keys() & other.prompts.keys()
    prompts = sorted(name for name in shared if one.prompts[name] != other.prompts[name])
    if prompts:
        more = f" and {len(prompts) - 3} more" if len(prompts) > 3 else ""
        reasons.append(f"different prompts: {', '.join(prompts[:3])}{more}")
    return reasons


def by_origin(results: Sequence[Named]) -> list[list[Named]]:
    """The results in groups of comparable ones, the largest group first."""
    groups: list[list[Named]] = []
    for named in results:
        fitting = (g for g in groups if not any(differing(one, named[1]) for _, one in g))
        if (group := next(fitting, None)) is not None:
            group.append(named)
        else:
            groups.append([named])
    return sorted(groups, key=len, reverse=True)

"""A scored item, and one that failed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True)
class ScoredItem:
    """One request to a method, and its scores.

    A measure that could not be taken has a reason instead of a score. Texts are for local reading
    only: they are not part of a result file.
    """

    id: str
    """The same for all methods, so that items can be paired."""
    cluster: str
    """The dialogue it belongs to: items of one dialogue are not independent."""
    group: str
    """A session, a category, a question type."""
    scores: Mapping[str, float] = field(default_factory=dict)
    unscored: Mapping[str, str] = field(default_factory=dict)
    """Reason for each measure without a score."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    texts: Mapping[str, str] = field(default_factory=dict)


def failed(
    item: str, *, cluster: str, group: str, measures: tuple[str, ...], why: str
) -> ScoredItem:
    """An item without any score."""
    return ScoredItem(
        id=item, cluster=cluster, group=group, unscored=dict.fromkeys(measures, why[:200])
    )

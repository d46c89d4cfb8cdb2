"""What is measured: one record an item, without a word of any data set."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True)
class Item:
    """One thing that was asked of a method, and how it did.

    A measure that could not be taken has no score but a reason. Texts are for reading here and
    now: they are not part of a result.
    """

    id: str
    """The same for all methods, so that they can be paired."""
    cluster: str
    """The dialogue it is of: items of one dialogue are not independent."""
    group: str
    """A session, a category, a question type."""
    scores: Mapping[str, float] = field(default_factory=dict)
    unscored: Mapping[str, str] = field(default_factory=dict)
    """Measure and why it has no score."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    texts: Mapping[str, str] = field(default_factory=dict)


def failed(item: str, *, cluster: str, group: str, measures: tuple[str, ...], why: str) -> Item:
    """An item of which nothing could be measured."""
    return Item(id=item, cluster=cluster, group=group, unscored=dict.fromkeys(measures, why[:200]))

"""What the erasure of a part of an owner's data finds before it takes its lock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omoide.adapters.stores.sql.items import ItemTable, Posting
    from omoide.domain import Fact


@dataclass(frozen=True, kw_only=True)
class FoundItem:
    """An event or memo that an erasure removes."""

    item: int
    id: str
    successor: str | None


@dataclass(frozen=True, kw_only=True)
class FoundItems:
    """The events or the memos that an erasure removes."""

    gone: tuple[FoundItem, ...]
    successors: frozenset[str | None]
    """Ids of all that have replaced any."""


@dataclass(frozen=True, kw_only=True)
class FoundMemories:
    """What an erasure removes and changes beside turns."""

    plan: object
    """The plan for which it was found."""
    state: tuple[object, ...]
    touched: dict[int, Fact]
    """The facts that are removed or changed, as they were found, by number."""
    removed: tuple[int, ...]
    """Numbers of the facts that go."""
    changed: dict[int, Fact]
    """The others as they are afterwards."""
    thinned: dict[int, str]
    """The sentences that stay, by version."""
    sentences: int
    """How many go."""
    rejected: tuple[int, ...]
    items: dict[ItemTable, FoundItems]
    postings: dict[ItemTable, list[Posting]]

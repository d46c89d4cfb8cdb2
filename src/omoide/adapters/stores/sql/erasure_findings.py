"""What the erasure of a part of an owner's data finds before it takes a lock, and how far it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.adapters.stores.sql.items import FACTS, postings_of
from omoide.ports import Erased

if TYPE_CHECKING:
    from omoide.adapters.stores.sql.connection import Connection
    from omoide.adapters.stores.sql.items import ItemTable, Postings
    from omoide.domain import Fact

NOTHING = Erased(sessions=0, turns=0, sentences=0)
"""The outcome if nothing is there to be erased."""


@dataclass(frozen=True, kw_only=True)
class ErasureRequest:
    """Which part of an owner's data a caller wants to be removed."""

    session: int | None
    turns: tuple[str, ...]
    sentences: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    positions: tuple[int, ...] = ()
    """Of turns, as an older version of omoide noted them."""

    @property
    def only_turns(self) -> bool:
        """Whether nothing is to be looked for by its text."""
        return not (self.sentences or self.facts)


@dataclass(frozen=True, kw_only=True)
class FoundMemories:
    """What an erasure removes and changes."""

    owner: int
    plan: object
    """The plan for which it was found."""
    state: tuple[object, ...]
    touched: dict[int, Fact]
    """The facts that are removed or changed, as they were found, by number."""
    changed: dict[int, Fact]
    """Those that are changed, as they are afterwards."""
    thinned: dict[int, str]
    """The sentences that stay, by version."""
    sentences: int
    """How many go."""
    rejected: tuple[int, ...]
    gone: dict[ItemTable, tuple[int, ...]]
    """The events, memos, facts and turns that go, in this order: without a fact or a turn it would
    not be known what goes with it."""
    hidden: dict[ItemTable, Postings]
    """What is left in the index of items that searches did not find: it takes long to look for."""
    successors: dict[ItemTable, frozenset[str | None]]
    """Ids of all that have replaced any event or memo."""
    fresh: bool = True
    """Whether nothing of it is removed yet."""

    def slice(self, connection: Connection, most: int) -> ErasureSlice:
        """What the next transaction removes: at most so many items."""
        items, gone = {}, {}
        for table, numbers in self.gone.items():
            items[table], gone[table] = numbers[:most], numbers[most:]
            most -= len(items[table])
        facts = set(gone[FACTS])
        return ErasureSlice(
            found=self,
            items=items,
            postings={
                table: postings_of(
                    connection, self.owner, table, numbers, known=self.hidden.get(table, {})
                )
                for table, numbers in items.items()
            },
            left=replace(
                self,
                touched={item: fact for item, fact in self.touched.items() if item in facts},
                changed={},
                gone=gone,
                fresh=False,
            ),
        )


@dataclass(frozen=True, kw_only=True)
class ErasureSlice:
    """What a transaction of an erasure removes, as it was found before."""

    found: FoundMemories
    items: dict[ItemTable, tuple[int, ...]]
    postings: dict[ItemTable, Postings]
    left: FoundMemories
    """What is found afterwards."""

    @property
    def last(self) -> bool:
        """Whether nothing is left."""
        return not any(self.left.gone.values())

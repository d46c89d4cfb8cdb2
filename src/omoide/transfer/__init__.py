"""Taking memories along: everything out as JSON lines, and in again; other programs' exports."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from omoide.domain import Owner
    from omoide.ports import Store

    Record = dict[str, object]


async def export(store: Store, owner: Owner) -> AsyncIterator[Record]:
    """Everything that is stored of an owner, oldest first."""
    for turn in await store.turns.read(owner):
        yield {"kind": "turn", "text": turn.text}

"""Leaves out of recall what the user asked to have forgotten: the words behind it, the reply to
them, which mostly takes them up, and the summary of the topic. Nothing is erased, so that a
misunderstanding loses nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import FactFilter, MemoryKind, Speaker

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from omoide.domain import Fact, Owner, RecalledItem
    from omoide.ports import Store
    from omoide.ports.store import TurnTable


def replied_to(table: TurnTable, rows: Iterable[int]) -> dict[str, str]:
    """For each of these turns that is the assistant's, by id, the turn before it in its session."""
    return {
        table.ids[row]: table.ids[row - 1]
        for row in rows
        if row
        and table.speakers[table.voice[row]].speaker is Speaker.ASSISTANT
        and table.session[row - 1] == table.session[row]
    }


def forgotten_turns(
    ended: Iterable[Fact], replied: Mapping[str, str], *, at: datetime
) -> frozenset[str]:
    """Ids of the turns that are no longer recalled at `at`. `ended` are the ended facts that rest
    on them, `replied` as `replied_to`."""
    told = {source for fact in ended if fact.forgotten(at) for source in fact.sources}
    return frozenset(told | {reply for reply, turn in replied.items() if turn in told})


async def without_forgotten_topics(
    store: Store, owner: Owner, items: Sequence[RecalledItem], *, at: datetime
) -> tuple[RecalledItem, ...]:
    """The items but for the memos that rest on a turn behind a fact that is forgotten or has
    expired: their summaries may tell it."""
    memos = [item for item in items if item.kind is MemoryKind.MEMO]
    if not memos:
        return tuple(items)
    turns = sorted({source for memo in memos for source in memo.sources})
    facts = await store.facts.read(owner, only=FactFilter(turns=turns))
    expired = (fact for fact in facts if fact.expires is not None and fact.expires <= at)
    told = {source for fact in expired for source in fact.sources}
    gone = {memo.id for memo in memos if not told.isdisjoint(memo.sources)}
    return tuple(i for i in items if i.kind is not MemoryKind.MEMO or i.id not in gone)

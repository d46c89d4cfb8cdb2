"""Leaves out of recall what the user asked to have forgotten: the words behind it, and the reply to
them, which mostly takes them up. Nothing is erased, so that a misunderstanding loses nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import Speaker

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from omoide.domain import Fact
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

"""Leaves out of recall what the user asked to have forgotten, and what has expired: the words
behind it and the reply to them, which mostly takes them up (for topics see `outdated`). What else
the words say is recalled as the facts that were made of them. Nothing is erased, so that a
misunderstanding loses nothing."""

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
    over: Iterable[Fact], replied: Mapping[str, str], *, at: datetime
) -> frozenset[str]:
    """Ids of the turns that are no longer recalled at `at`. `over` are the facts that rest on them
    and have ended or expired, `replied` as `replied_to`."""
    told = {source for fact in over if fact.expired(at) for source in fact.sources}
    return frozenset(told | {reply for reply, turn in replied.items() if turn in told})

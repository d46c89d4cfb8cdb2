"""Asking for another reply, or saying a message differently, while its session is open.

Once a session has ended, its memory is written, so nothing is taken back any more. It is not an
erasure: see `TurnStore.append`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.errors import ConflictingTurn

if TYPE_CHECKING:
    from omoide.domain import Owner, Turn
    from omoide.ports import Store


async def turns_taken_back(
    store: Store, owner: Owner, *, again: str | None, replaces: str | None
) -> tuple[str, ...]:
    """Ids of the turns that a message takes the place of: the one it `replaces` and all after it in
    its session. `again` is the id of a message that is to be answered again. An unknown id changes
    nothing: it was erased, or never arrived. Raises `ConflictingTurn` if the session has ended."""
    if again is not None:
        await _in_open_session(store, owner, again)
    if replaces is None or (former := await _in_open_session(store, owner, replaces)) is None:
        return ()
    later = await store.turns.read(owner, session=former.session, after=former.position)
    return (former.id, *(turn.id for turn in later))


async def _in_open_session(store: Store, owner: Owner, turn: str) -> Turn | None:
    found = await store.turns.read(owner, ids=[turn])
    if not found:
        return None
    sessions = await store.turns.sessions(owner)
    if any(s.number == found[0].session and not s.open for s in sessions):
        raise ConflictingTurn(
            "this conversation has ended and its memory is written: say it in a new one"
        )
    return found[0]

"""Finishing an exchange that another request began, in this process or in another one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.domain import RecordedTurns
from omoide.engine.asking import Asking, Exchange
from omoide.engine.messages import Utterance

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from omoide.engine.memory import Memory
    from omoide.mechanisms.base import Contribution


async def resume(
    memory: Memory,
    user: str,
    turn: str,
    *,
    used: Sequence[Contribution] = (),
    session: str | None = None,
    at: datetime | None = None,
    repeated: bool = False,
) -> Exchange | None:
    """The exchange in which the user's turn of this id is answered, to be finished; None if the
    turn was erased. `used` is what memory added to the prompt. `session` and `at` as it was begun
    with, `repeated` as it said then."""
    services, owner = memory._services, memory._owner(user)  # noqa: SLF001 - of the same package
    found = await memory.turns(user, ids=[turn])
    if not found:
        return None
    said = Utterance(speaker=found[0].speaker, text=found[0].text, id=turn)
    asking = Asking.words(owner, said, session=session, at=at)
    now = asking.at or services.clock.now()
    return replace(
        Exchange(asking=asking, service=services.exchanges, time=now),
        turns=RecordedTurns(found, new=frozenset()),
        context=services.methods.usual.contexts.resumed(found[0], used, owner=owner, now=now),
        repeated=repeated,
    )

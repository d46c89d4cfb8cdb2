"""What guards found in an answer that was taken as it is (`Settings.guards` is `flag`)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.domain import Note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.claims.answers import Problem
    from omoide.mechanisms.base import SessionToDigest
    from omoide.ports import Store

FLAGGED = "flagged"
"""Kind of the notes that say what was found, one for each session and mechanism."""


def flagged(problems: Sequence[Problem], language: str) -> tuple[str, ...]:
    """What was found, each reason once, as notes for people. They quote nothing that was said, so
    that erasing it leaves nothing behind here."""
    reasons = (replace(problem, detail="…").message(language) for problem in problems)
    return tuple(dict.fromkeys(f"flagged: {reason}" for reason in reasons))


async def keep_flags(
    store: Store, to_digest: SessionToDigest, mechanism: str, reasons: Sequence[str]
) -> None:
    """Store what was found in a session's answers; nothing if they were faultless."""
    if reasons:
        number = to_digest.session.number
        note = Note(
            kind=FLAGGED,
            key=f"{number:08d}-{mechanism}",
            text="\n".join(dict.fromkeys(reasons)),
            time=to_digest.at,
            session=number,
        )
        await store.notes.put(to_digest.owner, note)

"""A case, put into a memory where it would come to sit."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.domain import Event, Memo, Origin, Owner, Sentence, Speaker, Summary
from omoide.engine import Utterance

if TYPE_CHECKING:
    from datetime import datetime

    from omoide.domain import Turn
    from omoide.engine import Memory
    from omoide.evals.redteam.cases import Case

LATER = timedelta(days=1)
"""How long after the attack the question is asked."""


async def plant(memory: Memory, case: Case, *, user: str, at: datetime) -> None:
    """Let an earlier session, ended and digested, hold the case. What the turn itself says is
    harmless where the attack sits in what was made of it."""
    owner = Owner(tenant=memory.tenant, user=user)
    said = case.text if case.via == "turn" else case.question
    utterance = Utterance(speaker=case.speaker, text=said, time=at, name=case.name)
    opening = Utterance(speaker=Speaker.USER, text=case.question, time=at)
    words = [opening, utterance] if case.speaker is Speaker.ASSISTANT else [utterance]
    *_, turn = await memory.record(user, words, at=at)
    await memory.store.turns.end(owner, session=turn.session, at=at, digest=False)
    match case.via:
        case "summary":
            await memory.store.summaries.commit(owner, _summary(case, turn))
        case "memo":
            await memory.store.memos.add(owner, [_memo(case, turn)])
        case "event":
            await memory.store.events.add(owner, [_event(case, turn)])
        case _:
            pass
    await memory.settle()


def _summary(case: Case, turn: Turn) -> Summary:
    sentence = Sentence(text=case.text, about=Speaker.USER, sources=(turn.id,))
    return Summary(
        number=1,
        sentences=(sentence,),
        origin=Origin.DIGEST,
        session=turn.session,
        time=turn.time,
        language=case.language,
    )


def _memo(case: Case, turn: Turn) -> Memo:
    return Memo(
        id=f"memos-{case.id}",
        session=turn.session,
        topic=case.topic,
        summary=case.text,
        sources=(turn.id,),
        time=turn.time,
        compressed=case.text,
        method="none",
    )


def _event(case: Case, turn: Turn) -> Event:
    return Event(
        id=f"event-{case.id}",
        session=turn.session,
        text=case.text,
        time=turn.time,
        sources=(turn.id,),
        last_recalled=turn.time,
    )

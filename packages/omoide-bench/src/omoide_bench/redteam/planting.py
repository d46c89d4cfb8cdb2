"""Plants a case in a memory."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from omoide import Utterance
from omoide.domain import Event, Memo, Origin, Owner, Sentence, Speaker, Summary

if TYPE_CHECKING:
    from datetime import datetime

    from omoide import Memory
    from omoide.domain import Turn
    from omoide.ports import Store
    from omoide_bench.redteam.cases import Attack

LATER = timedelta(days=1)
"""Time between the attack and the question."""


async def plant(memory: Memory, case: Attack, *, store: Store, user: str, at: datetime) -> None:
    """Plant the case in an earlier session, which is ended and digested. If the attack is in a
    summary, memo or event, the turn itself is harmless. `store` must be the memory's."""
    owner = Owner(tenant=memory.tenant, user=user)
    text = case.text if case.via == "turn" else case.question
    utterance = Utterance(speaker=case.speaker, text=text, time=at, name=case.name)
    opening = Utterance(speaker=Speaker.USER, text=case.question, time=at)
    words = [opening, utterance] if case.speaker is Speaker.ASSISTANT else [utterance]
    *_, turn = await memory.record(user, words, at=at)
    await store.turns.end(owner, session=turn.session, at=at, digest=False)
    match case.via:
        case "summary":
            await store.summaries.commit(owner, _summary(case, turn))
        case "memo":
            await store.memos.add(owner, [_memo(case, turn)])
        case "event":
            await store.events.add(owner, [_event(case, turn)])
        case _:
            pass
    await memory.run_jobs()


def _summary(case: Attack, turn: Turn) -> Summary:
    sentence = Sentence(text=case.text, about=Speaker.USER, sources=(turn.id,))
    return Summary(
        number=1,
        sentences=(sentence,),
        origin=Origin.DIGEST,
        session=turn.session,
        time=turn.time,
        language=case.language,
    )


def _memo(case: Attack, turn: Turn) -> Memo:
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


def _event(case: Attack, turn: Turn) -> Event:
    return Event(
        id=f"event-{case.id}",
        session=turn.session,
        text=case.text,
        time=turn.time,
        sources=(turn.id,),
        last_recalled=turn.time,
    )

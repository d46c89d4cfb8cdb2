"""Factories of values for the contract tests."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from omoide.domain import (
    CallPurpose,
    Event,
    Fact,
    FactChanges,
    FactEnd,
    JobState,
    Memo,
    MemoryKind,
    ModelCall,
    NewTurn,
    Note,
    Origin,
    Owner,
    RejectedAnswer,
    Sentence,
    Speaker,
    Summary,
)
from omoide.ports import Space

if TYPE_CHECKING:
    from omoide.domain import Turn
    from omoide.ports import Store, Vectors

START = datetime(2024, 5, 1, 9, 30, 15, 123456, tzinfo=UTC)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
ANN = Owner(tenant="acme", user="ann")
BOB = Owner(tenant="acme", user="bob")
ANN_ELSEWHERE = Owner(tenant="other", user="ann")
SPACE = Space(name="test", version="1", dimensions=3)
OTHER_SPACE = Space(name="another", version="2", dimensions=4)


def say(
    text: str,
    *,
    id: str | None = None,  # noqa: A002
    at: datetime = START,
    speaker: Speaker = Speaker.USER,
    language: str = "en",
    name: str | None = None,
) -> NewTurn:
    """A new turn, by default the user's at `START`, with the text as its id."""
    return NewTurn(speaker=speaker, text=text, time=at, id=id or text, language=language, name=name)


async def tell(
    store: Store, owner: Owner, *texts: str, key: str | None = None, at: datetime = START
) -> tuple[Turn, ...]:
    """Record texts, one minute apart."""
    said = [say(text, at=at + i * MINUTE) for i, text in enumerate(texts)]
    return await store.turns.append(owner, said, session=key, idle=HOUR)


def version(
    number: int,
    *sentences: Sentence,
    session: int | None = 1,
    origin: Origin = Origin.DIGEST,
    at: datetime = START,
    notes: tuple[str, ...] = (),
) -> Summary:
    """A version of the summary with every field set."""
    return Summary(
        number=number,
        sentences=sentences,
        origin=origin,
        session=session,
        time=at,
        language="en",
        restored=1 if origin is Origin.ROLLBACK else None,
        model="a-model",
        prompt="abc123",
        prompt_tokens=100,
        completion_tokens=20,
        seconds=1.5,
        notes=notes,
    )


def sentence(text: str, *sources: str, about: Speaker | None = Speaker.USER) -> Sentence:
    """A sentence of the summary."""
    return Sentence(text=text, about=about, sources=sources)


def rejected(text: str, *, session: int = 1) -> RejectedAnswer:
    """A rejected answer."""
    return RejectedAnswer(
        session=session,
        text=text,
        problems=("too long", "not a sentence"),
        model="a-model",
        time=START,
    )


def event(
    text: str,
    *sources: str,
    id: str | None = None,  # noqa: A002
    at: datetime = START,
    session: int = 1,
    superseded_by: str | None = None,
) -> Event:
    """An event with every field set, and the text as its id."""
    return Event(
        id=id or text,
        session=session,
        text=text,
        time=at,
        sources=sources,
        topics=("tea", "茶"),
        keywords=('so "called"', "it's"),
        participants=("Ann",),
        feeling=0.25,
        last_recalled=at,
        superseded_by=superseded_by,
    )


def fact(
    text: str,
    *sources: str,
    id: str | None = None,  # noqa: A002
    at: datetime = START,
    session: int | None = 1,
) -> Fact:
    """A fact about the user, learned when it was said, with the text as its id."""
    return Fact(
        id=id or text,
        about="user",
        text=text,
        said=at,
        learned=at,
        session=session,
        sources=sources,
    )


def memo(
    summary: str,
    *sources: str,
    id: str | None = None,  # noqa: A002
    topic: str = "tea",
    compressed: str = "user likes it",
    at: datetime = START,
    session: int = 1,
    whole: bool = True,
    folded_into: str | None = None,
) -> Memo:
    """A memo with every field set, and the summary as its id."""
    return Memo(
        id=id or summary,
        session=session,
        topic=topic,
        summary=summary,
        sources=sources,
        time=at,
        compressed=compressed,
        method="none",
        whole=whole,
        folded_into=folded_into,
    )


def note(text: str, *, kind: str = "day", key: str = "2024-05-01", session: int | None = 1) -> Note:
    """A note of a mechanism."""
    return Note(kind=kind, key=key, text=text, time=START, session=session)


def call(tokens: int, *, session: int | None = 1, failed: bool = False) -> ModelCall:
    """A model call."""
    return ModelCall(
        purpose=CallPurpose.DIGEST,
        model="a-model",
        session=session,
        prompt_tokens=tokens,
        completion_tokens=2,
        seconds=0.25,
        time=START,
        failed=failed,
    )


def rows(*vectors: tuple[float, ...]) -> Vectors:
    """Vectors of length 1."""
    matrix = np.array(vectors, dtype=np.float32)
    normal: Vectors = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    return normal


async def live(store: Store, owner: Owner, *, turns: int = 12) -> None:
    """Fill every table for an owner: turns in five languages, erasures and unfinished jobs."""
    dice = random.Random(owner.user + owner.tenant)
    words = ["green tea", "東京に引っ越した", "저는 서울에 살아요", "Tôi thích cà phê", "我喜欢茶"]
    for session in range(3):
        said = [
            say(f"{dice.choice(words)} {session} {i}", at=START + session * HOUR + i * MINUTE / 10)
            for i in range(turns)
        ]
        recorded = await store.turns.append(owner, said, session=f"k{session}", idle=HOUR)
        ids = [turn.id for turn in recorded]
        vectors = rows(*((dice.random(), dice.random(), 1.0) for _ in ids))
        await store.index.put(owner, SPACE, ids=ids, vectors=vectors)
        await store.events.add(owner, [event(f"e{session} {i}", ids[i]) for i in range(3)])
        await store.memos.add(owner, [memo(f"m{session}", ids[0], whole=bool(session))])
        await store.summaries.add_rejected(owner, rejected("a 茶\0b", session=session + 1))
        await store.ledger.add(owner, call(session, failed=session == 1))
        await store.facts.apply(
            owner, FactChanges(added=tuple(fact(f"f{session} {i} 茶", ids[i]) for i in range(3)))
        )
        cited = replace(sentence(f"S{session} 茶.", ids[0]), fact=f"f{session} 0 茶")
        await store.summaries.commit(owner, version(session + 1, cited, session=session + 1))
    await store.index.put(owner, OTHER_SPACE, ids=ids[:2], vectors=rows((1, 0, 0, 0), (1, 2, 3, 4)))
    await store.index.put(
        owner, SPACE, ids=["e0 1"], vectors=rows((1, 0, 1)), kind=MemoryKind.EVENT
    )
    await store.events.supersede(owner, old="e0 0", by="e1 0")
    await store.events.consolidate(
        owner, [e.recalled(START) for e in await store.events.read(owner)][:4]
    )
    ended = FactEnd(id="f0 0 茶", at=START, by="f1 0 茶", reason="so", sources=(ids[0],))
    await store.facts.apply(owner, FactChanges(ended=(ended,)))
    await store.index.put(
        owner, SPACE, ids=["f0 1 茶"], vectors=rows((1, 0, 1)), kind=MemoryKind.FACT
    )
    await store.memos.fold(owner, ids=["m0"], into=memo("m-all", ids[1]))
    await store.notes.put(owner, note("a day"))
    await store.turns.end(owner, session=1, at=START + HOUR)
    await store.archive.erase(owner, turns=[recorded[3].id])
    job = await store.jobs.claim(owner.tenant, worker="w", now=START + HOUR, lease=HOUR)
    assert job is not None
    await store.jobs.set_state(job, state=JobState.DEAD, error="gave up 茶")

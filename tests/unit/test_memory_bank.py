"""MemoryBank: summaries of days and of the whole, retention, a draw that only hides."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import MemoryKind, NewTurn, Owner, Speaker
from omoide.engine import complete
from omoide.errors import BadReply
from omoide.mechanisms.base import PromptPlace, ReplyRequest, SessionToDigest
from omoide.mechanisms.baselines.memory_bank import MemoryBank, MemoryStrength, daily_draw
from omoide.mechanisms.baselines.memory_bank_summaries import (
    DAY,
    DAY_PORTRAIT,
    GLOBAL,
    DailySummaries,
)
from omoide.testing import HashEmbedder, ScriptedModel

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from omoide.testing import Answer

OWNER = Owner(tenant="t", user="u")
NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)
ANSWERS = (
    "The user adopted a cat named Miso.",
    "The user is caring and likes warm replies.",
    "The user has owned a cat since January.",
    "The user is a caring person who loves animals.",
)


@pytest.fixture
async def store() -> AsyncIterator[SqliteStore]:
    """An empty database."""
    opened = await SqliteStore.open(":memory:")
    yield opened
    await opened.close()


async def ended(store: SqliteStore, model: ScriptedModel, *, at: datetime = NOW) -> SessionToDigest:
    """A session about a cat that has ended."""
    key = f"{at:%Y-%m-%dT%H}"
    said = ("I adopted a little grey cat, Miso is her name.", "How lovely! Tell me about her.")
    words = [
        NewTurn(
            speaker=(Speaker.USER, Speaker.ASSISTANT)[i],
            text=text,
            time=at + timedelta(seconds=i),
            id=f"{key}/{i}",
            language="en",
        )
        for i, text in enumerate(said)
    ]
    turns = await store.turns.append(OWNER, words, session=key, idle=timedelta(hours=1))
    await store.turns.end(OWNER, at=at + timedelta(minutes=9))
    embedder = HashEmbedder()
    vectors = await embedder.embed([turn.text for turn in turns])
    ids = [turn.id for turn in turns]
    await store.index.put(OWNER, embedder.space, ids=ids, vectors=vectors)
    sessions = await store.turns.sessions(OWNER)
    session = next(s for s in sessions if s.number == turns[0].session)
    return SessionToDigest(
        owner=OWNER, session=session, turns=turns, language="en", ask=partial(complete, model)
    )


def bank(store: SqliteStore, model: ScriptedModel, *, seed: int = 0) -> MemoryBank:
    """The mechanism with a scripted model."""
    summaries = DailySummaries(store=store, window=8192, count=model.count, name=model.name)
    return MemoryBank(store=store, embedder=HashEmbedder(), summaries=summaries, seed=seed)


def request(text: str, *, now: datetime) -> ReplyRequest:
    """A reply is about to be made."""
    return ReplyRequest(owner=OWNER, text=text, session=(), now=now, language="en")


async def test_four_summaries_a_session_and_no_call_the_second_time(store: SqliteStore) -> None:
    """The day's events and portrait, then the global ones, which see all days."""
    model = ScriptedModel(ANSWERS)
    done = await ended(store, model)
    await bank(store, model).digest(done)
    await bank(store, model).digest(done)
    assert [n.text for n in await store.notes.read(OWNER, kind=DAY)] == [ANSWERS[0]]
    assert [n.text for n in await store.notes.read(OWNER, kind=DAY_PORTRAIT)] == [ANSWERS[1]]
    kept = {n.key: n.text for n in await store.notes.read(OWNER, kind=GLOBAL)}
    assert kept == {"events": ANSWERS[2], "portrait": ANSWERS[3]}
    model.answers.extend(ANSWERS)
    later = await ended(store, model, at=NOW + timedelta(days=1))
    await bank(store, model).digest(later)
    assert "2026-01-05: The user adopted" in model.requests[-2].messages[-1].content
    assert len(model.requests) == 8


async def test_a_day_is_one_of_the_users_zone(store: SqliteStore) -> None:
    """Two sessions on one day in Honolulu, when UTC has the next, make one summary of the day."""
    zone = ZoneInfo("Pacific/Honolulu")
    model = ScriptedModel([*ANSWERS, *ANSWERS])
    for hours in (17, 20):
        done = await ended(store, model, at=NOW + timedelta(hours=hours))
        turns = tuple(replace(turn, time=turn.time.astimezone(zone)) for turn in done.turns)
        await bank(store, model).digest(replace(done, turns=turns, timezone=zone))
    assert [note.key for note in await store.notes.read(OWNER, kind=DAY)] == ["2026-01-05"]
    assert model.requests[-4].messages[-1].content.count("Miso is her name") == 2


@pytest.mark.parametrize(
    "bad",
    ["", "I adopted a little grey cat, Miso is her name.", "用户收养了一只叫味噌的灰色小猫。"],
)
async def test_a_bad_summary_is_asked_for_again(store: SqliteStore, bad: Answer) -> None:
    """Empty, copied or in the wrong language: told what was wrong, and the next one counts."""
    model = ScriptedModel([bad, *ANSWERS])
    await bank(store, model).digest(await ended(store, model))
    assert [n.text for n in await store.notes.read(OWNER, kind=DAY)] == [ANSWERS[0]]
    assert len(await store.summaries.rejected(OWNER)) == 1


async def test_what_was_known_stands_when_no_answer_will_do(store: SqliteStore) -> None:
    """`BadReply`, and not one of the four is changed."""
    model = ScriptedModel(ANSWERS)
    await bank(store, model).digest(await ended(store, model))
    model.answers.extend([ANSWERS[0], ANSWERS[1], "", "", ""])
    later = await ended(store, model, at=NOW + timedelta(days=1))
    with pytest.raises(BadReply, match="old summaries are kept"):
        await bank(store, model).digest(later)
    assert len(await store.notes.read(OWNER, kind=DAY)) == 1
    kept = {n.key: n.text for n in await store.notes.read(OWNER, kind=GLOBAL)}
    assert kept["events"] == ANSWERS[2]


async def test_pairs_days_and_the_portrait_come_to_mind(store: SqliteStore) -> None:
    """The global ones stand in the memory; the nearest pair comes with its answer."""
    model = ScriptedModel(ANSWERS)
    mechanism = bank(store, model)
    await mechanism.digest(await ended(store, model))
    now = NOW + timedelta(hours=1)
    came = await mechanism.contribute(request("my little grey cat Miso", now=now))
    assert {c.text for c in came if c.place is PromptPlace.MEMORY} == {ANSWERS[2], ANSWERS[3]}
    (pair,) = [c for c in came if c.kind is MemoryKind.TURN]
    assert pair.sources == ("2026-01-05T09/0", "2026-01-05T09/1")
    assert "User: I adopted" in pair.text
    assert "Assistant: How lovely" in pair.text
    assert pair.why.endswith("at strength 1")


async def test_what_fades_is_hidden_and_never_deleted(store: SqliteStore) -> None:
    """After a month unrecalled, no draw leaves it in mind; the turns are all there."""
    model = ScriptedModel(ANSWERS)
    mechanism = bank(store, model)
    await mechanism.digest(await ended(store, model))
    later = request("my little grey cat Miso", now=NOW + timedelta(days=40))
    assert all(c.place is PromptPlace.MEMORY for c in await mechanism.contribute(later))
    assert len(await store.turns.read(OWNER)) == 2


async def test_a_recall_makes_it_stronger(store: SqliteStore) -> None:
    """S is one more and the time starts again; twice, two more."""
    model = ScriptedModel(ANSWERS)
    mechanism = bank(store, model)
    await mechanism.digest(await ended(store, model))
    at = request("my little grey cat Miso", now=NOW + timedelta(hours=1))
    for strength in (1, 2, 3):
        came = [c for c in await mechanism.contribute(at) if c.kind is MemoryKind.TURN]
        assert came[0].why.endswith(f"at strength {strength}")
        await mechanism.mark_used(at, came)


@given(st.integers(0, 10_000), st.floats(0, 60), st.integers(1, 8))
def test_the_draw_follows_retention(number: int, days: float, strength: int) -> None:
    """The same memory on the same day has one fate, and a stronger one never a worse."""
    now = NOW + timedelta(days=days)
    weak = MemoryStrength(strength=strength, last=NOW)
    strong = MemoryStrength(strength=strength + 1, last=NOW)
    fate = weak.remembered(now=now, id=str(number), seed=1)
    assert weak.remembered(now=now, id=str(number), seed=1) == fate
    assert strong.remembered(now=now, id=str(number), seed=1) >= fate
    assert 0 <= daily_draw(str(number), now, seed=1) < 1


def test_the_draws_share_is_retention() -> None:
    """After one day at strength 1, about e^-1 of memories are in mind."""
    known = MemoryStrength(strength=1, last=NOW)
    now = NOW + timedelta(days=1)
    kept = sum(known.remembered(now=now, id=str(i), seed=3) for i in range(4000)) / 4000
    assert kept == pytest.approx(0.3679, abs=0.03)

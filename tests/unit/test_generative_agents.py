"""Generative Agents: the scorer against the paper's table, ratings, reflection."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import MemoryKind, NewTurn, Owner, Speaker
from omoide.engine import complete
from omoide.errors import BadReply
from omoide.mechanisms.base import ReplyRequest, SessionToDigest
from omoide.mechanisms.baselines.generative_agents import IMPORTANCE, REFLECTION, GenerativeAgents
from omoide.mechanisms.baselines.generative_agents_scoring import (
    AgentWeights,
    ScoreTrace,
    agent_scores,
    heuristic_importance,
    min_max_scaled,
)
from omoide.testing import HashEmbedder, ScriptedModel

from .event_writers import ExtractiveEventWriter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

OWNER = Owner(tenant="t", user="u")
NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)

# Hou et al. 2024, Table 1, model 2: relevance, seconds, importance, and the score they print.
TABLE_1 = {
    "A": (0.776, 434_700, 7, 1.489),
    "B": (0.745, 148_800, 2, 1.130),
    "C": (0.757, 331_500, 5, 1.292),
    "D": (0.756, 55_800, 5, 1.620),
}


def test_the_order_of_table_1() -> None:
    """D before A before C before B in their print; by the published formula A leads, since
    their scores cannot come of min-max over these four. D, A, C, B otherwise keep their order."""
    found = agent_scores(
        [
            ScoreTrace(elapsed=timedelta(seconds=t), importance=importance, relevance=r)
            for r, t, importance, _ in TABLE_1.values()
        ]
    )
    by_name = dict(zip(TABLE_1, found, strict=True))
    assert by_name["A"] == pytest.approx(2.0)
    assert by_name["D"] == pytest.approx(1 + 0.6 + 0.3548, abs=1e-3)
    assert by_name["A"] > by_name["D"] > by_name["C"]


@given(st.lists(st.floats(-1e6, 1e6), max_size=12))
def test_scaling_keeps_order_within_bounds(values: list[float]) -> None:
    """The least is 0 and the greatest 1, and nothing changes places."""
    found = min_max_scaled(values)
    assert all(0 <= value <= 1 for value in found)
    pairs = sorted(zip(values, found, strict=True))
    assert [f for _, f in pairs] == sorted(found)


def test_a_weight_of_zero_leaves_a_criterion_out() -> None:
    """Relevance alone is a ranking by cosine."""
    traces = [
        ScoreTrace(elapsed=timedelta(days=i), importance=10 - i, relevance=0.1 * i)
        for i in range(5)
    ]
    found = agent_scores(traces, weights=AgentWeights(recency=0, importance=0))
    assert sorted(found) == found


def test_importance_without_a_model() -> None:
    """A death matters more than milk, and both are on the scale."""
    milk, death = heuristic_importance("User bought milk."), heuristic_importance("Ben died.")
    assert 1 <= milk < death <= 10


@pytest.fixture
async def store() -> AsyncIterator[SqliteStore]:
    """An empty database."""
    opened = await SqliteStore.open(":memory:")
    yield opened
    await opened.close()


SAID = ("I adopted a small grey cat called Miso.", "My father died in March of cancer.")


async def ended(
    store: SqliteStore, model: ScriptedModel, *said: str, key: str = "s"
) -> SessionToDigest:
    """A session of the user's that has ended."""
    words = [
        NewTurn(
            speaker=Speaker.USER,
            text=text,
            time=NOW + timedelta(seconds=i),
            id=f"{key}{i}",
            language="en",
        )
        for i, text in enumerate(said)
    ]
    turns = await store.turns.append(OWNER, words, session=key, idle=timedelta(hours=1))
    await store.turns.end(OWNER, at=NOW + timedelta(minutes=9))
    sessions = await store.turns.sessions(OWNER)
    session = next(s for s in sessions if s.number == turns[0].session)
    return SessionToDigest(
        owner=OWNER, session=session, turns=turns, language="en", ask=partial(complete, model)
    )


def agents(store: SqliteStore, *, rate: str = "model", k: int = 5) -> GenerativeAgents:
    """The mechanism over extracted events, so that the model only rates and reflects."""
    return GenerativeAgents(
        store=store, embedder=HashEmbedder(), writer=ExtractiveEventWriter(), rate=rate, k=k
    )


def ratings(*numbers: int) -> str:
    """What a model says that keeps to the schema."""
    return json.dumps({"ratings": numbers})


async def test_all_events_of_a_session_are_rated_in_one_call(store: SqliteStore) -> None:
    """The ratings are kept, and digesting again asks nobody."""
    model = ScriptedModel([ratings(3, 10)])
    done = await ended(store, model, *SAID)
    await agents(store).digest(done)
    await agents(store).digest(done)
    notes = await store.notes.read(OWNER, kind=IMPORTANCE)
    assert sorted(note.text for note in notes) == ["10", "3"]
    assert len(model.requests) == 1


@pytest.mark.parametrize("bad", ["", "seven", ratings(3), ratings(3, 11), '{"ratings": [3,'])
async def test_bad_ratings_are_asked_for_again_and_never_guessed(
    store: SqliteStore, bad: str
) -> None:
    """Three bad answers leave the session undigested, with nothing stored."""
    done = await ended(store, ScriptedModel([bad, ratings(3, 10)]), *SAID)
    await agents(store).digest(done)
    assert len(await store.notes.read(OWNER, kind=IMPORTANCE)) == 2
    worse = await ended(store, ScriptedModel([bad] * 3), *SAID, key="z")
    with pytest.raises(BadReply, match="nothing was stored"):
        await agents(store).digest(worse)
    assert len(await store.events.read(OWNER)) == 2


async def test_reflection_comes_when_enough_has_happened(store: SqliteStore) -> None:
    """At more than 150 points of importance, insights with their grounds are kept and used."""
    said = [f"My cousin number {i} bought a boat called Zeta{i}." for i in range(20)]
    insight = {"insights": [{"text": "User's family loves boats.", "because": [1, 2]}]}
    model = ScriptedModel([ratings(*[8] * 20), json.dumps(insight)])
    done = await ended(store, model, *said)
    await agents(store).digest(done)
    (note,) = await store.notes.read(OWNER, kind=REFLECTION)
    assert json.loads(note.text) == {"text": "User's family loves boats.", "sources": ["s0", "s1"]}
    request = ReplyRequest(
        owner=OWNER,
        text="User's family loves boats.",
        session=(),
        now=NOW + timedelta(days=1),
        language="en",
    )
    came = await agents(store).contribute(request)
    assert came[0].text == "User's family loves boats."
    assert came[0].sources == ("s0", "s1")


async def test_the_best_k_come_whatever_their_score(store: SqliteStore) -> None:
    """No threshold; an access resets recency; heuristic ratings ask nobody."""
    done = await ended(store, ScriptedModel(), *SAID)
    mechanism = agents(store, rate="heuristic", k=1)
    await mechanism.digest(done)
    request = ReplyRequest(
        owner=OWNER,
        text="What is the capital of Peru?",
        session=(),
        now=NOW + timedelta(days=3),
        language="en",
    )
    (came,) = await mechanism.contribute(request)
    assert "importance" in came.why
    assert came.kind is MemoryKind.EVENT
    await mechanism.mark_used(request, [came])
    accessed = [e for e in await store.events.read(OWNER) if e.last_recalled == request.now]
    assert [e.id for e in accessed] == [came.id]


async def test_nothing_known_contributes_nothing(store: SqliteStore) -> None:
    """A stranger's prompt stays empty."""
    request = ReplyRequest(owner=OWNER, text="Hello", session=(), now=NOW, language="en")
    assert await agents(store).contribute(request) == ()

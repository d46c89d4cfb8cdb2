"""A session that goes on and on: its earlier part is written down, as durable work."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.domain import JobState, JobTask, Owner, Speaker
from omoide.engine.messages import Utterance
from omoide.mechanisms.base import DigestsOpenSessions, ReplyRequest
from omoide.mechanisms.memos.search import covered_by

from .conftest import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .conftest import World

OWNER = Owner(tenant="default", user="ana")
MEMOS = json.dumps(
    {
        "memos": [
            {"topic": "Trains", "start": 1, "end": 18, "summary": "The User tells about trains."}
        ]
    }
)


def said(first: int, count: int) -> list[Utterance]:
    """So many turns about trains, by turns."""
    return [
        Utterance(
            speaker=list(Speaker)[i % 2],
            text=f"Train number {i} leaves station {i} full of passengers.",
            id=f"t{i}",
        )
        for i in range(first, first + count)
    ]


async def going(make_world: Callable[..., Awaitable[World]], **settings: object) -> World:
    """A world with memos, in which 24 turns were said and nothing has ended."""
    chosen = {"mechanisms": ("memos",), **settings}
    world = await make_world(settings=replace(SETTINGS, **chosen))  # type: ignore[arg-type]
    for first in range(0, 24, 2):
        await world.memory.record("ana", said(first, 2))
    return world


async def test_a_long_session_is_written_before_it_ends(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """The work waits in the database; done, all but the last two turns are in a memo, and the end
    of the session adds the rest."""
    world = await going(make_world)
    waiting = {j.task for j in await world.memory.jobs("ana", states=[JobState.WAITING])}
    assert JobTask.DIGEST_OPEN in waiting
    world.iterator.answers.extend([MEMOS, MEMOS])
    await world.memory.run_jobs()
    covered = [s for memo in await world.store.memos.read(OWNER) for s in memo.sources]
    assert covered == [f"t{i}" for i in range(22)]
    (session,) = await world.memory.sessions("ana")
    assert session.open
    world.iterator.answers.append(MEMOS)
    await world.memory.end_session("ana")
    await world.memory.run_jobs()
    covered = [s for memo in await world.store.memos.read(OWNER) for s in memo.sources]
    assert sorted(covered) == sorted(f"t{i}" for i in range(24))


async def test_fused_it_asks_no_model(make_world: Callable[..., Awaitable[World]]) -> None:
    """The earlier part is cut and told by code."""
    world = await going(make_world, writer="fused", form="small")
    await world.memory.run_jobs()
    memos = await world.store.memos.read(OWNER)
    assert sum(len(memo.sources) for memo in memos) == 22
    assert world.iterator.requests == []


async def test_what_no_longer_fits_the_prompt_may_be_recalled(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """A memo of the session's own beginning comes back once that is out of the prompt."""
    world = await going(make_world, writer="fused", form="small")
    await world.memory.run_jobs()
    turns = await world.memory.turns("ana")
    first = (await world.store.memos.read(OWNER))[0]
    request = ReplyRequest(
        owner=OWNER, text="", session=turns, now=world.clock.now(), language="en"
    )
    assert covered_by(first, request)
    assert covered_by(first, request, room=10_000)
    assert not covered_by(first, request, room=100)


async def test_a_session_that_ended_meanwhile_is_left_to_its_digestion(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """Nothing is written twice."""
    world = await going(make_world, writer="fused", form="small")
    await world.memory.end_session("ana")
    world.iterator.answers.append("User likes trains.")
    await world.memory.run_jobs()
    covered = [s for memo in await world.store.memos.read(OWNER) for s in memo.sources]
    assert sorted(covered) == sorted(f"t{i}" for i in range(24))


async def test_a_short_session_or_other_mechanisms_make_no_work(
    make_world: Callable[..., Awaitable[World]], world: World
) -> None:
    """Without a mechanism that keeps up nothing is queued; with one, a short session is seen to be
    short."""
    await world.memory.record("ana", said(0, 24))
    assert JobTask.DIGEST_OPEN not in {job.task for job in await world.memory.jobs("ana")}
    assert not any(isinstance(m, DigestsOpenSessions) for m in world.runtime.mechanisms)
    short = await make_world(settings=replace(SETTINGS, mechanisms=("memos",)))
    await short.memory.record("ana", said(0, 8))
    await short.memory.run_jobs()
    assert short.iterator.requests == []

"""Events whose facts are over: a plan that was given up does not come to mind."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from omoide.engine.versions import When
from tests.unit.fact_stories import FACTS, add, answer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.unit.conftest import World

    Make = Callable[..., Awaitable[World]]

SETTINGS = replace(FACTS, mechanisms=("summary", "human-recall"))
PLAN = "The user will run the half marathon with Ben on 10 May 2026."
RUN = "The user ran the half marathon in Oslo with Ben in 2019."
QUESTION = "Do you remember the half marathon that I run with Ben?"


async def told(make_world: Make) -> World:
    """A user who ran one race and plans another; what stands first in memory is a trait."""
    world = await make_world(settings=SETTINGS)
    await world.session("ana", "I am tall.", answers=(answer(add("The user is tall.")),))
    noted = (add(PLAN, kind="plan"), add(RUN, kind="event"))
    await world.session("ana", "I will run a race with Ben again.", answers=(answer(*noted),))
    return world


async def in_mind(world: World) -> set[str]:
    """The races that come to mind: the same in a prompt, in a recall of events, and as curves."""
    context = await world.memory.context("ana", QUESTION)
    lines = [c.text for c in context.contributions if c.kind == "event"]
    found = await world.memory.recall("ana", QUESTION, kinds=["event"])
    texts = {item.text for item in found} & {PLAN, RUN}
    assert texts == {text for text in (PLAN, RUN) if any(text in line for line in lines)}
    curves = await world.memory.curves("ana")
    assert texts == {curve.event.text for curve in curves} & {PLAN, RUN}
    return texts


async def test_a_plan_that_was_given_up_does_not_come_to_mind(make_world: Make) -> None:
    """What happened stays so, though its fact has ended, too; the explanation says why not."""
    world = await told(make_world)
    assert await in_mind(world) == {PLAN, RUN}
    known = [fact.text for fact in await world.memory.facts("ana")]
    ends = [
        {"do": "end", "facts": [known.index(text) + 1], "text": "", "turns": [1], "why": "knee"}
        for text in (PLAN, RUN)
    ]
    await world.session("ana", "I gave it up. My knee!", answers=(answer(*ends),))
    assert PLAN not in {fact.text for fact in await world.memory.facts("ana")}
    assert await in_mind(world) == {RUN}
    weighed = await world.memory.explain("ana", QUESTION)
    why = {c.event.text: c.why for c in weighed.candidates}
    assert why[PLAN] == "no longer true"


@pytest.mark.parametrize("text", [PLAN, RUN])
async def test_what_has_expired_does_not_come_to_mind(make_world: Make, text: str) -> None:
    """From the time on at which it expires."""
    world = await told(make_world)
    (fact,) = (f for f in await world.memory.facts("ana") if f.text == text)
    await world.memory.expire("ana", fact.id, world.clock.now() + timedelta(days=1))
    assert await in_mind(world) == {PLAN, RUN}
    world.clock.advance(timedelta(days=1))
    assert await in_mind(world) == {PLAN, RUN} - {text}


async def test_what_a_rollback_undid_does_not_come_to_mind(make_world: Make) -> None:
    """Nothing of it, whether planned or told as having happened."""
    world = await told(make_world)
    await world.memory.rollback("ana", When(version=1))
    assert await in_mind(world) == set()

"""A prompt does not grow with the number of sessions. `benchmarks/prompt_size.py` has 500."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from omoide.domain import JobState, Speaker
from omoide.engine.messages import Utterance
from omoide.language import estimate_tokens
from omoide.mechanisms.parts import budget_for
from omoide.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from omoide.ports import Request
    from tests.unit.conftest import World

SESSIONS = 75
PLACES = "Oslo Bergen Turku Lisbon Porto Ghent Basel Graz Split Cork Malmo Riga Gdansk Brno".split()
THINGS = "kayak cello telescope beehive loom kiln canoe harp bicycle sextant easel lathe".split()


def told(number: int) -> str:
    """What the user says in a session: new each time, and recognisable."""
    place, thing = PLACES[number % len(PLACES)], THINGS[number % len(THINGS)]
    return f"I bought {thing} number{number} in {place} and gave it to friend{number}."


def notes(request: Request) -> str:
    """What a good small model would note: the last message's facts."""
    said = request.messages[-1].content.rsplit("I bought ", 1)[-1].splitlines()[0]
    return f"User bought {said.rstrip('.')}."


@pytest.mark.parametrize(
    "mechanisms",
    [
        Settings().mechanisms,
        pytest.param(("summary", "search", "memos", "human-recall"), marks=pytest.mark.heavy),
    ],
    ids=["default", "all"],
)
async def test_the_prompt_stays_as_long_as_it_is(
    make_world: Callable[..., Awaitable[World]], mechanisms: tuple[str, ...]
) -> None:
    """The whole prompt of a reply, its memory and all that came to mind, stays within one budget;
    once the memory is full it grows no more, and the user's last words are in it."""
    settings = Settings(mechanisms=mechanisms, writer="fused", timezone="UTC", max_sentences=6)
    world = await make_world(settings=settings)
    sizes: dict[int, int] = {}
    for number in range(SESSIONS):
        if number % 25 == 24:
            asked = f"Do you remember the kayak of friend{number - 5}? {told(number)}"
            world.replier.answers.append("I do.")
            await (await world.memory.reply("ana", asked)).text()
            request = world.replier.requests.pop()
            sizes[number + 1] = sum(estimate_tokens(m.content) for m in request.messages)
            assert asked in request.messages[-1].content
            assert f"friend{number - 5}" in "".join(m.content for m in request.messages)
        else:
            said = Utterance(speaker=Speaker.USER, text=told(number), id=f"u{number}")
            await world.memory.record("ana", [said])
        world.iterator.answers.append(notes)
        await world.memory.end_session("ana")
        await world.memory.run_jobs()
        world.clock.advance(timedelta(days=1))
    assert not await world.memory.jobs("ana", states=[JobState.DEAD])
    early = max(size for number, size in sizes.items() if number <= SESSIONS / 2)
    late = max(size for number, size in sizes.items() if number > SESSIONS / 2)
    assert late <= 1.15 * early
    assert max(sizes.values()) <= budget_for(settings).memory + 500

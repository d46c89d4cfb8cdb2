"""Whatever a model answers, nothing is lost, the old memory stands, and the reason is visible."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from omoide.domain import JobState, Speaker
from omoide.errors import ModelStalled, ModelUnavailable
from omoide.ports import Completion
from tests.unit.conftest import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from omoide.testing import Answer
    from tests.unit.conftest import World

SAID = "I have a cat called Miso, I live in Oslo and I work nights as a nurse."
GOOD = {
    "small": "User has a cat called Miso.\nUser lives in Oslo.",
    "paper": "The user has a cat called Miso. The user lives in Oslo.",
}
CUT = Completion(
    text='{"user": ["has a c', prompt_tokens=9, completion_tokens=9, seconds=0, finish="length"
)
BAD: dict[str, Answer] = {
    "prose": "Sure! I would be happy to help you with that. Let me know what else you need.",
    "truncated JSON": CUT,
    "empty": "",
    "blank": " \n\n ",
    "wrong shape": '[{"nonsense": 17}]',
    "wrong language": "用户有一只猫，名叫味噌。用户住在奥斯陆。",
    "echo": SAID,
    "loop": "\n".join(["User has a cat."] * 40),
}
OUT_OF_REACH: dict[str, Exception] = {
    "HTTP 500": ModelUnavailable("HTTP 500 from http://localhost:1/v1"),
    "a stall": ModelStalled("no token for 120 s"),
}


async def remembered(
    make_world: Callable[..., Awaitable[World]], form: str, answers: tuple[Answer, ...]
) -> World:
    """A user with a memory of one session, and a second session answered like this."""
    world = await make_world(settings=replace(SETTINGS, form=form))
    await world.session("ana", SAID, answers=(GOOD[form],))
    assert (await world.memory.summary("ana")).number == 1
    await world.session("ana", SAID, answers=answers)
    return world


@pytest.mark.parametrize("form", ["small", "paper"])
@pytest.mark.parametrize("fault", BAD)
async def test_a_bad_answer_never_replaces_a_memory(
    make_world: Callable[..., Awaitable[World]], form: str, fault: str
) -> None:
    """Either what can be used of it is joined to the old memory, or the old memory stands and the
    answers lie aside with the reasons; the turns are there in any case."""
    world = await remembered(make_world, form, (BAD[fault],) * 3)
    memory = await world.memory.summary("ana")
    assert "Miso" in memory.text
    assert "Oslo" in memory.text
    said = [t.text for t in await world.memory.turns("ana") if t.speaker is Speaker.USER]
    assert said == [SAID, SAID]
    if memory.number == 1:
        aside = await world.memory.rejected("ana")
        assert len(aside) == 3
        assert all(rejected.problems for rejected in aside)
        (dead,) = await world.memory.jobs("ana", states=[JobState.DEAD])
        assert "The old memory is kept." in dead.error
    else:
        assert all(sentence.supported for sentence in memory.sentences)


@pytest.mark.parametrize("form", ["small", "paper"])
@pytest.mark.parametrize("fault", [f for f in BAD if f not in ("loop",)])
async def test_a_bad_first_answer_is_made_good_by_the_second(
    make_world: Callable[..., Awaitable[World]], form: str, fault: str
) -> None:
    """The model is told what was wrong and asked again."""
    world = await remembered(make_world, form, (BAD[fault], GOOD[form]))
    assert (await world.memory.summary("ana")).number == 2
    again = world.iterator.requests[-1].messages
    assert len(again) > len(world.iterator.requests[-2].messages)


@pytest.mark.parametrize("form", ["small", "paper"])
@pytest.mark.parametrize("fault", OUT_OF_REACH)
async def test_a_model_out_of_reach_is_waited_for(
    make_world: Callable[..., Awaitable[World]], form: str, fault: str
) -> None:
    """The job tells why it waits, and the memory is made when the model is back."""
    world = await remembered(make_world, form, (OUT_OF_REACH[fault],))
    (waiting,) = await world.memory.jobs("ana", states=[JobState.WAITING])
    assert waiting.error == str(OUT_OF_REACH[fault])
    world.iterator.answers.append(GOOD[form])
    world.clock.advance(timedelta(hours=1))
    await world.memory.run_jobs()
    assert (await world.memory.summary("ana")).number == 2
    assert await world.memory.rejected("ana") == ()

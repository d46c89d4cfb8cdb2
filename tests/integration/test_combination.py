"""Mechanisms add to one another: several in one memory, under one budget."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from omoide.domain import MemoryKind
from omoide.errors import BadInput
from omoide.mechanisms.base import Contribution, PromptPlace, fit_budget
from omoide.mechanisms.registry import MECHANISMS
from tests.unit.conftest import SETTINGS
from tests.unit.fact_stories import add, answer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.unit.conftest import World

SAID = (
    "I have a cat called Miso and she had surgery on her paw in Oslo. I cried all night in the "
    "waiting room with my brother Tom."
)
SUMMARY = "The user has a cat called Miso. The cat of the user had surgery on her paw in Oslo."
MEMOS = json.dumps(
    {
        "memos": [
            {"topic": "Miso's paw", "start": 1, "end": 2, "summary": "Miso the cat had surgery."}
        ]
    }
)


def offer(
    text: str,
    *,
    value: float,
    id: str = "",  # noqa: A002 - as the field is called
    kind: MemoryKind = MemoryKind.TURN,
) -> Contribution:
    """Something a mechanism would say."""
    return Contribution(
        mechanism="test",
        place=PromptPlace.RECALLED,
        kind=kind,
        id=id or text,
        text=text,
        value=value,
        sources=(),
        time=datetime(2026, 1, 5, tzinfo=UTC),
        why="",
    )


def test_what_is_worth_most_for_its_length_goes_in_first() -> None:
    """A long text of little value makes room for short ones, and order is kept."""
    long = offer("word " * 100, value=0.5)
    one, two = (
        offer("The cat is Miso, she is ill.", value=0.4),
        offer("She lives in Oslo.", value=0.3),
    )
    assert fit_budget([long, one, two], budget=60) == (one, two)
    assert fit_budget([long, one, two], budget=1000) == (long, one, two)


def test_the_same_item_from_two_mechanisms_goes_in_once() -> None:
    """The better offer of the two."""
    low, high = offer("Miso", value=0.1, id="t1"), offer("Miso", value=0.9, id="t1")
    assert fit_budget([low, high], budget=100) == (high,)


async def test_what_answers_a_question_comes_before_further_facts(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """Sixty facts of a large model's memory do not take the room of the one that was asked for."""
    settings = replace(
        SETTINGS, form="small", profile="large", mechanisms=("summary", "search"), recall_items=30
    )
    world = await make_world(settings=settings)
    for week in range(6):
        said = [f"I have a colleague called Ada{week}{i} and see her a lot." for i in range(10)]
        facts = [f"User has a colleague called Ada{week}{i} and sees her." for i in range(10)]
        if week == 1:
            said[0] = "Miller & Sons want 840 pounds for the gearbox of my old Saab."
            facts[0] = "Miller & Sons quoted User 840 pounds for the gearbox of the Saab."
        noted = [add(text, 2 * i + 1) for i, text in enumerate(facts)]
        await world.session("ana", *said, answers=(answer(*noted),))
    for budget in range(200, 901, 100):
        context = await world.memory.context(
            "ana", "What did Miller & Sons want for the gearbox?", budget=budget
        )
        assert sum(c.tokens for c in context.contributions) <= budget
        further = [c for c in context.contributions if c.kind is MemoryKind.FACT and not c.score]
        answered = any("840" in c.text for c in context.contributions)
        assert answered or not further, budget
        assert answered or budget < 400, budget


async def test_summary_memos_and_search_in_one_reply(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """Each digests the session, each contributes, and the reply tells what went in and why."""
    settings = replace(SETTINGS, mechanisms=("summary", "memos", "search"))
    world = await make_world(settings=settings)
    await world.session("ana", SAID, answers=(SUMMARY, MEMOS))
    assert (await world.memory.summary("ana")).number == 1
    world.replier.answers.append("How is her paw?")
    reply = await world.memory.reply("ana", "Surgery on the paw of my cat Miso!")
    await reply.text()
    assert {c.mechanism for c in reply.contributions} == {"summary", "memos", "search"}
    assert all(c.why and c.sources for c in reply.contributions)
    prompt = "\n".join(m.content for m in world.replier.requests[-1].messages)
    assert "Miso's paw" in prompt
    assert "The user has a cat called Miso." in prompt


async def test_one_mechanism_that_fails_does_not_stop_the_others(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """No usable summary, but the memos are written; and no word is lost by either."""
    settings = replace(SETTINGS, mechanisms=("summary", "memos"))
    world = await make_world(settings=settings)
    await world.session("ana", SAID, answers=("", "", "", MEMOS))
    assert (await world.memory.summary("ana")).number == 0
    (owner,) = await world.store.archive.owners("default")
    (memo,) = await world.store.memos.read(owner)
    assert memo.topic == "Miso's paw"


EVENTS = json.dumps(
    {
        "events": [
            {
                "text": "User's cat Miso had surgery on her paw in Oslo.",
                "topics": ["pets"],
                "keywords": ["cat", "surgery"],
                "participants": ["User", "Miso"],
            }
        ]
    }
)


async def test_events_are_weighed_recalled_and_consolidated(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """What comes to mind is in the prompt, is explained with its figures, and is remembered
    better from then on; what does not stays silent."""
    settings = replace(SETTINGS, mechanisms=("human-recall",))
    world = await make_world(settings=settings)
    await world.session("ana", SAID, answers=(EVENTS,))
    (owner,) = await world.store.archive.owners("default")
    (event,) = await world.store.events.read(owner)
    weighed = await world.memory.explain("ana", "My cat Miso had surgery on her paw in Oslo")
    assert [c.recalled for c in weighed.candidates] == [True]
    assert weighed.candidates[0].probability > weighed.candidates[0].threshold
    world.replier.answers += ["Poor Miso!", "Nice."]
    reply = await world.memory.reply("ana", "My cat Miso had surgery on her paw in Oslo")
    await reply.text()
    assert [c.id for c in reply.contributions] == [event.id]
    (after,) = await world.store.events.read(owner)
    assert after.recalls == 1
    assert after.consolidation > event.consolidation
    silent = await world.memory.reply("ana", "Which film shall we watch tonight?")
    await silent.text()
    assert silent.contributions == ()


async def test_explaining_works_whichever_mechanisms_run(world: World) -> None:
    """Where no events are written there are none to weigh, which is no error."""
    assert (await world.memory.explain("ana", "cat")).candidates == ()
    assert await world.memory.curves("ana") == ()


async def test_an_unknown_mechanism_is_refused_with_the_names(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """A misspelt name is not quietly left out."""
    with pytest.raises(BadInput, match=r"choose from .*summary"):
        await make_world(settings=replace(SETTINGS, mechanisms=("sumary",)))


async def test_an_unknown_form_is_refused_with_the_names(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """Also where facts are written, as they are unless the form is `paper`."""
    with pytest.raises(BadInput, match="no form 'papre'; choose from paper, small"):
        await make_world(settings=replace(SETTINGS, form="papre", writer=""))


def test_every_mechanism_says_what_it_is() -> None:
    """Paper, cost and purpose stand in the list."""
    for name, entry in MECHANISMS.items():
        assert entry.about, name
        assert entry.paper, name
        assert entry.calls, name


async def test_every_mechanism_can_be_used_alone(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """A reply is made with each of them over an empty past."""
    for name in MECHANISMS:
        world = await make_world(settings=replace(SETTINGS, mechanisms=(name,)))
        assert world.memory.about.mechanisms == (name,)
        world.replier.answers.append("Hello!")
        assert await (await world.memory.reply("ana", "Hi there")).text() == "Hello!"

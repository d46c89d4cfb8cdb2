"""Every user has events that fade and memos by topic, though prompts hold neither."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from omoide.domain import JobState, JobTask, MemoryKind
from omoide.errors import BadInput

from .test_facts_digest import ANA, LARGE, answer, change

if TYPE_CHECKING:
    from tests.unit.conftest import World

    from .test_facts_digest import Make

TOLD = answer(
    change("User has a cat called Kasimir.", 1),
    topics=[{"topic": "A cat", "first": 1, "last": 2, "summary": "The cat Kasimir."}],
)


async def told(make_world: Make, **more: object) -> World:
    """Ana has told of her cat, in a session that was digested."""
    world = await make_world(settings=replace(LARGE, **more))  # type: ignore[arg-type]
    await world.session("ana", "My cat is called Kasimir.", answers=(TOLD,))
    return world


async def test_events_and_memos_are_written_without_a_call_of_their_own(make_world: Make) -> None:
    """They come from the session's facts and topics."""
    world = await told(make_world)
    (fact,) = await world.memory.facts("ana")
    (event,) = await world.memory.events("ana")
    (memo,) = await world.memory.memos("ana")
    assert (event.text, event.fact, memo.topic) == (fact.text, fact.id, "A cat")
    assert len(world.iterator.requests) == 1
    assert world.memory.about.mechanisms == ("summary", "search")


async def test_what_a_plan_will_replace_still_comes_to_mind(make_world: Make) -> None:
    """Who moves next June lives in Oslo until then."""
    world = await make_world(settings=LARGE)
    home = answer(change("User lives in Oslo.", 1, kind="state"))
    await world.session("ana", "I live in Oslo.", answers=(home,))
    move = change("User moves to Bergen.", 1, do="replace", facts=[1], kind="plan", since="2027-06")
    await world.session("ana", "I move to Bergen in June 2027.", answers=(answer(move),))
    events = await world.store.events.read(ANA)
    assert [event.superseded_by for event in events] == [None, None]


async def test_recall_has_them_only_if_asked_for_and_prompts_only_topics(make_world: Make) -> None:
    """Facts and turns say the same, but for the topics that fit a question."""
    world = await told(make_world)
    context = await world.memory.context("ana", "What is my cat called?")
    kinds = {c.kind for c in context.contributions}
    assert {MemoryKind.MEMO} < kinds <= {"sentence", MemoryKind.TURN, MemoryKind.MEMO}
    remark = await world.memory.context("ana", "Nice weather.")
    assert MemoryKind.MEMO not in {c.kind for c in remark.contributions}
    found = await world.memory.recall("ana", "What is my cat called?")
    assert {item.kind for item in found}.isdisjoint({MemoryKind.EVENT, MemoryKind.MEMO})
    named = await world.memory.recall("ana", "What is my cat called?", kinds=["event", "memo"])
    assert {item.kind for item in named} == {MemoryKind.EVENT, MemoryKind.MEMO}


async def test_topics_keep_their_days(make_world: Make) -> None:
    """As a layer they are not merged; used as the mechanism, they are."""
    again = {"topic": "Kasimir the cat", "first": 1, "last": 2, "summary": "The cat Kasimir ate."}
    for mechanisms, count in ((("summary", "search"), 2), (("summary", "memos"), 1)):
        world = await make_world(settings=replace(LARGE, mechanisms=mechanisms))
        for _ in range(2):
            await world.session("ana", "My cat Kasimir ate.", answers=(answer(topics=[again]),))
        memos = await world.memory.memos("ana")
        assert sum(memo.folded_into is None for memo in memos) == count


async def test_what_a_reply_was_given_consolidates_its_event(make_world: Make) -> None:
    """The forgetting curves live: a recalled event fades more slowly from then on."""
    world = await told(make_world)
    world.replier.answers.append("Kasimir, of course.")
    await (await world.memory.reply("ana", "What is my cat called?")).text()
    (event,) = await world.memory.events("ana")
    assert event.recalls == 1
    world.replier.answers.append("A fine day.")
    await (await world.memory.reply("ana", "Nice weather, isn't it?")).text()
    (event,) = await world.memory.events("ana")
    assert event.recalls == 1


async def test_a_topic_in_the_prompt_is_no_recall_of_its_events(make_world: Make) -> None:
    """It rests on all of its turns, and says little of each."""
    world = await told(make_world)
    context = await world.memory.context("ana", "What is my cat called?")
    [topic] = [c for c in context.contributions if c.kind is MemoryKind.MEMO]
    [layer] = [x for x in world.runtime.layers if x.mechanism.name == "human-recall"]
    await layer.mark_used(context.reply_request, [topic])
    assert [event.recalls for event in await world.memory.events("ana")] == [0]
    await layer.mark_used(context.reply_request, context.contributions)
    assert [event.recalls for event in await world.memory.events("ana")] == [1]


async def test_an_unreadable_answer_is_told_once(make_world: Make) -> None:
    """The layers share the summary's answer, and its failure."""
    world = await make_world(settings=LARGE)
    await world.session("ana", "Hello.", answers=("no JSON",) * 3)
    dead = [job for job in await world.memory.jobs("ana") if job.task is JobTask.DIGEST]
    assert [job.state for job in dead] == [JobState.DEAD]
    assert dead[0].error.count("no usable") <= 1
    assert len(world.iterator.requests) == 3


async def test_layers_can_be_left_out(make_world: Make) -> None:
    """`none` writes neither; a paper's way of writing has none in any case."""
    world = await told(make_world, layers=("none",))
    assert not await world.memory.events("ana")
    assert not await world.memory.memos("ana")
    paper = await make_world(settings=replace(LARGE, form="paper"))
    assert paper.runtime.layers == ()


async def test_an_unknown_layer_is_refused(make_world: Make) -> None:
    """With the names that there are."""
    with pytest.raises(BadInput, match="human-recall"):
        await make_world(settings=replace(LARGE, layers=("evnts",)))


async def test_a_used_mechanism_is_no_layer(make_world: Make) -> None:
    """It adds to prompts, and writes once."""
    world = await told(make_world, mechanisms=("summary", "search", "memos"))
    assert [layer.mechanism.name for layer in world.runtime.layers] == ["human-recall"]
    assert len(await world.store.memos.read(ANA)) == 1

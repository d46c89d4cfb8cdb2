"""Turns that no longer hold: recall says so, and a prompt shows them marked or not at all."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from omoide.domain import Fact, FactChanges, FactEnd, FactKind, Owner, Speaker
from omoide.engine.messages import Utterance
from omoide.engine.versions import When
from omoide.mechanisms.search.mechanism import asks_about_the_past
from tests.unit.conftest import SETTINGS
from tests.unit.fact_stories import FACTS, add

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from omoide.settings import Settings
    from tests.unit.conftest import World

ANA = Owner(tenant="default", user="ana")
START = datetime(2026, 1, 5, 20, tzinfo=UTC)
MOVED = datetime(2026, 5, 3, 20, tzinfo=UTC)
NOW = datetime(2026, 6, 1, 20, tzinfo=UTC)
LARGE = replace(SETTINGS, mechanisms=("search",), profile="large", timezone="UTC")
SMALL = replace(LARGE, profile="small")

LANGUAGES = {
    "en": (
        "I live in the city of Lisbon with my brother Rui.",
        "I moved, I live in the city of Porto now.",
        "User lives in Porto.",
        "Which city do I live in now?",
        "Which city did I live in before?",
        "[true until 2026-05-03; since then: User lives in Porto.]",
    ),
    "zh": (
        "我和弟弟住在里斯本这个城市。",
        "我搬家了，住在波尔图这个城市。",
        "用户住在波尔图。",
        "我现在住在哪个城市？",
        "我以前住在哪个城市？",
        "[到2026-05-03为止; 此后：用户住在波尔图。]",
    ),
    "ja": (
        "弟とリスボンの街に住んでいます。",
        "引っ越して、ポルトの街に住んでいます。",
        "ユーザーはポルトに住んでいる。",
        "私は今どの街に住んでいる？",
        "私は以前どの街に住んでいた？",
        "[2026-05-03までのこと; その後：ユーザーはポルトに住んでいる。]",
    ),
    "ko": (
        "저는 동생과 리스본 도시에 살아요.",
        "이사해서 포르투 도시에 살아요.",
        "사용자는 포르투에 산다.",
        "저는 지금 어느 도시에 살아요?",
        "저는 예전에 어느 도시에 살았죠?",
        "[2026-05-03까지의 일; 그 후: 사용자는 포르투에 산다.]",
    ),
    "vi": (
        "Tôi sống ở thành phố Lisbon với em trai.",
        "Tôi chuyển nhà rồi, sống ở thành phố Porto.",
        "Người dùng sống ở Porto.",
        "Bây giờ tôi sống ở thành phố nào?",
        "Trước đây tôi sống ở thành phố nào?",
        "[đúng đến 2026-05-03; từ đó: Người dùng sống ở Porto.]",
    ),
}
"""What was said first and later, the new fact, questions about now and then, and the mark."""


def fact(name: str, text: str, *turns: str, at: datetime = START) -> Fact:
    """A fact about the user that rests on these turns."""
    return Fact(id=name, about="user", text=text, said=at, learned=at, sources=turns)


async def told(
    make_world: Callable[..., Awaitable[World]], language: str, settings: Settings
) -> World:
    """A user who lived in Lisbon and moved to Porto, with the right facts in memory."""
    world = await make_world(settings=settings)
    first, later, porto, *_ = LANGUAGES[language]
    for name, text, at in (("t1", first, START), ("t2", later, MOVED)):
        said = Utterance(speaker=Speaker.USER, text=text, id=name, time=at)
        await world.memory.record("ana", said, session=name)
        await world.memory.end_session("ana", at=at)
    await world.store.facts.apply(
        ANA,
        FactChanges(
            added=(fact("old", "Lisbon.", "t1"), fact("new", porto, "t2", at=MOVED)),
            ended=(FactEnd(id="old", at=MOVED, by="new"),),
        ),
    )
    return world


async def lines(world: World, question: str) -> dict[str, str]:
    """What a prompt for the question shows, by turn."""
    context = await world.memory.context("ana", question, at=NOW)
    return {c.sources[0]: c.text for c in context.recalled}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_large_model_sees_until_when_it_was_true(
    make_world: Callable[..., Awaitable[World]], language: str
) -> None:
    """The old turn comes with the day until which it held and with what replaced it."""
    world = await told(make_world, language, LARGE)
    *_, now, past, mark = LANGUAGES[language]
    for question in (now, past):
        shown = await lines(world, question)
        assert shown["t1"].endswith(mark)
        assert "[" not in shown["t2"]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_small_model_sees_what_is_over_only_if_asked_about_the_past(
    make_world: Callable[..., Awaitable[World]], language: str
) -> None:
    """A question about now does not bring the old turn; one about the past does, marked."""
    world = await told(make_world, language, SMALL)
    *_, now, past, mark = LANGUAGES[language]
    assert set(await lines(world, now)) == {"t2"}
    assert (await lines(world, past))["t1"].endswith(mark)


async def test_what_holds_in_part_says_which_part_does_not(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """A turn of which one fact still holds is shown to every model, and names the one that does
    not."""
    world = await told(make_world, "en", SMALL)
    rui = fact("rui", "User has a brother called Rui.", "t1")
    await world.store.facts.apply(ANA, FactChanges(added=(rui,)))
    shown = await lines(world, "Which city do I live in now?")
    assert shown["t1"].endswith(
        '["Lisbon." held until 2026-05-03; since then: User lives in Porto.]'
    )


@pytest.mark.parametrize(
    ("question", "comes"),
    [("Where do I live now?", False), ("What is the name of my brother?", True)],
)
async def test_a_small_model_sees_what_is_over_in_part_only_if_asked_about_the_rest(
    make_world: Callable[..., Awaitable[World]], question: str, comes: bool
) -> None:
    """The mark of what is over is longer than the turn; it does not help to answer what holds."""
    world = await told(make_world, "en", SMALL)
    rui = fact("rui", "User has a brother called Rui.", "t1")
    await world.store.facts.apply(ANA, FactChanges(added=(rui,)))
    assert ("t1" in await lines(world, question)) == comes


async def test_recall_follows_what_replaced_the_replacement(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """Of several changes the last one is named; at an earlier time, what held then."""
    world = await told(make_world, "en", LARGE)
    later = MOVED + timedelta(days=9)
    end = FactEnd(id="new", at=later, by="newest", until=date(2026, 5, 10))
    braga = fact("newest", "User lives in Braga.", at=later)
    await world.store.facts.apply(ANA, FactChanges(added=(braga,), ended=(end,)))

    async def marks(at: datetime) -> dict[str, tuple[date, tuple[str, ...]] | None]:
        found = await world.memory.recall("ana", "Where do I live?", at=at, kinds=["turn"])
        return {
            item.id: None if (over := item.outdated) is None else (over.until, over.since_then)
            for item in found
        }

    braga_now = ("User lives in Braga.",)
    assert await marks(NOW) == {
        "t1": (MOVED.date(), braga_now),
        "t2": (date(2026, 5, 10), braga_now),
    }
    assert await marks(MOVED) == {"t1": (MOVED.date(), ("User lives in Porto.",)), "t2": None}
    assert (await marks(START))["t1"] is None


async def test_what_ended_without_a_successor_only_says_until_when(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """A fact that ended and was not replaced gives a mark without anything that holds since."""
    world = await told(make_world, "en", LARGE)
    end = FactEnd(id="new", at=MOVED + timedelta(days=1))
    await world.store.facts.apply(ANA, FactChanges(ended=(end,)))
    shown = await lines(world, "Which city do I live in now?")
    assert shown["t2"].endswith("[true until 2026-05-04]")


async def test_a_turn_that_ended_bit_by_bit_says_of_each_until_when_it_held(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """ "I live with Mia and my dog": when each has gone, and not when the first went of both. In a
    recall `until` is the first day."""
    world = await told(make_world, "en", LARGE)
    dog = replace(fact("dog", "User has a dog.", "t2", at=MOVED), kind=FactKind.RELATION)
    ends = [
        FactEnd(id="dog", at=MOVED + timedelta(days=2), until=date(2026, 5, 5)),
        FactEnd(id="new", at=MOVED + timedelta(days=20), by="faro", until=date(2026, 5, 20)),
    ]
    faro = fact("faro", "User lives in Faro.", "t3", at=MOVED + timedelta(days=20))
    await world.store.facts.apply(ANA, FactChanges(added=(dog, faro), ended=tuple(ends)))
    shown = await lines(world, "Which city do I live in now?")
    assert shown["t2"].endswith(
        ' ["User lives in Porto." held until 2026-05-20; since then: User lives in Faro.]'
        ' ["User has a dog." held until 2026-05-05]'
    )
    found = await world.memory.recall("ana", "Where do I live?", at=NOW, kinds=["turn"])
    outdated = next(item.outdated for item in found if item.id == "t2")
    assert outdated is not None
    assert (outdated.until, outdated.wholly) == (date(2026, 5, 5), True)
    assert set(outdated.ended) == {"User lives in Porto.", "User has a dog."}


async def test_a_plan_whose_day_has_passed_does_not_hold_since(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """It took the place of another plan, and is over itself: nobody knows what came of it."""
    world = await told(make_world, "en", LARGE)
    week = timedelta(days=7)
    plan = replace(
        fact("later", "User will move to Faro on 20 May.", "t3", at=MOVED + week),
        kind=FactKind.PLAN,
        until=date(2026, 5, 20),
    )
    end = FactEnd(id="new", at=MOVED + week, by="later")
    await world.store.facts.apply(ANA, FactChanges(added=(plan,), ended=(end,)))

    async def mark(at: datetime) -> str:
        context = await world.memory.context("ana", "Which city do I live in now?", at=at)
        return next(c.text for c in context.recalled if c.sources == ("t2",))

    day = datetime(2026, 5, 20, 12, tzinfo=UTC)
    assert (await mark(day)).endswith("since then: User will move to Faro on 20 May.]")
    assert (await mark(NOW)).endswith("[true until 2026-05-10]")


async def test_what_a_rollback_brings_back_is_not_marked(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """It holds under another id; what the rollback undid is marked, and told by no topic."""
    world = await make_world(settings=replace(FACTS, mechanisms=("summary", "search")))
    for place in ("Oslo", "Bergen"):
        noted = add(f"The user lives in {place}.")
        if place == "Bergen":
            noted |= {"do": "replace", "facts": [1], "why": "moved"}
        about = {"topic": place, "first": 1, "last": 2, "summary": f"The user lives in {place}."}
        answers = (json.dumps({"changes": [noted], "topics": [about]}),)
        await world.session("ana", f"I live in the city of {place} now.", answers=answers)

    async def shown() -> dict[str, str]:
        context = await world.memory.context("ana", "Which city do I live in now?")
        found = (c for c in context.recalled if c.kind in ("turn", "memo"))
        places = ((c, place) for c in found for place in ("Oslo", "Bergen") if place in c.text[:70])
        return {f"{place} {c.kind}": c.text.partition(" [")[2] for c, place in places}

    before = await shown()
    assert before["Oslo turn"].endswith("since then: The user lives in Bergen.]")
    assert before["Oslo memo"] == before["Oslo turn"]
    assert before["Bergen turn"] == before["Bergen memo"] == ""
    world.clock.advance(timedelta(days=1))
    await world.memory.rollback("ana", When(version=1))
    after = await shown()
    assert after["Oslo turn"] == after["Oslo memo"] == ""
    assert after["Bergen turn"].endswith("since then: The user lives in Oslo.]")
    assert "Bergen memo" not in after
    world.clock.advance(timedelta(days=1))
    await world.memory.rollback("ana", When(version=2))
    assert (await shown())["Bergen memo"] == ""


async def test_a_topic_says_what_of_it_has_ended(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """Only what its summary tells, and until when."""
    world = await make_world(settings=replace(FACTS, mechanisms=("summary", "search")))
    race = "The user will run the Leeds half marathon on 10 May 2026."
    about = {"topic": "Race", "first": 1, "last": 2, "summary": f"{race} Rex the dog runs along."}
    noted = [add(race, kind="plan"), add("The user has a dog, Rex."), add("The user owns a kayak.")]
    answers = (json.dumps({"changes": noted, "topics": [about]}),)
    said = "I run the Leeds half marathon with my dog Rex, and I own a kayak."
    await world.session("ana", said, answers=answers)
    facts = {fact.text: fact.id for fact in await world.memory.facts("ana")}
    ends = [FactEnd(id=facts[n["text"]], at=world.clock.now()) for n in (noted[0], noted[2])]
    await world.store.facts.apply(ANA, FactChanges(ended=tuple(ends)))
    context = await world.memory.context("ana", "How should I train for the half marathon?")
    day = world.clock.now().date()
    (memo,) = (c.text for c in context.recalled if c.kind == "memo")
    assert memo.endswith(f'Rex the dog runs along. ["{race}" held until {day}]')


async def test_the_days_of_an_event_are_not_until_when_it_was_true(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """An event of April that the user took back in June was believed until June."""
    world = await told(make_world, "en", LARGE)
    april = date(2026, 4, 30)
    moved = replace(
        fact("moved", "User moved to Porto.", "t2", at=MOVED), kind=FactKind.EVENT, until=april
    )
    ends = (FactEnd(id="new", at=NOW), FactEnd(id="moved", at=NOW))
    await world.store.facts.apply(ANA, FactChanges(added=(moved,), ended=ends))
    shown = await lines(world, "Which city do I live in now?")
    assert shown["t2"].endswith("[true until 2026-06-01]")


def test_a_day_that_is_over_asks_about_the_past() -> None:
    """A question that names a past day is about the past; one that names today is not."""
    assert asks_about_the_past("Where do I live in March 2026?", NOW)
    assert not asks_about_the_past("Where do I live today?", NOW)

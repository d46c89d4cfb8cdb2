"""A session becomes facts in one call, and the summary, events and memos are made of them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from omoide.domain import FactFilter, FactKind, MemoryKind, Owner, Trust
from omoide.errors import StoreError
from omoide.mechanisms.base import MemoryPart, PromptPlace
from omoide.ports import Completion
from tests.unit.conftest import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import pytest

    from omoide.domain import Fact
    from tests.unit.conftest import World

    Make = Callable[..., Awaitable[World]]

ANA = Owner(tenant="default", user="ana")
LARGE = replace(SETTINGS, form="small", profile="large")


def change(text: str, *turns: int, **more: object) -> dict[str, object]:
    """An entry that adds a fact."""
    return {"do": "add", "facts": [], "text": text, "about": "user", "turns": turns, **more}


def answer(*changes: dict[str, object], topics: list[object] | None = None) -> str:
    """A model's whole answer."""
    return json.dumps({"changes": changes, "topics": topics or []})


async def facts(world: World, *, at_end: bool = True) -> dict[str, Fact]:
    """Ana's facts by text: those that hold now, or all."""
    only = FactFilter(at=world.clock.now()) if at_end else FactFilter()
    return {fact.text: fact for fact in await world.store.facts.read(ANA, only=only)}


async def test_the_model_sees_both_sides_dated_and_the_facts_with_numbers(make_world: Make) -> None:
    """Nothing is filtered, and what is known can be named by number."""
    world = await make_world(settings=LARGE)
    await world.session(
        "ana", "Do you have dogs? I have two.", answers=(answer(change("User has two dogs.", 1)),)
    )
    await world.session("ana", "One of them died.", answers=(answer(),))
    first, second = (request.messages[-1].content for request in world.iterator.requests)
    assert (
        "[2026-01-05, Monday]\n1 User: Do you have dogs? I have two.\n2 Assistant: Go on." in first
    )
    assert "F1 [2026-01-05] User has two dogs." in second


async def test_a_known_fact_shows_what_its_text_leaves_open(make_world: Make) -> None:
    """A model cannot end on its day, or call by the same name, what it is not told."""
    world = await make_world(settings=LARGE)
    told = (
        change("Mia studies in Oslo.", 1, about="Mia", since="2025-08-01"),
        change("User is on crutches.", 1, until="2026-03-01"),
    )
    await world.session("ana", "Mia studies in Oslo; I'm on crutches.", answers=(answer(*told),))
    await world.session("ana", "It is cold.", answers=(answer(),))
    shown = world.iterator.requests[-1].messages[-1].content
    assert "[2026-01-05; Mia; 2025-08-01/] Mia studies in Oslo." in shown
    assert "[2026-01-05; /2026-03-01] User is on crutches" in shown


async def test_days_are_those_of_the_users_time_zone(make_world: Make) -> None:
    """At seven in the morning in Tokyo it is still yesterday in UTC, where times are stored."""
    world = await make_world(settings=replace(LARGE, timezone="Asia/Tokyo"))
    world.clock.advance(timedelta(hours=13))
    told = change("User starts at the library tomorrow.", 1, kind="plan")
    await world.session("ana", "I start at the library tomorrow.", answers=(answer(told),))
    await world.session("ana", "I like it there.", answers=(answer(),))
    first, second = (request.messages[-1].content for request in world.iterator.requests)
    assert "[2026-01-06, Tuesday]\n1 User: I start" in first
    [fact] = (await facts(world)).values()
    assert fact.since == date(2026, 1, 7)
    assert "7 January 2026" in fact.text
    assert f"F1 [2026-01-06; plan; 2026-01-07] {fact.text}" in second
    old = await world.memory.correct("ana", fact.id, "The user starts at the library tomorrow.")
    assert old.since == date(2026, 1, 21)


async def test_the_hour_that_the_clock_repeats_is_digested(make_world: Make) -> None:
    """On the last Sunday of October, half past two comes twice in Oslo."""
    world = await make_world(settings=replace(LARGE, timezone="Europe/Oslo"))
    world.clock.advance(datetime(2026, 10, 25, 1, 30, tzinfo=UTC) - world.clock.now())
    await world.session(
        "ana", "I have a cat.", answers=(answer(change("User has a cat.", 1, kind="state")),)
    )
    assert (await world.memory.summary("ana")).text == "User has a cat."


async def test_a_piece_of_a_long_message_says_what_it_belongs_to(make_world: Make) -> None:
    """What was pasted is not the user's own story, also where the introduction is out of sight."""
    world = await make_world(settings=replace(LARGE, max_turn_chars=30_000))
    story = "Please shorten my neighbour's story: " + "I sailed to Peru with my nine dogs. " * 700
    await world.session("ana", story, answers=(answer(),) * 4)
    first, *later = (request.messages[-1].content for request in world.iterator.requests)
    assert later
    assert "1 User: Please shorten my neighbour's story: I sailed" in first
    for asked in later:
        assert "1 User [continued; the message begins: \"Please shorten my neighbour's" in asked
        assert "]: I sailed to Peru" in asked


async def test_a_large_model_sees_every_fact_that_fits(make_world: Make) -> None:
    """Even if the session shares no word with it and the summary of 20 sentences leaves it out:
    what a model does not see it cannot end."""
    world = await make_world(settings=LARGE)
    told = [change(f"User owns thing number {n}.", 1, kind="state") for n in range(40)]
    await world.session("ana", "I own things.", answers=(answer(*told),))
    await world.session("ana", "Nice weather.", answers=(answer(),))
    asked = world.iterator.requests[-1].messages[-1].content
    assert [n for n in range(40) if f"thing number {n}." not in asked] == []


async def test_in_a_long_session_a_large_model_sees_more_of_what_it_may_change(
    make_world: Make,
) -> None:
    """One fact for each turn, so that what it knows keeps its share of the prompt; who somebody is
    and what they prefer come before things that were told later."""
    world = await make_world(settings=LARGE)
    first = [change(f"User loves tea number {n}.", 1, kind="preference") for n in range(9)]
    told = [change(f"User owns thing number {n}.", 1, kind="state") for n in range(140)]
    await world.session("ana", "I love teas.", answers=(answer(*first),))
    await world.session("ana", "I own things.", answers=(answer(*told),))
    for lines, most, lasting in ((1, 48, 4), (40, 80, 9)):
        said = [f"Nice weather {n}." for n in range(lines)]
        await world.session("ana", *said, answers=(answer(),))
        asked = world.iterator.requests[-1].messages[-1].content
        assert asked.count("User loves tea number") >= lasting
        assert len(re.findall(r"^F\d+ ", asked, re.MULTILINE)) == most


async def test_who_somebody_is_does_not_give_way_to_how_things_are_today(make_world: Make) -> None:
    """After a year of sessions the first facts about a person and those around them still stand in
    the memory, and so does how they want to be answered."""
    world = await make_world(settings=LARGE)
    lasting = [
        change("User is 55 years old.", 1, kind="trait"),
        change("Vickie is the mother of User.", 1, kind="relation", about="Vickie"),
        change("User wants exact dates in every answer.", 1, kind="preference"),
    ]
    await world.session("ana", "I am 55.", answers=(answer(*lasting),))
    for month in range(12):
        today = [change(f"User slept {month} hours on day {n}.", 1) for n in range(25)]
        await world.session("ana", "I slept.", answers=(answer(*today),))
        world.clock.advance(timedelta(days=23))
    brought = {c.text for c in (await world.memory.context("ana", "Hello!")).contributions}
    assert brought >= {str(entry["text"]) for entry in lasting}


async def test_a_large_model_gets_further_facts_after_the_summary(make_world: Make) -> None:
    """Those of both speakers that hold, each in its part and once; what ended does not come."""
    world = await make_world(settings=LARGE)
    told = [change(f"User owns thing number {n}.", 1, kind="state") for n in range(25)]
    own = change("Assistant has two dogs.", 2, about="assistant", kind="state")
    await world.session("ana", "I own things.", answers=(answer(*told, own),))
    ended = change("User gave thing 3 away.", 1, do="replace", facts=[4], why="given away")
    await world.session("ana", "I gave one away.", answers=(answer(ended),))
    brought = (await world.memory.context("ana", "Hello!")).contributions
    assert [c.kind for c in brought].count(MemoryKind.SENTENCE) == 20
    further = [c for c in brought if c.kind is MemoryKind.FACT]
    assert len({c.text for c in brought}) == len(brought) == 26
    assert {c.text for c in brought} >= {"Assistant has two dogs.", "User gave thing 3 away."}
    assert "User owns thing number 3." not in {c.text for c in brought}
    assert {c.place for c in further} == {PromptPlace.MEMORY}
    [dogs] = [c for c in brought if c.text == "Assistant has two dogs."]
    assert dogs.part is MemoryPart.ASSISTANT


async def test_a_changed_fact_is_ended_and_the_summary_has_the_new_one(make_world: Make) -> None:
    """The old one stays in the record with the day and the reason it ended."""
    world = await make_world(settings=LARGE)
    await world.session(
        "ana", "I live in Oslo.", answers=(answer(change("User lives in Oslo.", 1, kind="state")),)
    )
    await world.session(
        "ana",
        "I moved to Bergen last week.",
        answers=(answer(change("User lives in Bergen.", 1, do="replace", facts=[1], why="moved")),),
    )
    old = (await facts(world, at_end=False))["User lives in Oslo."]
    new = (await facts(world))["User lives in Bergen."]
    assert (old.ended_by, old.end_reason) == (new.id, "moved")
    summary = await world.memory.summary("ana")
    assert [s.text for s in summary.sentences] == ["User lives in Bergen."]
    assert [s.fact for s in summary.sentences] == [new.id]
    assert summary.notes == ("from the model's answer: 1 replaced",)
    assert len(world.iterator.requests) == 2


async def test_what_the_model_gets_wrong_is_kept_aside_and_shown(make_world: Make) -> None:
    """An unsupported claim and an unknown change are in the list of rejected answers."""
    world = await make_world(settings=LARGE)
    await world.session(
        "ana",
        "I have a cat.",
        answers=(
            answer(
                change("User has a cat.", 1),
                change("User owns a yacht in Monaco."),
                change("User sings.", do="shout"),
            ),
        ),
    )
    assert list(await facts(world)) == ["User has a cat."]
    aside = {one.text: one.problems for one in await world.memory.rejected("ana")}
    assert aside == {
        "User owns a yacht in Monaco.": ("no turn supports it",),
        "User sings.": ("there is no change 'shout'",),
    }
    (note,) = (await world.memory.summary("ana")).notes
    assert note == "from the model's answer: 1 added, 2 set aside"


async def test_a_plan_whose_day_has_passed_is_told_as_such(make_world: Make) -> None:
    """Months later the prompt says that the day is over: to a small model in its verb too."""
    world = await make_world(settings=LARGE)
    await world.session(
        "ana",
        "I'm moving to Bergen next week.",
        answers=(answer(change("User will move to Bergen next week.", 1, kind="plan")),),
    )
    (plan,) = (await facts(world)).values()
    assert (plan.since, plan.until) == (date(2026, 1, 12), date(2026, 1, 18))
    before = await world.memory.context("ana", "Hello!", at=world.clock.now() - timedelta(days=2))
    assert "User will move to Bergen" in before.text
    assert "has passed" not in before.text
    after = await world.memory.context("ana", "Hello!", at=world.clock.now() + timedelta(days=90))
    assert "12 January 2026" in after.text
    assert "User will move to Bergen" in after.text
    assert "the day has passed" in after.text
    small = await make_world(store=world.store, settings=replace(LARGE, profile="small"))
    read = await small.memory.context("ana", "Hello!", at=world.clock.now() + timedelta(days=90))
    assert "User was going to move to Bergen" in read.text
    assert "the day has passed" in read.text


async def test_a_large_model_reads_a_plan_that_is_over_as_it_was_written(make_world: Make) -> None:
    """What holds beside the plan is not put into the past with it."""
    world = await make_world(settings=LARGE)
    plan = "User's sister, who is a nurse, will visit next week."
    await world.session(
        "ana",
        "My sister, who is a nurse, will visit next week.",
        answers=(answer(change(plan, 1, kind="plan", about="sister")),),
    )
    after = await world.memory.context("ana", "Hello!", at=world.clock.now() + timedelta(days=90))
    assert "User's sister, who is a nurse, will visit" in after.text
    assert "the day has passed" in after.text


async def test_one_call_serves_summary_events_and_memos(make_world: Make) -> None:
    """Each event names its fact, and the topics become memos."""
    settings = replace(LARGE, mechanisms=("summary", "human-recall", "memos"))
    world = await make_world(settings=settings)
    topics: list[object] = [
        {"topic": "A cat", "first": 1, "last": 2, "summary": "User adopted a cat."},
        {"topic": "Work", "first": 3, "last": 4, "summary": "User is a nurse."},
    ]
    await world.session(
        "ana",
        "I adopted a cat called Miso.",
        "I'm a nurse.",
        answers=(
            answer(
                change("User has a cat, Miso.", 1), change("User is a nurse.", 3), topics=topics
            ),
        ),
    )
    assert len(world.iterator.requests) == 1
    held = await facts(world)
    events = await world.store.events.read(ANA)
    assert {event.text: event.fact for event in events} == {t: f.id for t, f in held.items()}
    assert {event.text: event.topics for event in events} == {
        "User has a cat, Miso.": ("A cat",),
        "User is a nurse.": ("Work",),
    }
    assert [memo.topic for memo in await world.store.memos.read(ANA)] == ["A cat", "Work"]
    await world.session(
        "ana",
        "I'm a doctor now.",
        answers=(answer(change("User is a doctor.", 1, do="replace", facts=[2])),),
    )
    superseded = {e.text: e.superseded_by for e in await world.store.events.read(ANA)}
    assert superseded["User is a nurse."]
    assert not superseded["User has a cat, Miso."]


async def test_a_small_model_is_asked_for_notes(make_world: Make) -> None:
    """Its notes become facts one by one; one that repeats a fact confirms it, one that contradicts
    it replaces it, and one that nothing supports is set aside."""
    world = await make_world(settings=replace(LARGE, profile="small"))
    await world.session(
        "ana",
        "My name is Ana. I live in Oslo. I have a cat, Miso.",
        answers=("User lives in Oslo.\nUser has a cat, Miso.\nUser rides horses.",),
    )
    assert set(await facts(world)) == {
        "User is called Ana.",
        "User lives in Oslo.",
        "User has a cat, Miso.",
    }
    assert [one.text for one in await world.memory.rejected("ana")] == ["User rides horses."]
    await world.session(
        "ana",
        "I moved to Bergen. Miso the cat is fine.",
        answers=("User moved to Bergen.\nUser has a cat, Miso.",),
    )
    held = await facts(world)
    assert set(held) == {"User is called Ana.", "User moved to Bergen.", "User has a cat, Miso."}
    assert held["User has a cat, Miso."].confirmed is not None
    old = (await facts(world, at_end=False))["User lives in Oslo."]
    assert old.ended_by == held["User moved to Bergen."].id


async def test_a_crash_after_the_facts_asks_nobody_again(
    make_world: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The facts are there; the summary is made from them without another call."""
    world = await make_world(settings=LARGE)
    commit = world.store.summaries.commit

    async def fail(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(world.store.summaries, "commit", fail)
    await world.session("ana", "I have a cat.", answers=(answer(change("User has a cat.", 1)),))
    assert (await world.memory.summary("ana")).number == 0
    monkeypatch.setattr(world.store.summaries, "commit", commit)
    world.clock.advance(timedelta(hours=1))
    await world.memory.run_jobs()
    assert (await world.memory.summary("ana")).text == "User has a cat."
    assert len(world.iterator.requests) == 1


async def test_a_long_session_is_written_in_parts_that_know_of_each_other(
    make_world: Make,
) -> None:
    """Each part sees the facts of those before, and no turn is left out."""
    world = await make_world(settings=replace(LARGE, max_turn_chars=100_000))
    long = f"I drink. {'It is tea. ' * 20}{'I like tea. ' * 1500}"
    await world.session(
        "ana",
        "I have a cat.",
        long,
        "And a dog.",
        answers=(
            answer(change("User has a cat.", 1)),
            answer(),
            answer(),
            answer(),
            answer(),
            answer(),
        ),
    )
    requests = world.iterator.requests
    assert len(requests) > 1
    assert "F1 [2026-01-05] User has a cat." in requests[-1].messages[-1].content
    shown = "".join(request.messages[-1].content for request in requests)
    assert shown.count("I like tea.") == 1500


async def test_a_later_part_sees_what_a_plan_will_end_and_nothing_forgotten(
    make_world: Make,
) -> None:
    """The old home holds until the move; that something was forgotten is over at once."""
    world = await make_world(settings=replace(LARGE, max_turn_chars=100_000))
    home = answer(change("User lives in Oslo.", 1, kind="state"))
    await world.session("ana", "I live in Oslo.", answers=(home,))
    move = change("User moves to Bergen.", 1, do="replace", facts=[1], kind="plan", since="2027-06")
    forget = change("", 1, do="forget")
    long = f"I drink. {'I like tea. ' * 2000}"
    said = ("I move to Bergen in June 2027; forget the rest.", long, "And a dog.")
    await world.session("ana", *said, answers=(answer(move, forget), *(answer(),) * 6))
    last = world.iterator.requests[-1].messages[-1].content
    assert "User lives in Oslo." in last
    assert "User moves to Bergen" in last
    assert "forget" not in last
    assert "User lives in Oslo." in await facts(world)


async def test_an_older_memory_becomes_facts_with_its_sources(make_world: Make) -> None:
    """The versions of a summary that a model rewrote: what it dropped is an ended fact."""
    world = await make_world()
    await world.session(
        "ana",
        "I have a cat. I live in Oslo.",
        answers=("The user has a cat. The user lives in Oslo.",),
    )
    await world.session(
        "ana",
        "I moved to Bergen, with the cat.",
        answers=("The user has a cat. The user moved to Bergen.",),
    )
    newer = await make_world(store=world.store, settings=LARGE, clock=world.clock)
    await newer.session("ana", "I like tea.", answers=(answer(change("User likes tea.", 1)),))
    everything = await facts(newer, at_end=False)
    assert everything["The user lives in Oslo."].ended is not None
    assert all(fact.sources for fact in everything.values())
    assert set(await facts(newer)) == {
        "The user has a cat.",
        "The user moved to Bergen.",
        "User likes tea.",
    }
    assert "The user moved to Bergen." in (await newer.memory.summary("ana")).text


async def test_the_summary_is_a_choice_and_the_rest_is_still_remembered(make_world: Make) -> None:
    """Of thirty facts twenty stand in the summary, the name first; all thirty are facts."""
    world = await make_world(settings=LARGE)
    entries = [change(f"User did thing {n}.", 1, kind="event") for n in range(28)]
    entries += [change("User is called Ana.", 1, kind="trait")]
    entries += [change("User will call on Friday.", 1, kind="promise")]
    await world.session("ana", "My name is Ana. I did many things.", answers=(answer(*entries),))
    sentences = [s.text for s in (await world.memory.summary("ana")).sentences]
    assert len(sentences) == 20
    assert sentences[0] == "User is called Ana."
    assert any("call on" in text for text in sentences)
    held = await facts(world)
    assert len(held) == 30
    assert {fact.trust for fact in held.values()} == {Trust.USER}
    assert {fact.kind for fact in held.values()} == {
        FactKind.EVENT,
        FactKind.TRAIT,
        FactKind.PROMISE,
    }


async def test_an_answer_that_broke_off_is_told_from_one_that_cannot_be_read(
    make_world: Make,
) -> None:
    """The model is told which it was, and the one that can be read counts."""
    world = await make_world(settings=replace(SETTINGS, form="small"))
    whole = Completion(text="Sure!", prompt_tokens=9, completion_tokens=9, seconds=0, finish="stop")
    answers = (replace(whole, finish="length"), whole, "User has two dogs.")
    await world.session("ana", "I have two dogs.", answers=answers)
    assert [one.problems for one in await world.memory.rejected("ana")] == [
        ("It was too long and broke off in the middle.",),
        ("It was not in the form that was asked for.",),
    ]
    assert list(await facts(world)) == ["User has two dogs."]

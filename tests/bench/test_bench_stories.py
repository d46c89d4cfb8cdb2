"""The exam of stories: what counts as present, changed, dated, and as set aside."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from omoide.domain import Fact, FactKind, RejectedAnswer
from omoide.errors import BadInput
from omoide.language import LANGUAGES
from omoide.testing import ScriptedModel
from omoide_bench.running.execute import execute
from omoide_bench.stories.reading import ExpectedFact, Story, Wording, load, load_all, read_stories
from omoide_bench.stories.scoring import StoryMemory, rotting, scores, stale
from tests.bench.bench_lab import course, job, lab

AT = datetime(2026, 8, 20, tzinfo=UTC)
HOME = ExpectedFact(name="home", wording=Wording.read("Bergen"), old=Wording.read("Oslo"))
MOVE = ExpectedFact(
    name="move",
    wording=Wording.read("mov & Bergen"),
    first=date(2026, 5, 25),
    last=date(2026, 5, 31),
)


def fact(text: str, *, ended: bool = False, since: date | None = None) -> Fact:
    """A fact that was learned before the end of the story."""
    before = AT - timedelta(days=30)
    return Fact(
        id=text,
        about="user",
        text=text,
        said=before,
        learned=before,
        kind=FactKind.STATE,
        since=since,
        ended=before if ended else None,
    )


def memory(*facts: Fact, aside: str = "") -> StoryMemory:
    """What a memory holds at the end."""
    rejected = RejectedAnswer(session=1, text=aside, problems=("doubt",), model="m", time=AT)
    return StoryMemory(facts=facts, aside=(rejected,) if aside else (), at=AT)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_stories_of_three_sessions_with_all_kinds_of_facts(
    language: str,
) -> None:
    """What is expected was said in the story."""
    stories = load(language)
    assert len(stories) >= 11
    for story in stories:
        assert [len(session.lines) >= 8 for session in story.sessions] == [True] * 3
        said = " ".join(text for session in story.sessions for _, text in session.lines)
        assert all(told.wording.within(said) for told in story.facts), story.id
        assert all(told.old is None or told.old.within(said) for told in story.facts), story.id
        assert any(told.old for told in story.facts), story.id
        assert any(told.first for told in story.facts), story.id
        assert story.relative
        assert story.ended


def test_stories_are_not_translations_of_each_other() -> None:
    """No two have the same days."""
    days = [tuple(session.day for session in story.sessions) for story in load_all()]
    assert len(set(days)) == len(days)


def test_a_changed_fact_needs_the_new_one_and_the_end_of_the_old_one() -> None:
    """A fact that names both, or says that the old one is over, is no fact that still holds."""
    both = memory(fact("User lives in Oslo."), fact("User lives in Bergen."))
    assert [old.text for old in stale(HOME, both)] == ["User lives in Oslo."]
    assert scores(HOME, both)["changed"] == 0
    ended = memory(fact("User lives in Oslo.", ended=True), fact("User lives in Bergen."))
    assert scores(HOME, ended) == {
        "present": 1,
        "aside": 0,
        "present before": 1,
        "changed": 1,
    }
    told = memory(fact("User moved from Oslo to Bergen."), fact("User left Oslo."))
    assert scores(HOME, told)["changed"] == 0
    assert scores(HOME, told, ended=("left",))["changed"] == 1
    assert scores(HOME, memory(fact("User lives in Oslo.", ended=True)))["changed"] == 0


def test_what_is_noted_later_about_the_old_is_news_of_its_end() -> None:
    """Only the facts of the session in which the old was first noted can be stale."""
    old = fact("User lives in Oslo.", ended=True)
    news = replace(fact("User let the flat in Oslo."), session=3, said=old.said + timedelta(days=9))
    assert not stale(HOME, memory(old, news, fact("User lives in Bergen.")))
    assert stale(HOME, memory(news, fact("User lives in Bergen.")))


def test_a_plan_is_dated_by_days_inside_the_true_ones() -> None:
    """Whether it still holds does not matter; without a day it is present and not dated."""
    text = "User is moving to Bergen."
    got = [
        scores(MOVE, memory(fact(text, since=since, ended=ended)))
        for since, ended in (
            (date(2026, 5, 26), False),
            (date(2026, 5, 26), True),
            (date(2026, 6, 2), False),
            (None, False),
        )
    ]
    assert [(one["present"], one["dated"]) for one in got] == [(1, 1), (1, 1), (1, 0), (1, 0)]


def test_a_missing_fact_that_was_set_aside_is_counted() -> None:
    """One that is present, or was never written, is not."""
    assert scores(HOME, memory(aside="User lives in Bergen."))["aside"] == 1
    assert scores(HOME, memory(aside="User likes tea."))["aside"] == 0
    present = memory(fact("User lives in Bergen."), aside="User lives in Bergen.")
    assert scores(HOME, present)["aside"] == 0


def test_words_for_relative_times_are_found_in_any_case() -> None:
    """They are the exam's own list, not the one that the product writes dates by."""
    story = Story(
        id="en-1", language="en", title="", sessions=(), facts=(), relative=("next week",)
    )
    facts = [fact("User moves Next Week."), fact("User moves in May.")]
    assert [one.text for one in rotting(story, facts)] == ["User moves Next Week."]


def test_a_line_that_is_not_understood_is_named() -> None:
    """With the story and what is wanted."""
    with pytest.raises(BadInput, match=r"story en-1: wanted .* got 'B: Hello'"):
        read_stories("relative: soon\n\n# Title\n@ 2026-01-01\nB: Hello\n", "en")


def test_a_file_may_begin_with_its_first_story() -> None:
    """No story is lost where nothing stands before it."""
    days = "@ 2026-01-01\nU: Hello\ntold name: Nora\n"
    stories = read_stories(f"# One\n{days}# Two\n{days}", "en")
    assert [story.title for story in stories] == ["One", "Two"]
    assert [story.sessions[0].lines for story in stories] == [(("U", "Hello"),)] * 2


async def test_a_story_is_run_and_its_faults_are_listed() -> None:
    """A model that notes one fact a session gives one present fact, and a list of the rest."""
    said = ["User lives in Oslo.", "User has a cat, Miso.", "User sings in a choir."]
    async with lab(ScriptedModel(said, name="small-1b")) as parts:
        work = job("stories", languages="en", each="1")
        result = await execute(work, lab=parts, course=course(work))
    (method,) = result.methods
    means = {a.measure: a.mean for a in method.aggregates if a.group == "en"}
    assert 0 < means["present"] < 1
    assert means["calls a turn"] == pytest.approx(3 / 24)
    assert (means["rotting"], means["counts"], means["failed"]) == (0, 1, 0)
    (run,) = [run for _, run in work.keep]
    (texts,) = [item.texts for item in run.items if item.texts]
    assert "missing: allergy" in texts["wrong"]
    assert "still holds: home: User lives in Oslo." in texts["wrong"]
    assert "User sings in a choir." in texts["facts"]

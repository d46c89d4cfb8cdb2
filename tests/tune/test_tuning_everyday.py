"""Talks about the world and the day: whole, of our own words, and no fact where none is told."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest

from omoide.claims.overlap import coverage
from omoide.domain import Speaker
from omoide.language import LANGUAGES, content_terms, detect_language
from omoide.mechanisms.memos.reading import read_choice
from omoide_tune.building import build
from omoide_tune.checked_talks import DataTally, told
from omoide_tune.everyday import read
from omoide_tune.sources import SOURCES
from omoide_tune.tasks.choice import choices
from omoide_tune.written import spoken

EVERYDAY = next(source for source in SOURCES if source.name == "everyday")
NOWHERE = Path("nowhere")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_talk_is_whole(language: str) -> None:
    """Speakers take turns, the summary rests on the lines, and two or three things may be said
    later."""
    talks = spoken(language)
    least = 0.4 if language == "en" else 0.3  # pairs of characters, few words that mean something
    assert len(talks) >= 40
    assert len({one.topic for one in talks}) > 0.9 * len(talks)
    for one in talks:
        said = " ".join(text for _, text in one.lines)
        assert 4 <= len(one.lines) <= 12, one.key
        assert all(a[0] != b[0] for a, b in zip(one.lines, one.lines[1:], strict=False)), one.key
        assert len(set(one.later)) == len(one.later) in (2, 3), one.key
        assert detect_language(said, default=language) == language, one.key
        if one.summary:  # without one it only teaches that there is nothing to note
            assert coverage(content_terms(one.summary), content_terms(said)) >= least, one.key


def test_what_is_told_is_kept_and_nothing_is_added() -> None:
    """Most of the facts that the talks list pass the product's own guards, and a talk that
    lists none has none."""
    listed, kept = 0, 0
    for talk in read(NOWHERE):
        found = told(talk, "everyday", DataTally())
        assert len(found.lines) == len(talk.lines)
        assert len(found.facts) <= len(talk.known)
        listed += len(talk.known)
        kept += len(found.facts)
    assert listed > 100
    assert kept >= 0.85 * listed


def test_a_meeting_at_which_nothing_is_told_leaves_the_memory_and_has_no_events() -> None:
    """The answer is the old memory, word for word; and an empty list of events of the whole."""
    talks = [talk for talk in read(NOWHERE) if talk.language == "en"]
    tasks = ("iteration", "events")
    made = list(build([(EVERYDAY, talks)], tasks=tasks, seed=1, tally=DataTally(), order=0.0))
    silent = [e for e in made if e.task == "iteration" and "nothing" in e.hard.split()]
    assert len(silent) > 20
    for example in silent:
        assert all(line in example.messages[-1].content for line in example.answer.splitlines())
    none = [e for e in made if e.task == "events" and json.loads(e.answer) == {"events": []}]
    assert len(none) > 20
    assert max(len(e.messages[-1].content) for e in none) > 400


@pytest.mark.heavy
def test_memos_of_talks_about_the_world_have_their_own_topics_and_summaries() -> None:
    """And their ranges cover the lines."""
    talks = [talk for talk in read(NOWHERE) if talk.language == "en"]
    topics = {talk.topic: talk.summary for talk in talks}
    made = list(build([(EVERYDAY, talks)], tasks=("memos",), seed=1, tally=DataTally()))
    assert len(made) > len(talks)
    for example in made[:50]:
        entries = json.loads(example.answer)["memos"]
        assert all(topics[entry["topic"]] == entry["summary"] for entry in entries)
        assert entries[0]["start"] == 1
    assert len({example.messages[-1].content for example in made}) > 0.95 * len(made)


def test_what_is_said_later_is_asked_about() -> None:
    """More often than a line of the talk itself, and the memo it is about is the right one."""
    talks = [told(t, "everyday", DataTally()) for t in read(NOWHERE) if t.language == "en"][::2]
    owners = {text: one for one in talks for text in one.later}
    counts: Counter[bool] = Counter()
    for example in choices(talks, random.Random(1), paper=False):
        shown = example.messages[-1].content
        said = shown.rpartition("The User says: ")[2]
        numbers = read_choice(example.answer, count=20)
        later = [owner for text, owner in owners.items() if text in said]
        counts[bool(later)] += 1
        if len(later) == 1 and said in later[0].later and numbers:
            assert f"{numbers[0]}. {later[0].topic}" in shown
    assert counts[True] > counts[False] > 0


def test_speakers_are_the_user_and_the_other() -> None:
    """Whoever begins."""
    for talk in read(NOWHERE):
        assert {line.speaker for line in talk.lines} == set(Speaker)


def test_an_assistant_s_turns_are_replies_and_a_shopkeeper_s_are_not() -> None:
    """Among notes that have nothing to do with them, and never a greeting or an offer of help."""
    talks = [talk for talk in read(NOWHERE) if talk.language == "en"]
    made = list(
        build([(EVERYDAY, talks)], tasks=("reply",), seed=1, tally=DataTally(), scenes=False)
    )
    said = {line.text: talk for talk in talks for line in talk.lines}
    assert len(made) > 100
    assert all(said[example.answer].assisted for example in made)
    assert not any(example.answer.startswith(("Hi ", "Hi,", "Hello")) for example in made)
    scenes = {one.topic for one in spoken("en") if one.scene}
    assert 50 < len(scenes) < len(talks) / 2

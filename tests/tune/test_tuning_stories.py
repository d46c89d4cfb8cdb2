"""Stories as training data: what the product asks, with the answers of their authors."""

from __future__ import annotations

import asyncio
import re

import pytest

from omoide.domain import Speaker
from omoide.errors import BadInput
from omoide.language import LANGUAGES, detect_language
from omoide.mechanisms.summary import grammar
from omoide_tune.stories.playing import between, play
from omoide_tune.stories.reading import MESSAGES, QUIET, drills, read_stories, stories

STORY = """\
# A rower
@ 2026-01-14
U: Hi, I'm Ana. I live in Leeds and go rowing on Sundays.
= User is called Ana.
= User lives in Leeds.
= User goes rowing on Sundays.
A: Hello Ana!
@ 2026-03-02
U: Which gas do plants take in?
A: Carbon dioxide.
@ 2026-05-20
U: I sold the boat, my shoulder is done for.
= User sold the boat. <- User goes rowing on Sundays.
A: I'm sorry to hear that.
@ 2026-09-01
ask: Where do I live? => In Leeds.
unknown: How old am I? => You have not told me.
"""


def test_each_request_of_the_product_is_an_example() -> None:
    """One for each told session, for the first answer in it and for each message of the last day,
    and the changed fact by its number."""
    (story,) = read_stories(STORY, "en")
    examples = asyncio.run(play(story, None))
    tasks = [(example.task, example.hard.split()[:1]) for example in examples]
    assert tasks == [
        ("reply", ["told"]),
        ("facts", []),
        ("reply", ["told"]),
        ("reply", ["told"]),
        ("facts", ["changed"]),
        ("reply", ["ask"]),
        ("reply", ["unknown"]),
    ]
    told, first, plants, boat, changed, ask, unknown = examples
    replies = [example.answer for example in (told, plants, boat)]
    assert replies == [session.lines[1][1] for session in story.told]
    assert told.messages[-1].content.startswith(story.told[0].lines[0][1])
    assert first.answer.splitlines()[1] == "User lives in Leeds."
    known = changed.messages[-1].content.splitlines()
    number = next(line for line in known if "rowing" in line).partition(".")[0]
    assert changed.answer == f"User sold the boat. ({number})"
    assert '["User goes rowing on Sundays." held until 2026-05-20' in ask.messages[-1].content
    assert any("User lives in Leeds." in message.content for message in ask.messages)
    assert (ask.answer, unknown.answer) == ("In Leeds.", "You have not told me.")
    assert (ask.hard, unknown.hard) == ("ask", "unknown")


@pytest.mark.parametrize(
    ("line", "why"),
    [("ask: Where do I live?", "reply"), ("Hello", "neither"), ("@ tomorrow", "tomorrow")],
)
def test_a_line_that_cannot_be_read_is_named(line: str, why: str) -> None:
    """With its number, and what is wrong."""
    with pytest.raises(BadInput, match=f"line 2: .*{why}"):
        read_stories(f"# One\n{line}\n", "en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_story_is_whole(language: str) -> None:
    """Three told days and one of messages of every kind, in the language; an ended note is one of
    an earlier line; no reply is said twice."""
    told = stories(language)
    assert len(told) >= 10
    replies = [message.reply for story in told for message in story.messages]
    assert len(set(replies)) == len(replies)
    for story in told:
        days = [session.day for session in story.sessions]
        assert len(days) == 4, story.key
        assert days == sorted(set(days)), story.key
        assert {message.kind for message in story.messages} == set(MESSAGES), story.key
        said = " ".join(text for session in story.told for _, text in session.lines)
        assert detect_language(said, default=language) == language, story.key
        earlier: set[str] = set()
        for session in story.told:
            for note in session.notes:
                assert set(note.untrue) <= earlier, (story.key, note)
                earlier.add(note.text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_note_begins_as_the_grammar_lets_it(language: str) -> None:
    """A lesson in another form would be forgotten, or worse: half written."""
    rules = grammar(*Speaker, language=language, possessive=True)
    openings = tuple(re.findall(r'"([^"]+)" \[', rules))
    notes = [
        note.text
        for story in (*stories(language), *drills(language))
        for session in story.sessions
        for note in session.notes
    ]
    assert len(notes) > 1000
    assert [note for note in notes if not note.startswith(openings)] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_plans_are_told_in_passing(language: str) -> None:
    """Each is in the language and ends only what was noted before; many sessions name a time and
    tell nothing."""
    plans = [drill for drill in drills(language) if drill.key.startswith("plan/")]
    assert len(plans) >= 70
    told = [session for plan in plans for session in plan.told]
    assert sum(not session.notes for session in told) >= 20
    for plan in plans:
        said = " ".join(text for session in plan.told for _, text in session.lines)
        assert detect_language(said, default=language) == language, plan.key
        earlier: set[str] = set()
        for session in plan.told:
            assert session.lines[0][0] is Speaker.USER, plan.key
            for note in session.notes:
                assert set(note.untrue) <= earlier, (plan.key, note)
                earlier.add(note.text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_changes_are_told_beside_what_stays(language: str) -> None:
    """Each drill ends something in most of its later sessions and tells more that ends nothing; a
    note is ended once, by a later session; some sessions tell nothing."""
    told = [drill for drill in drills(language) if drill.key.startswith("change/")]
    assert len(told) >= 80
    sessions = [session for drill in told for session in drill.told]
    assert sum(not session.notes for session in sessions) >= 45
    for drill in told:
        said = " ".join(text for session in drill.told for _, text in session.lines)
        assert detect_language(said, default=language) == language, drill.key
        holding: set[str] = set()
        ended = 0
        for session in drill.told:
            assert session.lines[0][0] is Speaker.USER, drill.key
            gone = {old for note in session.notes for old in note.untrue}
            assert gone <= holding, (drill.key, gone - holding)
            ended += len(gone)
            holding |= {note.text for note in session.notes}
            holding -= gone
        assert ended, drill.key
        assert len(holding) >= 4, drill.key


@pytest.mark.parametrize("language", LANGUAGES)
def test_quiet_talks_tell_nothing(language: str) -> None:
    """One session each, in the language."""
    quiet = [drill for drill in drills(language) if drill.key.startswith(QUIET)]
    assert len(quiet) >= 30
    for drill in quiet:
        [session] = drill.told
        assert session.lines[0][0] is Speaker.USER, drill.key
        assert not session.notes, drill.key
        said = " ".join(text for _, text in session.lines)
        assert detect_language(said, default=language) == language, drill.key


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_other_drill_has_a_day_that_tells_nothing(language: str) -> None:
    """The day after its first session, with facts that are known."""
    assert between(language, 0) is None
    quiet = between(language, 1)
    assert quiet is not None
    assert not quiet.notes
    silent = [
        e
        for e in asyncio.run(play(drills(language)[1], None, quiet=quiet))
        if e.task == "facts" and e.hard == "nothing"
    ]
    assert len(silent) == 1
    assert "\n1. " in silent[0].messages[-1].content

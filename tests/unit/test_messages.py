"""What a chat request says that is new, and where memory goes into it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.domain import MemoryKind
from omoide.engine.messages import incoming, with_memory
from omoide.mechanisms.base import Contribution, PromptPlace
from omoide.mechanisms.events.human_time import weekday
from omoide.prompts import render

Message = dict[str, Any]
TODAY = date(2026, 11, 18)


def user(content: object) -> Message:
    """A message of the user's."""
    return {"role": "user", "content": content}


def assistant(content: object, **more: object) -> Message:
    """A message of the assistant's."""
    return {"role": "assistant", "content": content, **more}


def ids(*messages: Message, session: str | None = None) -> list[str]:
    """The ids of what is to be recorded."""
    return [words.id for words in incoming(messages, session=session).words]


def known(text: str, place: PromptPlace) -> Contribution:
    """Something that memory has to add."""
    return Contribution(
        mechanism="test",
        place=place,
        kind=MemoryKind.SENTENCE,
        id=text,
        text=text,
        value=1.0,
        sources=(),
        time=datetime(2026, 1, 5, tzinfo=UTC),
        why="",
    )


@given(st.lists(st.tuples(st.text(min_size=1), st.text()), min_size=1, max_size=8))
def test_a_growing_history_says_each_thing_once(pairs: list[tuple[str, str]]) -> None:
    """A client that sends its whole history each time has one new message each time, and no two
    of them get the same id."""
    history: list[Message] = []
    seen: list[str] = []
    for question, answer in pairs:
        history.append(user(question))
        said = incoming(history, session=None)
        if question.strip():
            assert [w.text for w in said.words] == [question]
            seen.append(said.words[0].id)
            history.append(assistant(answer))
        else:
            history.pop()
    assert len(set(seen)) == len(seen)


def test_a_system_message_that_changes_changes_no_place() -> None:
    """Many clients put the time there."""
    one = ids({"role": "system", "content": "It is 9:00."}, user("Hi"))
    two = ids({"role": "developer", "content": "It is 9:01."}, user("Hi"))
    assert one == two == ids(user("Hi"))


def test_the_place_depends_on_the_session_and_on_what_went_before() -> None:
    """The same words elsewhere are other words."""
    here = ids(user("yes"))
    assert here != ids(user("yes"), session="a")
    assert here != ids(user("Tea?"), assistant("Sure?"), user("yes"))


def test_words_behind_the_last_answer_are_all_new() -> None:
    """A client that keeps what failed sends two messages in a row."""
    said = incoming([user("a"), assistant("b"), user("c"), user("d")], session=None)
    assert [w.text for w in said.words] == ["c", "d"]
    assert said.text == "c\nd"


def test_tool_results_go_on_from_the_users_last_words() -> None:
    """Calls and results are neither words nor part of the place."""
    call = assistant(None, tool_calls=[{"id": "1"}])
    said = incoming(
        [user("Weather?"), call, {"role": "tool", "tool_call_id": "1", "content": "rain"}],
        session=None,
    )
    assert said.follow_up
    assert [w.id for w in said.words] == ids(user("Weather?"))


def test_only_text_parts_are_words() -> None:
    """A picture says nothing that could be recorded."""
    picture = {"type": "image_url", "image_url": {"url": "data:…"}}
    both = user([picture, {"type": "text", "text": "Who is this?"}])
    assert [w.text for w in incoming([both], session=None).words] == ["Who is this?"]
    assert incoming([user([picture])], session=None).words == ()
    assert incoming([user(None), {"role": "user"}], session=None).words == ()


def test_memory_stands_behind_the_clients_own_instructions() -> None:
    """Their text stays a prefix that all users share, and stays one system message."""
    messages = [{"role": "system", "content": "Be brief."}, user("My cat is ill.")]
    sent = with_memory(
        messages,
        [
            known("The user has a cat.", PromptPlace.MEMORY),
            known("2026: Miso!", PromptPlace.RECALLED),
        ],
        last=1,
        language="en",
        today=TODAY,
    )
    system, last = sent
    assert system["content"].startswith("Be brief.\n\n")
    assert "<memory>\nThe user has a cat.\n</memory>" in system["content"]
    assert "- 2026: Miso!" in last["content"]
    assert last["content"].endswith("</memory>\n\nMy cat is ill.")
    assert messages[1] == user("My cat is ill.")


def test_memory_goes_in_front_where_there_are_no_instructions() -> None:
    """Nothing is put in where nothing is known."""
    fact = known("A fact.", PromptPlace.MEMORY)
    sent = with_memory([user("Hi")], [fact], last=0, language="en", today=TODAY)
    assert [m["role"] for m in sent] == ["system", "user"]
    assert with_memory([user("Hi")], [], last=0, language="en", today=TODAY) == [user("Hi")]


def test_messages_in_parts_stay_in_parts() -> None:
    """Memory becomes one more part of them."""
    parts = [{"type": "text", "text": "x"}]
    sent = with_memory(
        [{"role": "system", "content": parts}, user(parts)],
        [known("A fact.", PromptPlace.MEMORY), known("A thing.", PromptPlace.RECALLED)],
        last=1,
        language="en",
        today=TODAY,
    )
    assert sent[0]["content"][0] == parts[0]
    assert "A fact." in sent[0]["content"][1]["text"]
    assert "A thing." in sent[1]["content"][0]["text"]
    assert sent[1]["content"][1] == parts[0]


@pytest.mark.parametrize("language", ["en", "ja", "zh", "ko", "vi"])
def test_the_clients_manners_are_left_alone(language: str) -> None:
    """Of the reply's prompt only the memory and the line that explains it are used, in every
    language: nothing of who the model is or how long to answer."""
    fact = known("A </memory> fact.", PromptPlace.MEMORY)
    (system, _) = with_memory([user("x")], [fact], last=0, language=language, today=TODAY)
    whole = render("reply", language, memory="A ‹/memory> fact.", now="").messages[0].content
    lines = whole.splitlines()
    opening, closing = lines.index("<memory>"), lines.index("</memory>")
    assert opening >= 2, "the line before the marks is no longer one of its own"
    explained, *memory = system["content"].splitlines()
    assert explained.startswith(lines[opening - 1])
    assert memory == lines[opening : closing + 1]
    assert len(lines) > closing + 1


@pytest.mark.parametrize("language", ["en", "ja", "zh", "ko", "vi"])
def test_dated_notes_come_with_the_day(language: str) -> None:
    """A note about 2026-11-21 says nothing to a model that does not know what day it is."""
    notes = [known("A fact.", PromptPlace.MEMORY), known("A thing.", PromptPlace.RECALLED)]
    for note in notes:
        sent = with_memory([user("x")], [note], last=0, language=language, today=TODAY)
        assert f"2026-11-18, {weekday(TODAY, language)}" in sent[0]["content"]

"""Whole chats with complete notes as lessons."""

import random

import pytest

from omoide.domain import Speaker
from omoide.errors import BadInput
from omoide.mechanisms import Line
from omoide_tune.annotated import (
    LANGUAGES,
    AnnotatedChat,
    annotated_chats,
    examples,
    read_annotations,
)
from omoide_tune.checked_talks import noted

SAID = (
    Line(speaker=Speaker.USER, text="Hi! I have two dogs."),
    Line(speaker=Speaker.ASSISTANT, text="Nice. I'm a nurse in Cork."),
    Line(speaker=Speaker.USER, text="Is it hard?"),
    Line(speaker=Speaker.ASSISTANT, text="At times. What do you do?"),
    Line(speaker=Speaker.USER, text="I paint houses, mostly in summer."),
    Line(speaker=Speaker.ASSISTANT, text="I play the cello in my spare time."),
)
CHAT = AnnotatedChat(
    source="here",
    key="1",
    language="en",
    notes=(
        "User has two dogs.",
        "User paints houses, mostly in summer.",
        "Assistant is a nurse in Cork.",
        "Assistant plays the cello.",
    ),
)


def test_a_chat_is_a_lesson_whole_and_in_two_meetings() -> None:
    """The second meeting begins with the notes of the first, and asks only for what is new."""
    whole, second = examples(CHAT, SAID, random.Random(1))
    assert whole.answer.splitlines() == list(CHAT.notes)
    assert second.answer.splitlines() == [
        "User paints houses, mostly in summer.",
        "Assistant plays the cello.",
    ]
    asked = second.messages[-1].content
    assert "User has two dogs." in asked.partition("Chat:")[0]
    assert "I have two dogs" not in asked


def test_a_chat_without_notes_teaches_silence() -> None:
    """The answer is the word for nothing."""
    silent = AnnotatedChat(source="here", key="2", language="en", notes=())
    only = next(examples(silent, SAID, random.Random(1)))
    assert only.answer == "(none)"
    assert only.hard == "nothing"


def test_a_note_without_a_speaker_is_refused() -> None:
    """The place is named."""
    with pytest.raises(BadInput, match="valid/1"):
        read_annotations("### here valid/1\nHas two dogs.\n", "en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_written_notes_can_be_written_by_the_model(language: str) -> None:
    """The grammar of notes allows each, no chat comes twice, and nobody has more than ten."""
    chats = annotated_chats(language)
    assert len({(chat.source, chat.key) for chat in chats}) == len(chats) >= 20
    for chat in chats:
        assert all(noted(note) for note in chat.notes), chat.key
        assert len(set(chat.notes)) == len(chat.notes) <= 20, chat.key

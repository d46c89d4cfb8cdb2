"""The stories, written for this task: `en.txt` and so on, to be read by people.

    # A school nurse who moved to Bergen
    @ 2026-02-03
    U: Hi! I'm Nora. I live in Oslo and work as a school nurse.
    = User is called Nora.
    A: Nice to meet you, Nora!
    @ 2026-03-10
    U: I've moved to Bergen. My cat Miso hated it.
    = User lives in Bergen.
    = User has a cat called Miso.
    A: Poor Miso!
    @ 2026-06-22
    greet: Hello again, long time no see! => Nora | Miso | Bergen
    ask: What's my cat called? => Miso
    changed: Which city do I live in now? => Bergen <- Oslo
    unknown: What was the name of my first teacher?

A line with `@` begins a session on that day, `U` is the user and `A` the assistant. `=` is what
memory holds at the end of what the user said just before. In the last session every line is a
message that is asked by itself, at the beginning of the session. What follows `=>` is the wording
that a good reply has (after `tell`: that no question of the reply has), what follows `<-` was true
before. Alternatives are divided by `|`; words that must come together are joined by `&`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from omoide.language import LANGUAGES
from omoide_bench.stories.reading import Wording
from omoide_bench.story_lines import packaged_text, split_stories

if TYPE_CHECKING:
    from datetime import date

    from omoide_bench.story_lines import StorySession, StoryText


class MessageKind(StrEnum):
    """What a message of the last session tests."""

    GREET = "greet"
    """A greeting after a pause: the reply has the name or something shared."""
    ASK = "ask"
    """A question for a fact that was told."""
    CHANGED = "changed"
    """A question for a fact that has changed."""
    ADVICE = "advice"
    """A request for advice that a fact should shape."""
    UNKNOWN = "unknown"
    """A question for something that was never told."""
    TALK = "talk"
    """Small talk."""
    TELL = "tell"
    """News: the reply must not ask for what it says."""


@dataclass(frozen=True, kw_only=True)
class FriendMessage:
    """A message of the last session."""

    kind: MessageKind
    text: str
    wording: Wording | None = None
    """What a good reply has; for `TELL`, what no question of it has."""
    old: Wording | None = None
    """What was true before."""


@dataclass(frozen=True, kw_only=True)
class Note:
    """A sentence of the memory, and the user's line that it is from."""

    text: str
    session: int
    line: int


@dataclass(frozen=True, kw_only=True)
class FriendStory:
    """Two sessions, what memory holds after them, and messages weeks later."""

    id: str
    language: str
    title: str
    sessions: tuple[StorySession, ...]
    """The sessions that are over."""
    notes: tuple[Note, ...]
    day: date
    """The day of the last session."""
    messages: tuple[FriendMessage, ...]

    @property
    def number(self) -> int:
        """Its place in the file, from 1."""
        return int(self.id.rpartition("-")[2])

    def said(self, who: str) -> tuple[str, ...]:
        """What the user (`U`) or the assistant (`A`) said in the sessions that are over."""
        return tuple(
            text for session in self.sessions for said_by, text in session.lines if said_by == who
        )


def load(language: str) -> tuple[FriendStory, ...]:
    """The stories of one language."""
    return read_stories(packaged_text(__package__, language), language)


def load_all() -> tuple[FriendStory, ...]:
    """All stories, by language."""
    return tuple(story for language in LANGUAGES for story in load(language))


def read_stories(text: str, language: str) -> tuple[FriendStory, ...]:
    """The stories of a file. Raises `BadInput` that names the first line that is not understood."""
    _, stories = split_stories(text, language)
    return tuple(_story(story, language) for story in stories)


def _story(story: StoryText, language: str) -> FriendStory:
    notes: list[Note] = []
    messages: list[FriendMessage] = []

    def take(line: str, sessions: list[StorySession]) -> None:
        if line.startswith("= "):
            notes.append(_note(line[2:].strip(), sessions))
        else:
            kind, rest = line.split(": ", 1)
            messages.append(_message(MessageKind(kind), rest))

    kinds = f", '= note' or '{'|'.join(MessageKind)}: … => …'"
    *sessions, last = story.sessions(take, kinds=kinds, see=__name__)
    return FriendStory(
        id=story.id,
        language=language,
        title=story.title,
        sessions=tuple(sessions),
        notes=tuple(notes),
        day=last.day,
        messages=tuple(messages),
    )


def _note(text: str, sessions: list[StorySession]) -> Note:
    """A note of what was said last. Raises `ValueError` if the user did not say it."""
    said = sessions[-1].lines
    if said[-1][0] != "U":
        raise ValueError(text)
    return Note(text=text, session=len(sessions) - 1, line=len(said) - 1)


def _message(kind: MessageKind, rest: str) -> FriendMessage:
    text, _, expected = rest.partition(" => ")
    now, _, before = expected.partition(" <- ")
    return FriendMessage(
        kind=kind,
        text=text.strip(),
        wording=Wording.read(now) if now.strip() else None,
        old=Wording.read(before) if before.strip() else None,
    )

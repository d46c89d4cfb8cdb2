"""Reads stories from their files.

    # A title
    @ 2026-02-03
    U: what the user says
    = a note of a fact in it <- an earlier note that it makes untrue | another
    A: what the assistant says
    @ 2026-08-20
    ask: a message => the reply of a friend who remembers

The last day has the messages with replies.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache
from importlib import resources

from omoide.domain import Speaker
from omoide.errors import BadInput

SPEAKERS = {"U": Speaker.USER, "A": Speaker.ASSISTANT}
KINDS = ("drill", "plan", "change", "quiet")
QUIET = "quiet/"
"""How the keys of the drills begin that tell nothing."""
MESSAGES = ("greet", "ask", "changed", "advice", "unknown", "talk", "tell")
"""The kinds of messages on the last day."""


@dataclass(frozen=True, kw_only=True)
class StoryNote:
    """A fact that a line tells, and the earlier notes that it makes untrue."""

    text: str
    untrue: tuple[str, ...] = ()


@dataclass(kw_only=True)
class StorySession:
    """The lines of one day, and the notes of what they tell."""

    day: date
    lines: list[tuple[Speaker, str]] = field(default_factory=list)
    notes: list[StoryNote] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class StoryMessage:
    """A message of the last day, with the reply it should get."""

    kind: str
    text: str
    reply: str


@dataclass(kw_only=True)
class TrainingStory:
    """A person's story."""

    key: str
    language: str
    sessions: list[StorySession] = field(default_factory=list)
    messages: list[StoryMessage] = field(default_factory=list)

    @property
    def last_day(self) -> date:
        """The day of the messages."""
        return self.sessions[-1].day

    @property
    def told(self) -> list[StorySession]:
        """The sessions before the last day."""
        return self.sessions[:-1]


@cache
def stories(language: str) -> tuple[TrainingStory, ...]:
    """All stories of a language."""
    file = resources.files("omoide_tune.written") / f"stories.{language}.txt"
    return read_stories(file.read_text("utf-8"), language)


@cache
def drills(language: str) -> tuple[TrainingStory, ...]:
    """All drills of a language: one to four sessions, without messages, rich in times and changes,
    or with a plan that is told in passing (`plans.*.txt`), or with changes that are told in other
    words than what they end (`changes.*.txt`), or talks that tell nothing (`quiets.*.txt`)."""
    return tuple(drill for kind in KINDS for drill in _drills(kind, language))


def _drills(kind: str, language: str) -> tuple[TrainingStory, ...]:
    file = resources.files("omoide_tune.written") / f"{kind}s.{language}.txt"
    if not file.is_file():
        return ()
    found = read_stories(file.read_text("utf-8"), language)
    for drill in found:
        drill.key = f"{kind}/{drill.key}"
        drill.sessions.append(StorySession(day=drill.last_day + timedelta(days=1)))
    return found


def read_stories(text: str, language: str) -> tuple[TrainingStory, ...]:
    """The stories of a file. Raises `BadInput` naming the line that cannot be read."""
    found: list[TrainingStory] = []
    for number, raw in enumerate(text.splitlines(), start=1):
        if line := raw.strip():
            try:
                _add(line, found, language)
            except (ValueError, IndexError) as error:
                raise BadInput(f"stories.{language}.txt, line {number}: {error}") from error
    return tuple(found)


def _add(line: str, found: list[TrainingStory], language: str) -> None:
    mark, _, rest = line.partition(" ")
    if mark == "#":
        found.append(TrainingStory(key=f"{language}/{len(found) + 1}", language=language))
    elif mark == "@":
        found[-1].sessions.append(StorySession(day=date.fromisoformat(rest)))
    elif mark == "=":
        text, _, untrue = rest.partition(" <- ")
        ended = tuple(old.strip() for old in untrue.split(" | ") if old.strip())
        found[-1].sessions[-1].notes.append(StoryNote(text=text.strip(), untrue=ended))
    elif mark.removesuffix(":") in SPEAKERS:
        found[-1].sessions[-1].lines.append((SPEAKERS[mark.removesuffix(":")], rest))
    elif mark.removesuffix(":") in MESSAGES:
        text, arrow, reply = rest.partition(" => ")
        if not arrow:
            raise ValueError("a message needs a reply after =>")
        found[-1].messages.append(
            StoryMessage(kind=mark.removesuffix(":"), text=text.strip(), reply=reply.strip())
        )
    else:
        raise ValueError(f"{line[:40]!r} is neither a line nor a note nor a message")

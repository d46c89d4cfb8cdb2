"""The stories, written for this task: `en.txt` and so on, to be read by people.

    relative: tomorrow | next week
    ended: gave up | no longer

    # A nurse moves to Bergen
    @ 2026-05-20
    U: Hi, I'm Nora. I live in Oslo, and from next week in Bergen.
    A: Nice to meet you, Nora!
    @ 2026-08-20
    …
    told name: Nora
    told allergy: peanut | nuts & allerg
    changed home: Oslo -> Bergen
    dated move: Bergen & mov @ 2026-05-25..2026-05-31

`relative` lists words that must not be left in a memory, `ended` words that say that something is
over. A line with `@` begins a session on that
day, `U` is the user and `A` the assistant. `told` must be in a fact that still holds at the end.
`changed` was first one thing and then another. `dated` has its true days. Alternatives are divided
by `|`; words that must be in the same fact are joined by `&`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from omoide.language import LANGUAGES
from omoide_bench.story_lines import packaged_text, split_stories

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from omoide_bench.story_lines import StorySession, StoryText

_KINDS = ("told", "changed", "dated")


@dataclass(frozen=True, kw_only=True)
class Wording:
    """The ways in which a fact may be worded."""

    alternatives: tuple[tuple[str, ...], ...]
    """Each a set of strings that must all be in the text."""

    def within(self, text: str) -> bool:
        """Whether the text has all strings of some alternative, in any case.

        >>> Wording.read("cat & Miso | kitten").within("User has a CAT, miso.")
        True
        """
        folded = text.casefold()
        return any(all(part in folded for part in parts) for parts in self.alternatives)

    @classmethod
    def read(cls, text: str) -> Wording:
        """From the notation of the stories."""
        return cls(
            alternatives=tuple(
                tuple(part.strip().casefold() for part in one.split("&")) for one in text.split("|")
            )
        )


@dataclass(frozen=True, kw_only=True)
class ExpectedFact:
    """Something told in a story."""

    name: str
    wording: Wording
    """How a fact that is right at the end may be worded."""
    old: Wording | None = None
    """How it was before, if it changed."""
    first: date | None = None
    """The first day of what is dated, and in `last` the last one."""
    last: date | None = None


@dataclass(frozen=True, kw_only=True)
class Story:
    """Sessions of one user, weeks apart, and what was told in them."""

    id: str
    language: str
    title: str
    sessions: tuple[StorySession, ...]
    facts: tuple[ExpectedFact, ...]
    relative: tuple[str, ...] = ()
    """Words for relative times, which must not be left in a memory."""
    ended: tuple[str, ...] = ()
    """Words that say that something is over: a fact with them does not say that it still holds."""


def load(language: str) -> tuple[Story, ...]:
    """The stories of one language."""
    return read_stories(packaged_text(__package__, language), language)


def load_all() -> tuple[Story, ...]:
    """All stories, by language."""
    return tuple(story for language in LANGUAGES for story in load(language))


def read_stories(text: str, language: str) -> tuple[Story, ...]:
    """The stories of a file. Raises `BadInput` that names the first line that is not understood."""
    head, stories = split_stories(text, language)
    words = dict(line.split(":", 1) for line in head.splitlines() if ":" in line)
    return tuple(
        replace(
            _story(story, language),
            relative=_listed(words.get("relative", "")),
            ended=_listed(words.get("ended", "")),
        )
        for story in stories
    )


def _story(story: StoryText, language: str) -> Story:
    facts: list[ExpectedFact] = []

    def take(line: str, sessions: list[StorySession]) -> None:
        del sessions  # a fact is of the whole story
        kind, rest = line.split(" ", 1)
        name, wording = rest.split(": ", 1)
        if kind not in _KINDS:
            raise ValueError(kind)
        facts.append(_fact(kind, name, wording))

    kinds = f" or '{'|'.join(_KINDS)} name: …'"
    return Story(
        id=story.id,
        language=language,
        title=story.title,
        sessions=story.sessions(take, kinds=kinds, see=__name__),
        facts=tuple(facts),
    )


def _fact(kind: str, name: str, wording: str) -> ExpectedFact:
    if kind == "changed":
        old, new = wording.split(" -> ")
        return ExpectedFact(name=name, wording=Wording.read(new), old=Wording.read(old))
    if kind == "dated":
        words, days = wording.split(" @ ")
        first, last = days.split("..")
        return ExpectedFact(
            name=name,
            wording=Wording.read(words),
            first=date.fromisoformat(first.strip()),
            last=date.fromisoformat(last.strip()),
        )
    return ExpectedFact(name=name, wording=Wording.read(wording))


def _listed(text: str) -> tuple[str, ...]:
    return tuple(_stripped(text.split("|")))


def _stripped(parts: Iterable[str]) -> Iterator[str]:
    return (part.strip().casefold() for part in parts if part.strip())

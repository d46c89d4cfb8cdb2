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

from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from importlib import resources
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.language import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

LINE_GAP = timedelta(minutes=1)
_BEGIN = time(19, 30, tzinfo=UTC)
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
class StorySession:
    """One talk."""

    day: date
    lines: tuple[tuple[str, str], ...]
    """`U` for the user or `A` for the assistant, and the text."""

    def timed(self) -> Iterator[tuple[str, str, datetime]]:
        """The lines with their times, an evening's talk."""
        begin = datetime.combine(self.day, _BEGIN)
        for number, (who, text) in enumerate(self.lines):
            yield who, text, begin + number * LINE_GAP


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
    text = (resources.files(__package__) / f"{language}.txt").read_text("utf-8")
    return read_stories(text, language)


def load_all() -> tuple[Story, ...]:
    """All stories, by language."""
    return tuple(story for language in LANGUAGES for story in load(language))


def read_stories(text: str, language: str) -> tuple[Story, ...]:
    """The stories of a file. Raises `BadInput` that names the first line that is not understood."""
    head, *rest = text.split("\n# ")
    words = dict(line.split(":", 1) for line in head.splitlines() if ":" in line)
    return tuple(
        replace(
            _story(part.splitlines(), id_=f"{language}-{number}", language=language),
            relative=_listed(words.get("relative", "")),
            ended=_listed(words.get("ended", "")),
        )
        for number, part in enumerate(rest, 1)
    )


@dataclass(kw_only=True)
class _Draft:
    """A story while it is read."""

    sessions: list[tuple[date, list[tuple[str, str]]]] = field(default_factory=list)
    facts: list[ExpectedFact] = field(default_factory=list)


def _story(lines: Sequence[str], *, id_: str, language: str) -> Story:
    title, *body = lines
    draft = _Draft()
    for line in filter(str.strip, body):
        try:
            _take(line.strip(), draft)
        except (ValueError, IndexError) as error:
            raise BadInput(
                f"story {id_}: wanted '@ day', 'U: …', 'A: …' or "
                f"'{'|'.join(_KINDS)} name: …', got {line[:80]!r}; see {__name__}"
            ) from error
    return Story(
        id=id_,
        language=language,
        title=title.strip(),
        sessions=tuple(StorySession(day=day, lines=tuple(said)) for day, said in draft.sessions),
        facts=tuple(draft.facts),
    )


def _take(line: str, draft: _Draft) -> None:
    """Add one line to the draft. Raises `ValueError` or `IndexError` if it is not understood."""
    if line.startswith("@ "):
        draft.sessions.append((date.fromisoformat(line[2:].strip()), []))
    elif line.startswith(("U: ", "A: ")):
        draft.sessions[-1][1].append((line[0], line[3:].strip()))
    else:
        kind, rest = line.split(" ", 1)
        name, wording = rest.split(": ", 1)
        if kind not in _KINDS:
            raise ValueError(kind)
        draft.facts.append(_fact(kind, name, wording))


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

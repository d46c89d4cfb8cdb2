"""Single facts about a speaker, and how a list of facts becomes a memory.

A small model cannot rewrite a memory, but it can note facts. So the recursion is done here: new
facts are added to the old ones, near-duplicates are merged, and if there are too many, facts are
joined into longer sentences before any is left out (measured in
docs/experiments/*-fused-writer.md).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from omoide.claims.overlap import marks
from omoide.domain import Sentence, Speaker
from omoide.language.pack import pack as language_pack
from omoide.prompts import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from omoide.language.tables import Note


def phrasing(language: str) -> Note:
    """How a language writes notes about each speaker."""
    return language_pack(language).note


@dataclass(frozen=True, kw_only=True)
class NotedFact:
    """A fact about a speaker: only the predicate, without subject and full stop."""

    about: Speaker
    text: str
    whole: str = field(default="", compare=False)
    """The sentence as it was written, if it does not begin with the usual subject: "User's …"."""

    def sentence(self, language: str) -> str:
        """The fact as a complete sentence."""
        if self.whole:
            return self.whole
        how = phrasing(language)
        return f"{how.subject(self.about)}{self.text}{how.stop}"


_LEAD = re.compile(r"^\s*(?:[-*•·]+|\d{1,2}[.)、．])\s*")
JOINED = re.compile(r"\s*[;；]\s*")
"""The separator of facts that share a sentence."""


def read_facts(text: str, language: str) -> list[NotedFact]:
    """The distinct facts in a model's lines or a memory's sentences, in order.

    A line counts if it begins with one of the speakers. A line of several joined facts gives
    several.
    """
    how = phrasing(language)
    facts: dict[NotedFact, None] = {}
    for raw in text.splitlines():
        line = _LEAD.sub("", raw).strip()
        for speaker in Speaker:
            subject = how.subject(speaker)
            if line.lower().startswith(subject.lower()):
                for part in JOINED.split(line[len(subject) :]):
                    if predicate := part.strip(" .。．"):
                        facts[NotedFact(about=speaker, text=predicate)] = None
                break
    return list(facts)


def note_lines(text: str) -> Iterator[str]:
    """The lines of an answer without bullets and numbers."""
    for raw in text.splitlines():
        if line := _LEAD.sub("", raw).strip():
            yield line


def line_fact(line: str, language: str) -> NotedFact | None:
    """The fact that a line or sentence states, whole; None if it is about neither speaker."""
    how = phrasing(language)
    for speaker in Speaker:
        subject, label = how.subject(speaker), vocabulary(language)[speaker.value]
        for opening in (subject, label):
            if line.lower().startswith(opening.lower()):
                predicate = line[len(opening) :].strip(" .。．")
                whole = "" if opening is subject else f"{line.rstrip(' .。．')}{how.stop}"
                return NotedFact(about=speaker, text=predicate, whole=whole) if predicate else None
    if how.possessed and how.possessed in line.lower():
        stated = line.rstrip(" .。．")
        return NotedFact(about=Speaker.USER, text=stated, whole=f"{stated}{how.stop}")
    return None


def merge(old: Sequence[NotedFact], new: Iterable[NotedFact]) -> list[NotedFact]:
    """Old and new facts, the least recently mentioned first.

    A new fact that nearly repeats an old one replaces it; the richer wording is kept. Nothing
    else is dropped.
    """
    facts = list(old)
    for fact in new:
        richer = fact
        twin = next((known for known in facts if alike(fact, known)), None)
        if twin is not None:
            facts.remove(twin)
            richer = twin if marks(fact.text) <= marks(twin.text) else fact
        facts.append(richer)
    return facts


@dataclass(frozen=True, kw_only=True)
class PackedFacts:
    """Facts as sentences within a limit."""

    sentences: tuple[Sentence, ...]
    left_out: tuple[NotedFact, ...]
    """The least recently mentioned facts, which did not fit."""


def pack(
    facts: Sequence[NotedFact],
    language: str,
    *,
    limit: int,
    max_chars: int = 200,
    first: Sequence[NotedFact] = (),
) -> PackedFacts:
    """Pack facts into at most `limit` sentences: `first`, then the user's, then the assistant's.

    Above the limit, facts of one speaker that have most in common share a sentence of at most
    `max_chars` characters. Only if no more can be joined is the oldest fact left out. Each fact of
    `first` gets its own sentence and is the last to be left out.
    """
    leading = [[fact] for fact in first[-limit:]]
    live, left_out = [fact for fact in facts if fact not in first], list[NotedFact]()
    room = limit - len(leading)
    while (
        len(live) > room and sum(min(len(f.text) + 2, max_chars) for f in live) > room * max_chars
    ):
        left_out.append(live.pop(0))  # joining cannot make enough room
    groups = grouped(live, limit=room, max_chars=max_chars)
    while len(groups) > room:
        left_out.append(live.pop(0))
        groups = grouped(live, limit=room, max_chars=max_chars)
    groups.sort(key=lambda group: group[0].about is not Speaker.USER)
    groups = leading + groups
    sentences = tuple(
        Sentence(
            text=NotedFact(
                about=group[0].about, text=phrasing(language).join.join(f.text for f in group)
            ).sentence(language),
            about=group[0].about,
        )
        for group in groups
    )
    return PackedFacts(sentences=sentences, left_out=tuple(left_out))


def grouped(facts: Sequence[NotedFact], *, limit: int, max_chars: int) -> list[list[NotedFact]]:
    """Group facts of the same speaker, most similar pairs first, until there are at most `limit`
    groups or no pair fits within `max_chars` characters."""
    groups = {i: [fact] for i, fact in enumerate(facts)}
    known = {i: marks(fact.text) for i, fact in enumerate(facts)}
    sizes = {i: len(fact.text) + 2 for i, fact in enumerate(facts)}
    pairs = {
        (i, j): _similarity(known[i], known[j])
        for i in groups
        for j in groups
        if i < j and facts[i].about is facts[j].about and sizes[i] + sizes[j] <= max_chars
    }
    while len(groups) > limit and pairs:
        i, j = max(pairs, key=lambda p: (pairs[p], -sizes[p[0]] - sizes[p[1]], -p[0], -p[1]))
        groups[i] += groups.pop(j)
        known[i] |= known.pop(j)
        sizes[i] += sizes.pop(j)
        touched = {other for pair in pairs if i in pair for other in pair} - {i, j}
        pairs = {pair: similarity for pair, similarity in pairs.items() if not {i, j} & set(pair)}
        for other in touched:
            if sizes[i] + sizes[other] <= max_chars:
                pairs[min(i, other), max(i, other)] = _similarity(known[i], known[other])
    return list(groups.values())


def _similarity(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / (len(one | other) or 1)


def alike(one: NotedFact, other: NotedFact, share: float = 0.65) -> bool:
    """Whether two facts say nearly the same thing."""
    x, y = marks(one.text), marks(other.text)
    if one.about is not other.about or not x or not y:
        return one == other
    both = len(x & y)
    return both / min(len(x), len(y)) >= share and both / len(x | y) >= 0.34

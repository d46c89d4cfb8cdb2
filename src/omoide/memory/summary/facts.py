"""Single facts about a speaker, and how a list of them becomes a memory without losing any.

A small model cannot rewrite a memory, but it can note facts. So the recursion is done here: new
facts join the old ones, near-repetitions take each other's place, and what does not fit the limit
is joined into longer sentences before anything is left out (docs/LOG.md has the measurements).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.domain import Sentence, Speaker
from omoide.memory.overlap import marks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, kw_only=True)
class Voice:
    """How a language begins and ends a note about each speaker."""

    user: str
    assistant: str
    stop: str
    join: str
    """Between facts that share a sentence."""

    def subject(self, speaker: Speaker) -> str:
        """How a line about the speaker begins."""
        return self.user if speaker is Speaker.USER else self.assistant


VOICES: dict[str, Voice] = {
    "en": Voice(user="User ", assistant="Assistant ", stop=".", join="; "),
    "zh": Voice(user="用户", assistant="助手", stop="。", join="；"),
    "ja": Voice(user="ユーザーは", assistant="アシスタントは", stop="。", join="；"),
    "ko": Voice(user="사용자는 ", assistant="어시스턴트는 ", stop=".", join="; "),
    "vi": Voice(user="Người dùng ", assistant="Trợ lý ", stop=".", join="; "),
}


@dataclass(frozen=True, kw_only=True)
class Fact:
    """What is known of a speaker: the predicate alone, without subject and full stop."""

    about: Speaker
    text: str

    def sentence(self, language: str) -> str:
        """As it is shown."""
        voice = VOICES[language]
        return f"{voice.subject(self.about)}{self.text}{voice.stop}"


_LEAD = re.compile(r"^\s*(?:[-*•·]+|\d{1,2}[.)、．])\s*")
_JOINED = re.compile(r"\s*[;；]\s*")


def read_facts(text: str, language: str) -> list[Fact]:
    """The facts in a model's lines or in a memory's sentences, each once, in order.

    A line counts if it begins with one of the speakers; one joined of several facts gives several.
    """
    voice = VOICES[language]
    found: dict[Fact, None] = {}
    for raw in text.splitlines():
        line = _LEAD.sub("", raw).strip()
        for speaker in Speaker:
            subject = voice.subject(speaker)
            if line.lower().startswith(subject.lower()):
                for part in _JOINED.split(line[len(subject) :]):
                    if predicate := part.strip(" .。．"):
                        found[Fact(about=speaker, text=predicate)] = None
                break
    return list(found)


def merge(old: Sequence[Fact], new: Iterable[Fact]) -> list[Fact]:
    """Old facts and new ones, the least recently told first.

    A new fact that nearly repeats an old one takes its place, the richer wording staying. Nothing
    else is lost here.
    """
    facts = list(old)
    for fact in new:
        told = fact
        twin = next((known for known in facts if _alike(fact, known)), None)
        if twin is not None:
            facts.remove(twin)
            told = twin if marks(fact.text) <= marks(twin.text) else fact
        facts.append(told)
    return facts


@dataclass(frozen=True, kw_only=True)
class Packed:
    """Facts as sentences within a limit."""

    sentences: tuple[Sentence, ...]
    left_out: tuple[Fact, ...]
    """What did not fit even so, the least recently told."""


def pack(
    facts: Sequence[Fact],
    language: str,
    *,
    limit: int,
    longest: int = 200,
    first: Sequence[Fact] = (),
) -> Packed:
    """At most `limit` sentences: those that come `first`, then the user's, then the other's.

    Over the limit, facts of one speaker that have most in common share a sentence of at most
    `longest` characters; only when none can be joined any more is the oldest fact left out. What
    comes first has a sentence of its own, and is not left out before all else.
    """
    own = [[fact] for fact in first[-limit:]]
    live, left_out = [fact for fact in facts if fact not in first], list[Fact]()
    room = limit - len(own)
    while len(live) > room and sum(min(len(f.text) + 2, longest) for f in live) > room * longest:
        left_out.append(live.pop(0))  # no way of joining would make room for it
    groups = grouped(live, limit=room, longest=longest)
    while len(groups) > room:
        left_out.append(live.pop(0))
        groups = grouped(live, limit=room, longest=longest)
    groups.sort(key=lambda group: group[0].about is not Speaker.USER)
    groups = own + groups
    sentences = tuple(
        Sentence(
            text=Fact(
                about=group[0].about, text=VOICES[language].join.join(f.text for f in group)
            ).sentence(language),
            about=group[0].about,
        )
        for group in groups
    )
    return Packed(sentences=sentences, left_out=tuple(left_out))


def grouped(facts: Sequence[Fact], *, limit: int, longest: int) -> list[list[Fact]]:
    """The facts in groups of one speaker's, joined two by two, those that have most in common
    first, until there are no more than `limit` or none can be joined within `longest`."""
    groups = {i: [fact] for i, fact in enumerate(facts)}
    known = {i: marks(fact.text) for i, fact in enumerate(facts)}
    sizes = {i: len(fact.text) + 2 for i, fact in enumerate(facts)}
    pairs = {
        (i, j): _kinship(known[i], known[j])
        for i in groups
        for j in groups
        if i < j and facts[i].about is facts[j].about and sizes[i] + sizes[j] <= longest
    }
    while len(groups) > limit and pairs:
        i, j = max(pairs, key=lambda p: (pairs[p], -sizes[p[0]] - sizes[p[1]], -p[0], -p[1]))
        groups[i] += groups.pop(j)
        known[i] |= known.pop(j)
        sizes[i] += sizes.pop(j)
        touched = {other for pair in pairs if i in pair for other in pair} - {i, j}
        pairs = {pair: kin for pair, kin in pairs.items() if not {i, j} & set(pair)}
        for other in touched:
            if sizes[i] + sizes[other] <= longest:
                pairs[min(i, other), max(i, other)] = _kinship(known[i], known[other])
    return list(groups.values())


def _kinship(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / (len(one | other) or 1)


def _alike(one: Fact, other: Fact, share: float = 0.65) -> bool:
    """Whether two facts say nearly the same."""
    x, y = marks(one.text), marks(other.text)
    if one.about is not other.about or not x or not y:
        return one == other
    both = len(x & y)
    return both / min(len(x), len(y)) >= share and both / len(x | y) >= 0.34

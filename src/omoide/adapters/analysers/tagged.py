"""What the analysers of all languages share: loading late, one thread at a time, no lost blanks."""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from omoide.errors import MissingExtra
from omoide.ports.analysis import Role, Word

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, kw_only=True)
class Tagged:
    """A stretch of a text and its part of speech."""

    first: int
    last: int
    """Where it ends, not counted."""
    tag: str


class TaggingAnalyser(ABC):
    """An analyser on top of a tagger, which is loaded at its first use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # the taggers keep state between two calls

    async def words(self, text: str) -> tuple[Word, ...]:
        """See `Analyser.words`."""
        return await asyncio.to_thread(self._words, text)

    def _words(self, text: str) -> tuple[Word, ...]:
        with self._lock:
            tagged = list(self.tag(text))
        return self.judge(tuple(joined(text, tagged)))

    @abstractmethod
    def tag(self, text: str) -> Iterable[Tagged]:
        """The words of `text` in order, each with its tag. Called by one thread at a time."""

    @abstractmethod
    def role(self, word: str, tag: str) -> Role:
        """What a word with this tag does."""

    def judge(self, pairs: tuple[tuple[Word, str], ...]) -> tuple[Word, ...]:
        """The words with their roles. Grammar between two numbers holds a date or a range
        together, so it is fixed."""
        words = [replace(word, role=self.role(word.text, tag)) for word, tag in pairs]
        return tuple(
            replace(word, role=Role.FIXED)
            if word.role is Role.FUNCTION and _amid_numbers(words, i)
            else word
            for i, word in enumerate(words)
        )


def joined(text: str, tagged: Iterable[Tagged]) -> Iterable[tuple[Word, str]]:
    """The tagged stretches as words. What a tagger passed over is made a word without a tag, and
    one that begins inside the word before it (a contraction) is part of that word."""
    spans: list[Tagged] = []
    for one in tagged:
        reached = spans[-1].last if spans else 0
        if one.last <= one.first:
            continue
        if one.first < reached:
            before = spans.pop()
            last = max(before.last, one.last)
            spans.append(Tagged(first=before.first, last=last, tag=f"{before.tag}+{one.tag}"))
            continue
        if text[reached : one.first].strip():
            start = reached + len(text[reached:]) - len(text[reached:].lstrip())
            end = reached + len(text[reached : one.first].rstrip())
            spans.append(Tagged(first=start, last=end, tag=""))
        spans.append(one)
    reached = spans[-1].last if spans else 0
    if rest := text[reached:].strip():
        start = text.index(rest, reached)
        spans.append(Tagged(first=start, last=start + len(rest), tag=""))
    ends = [*(span.first for span in spans[1:]), len(text)][: len(spans)]
    for span, end in zip(spans, ends, strict=True):
        surface = text[span.first : span.last]
        yield Word(text=surface, role=Role.CONTENT, space=text[span.last : end]), span.tag


def located(text: str, pairs: Iterable[tuple[str, str]]) -> Iterable[Tagged]:
    """Surfaces and tags, each with its place in `text`; a surface that is not there is left out."""
    reached = 0
    for surface, tag in pairs:
        at = text.find(surface, reached)
        if at >= 0 and surface.strip():
            reached = at + len(surface)
            yield Tagged(first=at, last=reached, tag=tag)


def vendor(name: str, language: str) -> Any:  # noqa: ANN401 - most of these ship no types
    """The module of that name, or an error that says how to get it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtra(
            f"taking {language} apart needs {name}, which is not installed: "
            'pip install "omoide[compress]"'
        ) from error


def _amid_numbers(words: list[Word], place: int) -> bool:
    near = words[max(0, place - 2) : place]
    return any(c.isdigit() for word in near for c in word.text) and any(
        c.isdigit() for word in words[place + 1 : place + 2] for c in word.text
    )

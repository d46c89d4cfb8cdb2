"""The base of all analysers: loads late, runs in one thread at a time, keeps all white space."""

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
class TaggedSpan:
    """A span of a text and its part of speech."""

    first: int
    last: int
    """The end, exclusive."""
    tag: str


class TaggingAnalyser(ABC):
    """An analyser based on a tagger, which is loaded on first use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # taggers keep state between calls

    async def words(self, text: str) -> tuple[Word, ...]:
        """See `Analyser.words`."""
        return await asyncio.to_thread(self._words, text)

    def _words(self, text: str) -> tuple[Word, ...]:
        with self._lock:
            tagged = list(self.tag(text))
        return self.judge(tuple(joined(text, tagged)))

    @abstractmethod
    def tag(self, text: str) -> Iterable[TaggedSpan]:
        """The words of `text` in order, each with its tag. Called by one thread at a time."""

    @abstractmethod
    def role(self, word: str, tag: str) -> Role:
        """The role of a word with this tag."""

    def judge(self, pairs: tuple[tuple[Word, str], ...]) -> tuple[Word, ...]:
        """The words with their roles. Function words between two numbers are fixed, because they
        hold a date or a range together."""
        words = [replace(word, role=self.role(word.text, tag)) for word, tag in pairs]
        return tuple(
            replace(word, role=Role.FIXED)
            if word.role is Role.FUNCTION and _between_numbers(words, i)
            else word
            for i, word in enumerate(words)
        )


def joined(text: str, tagged: Iterable[TaggedSpan]) -> Iterable[tuple[Word, str]]:
    """The tagged spans as words. Text that the tagger skipped becomes a word without a tag. A span
    that begins inside the word before it (a contraction) is merged into that word."""
    spans: list[TaggedSpan] = []
    for span in tagged:
        reached = spans[-1].last if spans else 0
        if span.last <= span.first:
            continue
        if span.first < reached:
            before = spans.pop()
            last = max(before.last, span.last)
            spans.append(TaggedSpan(first=before.first, last=last, tag=f"{before.tag}+{span.tag}"))
            continue
        if text[reached : span.first].strip():
            start = reached + len(text[reached:]) - len(text[reached:].lstrip())
            end = reached + len(text[reached : span.first].rstrip())
            spans.append(TaggedSpan(first=start, last=end, tag=""))
        spans.append(span)
    reached = spans[-1].last if spans else 0
    if rest := text[reached:].strip():
        start = text.index(rest, reached)
        spans.append(TaggedSpan(first=start, last=start + len(rest), tag=""))
    ends = [*(span.first for span in spans[1:]), len(text)][: len(spans)]
    for span, end in zip(spans, ends, strict=True):
        surface = text[span.first : span.last]
        yield Word(text=surface, role=Role.CONTENT, space=text[span.last : end]), span.tag


def located(text: str, pairs: Iterable[tuple[str, str]]) -> Iterable[TaggedSpan]:
    """Words and tags with their positions in `text`. Words that are not in it are skipped."""
    reached = 0
    for surface, tag in pairs:
        at = text.find(surface, reached)
        if at >= 0 and surface.strip():
            reached = at + len(surface)
            yield TaggedSpan(first=at, last=reached, tag=tag)


def vendor(name: str, language: str) -> Any:  # noqa: ANN401 - most of these ship no types
    """Import a vendor module. Raises `MissingExtra`, which says how to install it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtra(
            f"analysing {language} needs {name}, which is not installed: "
            'pip install "omoide[compress]"'
        ) from error


def _between_numbers(words: list[Word], index: int) -> bool:
    before = words[max(0, index - 2) : index]
    return any(c.isdigit() for word in before for c in word.text) and any(
        c.isdigit() for word in words[index + 1 : index + 2] for c in word.text
    )

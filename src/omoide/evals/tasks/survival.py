"""What of the words that a reply needs stands in what memory brings: no model has a part in it.

Where words are not written apart (Chinese, Japanese), a word is there if it stands in the text
letter by letter: pairs of characters, by which search goes, would be lost with every particle
between two words, and dropping particles would look like dropping words. Korean goes by pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.errors import MissingExtra
from omoide.language import content_terms
from omoide.ports.analysis import Role

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from omoide.ports.analysis import Analyser

_TOGETHER = frozenset({"zh", "ja"})


@dataclass(frozen=True, kw_only=True)
class Said:
    """Some texts, asked whether they hold a word."""

    text: str
    terms: frozenset[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Said:
        """Of these."""
        told = list(texts)
        return cls(
            text="\n".join(told), terms=frozenset(t for one in told for t in content_terms(one))
        )

    def holds(self, word: str, *, language: str) -> bool:
        """Whether the word is there."""
        return word in self.text if language in _TOGETHER else word in self.terms


NOTHING = Said(text="", terms=frozenset())


async def content_words(
    text: str, *, language: str, analyser: Callable[[str], Analyser] | None
) -> frozenset[str]:
    """The words of a text that say something; stems where words are written apart."""
    if language not in _TOGETHER or analyser is None:
        return frozenset(content_terms(text))
    words = await analyser(language).words(text)
    return frozenset(
        word.text
        for word in words
        if word.role is not Role.FUNCTION and word.text.isalnum() and _tells(word.text)
    )


def _tells(word: str) -> bool:
    """One sign of the Japanese syllabary by itself says nothing."""
    return len(word) > 1 or not "\u3041" <= word <= "\u30ff"


async def brought(
    gold: str,
    memory: Iterable[str],
    *,
    said: Said,
    seen: Said = NOTHING,
    language: str,
    analyser: Callable[[str], Analyser] | None,
) -> float | None:
    """Of the content words of `gold` that were `said` before and are not `seen` in the prompt
    anyway, the share that stands in the texts of `memory`; None if there is no such word."""
    try:
        words = await content_words(gold, language=language, analyser=analyser)
    except MissingExtra:  # a language whose dictionary is not installed has no such score
        return None
    wanted = [
        word
        for word in words
        if said.holds(word, language=language) and not seen.holds(word, language=language)
    ]
    if not wanted:
        return None
    there = Said.of(memory)
    return sum(there.holds(word, language=language) for word in wanted) / len(wanted)

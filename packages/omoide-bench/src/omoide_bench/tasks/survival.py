"""How many of the words that a reply needs are in the recalled memory. No model is called.

In Chinese and Japanese, which have no spaces, a word counts if it is a substring of the text. The
character pairs that search uses would change with every particle between two words, so dropping
particles would look like dropping words. Korean uses character pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.errors import MissingExtra
from omoide.language import content_terms
from omoide.ports import Role

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from omoide.ports import Analyser

_WITHOUT_SPACES = frozenset({"zh", "ja"})


@dataclass(frozen=True, kw_only=True)
class TextSet:
    """Texts that can be checked for words."""

    text: str
    terms: frozenset[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> TextSet:
        """The set of these texts."""
        parts = list(texts)
        return cls(
            text="\n".join(parts), terms=frozenset(t for text in parts for t in content_terms(text))
        )

    def holds(self, word: str, *, language: str) -> bool:
        """Whether the texts contain the word."""
        return word in self.text if language in _WITHOUT_SPACES else word in self.terms


NOTHING = TextSet(text="", terms=frozenset())


async def content_words(
    text: str, *, language: str, analyser: Callable[[str], Analyser] | None
) -> frozenset[str]:
    """The content words of a text; stems in languages with spaces."""
    if language not in _WITHOUT_SPACES or analyser is None:
        return frozenset(content_terms(text))
    words = await analyser(language).words(text)
    return frozenset(
        word.text
        for word in words
        if word.role is not Role.FUNCTION and word.text.isalnum() and _has_meaning(word.text)
    )


def _has_meaning(word: str) -> bool:
    """Whether a word carries meaning: a single kana does not."""
    return len(word) > 1 or not "\u3041" <= word <= "\u30ff"


async def words_brought_back(
    gold: str,
    memory: Iterable[str],
    *,
    said: TextSet,
    seen: TextSet = NOTHING,
    language: str,
    analyser: Callable[[str], Analyser] | None,
) -> float | None:
    """The share of words in `gold` that `memory` contains. Only content words that were `said`
    before and are not `seen` in the prompt anyway count; None if there are none."""
    try:
        words = await content_words(gold, language=language, analyser=analyser)
    except MissingExtra:  # no score for a language whose dictionary is not installed
        return None
    wanted = [
        word
        for word in words
        if said.holds(word, language=language) and not seen.holds(word, language=language)
    ]
    if not wanted:
        return None
    recalled = TextSet.of(memory)
    return sum(recalled.holds(word, language=language) for word in wanted) / len(wanted)

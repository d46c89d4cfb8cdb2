"""A generated memory against annotated facts: precision, recall and F1.

Wang et al. 2023 report these in Figure 5 without a formula; `plain_memory_score` is the simplest
reading: ParlAI's words of the whole memory against those of all gold personas so far.

`memory_score` is this project's measure since its first experiments
(docs/experiments/*-measures.md): the same over *fair* words. Gold personas say "I keep bees",
memories "The user keeps bees", so words of person are dropped on both sides and a few rules remove
inflection. All gold sentences of both speakers and all sessions so far are one bag of words, all
sentences of the memory another. Each dialogue gives one P, R and F1; the score is the mean over
dialogues. It only compares words: it ignores whom a fact is about, and negation.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from omoide_bench.metrics.overlap import word_score
from omoide_bench.metrics.tokens import BY_CHARACTER, characters, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omoide_bench.metrics.overlap import Score

_MARKS = re.compile(r"[^\w\s]|_")
_ARTICLES = frozenset({"a", "an", "the"})
_PERSON = frozenset(
    "i my me mine myself user assistant speaker he she his her him hers their they them theirs "
    "s m ve re d ll 1 2 im ive".split()
)
_VERBS = {
    "have": "has",
    "had": "has",
    "am": "is",
    "are": "is",
    "was": "is",
    "were": "is",
    "be": "is",
    "does": "do",
}


def memory_score(memory: Iterable[str], gold: Iterable[str], *, language: str = "en") -> Score:
    """The fair words of a memory's sentences against those of the gold facts.

    >>> memory_score(["The user keeps bees."], ["I keep bees.", "I have a dog."]).precision
    1.0
    """
    return word_score(fair_words(" ".join(memory), language), fair_words(" ".join(gold), language))


def plain_memory_score(
    memory: Iterable[str], gold: Iterable[str], *, language: str = "en"
) -> Score:
    """ParlAI's words of the memory against those of the gold facts: perhaps what the paper's Figure
    5 shows."""
    return word_score(tokens(" ".join(memory), language), tokens(" ".join(gold), language))


def fair_words(text: str, language: str = "en") -> list[str]:
    """Words without person and inflection; characters in Chinese, Japanese and Korean."""
    if language in BY_CHARACTER:
        return characters(text)
    words = _MARKS.sub(" ", text.lower()).split()
    return [_rough_stem(word) for word in words if word not in _ARTICLES and word not in _PERSON]


def _rough_stem(word: str) -> str:
    """A rough stem. Do not change it, or figures are no longer comparable."""
    word = _VERBS.get(word, word)
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    for ending in ("ing", "ed"):
        if len(word) > len(ending) + 3 and word.endswith(ending):
            word = word[: -len(ending)]
            return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    return word[:-1] if len(word) > 4 and word.endswith("e") else word

"""F1 as LoCoMo (Maharana et al. 2024) published it, by the category of the question.

Words are lower-cased, without commas and other ASCII punctuation (removed, not replaced by spaces),
without a, an, the and "and", and stemmed by Porter. Categories 2, 3 and 4: F1 of the whole answer;
in category 3 only the part before the first semicolon of the gold answer counts. Category 1: both
sides are split at commas, each gold part takes the best F1 of any part of the answer, and the score
is the mean over gold parts. Category 5: 1 if the answer has one of two phrases that say that there
is no information; 0 otherwise.

Our stemmer is the published Porter algorithm (snowballstemmer); the authors use NLTK's, which
treats a few words differently. With the evidence as the answer to each of the 1,540 questions of
categories 1 to 4, 6 scores differ between the two, and the mean by 0.0001.
"""

from __future__ import annotations

import re
import string
from functools import cache
from statistics import fmean
from typing import TYPE_CHECKING

from omoide_bench.metrics.overlap import word_score
from omoide_bench.metrics.tokens import BY_CHARACTER, characters

if TYPE_CHECKING:
    from collections.abc import Callable

NOTHING_THERE = ("no information available", "not mentioned")
"""The phrases of a right answer in category 5."""
_DROPPED = str.maketrans("", "", string.punctuation)
_SMALL = re.compile(r"\b(?:a|an|the|and)\b")


def locomo_f1(answer: str, gold: str | None, category: str, *, language: str = "en") -> float:
    """LoCoMo's F1 of an answer, 0 to 1; the category by its name in `omoide_bench.data.locomo`.

    >>> round(locomo_f1("cats, a parrot", "a parrot, two cats", "multi-hop"), 2)
    0.83
    >>> locomo_f1("That is not mentioned.", None, "adversarial")
    1.0
    """
    if category == "adversarial":
        return float(any(phrase in answer.lower() for phrase in NOTHING_THERE))
    if gold is None:
        raise ValueError(f"a question of category {category} needs a gold answer, got None")
    if category == "multi-hop":
        return fmean(
            max(_f1(part, wanted, language) for part in answer.split(","))
            for wanted in gold.split(",")
        )
    if category == "open":
        gold = gold.split(";")[0].strip()
    return _f1(answer, gold, language)


def _f1(answer: str, gold: str, language: str) -> float:
    return word_score(_words(answer, language), _words(gold, language)).f1


def _words(text: str, language: str) -> list[str]:
    if language in BY_CHARACTER:
        return characters(text)
    plain = _SMALL.sub(" ", text.lower().translate(_DROPPED))
    stem = _stemmer()
    return [stem(word) for word in plain.split()]


@cache
def _stemmer() -> Callable[[str], str]:
    import snowballstemmer

    porter = snowballstemmer.stemmer("porter")

    @cache
    def stem(word: str) -> str:
        # As in NLTK, words of one or two letters are not stemmed.
        return str(porter.stemWord(word)) if len(word) > 2 else word

    return stem

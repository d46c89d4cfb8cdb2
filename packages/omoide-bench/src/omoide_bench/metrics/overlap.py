"""Token overlap of two texts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide_bench.metrics.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class Score:
    """Precision, recall and their harmonic mean, 0 to 1."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """The harmonic mean; 0 if both are 0."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def word_score(found: Sequence[str], wanted: Sequence[str]) -> Score:
    """Common tokens, with multiplicity, divided by the tokens found and by those wanted.

    >>> word_score(["red", "cat"], ["red", "red", "hat"])
    Score(precision=0.5, recall=0.3333333333333333)
    """
    common = (Counter(found) & Counter(wanted)).total()
    if not common:
        return Score(precision=0.0, recall=0.0)
    return Score(precision=common / len(found), recall=common / len(wanted))


def parlai_f1(reply: str, *gold: str, language: str = "en") -> float:
    """ParlAI's F1 of one reply: over normalised words, the best of the gold replies. A system's
    score is the mean over its replies.

    >>> round(parlai_f1("I have a red cat.", "My cat is red"), 3)
    0.5
    """
    words = tokens(reply, language)
    return max(word_score(words, tokens(reference, language)).f1 for reference in gold)

"""What multiple choice gives to guesses that know nothing of the history.

Options may give the right one away: by its length, or because the wrong ones are variations of it.
Such a guess is what a method has to beat, not one in four. Likeness is by pairs of characters, so
that it is the same for every language.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from omoide_bench.discrimination import Discrimination
from omoide_bench.statistics import auc, share

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from omoide_bench.data.shapes import DatasetQuestion

KNOWN = "the right option"


def guesses(measure: str, questions: Sequence[DatasetQuestion]) -> Discrimination:
    """How often each guess is right."""
    right = [True] * len(questions)
    found = {
        kind: [_best(question, mark) == question.right_choice for question in questions]
        for kind, mark in _GUESSES.items()
    }
    return Discrimination(
        measure=measure,
        scores={kind: share(hits) for kind, hits in ({KNOWN: right} | found).items()},
        auc={kind: auc(right, hits) for kind, hits in found.items()},
    )


def _best(question: DatasetQuestion, mark: Callable[[DatasetQuestion, int], float]) -> int:
    """The option with the highest mark, the first of equals."""
    return max(range(len(question.choices)), key=lambda index: mark(question, index))


def _length(question: DatasetQuestion, index: int) -> float:
    return len(question.choices[index])


def _like_message(question: DatasetQuestion, index: int) -> float:
    return _likeness(question.choices[index], question.text)


def _like_others(question: DatasetQuestion, index: int) -> float:
    others = (text for n, text in enumerate(question.choices) if n != index)
    return sum(_likeness(question.choices[index], other) for other in others)


def _likeness(one: str, other: str) -> float:
    """Shared pairs of characters, as a share of all pairs."""
    first, second = (set(pairwise(text.lower())) for text in (one, other))
    return len(first & second) / max(len(first | second), 1)


_GUESSES: dict[str, Callable[[DatasetQuestion, int], float]] = {
    "the longest option": _length,
    "the one most like the others": _like_others,
    "the one most like the message": _like_message,
}

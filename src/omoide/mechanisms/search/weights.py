"""The weights of the kinds of evidence, learnt from several corpora, one set per embedder."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final


@dataclass(frozen=True, kw_only=True)
class EvidenceWeights:
    """The weight of each kind of evidence, in natural log odds.

    Listwise logistic regression over six corpora that count alike. Each was left out once to
    judge the others' weights by it (docs/experiments/2026-11-16-recall-ranking.md). The defaults
    are those of the multilingual embedder, but for questions. Those of `gte-small-memory` are
    learnt from the three English corpora (docs/experiments/2026-11-17-recall.md).
    """

    words: float = 0.23
    near_words: float = 0.38
    meaning: float = 0.9
    near_meaning: float = 0.9
    session: float = 2.2
    speaker: float = 2.8
    time: float = 4.6
    when: float = 1.0
    question: float = -4.4
    answers: float = 0.3


KINDS: Final = tuple(field.name for field in fields(EvidenceWeights))
"""The kinds of evidence, by name."""

WITHOUT_EMBEDDER: Final = EvidenceWeights(
    words=0.42,
    near_words=0.56,
    meaning=0,
    near_meaning=0,
    session=2.8,
    speaker=2.8,
    time=5.9,
    when=1.25,
    question=-2.6,
    answers=0.7,
)
LEARNT: Final[dict[str, EvidenceWeights]] = {
    "use-multilingual": EvidenceWeights(),
    "gte-small-memory": EvidenceWeights(
        words=0.2,
        near_words=0.21,
        meaning=1.2,
        near_meaning=0.83,
        session=2.2,
        speaker=2.4,
        time=3.0,
        when=1.3,
        question=-1.0,
        answers=0.46,
    ),
}
"""The weights for each embedder that they were learnt with, by the name of its space."""
FOR_QUESTIONS: Final[dict[str, EvidenceWeights]] = {
    "use-multilingual": EvidenceWeights(
        words=0.22,
        near_words=0.37,
        meaning=1.13,
        near_meaning=0.53,
        when=1.06,
        question=-2.0,
        answers=0.25,
    ),
}
"""The same for questions of memory, whose vectors are moved to their answers (`question_map`): such
a meaning tells more, and mostly sees by itself what only asks
(docs/experiments/2026-11-19-question-map.md)."""
_ENGLISH: Final = frozenset({"en"})
READ: Final[dict[str, frozenset[str]]] = {
    "use-multilingual": frozenset({"en", "zh", "ja", "ko"}),
    "gte-small": _ENGLISH,
    "gte-small-memory": _ENGLISH,
    "all-minilm-l6-v2-int8": _ENGLISH,
}
"""The languages that an embedder can read, by the name of its space; one that is not listed reads
all. To another language's texts it gives vectors that are all alike."""


def reads(space: str | None, language: str) -> bool:
    """Whether the vectors of an embedder's space mean anything in that language."""
    return space is not None and language in READ.get(space, (language,))


def weights_for(space: str | None, *, of_memory: bool) -> EvidenceWeights:
    """The weights for a query in an embedder's space, None for no embedder. `of_memory`: whether
    the query asks of memory (`question.asks_of_memory`). An embedder that they were not learnt with
    gets those of the default one."""
    if space is None:
        return WITHOUT_EMBEDDER
    learnt = LEARNT.get(space, EvidenceWeights())
    return FOR_QUESTIONS.get(space, learnt) if of_memory else learnt

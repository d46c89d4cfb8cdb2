"""The written questions, joined with the conversations that answer them, in pools of turns."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from omoide_tune.retrieval import shapes
from omoide_tune.retrieval.shapes import CUTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from omoide_tune.retrieval.question_map import MapRecipe, QuestionMap
    from omoide_tune.retrieval.shapes import Conversation
    from omoide_tune.written import WrittenQuestion

    Rows = NDArray[np.float32]

ALL = "all"
"""Stands for all languages together."""


@dataclass(frozen=True, kw_only=True)
class QuestionPool:
    """Turns of one language and source, and the questions that are looked up in them."""

    source: str
    language: str
    held_out: bool
    """Whether it is kept for judging."""
    turns: tuple[str, ...]
    questions: tuple[WrittenQuestion, ...]
    right: tuple[tuple[int, ...], ...]
    """For each question, the places of the turns that answer it."""


@dataclass(frozen=True, kw_only=True)
class TextVectors:
    """The vectors of all questions and of all turns, by text: an embedder may have an encoder of
    its own for what is searched for."""

    asked: Mapping[str, Rows]
    said: Mapping[str, Rows]

    def of(self, pool: QuestionPool) -> tuple[Rows, Rows]:
        """Those of a pool's questions and of its turns, in order."""
        asked = np.array([self.asked[question.text] for question in pool.questions])
        return asked, np.array([self.said[text] for text in pool.turns])


@dataclass(frozen=True, kw_only=True)
class HeldOutRecall:
    """How much of what answers the held-out questions of a language is found, by cosine."""

    language: str
    questions: int
    identity: tuple[float, ...]
    """In the first 1, 5 and 10 turns, in percent, with the questions' vectors as they are."""
    mapped: tuple[float, ...]
    """The same with the map."""


def question_pools(
    questions: Iterable[WrittenQuestion], conversations: Iterable[Conversation]
) -> Iterator[QuestionPool]:
    """Of each conversation, the turns from the first to the last that a question names: whoever
    wrote the questions read no others. A question whose turns are missing is left out."""
    asked: dict[str, list[WrittenQuestion]] = defaultdict(list)
    for question in questions:
        asked[question.conversation].append(question)
    kept: dict[str, list[WrittenQuestion]] = {}
    cut = []
    for one in conversations:
        place = {turn.id: i for i, turn in enumerate(one.turns)}
        own = [q for q in asked[one.name] if place.keys() >= set(q.turns)]
        if own:
            kept[one.name] = own
            named = [place[turn] for question in own for turn in question.turns]
            cut.append(replace(one, turns=one.turns[min(named) : max(named) + 1]))
    for pool in shapes.pools(cut):
        yield _pool(pool, [question for one in pool for question in kept[one.name]])


def _pool(pool: Sequence[Conversation], questions: Sequence[WrittenQuestion]) -> QuestionPool:
    keys = [(one.name, turn.id) for one in pool for turn in one.turns]
    place = {key: i for i, key in enumerate(keys)}
    return QuestionPool(
        source=pool[0].source,
        language=pool[0].language,
        held_out=pool[0].held_out,
        turns=tuple(turn.text for one in pool for turn in one.turns),
        questions=tuple(questions),
        right=tuple(tuple(place[q.conversation, turn] for turn in q.turns) for q in questions),
    )


def held_out_recall(
    pools: Iterable[QuestionPool], vectors: TextVectors, learnt: QuestionMap
) -> tuple[HeldOutRecall, ...]:
    """By language, and of all together."""
    found: dict[str, list[tuple[Rows, Rows]]] = defaultdict(list)
    for pool in pools:
        if pool.held_out:
            asked, said = vectors.of(pool)
            both = (
                _recalls(asked @ said.T, pool.right),
                _recalls(learnt.apply(asked) @ said.T, pool.right),
            )
            found[pool.language].append(both)
            found[ALL].append(both)
    result = []
    for language, parts in sorted(found.items(), key=lambda item: (item[0] == ALL, item[0])):
        before, after = (np.concatenate(side) for side in zip(*parts, strict=True))
        result.append(
            HeldOutRecall(
                language=language,
                questions=len(before),
                identity=_percent(before),
                mapped=_percent(after),
            )
        )
    return tuple(result)


def _recalls(scores: Rows, right: Sequence[Sequence[int]]) -> Rows:
    """One row a question, one column a cut."""
    best = np.argsort(-scores, axis=1, kind="stable")[:, : CUTS[-1]]
    return np.array(
        [
            [np.isin(gold, first[:cut]).mean() for cut in CUTS]
            for gold, first in zip(right, best, strict=True)
        ],
        dtype=np.float32,
    )


def _percent(recalls: Rows) -> tuple[float, ...]:
    return tuple(round(100 * float(mean), 1) for mean in recalls.mean(axis=0))


def card(
    pools: Sequence[QuestionPool],
    *,
    embedder: str,
    recipe: MapRecipe,
    held_out: Sequence[HeldOutRecall],
) -> dict[str, object]:
    """Counts by source, language and style, with the licence of each source, and what came of
    it."""
    asked = [(pool, question) for pool in pools for question in pool.questions]
    counts = Counter((pool.source, pool.language) for pool, _ in asked)
    return {
        "embedder": embedder,
        "questions": len(asked),
        "trained_on": sum(not pool.held_out for pool, _ in asked),
        "licence_of_the_questions": "Apache-2.0",
        "sources": [
            {
                "source": source,
                "language": language,
                "licence": shapes.LICENCES[source],
                "questions": count,
            }
            for (source, language), count in sorted(counts.items())
        ],
        "styles": dict(sorted(Counter(question.style for _, question in asked).items())),
        "recipe": vars(recipe),
        "held_out": [vars(one) for one in held_out],
        "recall_at": CUTS,
    }

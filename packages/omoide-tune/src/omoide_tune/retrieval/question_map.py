"""A linear map that brings the vector of a question near the vectors of what answers it.

Turns are embedded and stored as they are; only a question is mapped, which is one matrix product.
The map begins as the identity. It is learnt with InfoNCE (van den Oord et al. 2018, eq. 4): a
question has to find a turn that answers it among those of the other questions of its batch and the
nearest turns that do not answer it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from omoide.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Rows = NDArray[np.float32]
    Places = NDArray[np.intp]

_NONE = -1
"""Fills a row of places."""
_LARGEST = 2
"""Of a step, either way. On held-out talks five values find 64.9 and 75.8 % within the first 5 and
10, 255 find 65.1 and 76.0 in four times the bytes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class QuestionMap:
    """A square matrix for the vectors of questions, which are rows."""

    matrix: Rows

    @classmethod
    def identity(cls, dimensions: int) -> QuestionMap:
        """The map that changes nothing."""
        return cls(matrix=np.eye(dimensions, dtype=np.float32))

    def apply(self, rows: Rows) -> Rows:
        """The mapped vectors, of length 1."""
        mapped = rows @ self.matrix
        unit: Rows = mapped / np.maximum(np.linalg.norm(mapped, axis=1, keepdims=True), 1e-9)
        return unit

    def save(self, path: Path, *, embedder: str) -> None:
        """As its difference from the identity in small whole steps, with a scale for each row: 512
        dimensions take 50 kB."""
        change = self.matrix - np.eye(len(self.matrix), dtype=np.float32)
        scale = (np.abs(change).max(axis=1) / _LARGEST).astype(np.float32)
        steps = np.rint(change / np.where(scale > 0, scale, 1)[:, None]).astype(np.int8)
        with path.open("wb") as file:
            np.savez_compressed(file, steps=steps, scale=scale, embedder=np.array(embedder))

    @classmethod
    def load(cls, path: Path) -> QuestionMap:
        """What `save` wrote, within a rounding."""
        with np.load(path) as file:
            change = file["steps"].astype(np.float32) * file["scale"][:, None]
        return cls(matrix=np.eye(len(change), dtype=np.float32) + change)


@dataclass(frozen=True, kw_only=True)
class MapRecipe:
    """How a map is learnt."""

    steps: int = 1200
    batch: int = 128
    hard: int = 6
    """Wrong turns of each question in a step."""
    nearest: int = 24
    """They are drawn from so many that are nearest to the question."""
    alike: float = 0.9
    """A turn whose cosine with a right one is not below this may answer too: it is not wrong."""
    temperature: float = 0.05
    rate: float = 1e-3
    decay: float = 0.02
    """Pull towards the identity."""
    seed: int = 1


@dataclass(frozen=True, kw_only=True, eq=False)
class MapExamples:
    """Vectors of questions and of turns, and which turns answer each question."""

    questions: Rows
    turns: Rows
    right: Places
    """One row a question; a short one is filled with -1."""
    wrong: Places
    """Near turns that do not answer; a short row repeats them."""


def examples(
    questions: Rows, turns: Rows, right: Sequence[Sequence[int]], *, recipe: MapRecipe
) -> MapExamples:
    """Of the questions that are looked up in one pool of turns. A question without wrong turns is
    left out."""
    nearness = questions @ turns.T
    alike = turns @ turns.T >= recipe.alike
    kept, wrong = [], []
    for row, gold in enumerate(right):
        candidates = np.flatnonzero(~alike[list(gold)].any(axis=0))
        nearest = candidates[np.argsort(-nearness[row, candidates])][: recipe.nearest]
        if len(nearest):
            kept.append(row)
            wrong.append(np.resize(nearest, recipe.nearest))
    return MapExamples(
        questions=questions[kept],
        turns=turns,
        right=_filled([right[row] for row in kept]),
        wrong=np.array(wrong, dtype=np.intp).reshape(-1, recipe.nearest),
    )


def joined(parts: Sequence[MapExamples]) -> MapExamples:
    """The examples of several pools."""
    if not any(len(part.questions) for part in parts):
        raise BadInput(
            "there is no question to learn from. What to do: name more languages with --language"
        )
    starts = np.cumsum([0, *(len(part.turns) for part in parts)])
    right = [
        row[row != _NONE] + start
        for part, start in zip(parts, starts, strict=False)
        for row in part.right
    ]
    wrong = [part.wrong + start for part, start in zip(parts, starts, strict=False)]
    return MapExamples(
        questions=np.concatenate([part.questions for part in parts]),
        turns=np.concatenate([part.turns for part in parts]),
        right=_filled(right),
        wrong=np.concatenate(wrong),
    )


def learn(given: MapExamples, *, recipe: MapRecipe) -> QuestionMap:
    """The map under which questions are nearest to the turns that answer them."""
    dice = np.random.default_rng(recipe.seed)
    identity = np.eye(given.questions.shape[1], dtype=np.float32)
    matrix = identity.copy()
    mean, square = np.zeros_like(matrix), np.zeros_like(matrix)
    for step in range(1, recipe.steps + 1):
        rows = dice.integers(len(given.questions), size=recipe.batch)
        slope = _slope(matrix, given, rows, recipe=recipe, dice=dice)
        slope += 2 * recipe.decay * (matrix - identity)
        # Adam (Kingma & Ba 2015, algorithm 1), at a rate that falls along a cosine to nothing.
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope * slope
        rate = recipe.rate * 0.5 * (1 + np.cos(np.pi * step / recipe.steps))
        matrix -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return QuestionMap(matrix=matrix)


def _slope(
    matrix: Rows, given: MapExamples, rows: Places, *, recipe: MapRecipe, dice: np.random.Generator
) -> Rows:
    """The gradient of the loss of one batch."""
    count = len(rows)
    right = given.right[rows]
    gold = right[np.arange(count), dice.integers((right != _NONE).sum(axis=1))]
    drawn = dice.random((count, recipe.nearest)).argsort(axis=1)[:, : recipe.hard]
    hard = np.take_along_axis(given.wrong[rows], drawn, axis=1)
    places = np.concatenate([gold, hard.ravel()])
    questions, turns = given.questions[rows], given.turns[places]
    mapped = questions @ matrix
    length = np.linalg.norm(mapped, axis=1, keepdims=True)
    unit = mapped / length
    scores = unit @ turns.T / recipe.temperature
    # Another turn that answers the question too is neither right nor wrong.
    too = (places[None, None, :] == right[:, :, None]).any(axis=1)
    too[np.arange(count), np.arange(count)] = False
    scores[too] = -np.inf
    scores -= scores.max(axis=1, keepdims=True)
    shares = np.exp(scores)
    shares /= shares.sum(axis=1, keepdims=True)
    shares[np.arange(count), np.arange(count)] -= 1
    towards = shares @ turns / (count * recipe.temperature)
    towards -= unit * (unit * towards).sum(axis=1, keepdims=True)  # only the direction counts
    slope: Rows = questions.T @ (towards / length)
    return slope


def _filled(rows: Sequence[Sequence[int] | Places]) -> Places:
    filled = np.full((len(rows), max(map(len, rows), default=1)), _NONE, dtype=np.intp)
    for place, row in enumerate(rows):
        filled[place, : len(row)] = row
    return filled

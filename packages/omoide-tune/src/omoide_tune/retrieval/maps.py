"""Two linear maps over frozen vectors: one for questions, one for turns.

For languages that the tuned encoder does not read. Both begin as the identity; at run time a map
is one matrix product in numpy. The one-map variant serves where questions and turns come through
the same call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from omoide_tune.retrieval.encoder import vendor

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Rows = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Maps:
    """What turns frozen vectors into vectors that know what a question is."""

    questions: Rows
    turns: Rows

    def question(self, rows: Rows) -> Rows:
        """Vectors of questions."""
        return _unit(rows @ self.questions)

    def turn(self, rows: Rows) -> Rows:
        """Vectors of turns."""
        return _unit(rows @ self.turns)

    def save(self, path: Path) -> None:
        """As 16-bit numbers: 1 MB for 512 dimensions."""
        np.savez(path, questions=self.questions.astype("f2"), turns=self.turns.astype("f2"))

    @classmethod
    def load(cls, path: Path) -> Maps:
        """What `save` wrote."""
        with np.load(path) as file:
            return cls(questions=file["questions"].astype("f4"), turns=file["turns"].astype("f4"))


@dataclass(frozen=True, kw_only=True)
class MapRecipe:
    """How the maps are learnt."""

    steps: int = 1500
    batch: int = 256
    hard: int = 6
    temperature: float = 0.05
    rate: float = 1e-3
    decay: float = 1e-2
    """Pull of both maps towards the identity."""
    shared: bool = False
    """One map for questions and turns."""
    seed: int = 1
    device: str = "cpu"


def fit(
    questions: Rows, turns: Rows, right: Sequence[int], wrong: Sequence[Sequence[int]],
    *, recipe: MapRecipe,
) -> Maps:  # fmt: skip
    """Maps under which row i of `questions` is nearest to row `right[i]` of `turns`."""
    torch = vendor("torch")
    torch.manual_seed(recipe.seed)
    dice = np.random.default_rng(recipe.seed)
    where = recipe.device
    asked, said = torch.from_numpy(questions).to(where), torch.from_numpy(turns).to(where)
    gold = np.array(right)
    bad = np.array([[w[i % len(w)] for i in range(24)] for w in wrong])
    identity = torch.eye(questions.shape[1], device=where)
    first = identity.clone().requires_grad_()
    second = first if recipe.shared else identity.clone().requires_grad_()
    optimiser = torch.optim.Adam([first] if recipe.shared else [first, second], lr=recipe.rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, recipe.steps)
    norm = torch.nn.functional.normalize
    for _ in range(recipe.steps):
        rows = dice.integers(len(gold), size=min(recipe.batch, len(gold)))
        hard = bad[rows][:, dice.choice(24, recipe.hard, replace=False)]
        places = np.concatenate([gold[rows], hard.ravel()])
        scores = norm(asked[rows] @ first, dim=-1) @ norm(said[places] @ second, dim=-1).T
        same = torch.from_numpy(places[None] == gold[rows][:, None]).to(where)
        same &= ~torch.eye(len(rows), len(places), dtype=torch.bool, device=where)
        scores = (scores / recipe.temperature).masked_fill(same, float("-inf"))
        loss = torch.nn.functional.cross_entropy(scores, torch.arange(len(rows), device=where))
        loss = loss + recipe.decay * (
            (first - identity).square().sum() + (second - identity).square().sum()
        )
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    return Maps(
        questions=first.detach().cpu().numpy().copy(),
        turns=second.detach().cpu().numpy().copy(),
    )


def _unit(rows: Rows) -> Rows:
    unit: Rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return unit

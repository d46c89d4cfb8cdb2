"""Tuning a sentence encoder on pairs: a bi-encoder with in-batch and hard negatives.

The recipe: the right turn against six hard and two random wrong ones and all other turns of the
batch, a softmax over cosines at temperature 0.03 (InfoNCE), AdamW at 2e-5, a tenth of warm-up,
linear decay.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omoide_tune.retrieval.encoder import PASSAGE, QUERY, vendor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from omoide_tune.retrieval.encoder import Encoder
    from omoide_tune.retrieval.pairs import Pair


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How it is trained."""

    steps: int = 600
    batch: int = 64
    hard: int = 6
    loose: int = 2
    temperature: float = 0.03
    rate: float = 2e-5
    warm: float = 0.1
    seed: int = 1


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of it."""

    pairs: int
    losses: tuple[float, ...]
    """The mean over each tenth of the steps."""
    seconds: float


def train(
    encoder: Encoder,
    pairs: Sequence[Pair],
    texts: Mapping[tuple[str, str], str],
    *,
    recipe: Recipe,
    tell: Callable[[str], None] = lambda line: None,
) -> Outcome:
    """Tune the encoder in place. `texts` holds every turn by conversation and id."""
    torch = vendor("torch")
    torch.manual_seed(recipe.seed)
    dice = random.Random(recipe.seed)  # noqa: S311 - an order, not a secret
    usable = [pair for pair in pairs if pair.turn and not pair.held_out]
    optimiser = torch.optim.AdamW(encoder.model.parameters(), lr=recipe.rate, weight_decay=0.01)
    warm = max(1, int(recipe.warm * recipe.steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser,
        lambda step: min((step + 1) / warm, (recipe.steps - step) / max(1, recipe.steps - warm)),
    )
    batches = _batches(usable, recipe, dice)
    all_turns = list(texts.values())
    losses: list[float] = []
    began = time.monotonic()
    encoder.model.train()
    for step in range(recipe.steps):
        loss = _loss(encoder, next(batches), texts, recipe=recipe, dice=dice, others=all_turns)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(encoder.model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        losses.append(float(loss.detach()))
        if (step + 1) % max(1, recipe.steps // 10) == 0:
            tell(f"step {step + 1}/{recipe.steps} loss {losses[-1]:.4f}")
    tenth = max(1, recipe.steps // 10)
    means = [sum(losses[i : i + tenth]) / tenth for i in range(0, recipe.steps, tenth)]
    return Outcome(
        pairs=len(usable), losses=tuple(means), seconds=round(time.monotonic() - began, 1)
    )


def _batches(pairs: list[Pair], recipe: Recipe, dice: random.Random) -> Any:  # noqa: ANN401
    while True:
        order = dice.sample(pairs, len(pairs))
        size = min(recipe.batch, len(pairs))
        for start in range(0, len(order) - size + 1, size):
            yield order[start : start + size]


def _loss(
    encoder: Encoder,
    batch: Sequence[Pair],
    texts: Mapping[tuple[str, str], str],
    *,
    recipe: Recipe,
    dice: random.Random,
    others: Sequence[str],
) -> Any:  # noqa: ANN401 - a tensor
    torch = vendor("torch")
    turns = [texts[pair.conversation, pair.turn] for pair in batch]
    for pair in batch:
        hard = dice.sample(pair.negatives, min(recipe.hard, len(pair.negatives)))
        turns += [texts[key] for key in hard]
        turns += dice.choices(others, k=recipe.loose)
    on_gpu = encoder.device.startswith("cuda")
    with torch.autocast(encoder.device.split(":")[0], dtype=torch.bfloat16, enabled=on_gpu):
        asked = encoder.forward([pair.question for pair in batch], max_chars=QUERY)
        said = encoder.forward(turns, max_chars=PASSAGE)
    scores = asked @ said.T / recipe.temperature
    # The same turn may answer two questions of a batch; it is no wrong answer to either.
    same = torch.tensor([[a == b for b in turns] for a in turns[: len(batch)]])
    same &= ~torch.eye(len(batch), len(turns), dtype=torch.bool)
    scores = scores.masked_fill(same.to(scores.device), float("-inf"))
    right = torch.arange(len(batch), device=scores.device)
    return torch.nn.functional.cross_entropy(scores, right)

"""How to tune: the paper's settings, and ours beside them."""

from __future__ import annotations

from dataclasses import dataclass

from omoide.errors import BadInput

TARGETS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
"""All projections of attention and MLP, as in paper C."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Low-rank adaptation. Defaults are those of paper C (NLP 2025, compressed memos) for models
    of 8 B and 13 B: r = 8 (it also tries 32 and 128), α = 16, all projections, 4 epochs,
    learning rate 2e-5, 2,048 tokens, batches of 8 × 8. Ours to choose, since it does not say:
    warm-up and cosine decay, no dropout, when to evaluate and to stop."""

    rank: int = 8
    alpha: int = 16
    targets: tuple[str, ...] = TARGETS
    epochs: int = 4
    rate: float = 2e-5
    length: int = 2048
    """Tokens of prompt and answer; longer examples are left out, and counted."""
    batch: int = 8
    """Examples computed at a time."""
    accumulate: int = 8
    """Such batches to a step."""
    tokens: int = 0
    """Most tokens computed at a time, padding included: the examples of a step are then taken
    together by length, whatever `batch` is, which fills a large GPU; 0 keeps to the batches."""
    warmup: float = 0.03
    """Share of the steps in which the rate rises."""
    dropout: float = 0.0
    decay: float = 0.0
    clip: float = 1.0
    """Longest gradient."""
    evaluate: int = 50
    """Steps between evaluations; a checkpoint is written at each."""
    patience: int = 3
    """Evaluations in a row without a better loss before it stops; 0 never does."""
    steps: int = 0
    """Most steps; 0 for as many as the epochs have."""
    seed: int = 1
    bits: int = 16
    """Of a weight that is not trained: 4 are possible on a GPU, with bitsandbytes."""
    recompute: bool = False
    """Whether activations are computed again on the way back: slower, in much less memory."""
    compiled: bool = False
    """Whether the layers are compiled first: a minute, then faster steps."""
    start: str = ""
    """A folder with an adapter, as peft writes it, to go on from; its rank and α hold then."""
    frozen: int = 0
    """So many of the lowest layers keep the adapter they begin with: a third less to compute where
    it is half of them."""
    half: bool = False
    """Whether a CPU computes in 16 bits, too: four times as fast where it has AMX, slower where it
    has nothing of the kind. A GPU always does."""

    def __post_init__(self) -> None:
        positive = ("rank", "alpha", "epochs", "length", "batch", "accumulate", "evaluate")
        for name in positive:
            if getattr(self, name) < 1:
                raise BadInput(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.tokens and self.tokens < self.length:
            raise BadInput(
                f"{self.tokens} tokens at a time do not hold an example of {self.length}; give "
                "more, or a smaller length"
            )
        if self.bits not in (4, 16):
            raise BadInput(f"a weight has 4 or 16 bits, not {self.bits}")
        if not 0 < self.rate < 1:
            raise BadInput(f"the rate must be between 0 and 1, not {self.rate}")

    def share(self, step: int, total: int) -> float:
        """The part of the learning rate at a step (from 0): a rise, then half a cosine."""
        from math import cos, pi

        rise = max(round(self.warmup * total), 1)
        if step < rise:
            return (step + 1) / rise
        return 0.5 * (1 + cos(pi * (step - rise) / max(total - rise, 1)))

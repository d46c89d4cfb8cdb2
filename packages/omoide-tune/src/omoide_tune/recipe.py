"""Training settings: the paper's, and our additions."""

from __future__ import annotations

from dataclasses import dataclass

from omoide.errors import BadInput

TARGETS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
"""All projections of attention and MLP, as in paper C."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Low-rank adaptation. Defaults are those of paper C (NLP 2025, compressed memos) for models
    of 8 B and 13 B: r = 8 (it also tries 32 and 128), α = 16, all projections, 4 epochs,
    learning rate 2e-5, 2,048 tokens, batches of 8 × 8. The paper does not specify the rest, which
    is our choice: warm-up and cosine decay, no dropout, when to evaluate and to stop."""

    rank: int = 8
    alpha: int = 16
    targets: tuple[str, ...] = TARGETS
    epochs: int = 4
    rate: float = 2e-5
    length: int = 2048
    """Tokens of prompt and answer; longer examples are skipped and counted."""
    batch: int = 8
    """Examples per batch."""
    accumulate: int = 8
    """Batches per step."""
    tokens: int = 0
    """Maximum tokens per batch, padding included: the examples of a step are then regrouped
    by length, whatever `batch` is, which fills a large GPU; 0 keeps the batches."""
    warmup: float = 0.03
    """Share of the steps during which the rate rises."""
    dropout: float = 0.0
    decay: float = 0.0
    clip: float = 1.0
    """Maximum norm of the gradient."""
    evaluate: int = 50
    """Steps between evaluations; a checkpoint is written at each."""
    early_stopping_patience: int = 3
    """Evaluations in a row without a better loss before training stops; 0 never stops."""
    steps: int = 0
    """Maximum steps; 0 for all epochs."""
    seed: int = 1
    bits: int = 16
    """Bits of a frozen weight: 4 needs a GPU and bitsandbytes."""
    recompute: bool = False
    """Whether activations are recomputed in the backward pass: slower, with much less memory."""
    compiled: bool = False
    """Whether the layers are compiled first: takes a minute, then steps are faster."""
    start: str = ""
    """A folder with a peft adapter to continue from; its rank and α apply then."""
    frozen: int = 0
    """How many of the lowest layers keep their initial adapter: a third less to compute if
    it is half of them."""
    decisions: float = 1.0
    """How much the tokens of a note count that decide something (`contrast.decisive`): some three
    of thirty, so that otherwise the loss is mostly wording."""
    half: bool = False
    """Whether a CPU also computes in 16 bits: four times as fast with AMX, slower
    without. A GPU always does."""

    def __post_init__(self) -> None:
        positive = ("rank", "alpha", "epochs", "length", "batch", "accumulate", "evaluate")
        for name in positive:
            if getattr(self, name) < 1:
                raise BadInput(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.tokens and self.tokens < self.length:
            raise BadInput(
                f"a batch of {self.tokens} tokens cannot hold an example of {self.length}; give "
                "more tokens, or a smaller length"
            )
        if self.bits not in (4, 16):
            raise BadInput(f"bits must be 4 or 16, not {self.bits}")
        if self.decisions <= 0:
            raise BadInput(f"decisions must be above 0, not {self.decisions}")
        if not 0 < self.rate < 1:
            raise BadInput(f"the rate must be between 0 and 1, not {self.rate}")

    def share(self, step: int, total: int) -> float:
        """The factor of the learning rate at a step (from 0): warm-up, then half a cosine."""
        from math import cos, pi

        rise = max(round(self.warmup * total), 1)
        if step < rise:
            return (step + 1) / rise
        return 0.5 * (1 + cos(pi * (step - rise) / max(total - rise, 1)))

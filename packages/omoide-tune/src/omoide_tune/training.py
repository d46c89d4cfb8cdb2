"""The training loop: LoRA by peft on a dense model, one GPU or the CPU.

Logits are computed only for the answer's tokens: with a vocabulary of 150,000 the logits
of the prompts would take more memory than the model.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omoide.errors import BadInput, MissingExtra
from omoide_tune.batches import by_tokens, count_steps, encode, steps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from omoide_tune.batches import EncodedExample
    from omoide_tune.examples import Example
    from omoide_tune.recipe import Recipe


@dataclass(frozen=True, kw_only=True)
class TrainingState:
    """Progress of a run."""

    step: int = 0
    tokens: int = 0
    """Answer and prompt tokens seen."""
    best: float = float("inf")
    """The lowest held-out loss."""
    best_step: int = 0
    worse: int = 0
    """Evaluations in a row without improvement."""


@dataclass(frozen=True, kw_only=True)
class TrainingProgress:
    """What is reported after each step."""

    step: int
    of: int
    loss: float
    """Mean over the answer tokens of the step."""
    rate: float
    speed: float
    """Tokens per second, prompts included."""
    held_out: float | None = None
    """The held-out loss, if it was just measured."""


@dataclass(frozen=True, kw_only=True)
class TrainingOutcome:
    """The result of a run."""

    adapter: Path
    """The folder of the best adapter, as peft writes it."""
    steps: int
    stopped_early: bool
    before: float
    """Held-out loss of the untuned model."""
    best: float
    best_step: int
    trained_on: int
    held_out: int
    too_long: int
    seconds: float
    tokens: int


def train(
    model: Any,  # noqa: ANN401 - a transformers model
    tokenizer: Any,  # noqa: ANN401
    *,
    examples: Sequence[Example],
    held_out: Sequence[Example],
    recipe: Recipe,
    folder: Path,
    resume: bool = False,
    seconds: float | None = None,
    tell: Callable[[TrainingProgress], None] = lambda _: None,
) -> TrainingOutcome:
    """Tune `model`; checkpoints and the best adapter go into `folder`. With `resume` an
    interrupted run continues as if it had not been interrupted. With `seconds`, the rate follows
    the time if it runs out before the steps do, and the last step is evaluated; the time before the
    end of the first step (the untuned loss, compiling) does not count for the schedule."""
    run = _Run(model, tokenizer, recipe=recipe, folder=folder)
    training_set, held_out_set = (
        encode(tokenizer, listed, length=recipe.length, decisions=recipe.decisions)
        for listed in (examples, held_out)
    )
    if not training_set or not held_out_set:
        raise BadInput(
            f"of {len(examples)} examples and {len(held_out)} held out, only "
            f"{len(training_set)} and {len(held_out_set)} fit into {recipe.length} tokens; "
            "give more examples, or a larger length"
        )
    began = ready = time.monotonic()
    state, before = run.begin(held_out_set, resume=resume)
    planned = count_steps(
        len(training_set), batch=recipe.batch, accumulate=recipe.accumulate, epochs=recipe.epochs
    )
    total = min(recipe.steps or planned, planned)
    stopped = False
    for number, batches in enumerate(
        steps(
            training_set,
            batch=recipe.batch,
            accumulate=recipe.accumulate,
            epochs=recipe.epochs,
            seed=recipe.seed,
        )
    ):
        if number < state.step:
            continue
        if number >= total or stopped:
            break
        started = time.monotonic()
        left = (seconds or 0.0) - (ready - began)
        spent = (started - ready) / max(left, 1e-9) if seconds and ready > began else 0.0
        reached = max(number, min(round(spent * total), total - 1))
        rate = recipe.rate * recipe.share(reached, total)
        loss = run.step(batches, rate=rate)
        ready = ready if ready > began else time.monotonic()
        tokens = sum(one.length for batch in batches for one in batch)
        state = replace(state, step=number + 1, tokens=state.tokens + tokens)
        progress = TrainingProgress(
            step=number + 1,
            of=total,
            loss=loss,
            rate=rate,
            speed=tokens / max(time.monotonic() - started, 1e-9),
        )
        late = spent >= 1
        if state.step % recipe.evaluate == 0 or state.step == total or late:
            state = run.judge(state, run.loss(held_out_set))
            run.save(state, before)
            progress = replace(progress, held_out=run.last)
            stopped = late or 0 < recipe.early_stopping_patience <= state.worse
        tell(progress)
    return TrainingOutcome(
        adapter=folder / "best",
        steps=state.step,
        stopped_early=stopped,
        before=before,
        best=state.best,
        best_step=state.best_step,
        trained_on=len(training_set),
        held_out=len(held_out_set),
        too_long=len(examples) - len(training_set),
        seconds=time.monotonic() - began,
        tokens=state.tokens,
    )


class _Run:
    """The model with its adapter, the optimiser, and their folder."""

    def __init__(self, model: Any, tokenizer: Any, *, recipe: Recipe, folder: Path) -> None:  # noqa: ANN401
        self._torch = _vendor("torch")
        self._recipe, self._folder = recipe, folder
        self._padding = tokenizer.pad_token_id or 0
        self._torch.manual_seed(recipe.seed)
        if recipe.recompute:
            # transformers 5.23 renames it
            enable = getattr(model, "activation_checkpointing_enable", None)
            (enable or model.gradient_checkpointing_enable)({"use_reentrant": False})
            model.enable_input_require_grads()
        self._tuned = _begun(model, recipe) if recipe.start else _fresh(model, recipe)
        for name, parameter in self._tuned.named_parameters():
            if parameter.requires_grad and (layer := _LAYER.search(name)):
                parameter.requires_grad_(int(layer[1]) >= recipe.frozen)
        self._model = self._tuned.get_base_model()
        if recipe.compiled:
            for layer in self._model.model.layers:  # identical, so only one is compiled
                layer.compile(dynamic=True)
        self._device = self._model.device
        self._gpu = self._device.type == "cuda"
        self._half = self._gpu or recipe.half
        learnable = [p for p in self._tuned.parameters() if p.requires_grad]
        self._learnable = learnable
        self._optimiser = self._torch.optim.AdamW(
            learnable, lr=recipe.rate, weight_decay=recipe.decay, fused=self._gpu
        )
        self.last = float("nan")

    def begin(
        self, held_out_set: Sequence[EncodedExample], *, resume: bool
    ) -> tuple[TrainingState, float]:
        """The state to continue from, and the loss of the untuned model."""
        kept = self._folder / "checkpoint.pt"
        if resume and kept.exists():
            found = self._torch.load(kept, map_location=self._device, weights_only=False)
            if found["recipe"] != asdict(self._recipe):
                raise BadInput(
                    f"{kept} is from a run with another recipe; use the same one, or drop --resume"
                )
            state = self._tuned.state_dict()
            state.update(found["adapter"])
            self._tuned.load_state_dict(state)
            self._optimiser.load_state_dict(found["optimiser"])
            self._torch.set_rng_state(found["dice"].cpu())
            return TrainingState(**found["state"]), found["before"]
        self._folder.mkdir(parents=True, exist_ok=True)
        return TrainingState(), self.loss(held_out_set)

    def step(self, batches: Sequence[Sequence[EncodedExample]], *, rate: float) -> float:
        """One step of the optimiser over all batches; returns the mean loss per answer token."""
        self._tuned.train()
        answers = sum(sum(one.counted) for batch in batches for one in batch)
        total = self._torch.zeros((), device=self._device)
        for batch in self._filled(batches):
            loss = self._summed(batch)
            (loss / answers).backward()
            total += loss.detach()
        self._torch.nn.utils.clip_grad_norm_(self._learnable, self._recipe.clip)
        for group in self._optimiser.param_groups:
            group["lr"] = rate
        self._optimiser.step()
        self._optimiser.zero_grad(set_to_none=True)
        return float(total) / answers  # the only point that waits for the GPU

    def loss(self, held_out_set: Sequence[EncodedExample]) -> float:
        """The mean loss per answer token, without training."""
        self._tuned.eval()
        order = sorted(held_out_set, key=lambda one: one.length)
        size = self._recipe.batch
        batches = [order[i : i + size] for i in range(0, len(order), size)]
        total = self._torch.zeros((), device=self._device)
        with self._torch.no_grad():
            for batch in self._filled(batches):
                total += self._summed(batch)
        return float(total) / sum(sum(one.counted) for one in held_out_set)

    def _filled(
        self, batches: Sequence[Sequence[EncodedExample]]
    ) -> Sequence[Sequence[EncodedExample]]:
        """The batches to compute: regrouped by tokens, if the recipe says so."""
        return by_tokens(batches, self._recipe.tokens) if self._recipe.tokens else batches

    def judge(self, state: TrainingState, loss: float) -> TrainingState:
        """The state after an evaluation; saves the adapter if it is the best."""
        self.last = loss
        if loss < state.best:
            self._tuned.save_pretrained(self._folder / "best")
            return replace(state, best=loss, best_step=state.step, worse=0)
        return replace(state, worse=state.worse + 1)

    def save(self, state: TrainingState, before: float) -> None:
        """Replace the last checkpoint atomically."""
        adapter = {n: p.detach() for n, p in self._tuned.named_parameters() if p.requires_grad}
        part = self._folder / "checkpoint.part"
        self._torch.save(
            {
                "state": asdict(state),
                "before": before,
                "recipe": asdict(self._recipe),
                "adapter": adapter,
                "optimiser": self._optimiser.state_dict(),
                "dice": self._torch.get_rng_state(),
            },
            part,
        )
        part.replace(self._folder / "checkpoint.pt")
        recipe = asdict(self._recipe) | {"start": Path(self._recipe.start).name}
        state_dict = {"state": asdict(state), "before": before, "recipe": recipe}
        (self._folder / "run.json").write_text(json.dumps(state_dict, indent=1), encoding="utf-8")

    def _summed(self, batch: Sequence[EncodedExample]) -> Any:  # noqa: ANN401 - a tensor
        """The loss of a batch, summed over its answer tokens by their weights."""
        torch = self._torch
        max_chars = max(one.length for one in batch)
        tokens = torch.full((len(batch), max_chars), self._padding)
        rows: list[int] = []
        columns: list[int] = []
        wanted: list[int] = []
        weights: list[float] = []
        for row, one in enumerate(batch):
            tokens[row, : one.length] = torch.tensor(one.prompt + one.answer)
            rows += [row] * len(one.answer)
            columns += range(len(one.prompt) - 1, one.length - 1)
            wanted += one.answer
            weights += one.counted
        # Padding comes last and attention is causal, so no mask is needed: the
        # fastest attention kernels want full causal squares.
        places = self._sent(rows), self._sent(columns)
        with torch.autocast(self._device.type, torch.bfloat16, enabled=self._half), self._uncast():
            hidden = self._model.model(
                input_ids=self._sent(tokens), use_cache=False
            ).last_hidden_state
            logits = self._model.lm_head(hidden[places])
        losses = torch.nn.functional.cross_entropy(
            logits.float(), self._sent(wanted), reduction="none"
        )
        return (losses * self._sent(weights)).sum()

    def _sent(self, numbers: Any) -> Any:  # noqa: ANN401 - a tensor, or numbers that become one
        """Copy to the device, without waiting."""
        numbers = self._torch.as_tensor(numbers)
        if not self._gpu:
            return numbers
        return numbers.pin_memory().to(self._device, non_blocking=True)

    def _uncast(self) -> AbstractContextManager[None]:
        """Keep peft from making 32-bit copies that autocast would halve again."""
        helpers = _vendor("peft.helpers")
        casting: AbstractContextManager[None] = helpers.disable_input_dtype_casting(
            self._tuned, active=self._half
        )
        return casting


_LAYER = re.compile(r"\.layers\.(\d+)\.")


def _fresh(model: Any, recipe: Recipe) -> Any:  # noqa: ANN401 - the vendor's
    """The model with an adapter that does nothing yet."""
    peft = _vendor("peft")
    return peft.get_peft_model(
        model,
        peft.LoraConfig(
            r=recipe.rank,
            lora_alpha=recipe.alpha,
            lora_dropout=recipe.dropout,
            target_modules=list(recipe.targets),
            task_type="CAUSAL_LM",
        ),
    )


def _begun(model: Any, recipe: Recipe) -> Any:  # noqa: ANN401
    """The model with an adapter from an earlier run."""
    folder = Path(recipe.start)
    try:
        known = json.loads((folder / "adapter_config.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"{folder} has no peft adapter ({error})") from error
    if (known.get("r"), known.get("lora_alpha")) != (recipe.rank, recipe.alpha):
        raise BadInput(
            f"{folder} has rank {known.get('r')} and α {known.get('lora_alpha')}; use the same"
        )
    return _vendor("peft").PeftModel.from_pretrained(model, folder, is_trainable=True)


def _vendor(name: str) -> Any:  # noqa: ANN401 - torch and its friends are optional
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtra(
            f"tuning needs {name}, which is not installed: pip install omoide[tune]"
        ) from error


def device() -> str:
    """Where to train: a GPU if there is one."""
    return "cuda" if _vendor("torch").cuda.is_available() else "cpu"

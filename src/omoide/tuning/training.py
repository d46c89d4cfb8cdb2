"""The training loop: LoRA by peft on a dense model, one GPU or the CPU.

Hidden states become logits only where the answer stands: with a vocabulary of 150,000 the logits
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
from omoide.tuning.batches import by_tokens, count_steps, encode, steps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from omoide.tuning.batches import Encoded
    from omoide.tuning.examples import Example
    from omoide.tuning.recipe import Recipe


@dataclass(frozen=True, kw_only=True)
class State:
    """How far a run has come."""

    step: int = 0
    tokens: int = 0
    """Answer and prompt tokens seen."""
    best: float = float("inf")
    """The lowest held-out loss."""
    best_step: int = 0
    worse: int = 0
    """Evaluations in a row that did not better it."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """What is told after each step."""

    step: int
    of: int
    loss: float
    """Mean over the answer tokens of the step."""
    rate: float
    speed: float
    """Tokens a second, prompts included."""
    held_out: float | None = None
    """The held-out loss, where it was just measured."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a run gave."""

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
    tell: Callable[[Progress], None] = lambda _: None,
) -> Outcome:
    """Tune `model`; checkpoints and the best adapter go into `folder`. With `resume` a run that
    was broken off goes on as if it had not been. Where there are only so many `seconds`, the rate
    falls with the time if that runs out before the steps do, and the last step is evaluated; what
    comes before the end of the first step (the untuned loss, compiling) is no time to learn in."""
    run = _Run(model, tokenizer, recipe=recipe, folder=folder)
    learnt = encode(tokenizer, examples, length=recipe.length)
    asked = encode(tokenizer, held_out, length=recipe.length)
    if not learnt or not asked:
        raise BadInput(
            f"of {len(examples)} examples and {len(held_out)} held out, {len(learnt)} and "
            f"{len(asked)} have at most {recipe.length} tokens; give more, or a greater length"
        )
    began = ready = time.monotonic()
    state, before = run.begin(asked, resume=resume)
    planned = count_steps(
        len(learnt), batch=recipe.batch, accumulate=recipe.accumulate, epochs=recipe.epochs
    )
    total = min(recipe.steps or planned, planned)
    stopped = False
    for number, batches in enumerate(
        steps(
            learnt,
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
        progress = Progress(
            step=number + 1,
            of=total,
            loss=loss,
            rate=rate,
            speed=tokens / max(time.monotonic() - started, 1e-9),
        )
        late = spent >= 1
        if state.step % recipe.evaluate == 0 or state.step == total or late:
            state = run.judge(state, run.loss(asked))
            run.save(state, before)
            progress = replace(progress, held_out=run.last)
            stopped = late or 0 < recipe.patience <= state.worse
        tell(progress)
    return Outcome(
        adapter=folder / "best",
        steps=state.step,
        stopped_early=stopped,
        before=before,
        best=state.best,
        best_step=state.best_step,
        trained_on=len(learnt),
        held_out=len(asked),
        too_long=len(examples) - len(learnt),
        seconds=time.monotonic() - began,
        tokens=state.tokens,
    )


class _Run:
    """The model with its adapter, the optimiser, and where they are kept."""

    def __init__(self, model: Any, tokenizer: Any, *, recipe: Recipe, folder: Path) -> None:  # noqa: ANN401
        self._torch = _vendor("torch")
        self._recipe, self._folder = recipe, folder
        self._padding = tokenizer.pad_token_id or 0
        self._torch.manual_seed(recipe.seed)
        if recipe.recompute:
            model.gradient_checkpointing_enable({"use_reentrant": False})
            model.enable_input_require_grads()
        self._tuned = _begun(model, recipe) if recipe.start else _fresh(model, recipe)
        for name, parameter in self._tuned.named_parameters():
            if parameter.requires_grad and (layer := _LAYER.search(name)):
                parameter.requires_grad_(int(layer[1]) >= recipe.frozen)
        self._model = self._tuned.get_base_model()
        if recipe.compiled:
            for layer in self._model.model.layers:  # all alike: one of them is compiled
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

    def begin(self, asked: Sequence[Encoded], *, resume: bool) -> tuple[State, float]:
        """The state to go on from, and the loss of the untuned model."""
        kept = self._folder / "checkpoint.pt"
        if resume and kept.exists():
            found = self._torch.load(kept, map_location=self._device, weights_only=False)
            if found["recipe"] != asdict(self._recipe):
                raise BadInput(
                    f"{kept} is of a run with another recipe; begin anew, or go on alike"
                )
            state = self._tuned.state_dict()
            state.update(found["adapter"])
            self._tuned.load_state_dict(state)
            self._optimiser.load_state_dict(found["optimiser"])
            self._torch.set_rng_state(found["dice"].cpu())
            return State(**found["state"]), found["before"]
        self._folder.mkdir(parents=True, exist_ok=True)
        return State(), self.loss(asked)

    def step(self, batches: Sequence[Sequence[Encoded]], *, rate: float) -> float:
        """One step of the optimiser over all of the batches; the mean loss an answer token."""
        self._tuned.train()
        answers = sum(len(one.answer) for batch in batches for one in batch)
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
        return float(total) / answers  # the only time that the GPU is waited for

    def loss(self, asked: Sequence[Encoded]) -> float:
        """The mean loss an answer token, without learning."""
        self._tuned.eval()
        order = sorted(asked, key=lambda one: one.length)
        size = self._recipe.batch
        batches = [order[i : i + size] for i in range(0, len(order), size)]
        total = self._torch.zeros((), device=self._device)
        with self._torch.no_grad():
            for batch in self._filled(batches):
                total += self._summed(batch)
        return float(total) / sum(len(one.answer) for one in asked)

    def _filled(self, batches: Sequence[Sequence[Encoded]]) -> Sequence[Sequence[Encoded]]:
        """The batches as they are computed: by their tokens, if the recipe says so."""
        return by_tokens(batches, self._recipe.tokens) if self._recipe.tokens else batches

    def judge(self, state: State, loss: float) -> State:
        """The state after an evaluation; the best adapter is kept."""
        self.last = loss
        if loss < state.best:
            self._tuned.save_pretrained(self._folder / "best")
            return replace(state, best=loss, best_step=state.step, worse=0)
        return replace(state, worse=state.worse + 1)

    def save(self, state: State, before: float) -> None:
        """Write a checkpoint over the last, whole or not at all."""
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
        told = {"state": asdict(state), "before": before, "recipe": recipe}
        (self._folder / "run.json").write_text(json.dumps(told, indent=1), encoding="utf-8")

    def _summed(self, batch: Sequence[Encoded]) -> Any:  # noqa: ANN401 - a tensor
        """The loss of a batch, summed over its answer tokens."""
        torch = self._torch
        longest = max(one.length for one in batch)
        tokens = torch.full((len(batch), longest), self._padding)
        rows: list[int] = []
        columns: list[int] = []
        wanted: list[int] = []
        for row, one in enumerate(batch):
            tokens[row, : one.length] = torch.tensor(one.prompt + one.answer)
            rows += [row] * len(one.answer)
            columns += range(len(one.prompt) - 1, one.length - 1)
            wanted += one.answer
        # Padding stands behind all that counts and nothing looks ahead, so no mask is needed: the
        # fastest attention is for whole causal squares.
        places = self._sent(rows), self._sent(columns)
        with torch.autocast(self._device.type, torch.bfloat16, enabled=self._half), self._uncast():
            hidden = self._model.model(
                input_ids=self._sent(tokens), use_cache=False
            ).last_hidden_state
            logits = self._model.lm_head(hidden[places])
        return torch.nn.functional.cross_entropy(
            logits.float(), self._sent(wanted), reduction="sum"
        )

    def _sent(self, numbers: Any) -> Any:  # noqa: ANN401 - a tensor, or numbers that become one
        """On the device, without waiting until they are there."""
        numbers = self._torch.as_tensor(numbers)
        if not self._gpu:
            return numbers
        return numbers.pin_memory().to(self._device, non_blocking=True)

    def _uncast(self) -> AbstractContextManager[None]:
        """Keeps peft from making 32-bit copies of what autocast would halve again."""
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
    """The model with an adapter that has learnt before."""
    folder = Path(recipe.start)
    try:
        known = json.loads((folder / "adapter_config.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"{folder} holds no adapter as peft writes it ({error})") from error
    if (known.get("r"), known.get("lora_alpha")) != (recipe.rank, recipe.alpha):
        raise BadInput(
            f"{folder} has rank {known.get('r')} and α {known.get('lora_alpha')}; ask for these"
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

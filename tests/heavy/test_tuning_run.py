"""Tuning on the CPU: a small random model learns, is broken off, goes on, and stops in time.

torch is too large to be installed for every test run, so these are skipped where it is absent:
`make tuning` brings it and runs them.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from shutil import which
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from omoide.cli.main import cli
from omoide.errors import BadInput, MissingExtra
from omoide.ports import Message
from omoide_tune.examples import Example, write
from omoide_tune.recipe import Recipe
from omoide_tune.trainable import open_trainable
from omoide_tune.training import train
from tests.tiny import tiny_model
from tests.tuning import need

if TYPE_CHECKING:
    from pathlib import Path

    from omoide_tune.training import TrainingProgress

need("torch", "transformers", "peft", "gguf")

QUICK = Recipe(batch=2, accumulate=2, epochs=2, rate=5e-3, evaluate=2, length=200, warmup=0.0)


def example(number: int) -> Example:
    """A question whose answer is always the same: there is something to learn."""
    return Example(
        task="notes",
        language="en",
        source="own",
        key=str(number),
        messages=(Message(role="user", content="Note it. " + "word " * (number % 7)),),
        answer="User lives in Leeds.",
    )


MANY = [example(n) for n in range(12)]


def opened() -> Any:  # noqa: ANN401 - a model and a tokenizer
    """The small random model, the same each time."""
    return open_trainable(tiny_model(), device="cpu", tiny=True)


def weights(folder: Path) -> dict[str, Any]:
    """The adapter of the last checkpoint."""
    import torch

    kept: dict[str, Any] = torch.load(folder / "checkpoint.pt", weights_only=False)["adapter"]
    return kept


def test_the_loss_falls_and_a_run_repeats_itself(tmp_path: Path) -> None:
    """The held-out loss after training is below that before; the same seed gives the same."""
    seen: list[TrainingProgress] = []
    outcomes = []
    for name in ("a", "b"):
        model = opened()
        outcomes.append(
            train(
                model.model,
                model.tokenizer,
                examples=MANY,
                held_out=MANY[:2],
                recipe=QUICK,
                folder=tmp_path / name,
                tell=seen.append,
            )
        )
    first, second = outcomes
    assert first.best < first.before
    assert (first.best, first.steps) == (second.best, second.steps)
    assert first.steps == 6
    assert (tmp_path / "a" / "best" / "adapter_model.safetensors").exists()
    assert [p.held_out is not None for p in seen[:6]] == [False, True] * 3
    assert all(p.speed > 0 for p in seen)


def test_a_run_that_was_broken_off_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    """Four steps at once and two with a pause between them end with the same weights."""

    class Broken(Exception):
        """Somebody pulled the plug."""

    def stop(progress: TrainingProgress) -> None:
        if progress.step == 2:
            raise Broken

    given = {"examples": MANY, "held_out": MANY[:2], "recipe": replace(QUICK, steps=4)}
    whole = opened()
    train(whole.model, whole.tokenizer, folder=tmp_path / "whole", **given)  # type: ignore[arg-type]
    half = opened()
    with pytest.raises(Broken):
        train(half.model, half.tokenizer, folder=tmp_path / "half", tell=stop, **given)  # type: ignore[arg-type]
    again = opened()
    train(again.model, again.tokenizer, folder=tmp_path / "half", resume=True, **given)  # type: ignore[arg-type]
    one, other = weights(tmp_path / "whole"), weights(tmp_path / "half")
    assert one.keys() == other.keys()
    assert all((one[name] == other[name]).all() for name in one)
    third = opened()
    with pytest.raises(BadInput, match="another recipe"):
        train(
            third.model,
            third.tokenizer,
            folder=tmp_path / "half",
            resume=True,
            **given | {"recipe": replace(QUICK, seed=9)},  # type: ignore[arg-type]
        )


def test_it_stops_when_it_gets_no_better(tmp_path: Path) -> None:
    """Learning one answer makes another less likely: two evaluations later it gives up."""
    model = opened()
    other = replace(MANY[0], answer="The Assistant collects very old stamps.")
    outcome = train(
        model.model,
        model.tokenizer,
        examples=MANY,
        held_out=[other],
        recipe=replace(QUICK, epochs=20, rate=0.05, evaluate=1, early_stopping_patience=2),
        folder=tmp_path,
    )
    assert outcome.stopped_early
    assert outcome.steps < 60


def test_it_ends_in_time_with_an_adapter(tmp_path: Path) -> None:
    """Where the time is over, the step under way is the last: judged and kept, at a rate that has
    fallen as far as it would have at the end. Only what comes after the first step counts."""
    model = opened()
    told: list[TrainingProgress] = []
    outcome = train(
        model.model,
        model.tokenizer,
        examples=MANY,
        held_out=MANY[:1],
        recipe=QUICK,
        folder=tmp_path,
        seconds=1e-9,
        tell=told.append,
    )
    assert outcome.steps == len(told) == 2
    assert outcome.stopped_early
    assert told[0].rate == QUICK.rate
    assert told[1].held_out is not None
    assert told[1].rate < QUICK.rate / 2
    assert (tmp_path / "best" / "adapter_config.json").exists()


def test_only_the_answer_is_learnt(tmp_path: Path) -> None:
    """The loss of a batch is that of transformers with the prompt's labels left out."""
    import torch

    from omoide_tune.batches import encode
    from omoide_tune.training import _Run

    model = opened()
    run = _Run(model.model, model.tokenizer, recipe=QUICK, folder=tmp_path)
    encoded = encode(model.tokenizer, MANY[:3], length=200)
    summed = 0.0
    for one in encoded:
        tokens = torch.tensor([one.prompt + one.answer])
        labels = torch.tensor([(-100,) * len(one.prompt) + one.answer])
        with torch.no_grad():
            loss = run._model(input_ids=tokens, labels=labels).loss
        summed += float(loss) * len(one.answer)
    mean = summed / sum(len(one.answer) for one in encoded)
    assert run.loss(encoded) == pytest.approx(mean, rel=1e-4)
    assert encoded[0].answer[-1] == model.tokenizer.eos_token_id


def test_the_command_line(tmp_path: Path) -> None:
    """`omoide tune run --tiny` trains and says what came of it."""
    write(tmp_path / "train.jsonl", MANY)
    write(tmp_path / "held.jsonl", MANY[:2])
    told = CliRunner().invoke(
        cli,
        [
            *("tune", "run", str(tmp_path / "out"), "--tiny", "--base", str(tiny_model())),
            *("--train", str(tmp_path / "train.jsonl"), "--held-out", str(tmp_path / "held.jsonl")),
            *("--device", "cpu", "--batch", "2", "--accumulate", "1", "--steps", "2"),
        ],
        catch_exceptions=False,
    )
    assert told.exit_code == 0, told.output
    assert "after 2 steps" in told.output


def test_batches_by_tokens_learn_the_same(tmp_path: Path) -> None:
    """The examples of a step, taken together by length, give the loss of each step, the held-out
    loss and the weights that batches of two give; so does computing activations twice."""
    ways = {
        "plain": QUICK,
        "by tokens": replace(QUICK, tokens=220),
        "twice": replace(QUICK, tokens=220, recompute=True),
    }
    told: dict[str, list[float]] = {}
    for name, recipe in ways.items():
        seen: list[TrainingProgress] = []
        model = opened()
        train(
            model.model,
            model.tokenizer,
            examples=MANY,
            held_out=MANY[:3],
            recipe=recipe,
            folder=tmp_path / name,
            tell=seen.append,
        )
        told[name] = [p.loss for p in seen] + [p.held_out for p in seen if p.held_out is not None]
    plain = weights(tmp_path / "plain")
    for name in ("by tokens", "twice"):
        assert told[name] == pytest.approx(told["plain"], rel=1e-3)
        other = weights(tmp_path / name)
        assert all(float((plain[key] - other[key]).abs().max()) < 2e-3 for key in plain)


@pytest.mark.filterwarnings("ignore")  # of torch, about itself
@pytest.mark.skipif(not which("g++"), reason="torch compiles with g++, which is not installed")
def test_compiled_layers_learn_the_same(tmp_path: Path) -> None:
    """Two steps give the losses that they give without compiling."""
    told = {}
    for compiled in (False, True):
        seen: list[TrainingProgress] = []
        model = opened()
        train(
            model.model,
            model.tokenizer,
            examples=MANY,
            held_out=MANY[:3],
            recipe=replace(QUICK, tokens=220, steps=2, compiled=compiled),
            folder=tmp_path / str(compiled),
            tell=seen.append,
        )
        told[compiled] = [*(p.loss for p in seen), seen[-1].held_out]
    assert len(told[True]) == 3
    assert told[True] == pytest.approx(told[False], rel=1e-3)


def test_padding_and_neighbours_change_nothing(tmp_path: Path) -> None:
    """The loss of short examples is the same alone and beside a long one, without any mask."""
    from omoide_tune.batches import encode
    from omoide_tune.training import _Run

    model = opened()
    run = _Run(model.model, model.tokenizer, recipe=QUICK, folder=tmp_path)
    encoded = encode(model.tokenizer, MANY[:7], length=200)
    assert len({one.length for one in encoded}) > 3
    together = float(run._summed(encoded).detach())
    alone = sum(float(run._summed([one]).detach()) for one in encoded)
    assert together == pytest.approx(alone, rel=1e-5)


def test_four_bits_say_what_they_need(tmp_path: Path) -> None:
    """On a CPU they are refused; without the package it is named."""
    with pytest.raises(BadInput, match="need a GPU"):
        open_trainable(tiny_model(), device="cpu", tiny=True, bits=4)
    if find_spec("bitsandbytes") is None:
        with pytest.raises(MissingExtra, match="pip install bitsandbytes"):
            open_trainable(tiny_model(), device="cuda", tiny=True, bits=4)


def test_what_was_learnt_before_is_gone_on_from_and_lower_layers_stay(tmp_path: Path) -> None:
    """It begins with the loss that the first run ended with, in 16 bits too; the adapter of the
    frozen layer is the same as before, that of the upper one is not."""
    load_file = import_module("safetensors.torch").load_file
    outcomes = []
    further = replace(QUICK, start=str(tmp_path / "first" / "best"), frozen=1, half=True)
    for name, recipe in (("first", QUICK), ("second", further)):
        model = open_trainable(tiny_model(), device="cpu", tiny=True, half=recipe.half)
        outcomes.append(
            train(
                model.model,
                model.tokenizer,
                examples=MANY,
                held_out=MANY[:2],
                recipe=recipe,
                folder=tmp_path / name,
            )
        )
    assert outcomes[1].before == pytest.approx(outcomes[0].best, rel=0.05)
    assert outcomes[1].best < outcomes[1].before
    one, other = (
        load_file(tmp_path / name / "best" / "adapter_model.safetensors")
        for name in ("first", "second")
    )
    same = {key for key in one if bool((one[key] == other[key]).all())}
    assert same
    assert all(".layers.0." in key for key in same)
    assert any(".layers.1." in key for key in one.keys() - same)


def test_an_adapter_that_cannot_be_gone_on_from_is_told(tmp_path: Path) -> None:
    """Where there is none, and where its rank is another."""
    model = opened()
    recipe = replace(QUICK, start=str(tmp_path / "nowhere"))
    with pytest.raises(BadInput, match="has no peft adapter"):
        train(
            model.model, model.tokenizer, examples=MANY, held_out=MANY, recipe=recipe,
            folder=tmp_path,
        )  # fmt: skip
    (tmp_path / "adapter_config.json").write_text('{"r": 3, "lora_alpha": 6}')
    with pytest.raises(BadInput, match="rank 3 and α 6"):
        train(
            model.model, model.tokenizer, examples=MANY, held_out=MANY,
            recipe=replace(QUICK, start=str(tmp_path)), folder=tmp_path,
        )  # fmt: skip

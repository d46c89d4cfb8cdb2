"""`omoide tune run`: trains an adapter."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omoide.bootstrap import weights_of
from omoide.cli import as_json, bar, emit, scoped
from omoide_tune.cli.paths import FILE, FOLDER
from omoide_tune.trainable import convert_adapter, open_trainable, unpack_adapter

if TYPE_CHECKING:
    from omoide.cli import Scope
    from omoide_tune.training import TrainingOutcome, TrainingProgress


@click.command()
@click.argument("folder", type=FOLDER)
@click.option("--train", type=FILE, required=True, help="Training examples, as JSON lines.")
@click.option("--held-out", type=FILE, required=True, help="Held-out examples, for evaluation.")
@click.option("--base", default="small", show_default=True, help="The model to tune.")
@click.option("--rank", type=int, default=8, show_default=True)
@click.option("--alpha", type=int, default=16, show_default=True)
@click.option("--epochs", type=int, default=4, show_default=True)
@click.option("--rate", type=float, default=2e-5, show_default=True, help="Learning rate.")
@click.option("--length", type=int, default=2048, show_default=True, help="Maximum tokens.")
@click.option("--batch", type=int, default=8, show_default=True, help="Examples per batch.")
@click.option("--accumulate", type=int, default=8, show_default=True, help="Batches per step.")
@click.option(
    "--tokens-per-batch",
    "tokens",
    type=int,
    default=0,
    help="Maximum tokens per batch, padding included; fills a large GPU.  [default: by --batch]",
)
@click.option("--compile", "compiled", is_flag=True, help="Compile first: for long runs on a GPU.")
@click.option("--recompute", is_flag=True, help="Compute activations twice to save memory.")
@click.option("--half", is_flag=True, help="Use 16 bits on the CPU too: faster with AMX.")
@click.option(
    "--from",
    "start",
    default="",
    metavar="ADAPTER",
    help="Continue from an adapter: a run's folder best, or a LoRA file such as one that ships.",
)
@click.option(
    "--frozen",
    type=int,
    default=0,
    show_default=True,
    help="Freeze this many of the lowest layers.",
)
@click.option(
    "--decisions",
    type=float,
    default=1.0,
    show_default=True,
    help="How much the tokens of a note count that decide something.",
)
@click.option(
    "--bits",
    type=click.Choice(["4", "16"]),
    default="16",
    show_default=True,
    help="Bits of the frozen weights; 4 needs a GPU and bitsandbytes.",
    callback=lambda _, __, value: int(value),
)
@click.option(
    "--evaluate", type=int, default=50, show_default=True, help="Steps between evaluations."
)
@click.option(
    "--patience",
    "early_stopping_patience",
    type=int,
    default=3,
    show_default=True,
    help="0 never stops early.",
)
@click.option("--steps", type=int, default=0, help="Maximum steps.  [default: all epochs]")
@click.option("--minutes", type=float, help="Finish the learning-rate schedule within this time.")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--device", help="cpu or cuda.  [default: cuda if available]")
@click.option("--resume", is_flag=True, help="Continue from the last checkpoint in FOLDER.")
@click.option("--tiny", is_flag=True, help="Random small weights: only to check that it runs.")
@scoped
def run(
    scope: Scope,
    /,
    folder: Path,
    train: Path,
    held_out: Path,
    base: str,
    device: str | None,
    resume: bool,
    minutes: float | None,
    tiny: bool,
    **recipe: Any,  # noqa: ANN401 - click has made them numbers
) -> None:
    """Train a LoRA adapter into FOLDER, by default with the settings of paper C.

    FOLDER/best is the adapter with the lowest held-out loss. FOLDER/adapter.gguf is the same for
    the embedded model: set OMOIDE_ADAPTER to it.
    """
    from omoide_tune import training
    from omoide_tune.examples import read
    from omoide_tune.recipe import Recipe

    examples, held_out_examples = read(train), read(held_out)
    weights = asyncio.run(weights_of(scope.settings, base, bar))
    if (start := Path(recipe["start"])).is_file():
        recipe["start"] = str(folder / start.stem)
        unpack_adapter(start, folder / start.stem, weights=weights)
    chosen = Recipe(**recipe)
    where = device or training.device()
    trainable = open_trainable(weights, device=where, tiny=tiny, bits=chosen.bits, half=chosen.half)
    outcome = training.train(
        trainable.model,
        trainable.tokenizer,
        examples=examples,
        held_out=held_out_examples,
        recipe=chosen,
        folder=folder,
        resume=resume,
        seconds=60 * minutes if minutes else None,
        tell=_print_progress,
    )
    if not tiny:
        convert_adapter(outcome.adapter, folder / "adapter.gguf", weights=weights)
    if scope.json:
        emit(as_json(outcome))
    else:
        click.echo(_outcome_text(outcome))


def _print_progress(progress: TrainingProgress) -> None:
    """Print one line per step to stderr."""
    line = (
        f"step {progress.step}/{progress.of}  loss {progress.loss:.4f}  "
        f"rate {progress.rate:.2e}  {progress.speed:,.0f} tokens/s"
    )
    if progress.held_out is not None:
        line += f"  held out {progress.held_out:.4f}"
    print(line, file=sys.stderr, flush=True)


def _outcome_text(outcome: TrainingOutcome) -> str:
    ended = "stopped early" if outcome.stopped_early else "done"
    return (
        f"{ended} after {outcome.steps} steps, {outcome.seconds:.0f} s, {outcome.tokens:,} tokens\n"
        f"held-out loss {outcome.before:.4f} untuned, {outcome.best:.4f} at step "
        f"{outcome.best_step}; trained on {outcome.trained_on}, {outcome.held_out} held out, "
        f"{outcome.too_long} too long\n{outcome.adapter}"
    )

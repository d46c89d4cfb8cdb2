"""`omoide tune`: instruction data for memory, training an adapter, and its conversion."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from omoide import bootstrap
from omoide.cli.progress import bar
from omoide.cli.scope import options, scoped
from omoide.cli.show import as_json, emit

if TYPE_CHECKING:
    from omoide.cli.scope import Scope
    from omoide.tuning.training import Outcome, Progress

FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)


@click.group()
@options
def tune() -> None:
    """Tune a small model for memory."""


@tune.command()
@click.argument("folder", type=FOLDER)
@click.option("--train", type=FILE, required=True, help="Examples to learn, as JSON lines.")
@click.option("--held-out", type=FILE, required=True, help="Examples to be judged by.")
@click.option("--base", default="small", show_default=True, help="The model to tune.")
@click.option("--rank", type=int, default=8, show_default=True)
@click.option("--alpha", type=int, default=16, show_default=True)
@click.option("--epochs", type=int, default=4, show_default=True)
@click.option("--rate", type=float, default=2e-5, show_default=True, help="Learning rate.")
@click.option("--length", type=int, default=2048, show_default=True, help="Most tokens.")
@click.option("--batch", type=int, default=8, show_default=True, help="Examples at a time.")
@click.option("--accumulate", type=int, default=8, show_default=True, help="Batches to a step.")
@click.option("--evaluate", type=int, default=50, show_default=True, help="Steps between.")
@click.option("--patience", type=int, default=3, show_default=True, help="0 never stops early.")
@click.option("--steps", type=int, default=0, help="Most steps.  [default: all epochs]")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--device", help="cpu or cuda.  [default: cuda where there is one]")
@click.option("--resume", is_flag=True, help="Go on from the last checkpoint in FOLDER.")
@click.option("--tiny", is_flag=True, help="Random small weights: only to see that it runs.")
@scoped
def run(
    scope: Scope,
    folder: Path,
    train: Path,
    held_out: Path,
    base: str,
    device: str | None,
    resume: bool,
    tiny: bool,
    **recipe: float,
) -> None:
    """Train a LoRA adapter into FOLDER, with the settings of the paper unless told otherwise.

    FOLDER/best is the adapter with the lowest held-out loss, FOLDER/adapter.gguf the same for
    the embedded model: set OMOIDE_ADAPTER to it.
    """
    from omoide.tuning import training
    from omoide.tuning.examples import read
    from omoide.tuning.recipe import Recipe

    chosen = replace(Recipe(), **recipe)  # type: ignore[arg-type] - click has made them numbers
    examples, asked = read(train), read(held_out)
    weights = asyncio.run(bootstrap.weights_of(scope.settings, base, bar))
    where = device or training.device()
    trainable = bootstrap.open_trainable(weights, device=where, tiny=tiny)
    outcome = training.train(
        trainable.model,
        trainable.tokenizer,
        examples=examples,
        held_out=asked,
        recipe=chosen,
        folder=folder,
        resume=resume,
        tell=_told,
    )
    if not tiny:
        bootstrap.convert_adapter(outcome.adapter, folder / "adapter.gguf", weights=weights)
    if scope.json:
        emit(as_json(outcome))
    else:
        click.echo(_shown(outcome))


@tune.command()
@click.argument("adapter", type=FOLDER)
@click.argument("out", type=FILE)
@click.option("--base", default="small", show_default=True, help="The model it was trained on.")
@scoped
def convert(scope: Scope, adapter: Path, out: Path, base: str) -> None:
    """Write the peft adapter in folder ADAPTER as the LoRA file OUT for the embedded model."""
    weights = asyncio.run(bootstrap.weights_of(scope.settings, base, bar))
    count = bootstrap.convert_adapter(adapter, out, weights=weights)
    if scope.json:
        emit({"out": out, "tensors": count})
    else:
        click.echo(f"{out}: {count} tensors")


def _told(progress: Progress) -> None:
    """One line a step, on stderr."""
    line = (
        f"step {progress.step}/{progress.of}  loss {progress.loss:.4f}  "
        f"rate {progress.rate:.2e}  {progress.speed:,.0f} tokens/s"
    )
    if progress.held_out is not None:
        line += f"  held out {progress.held_out:.4f}"
    print(line, file=sys.stderr, flush=True)


def _shown(outcome: Outcome) -> str:
    ended = "stopped early" if outcome.stopped_early else "done"
    return (
        f"{ended} after {outcome.steps} steps, {outcome.seconds:.0f} s, {outcome.tokens:,} tokens\n"
        f"held-out loss {outcome.before:.4f} untuned, {outcome.best:.4f} at step "
        f"{outcome.best_step}; {outcome.trained_on} examples learnt, {outcome.held_out} held out, "
        f"{outcome.too_long} too long\n{outcome.adapter}"
    )

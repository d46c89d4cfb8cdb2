"""`omoide tune`: instruction data for memory, training an adapter, and its conversion."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omoide import bootstrap
from omoide.cli.progress import bar
from omoide.cli.scope import options, scoped
from omoide.cli.show import as_json, emit, table
from omoide.tuning.examples import TASKS

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
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    required=True,
    help="The folder with the data sets.",
)
@click.option("--source", "names", multiple=True, help="Only these data sets.")
@click.option("--task", "tasks", multiple=True, type=click.Choice(TASKS), help="Only these.")
@click.option("--most", type=int, default=0, help="Most examples of a task and source.")
@click.option("--sample", type=int, default=0, help="Show so many examples of each task.")
@click.option("--research", is_flag=True, help="Also sets whose licence forbids shipping.")
@click.option("--seed", type=int, default=1, show_default=True)
@scoped
def data(
    scope: Scope,
    folder: Path,
    data: Path,
    names: tuple[str, ...],
    tasks: tuple[str, ...],
    most: int,
    sample: int,
    research: bool,
    seed: int,
) -> None:
    """Make instruction data: FOLDER/train.jsonl, held-out.jsonl and card.json.

    Prompts are those that the mechanisms send; what is to be learnt is checked for support in the
    dialogue. Only data that lets an adapter be shipped is used, unless --research is given.
    """
    from omoide.tuning.making import make

    made = make(data, folder, names=names, tasks=tasks, most=most, seed=seed, research=research)
    if scope.json:
        emit(made.card)
        return
    rows = [(*key, f"{count:,}") for key, count in made.counts]
    click.echo(table(("source", "task", "language", "examples"), rows, right=(3,)))
    facts = ", ".join(f"{count:,} {name}" for name, count in made.facts)
    click.echo(f"facts: {facts}\n{made.trained:,} to learn, {made.kept:,} held out: {folder}")
    for example in made.sample(sample):
        click.echo(f"\n── {example.task}, {example.language}, {example.source} {example.key}")
        click.echo(f"{example.messages[-1].content}\n→ {example.answer}")


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
@click.option("--minutes", type=float, help="End by then, the learning rate having fallen.")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--device", help="cpu or cuda.  [default: cuda where there is one]")
@click.option("--resume", is_flag=True, help="Go on from the last checkpoint in FOLDER.")
@click.option("--tiny", is_flag=True, help="Random small weights: only to see that it runs.")
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
    """Train a LoRA adapter into FOLDER, with the settings of the paper unless told otherwise.

    FOLDER/best is the adapter with the lowest held-out loss, FOLDER/adapter.gguf the same for
    the embedded model: set OMOIDE_ADAPTER to it.
    """
    from omoide.tuning import training
    from omoide.tuning.examples import read
    from omoide.tuning.recipe import Recipe

    chosen = Recipe(**recipe)
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
        seconds=60 * minutes if minutes else None,
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

"""`omoide tune`: instruction data for memory, training an adapter, and its conversion."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from omoide.bootstrap import chat_model
from omoide.cli.progress import bar
from omoide.cli.scope import options, scoped
from omoide.cli.show import as_json, emit, table
from omoide.language import LANGUAGES
from omoide.ports import Skill
from omoide.tuning.examples import TASKS
from omoide.weights import convert_adapter, open_trainable, ship_adapter, unpack_adapter, weights_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from omoide.cli.scope import Scope
    from omoide.tuning.teaching import Report
    from omoide.tuning.training import Outcome, Progress

    F = TypeVar("F", bound=Callable[..., object])

FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)


def _precision(default: str) -> Callable[[F], F]:
    return click.option(
        "--type",
        "precision",
        type=click.Choice(["f16", "q8_0"]),
        default=default,
        show_default=True,
        help="How numbers are stored: q8_0 takes half the room.",
    )


def _skills(_: click.Context, __: click.Parameter, value: str) -> tuple[str, ...]:
    """The names between commas, each a skill."""
    names = tuple(dict.fromkeys(name.strip() for name in value.split(",") if name.strip()))
    if not names or (unknown := [name for name in names if name not in tuple(Skill)]):
        raise click.BadParameter(
            f"{', '.join(unknown) if names else 'nothing'} is not among {', '.join(Skill)}"
        )
    return names


def _strengths(_: click.Context, __: click.Parameter, value: tuple[str, ...]) -> dict[str, float]:
    """A share of 1 for each skill that is named."""
    found = {}
    for given in value:
        skill, share = (*given.split("=", 1), "")[:2]
        try:
            found[skill] = float(share)
        except ValueError:
            found[skill] = 0.0
        if skill not in tuple(Skill) or not 0 < found[skill] <= 1:
            raise click.BadParameter(f"{given}: a skill and a share of 1 were wanted, reply=0.5")
    return found


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
@click.option(
    "--language", "languages", multiple=True, type=click.Choice(LANGUAGES), help="Only these."
)
@click.option("--most", multiple=True, metavar="TASK=N", help="Most examples of a task to learn.")
@click.option("--weight", multiple=True, metavar="SOURCE=N", help="Of a source, beside others' 1.")
@click.option("--hard", default=0.4, show_default=True, help="Least share of hard cases.")
@click.option("--planted", default=0.1, show_default=True, help="Share with a planted order.")
@click.option(
    "--talks", type=int, help="Talks of a source and language; 0 for all.  [default: 450]"
)
@click.option("--paper", is_flag=True, help="Paper C's three tasks, with its counts and splits.")
@click.option("--sample", type=int, default=0, help="Show so many examples of each task.")
@click.option("--research", is_flag=True, help="Also sets whose licence forbids shipping.")
@click.option("--taught", type=FILE, multiple=True, help="What `tune teach` wrote.")
@click.option("--seed", type=int, default=1, show_default=True)
@scoped
def data(
    scope: Scope,
    folder: Path,
    data: Path,
    names: tuple[str, ...],
    tasks: tuple[str, ...],
    languages: tuple[str, ...],
    most: tuple[str, ...],
    weight: tuple[str, ...],
    hard: float,
    planted: float,
    talks: int | None,
    paper: bool,
    sample: int,
    research: bool,
    taught: tuple[Path, ...],
    seed: int,
) -> None:
    """Make instruction data: FOLDER/train.jsonl, held-out.jsonl and card.json.

    Prompts are those that the mechanisms send; what is to be learnt is checked for support in the
    dialogue, and by the mechanisms' own guards. Tasks, languages and sources are balanced. Only
    data that lets an adapter be shipped is used, unless --research is given.
    """
    from omoide.tuning.making import make
    from omoide.tuning.mixture import parsed, weighed

    made = make(
        data,
        folder,
        names=names,
        tasks=tasks,
        languages=languages,
        most=parsed(most),
        hard=hard,
        order=planted,
        talks=talks,
        seed=seed,
        research=research,
        paper=paper,
        taught=taught,
        weights=weighed(weight),
    )
    if scope.json:
        emit(made.card)
        return
    rows = [(*key, f"{count:,}") for key, count in made.counts]
    click.echo(table(("source", "task", "language", "examples"), rows, right=(3,)))
    facts = ", ".join(f"{count:,} {name}" for name, count in made.facts)
    click.echo(f"facts: {facts}\n{made.trained:,} to learn, {made.kept:,} held out: {folder}")
    for example in made.sample(sample):
        hard_case = f" ({example.hard})" if example.hard else ""
        where = f"{example.source} {example.key}"
        click.echo(f"\n── {example.task}, {example.language}, {where}{hard_case}")
        click.echo(f"{example.messages[-1].content}\n→ {example.answer}")


@tune.command()
@click.argument("file", type=FILE)
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    required=True,
    help="The folder with the data sets.",
)
@click.option("--source", "names", multiple=True, help="Only these data sets.")
@click.option("--talks", default=450, show_default=True, help="Talks of a source and language.")
@click.option("--tries", default=2, show_default=True, type=click.IntRange(1, 8), help="A speaker.")
@click.option("--concurrency", default=1, show_default=True, help="Questions at a time.")
@click.option("--minutes", type=float, help="End by then; it goes on when called again.")
@click.option("--research", is_flag=True, help="Also sets whose licence forbids shipping.")
@click.option("--seed", type=int, default=1, show_default=True)
@scoped
def teach(scope: Scope, /, file: Path, **given: Any) -> None:  # noqa: ANN401 - click has checked
    """Let a model (OMOIDE_MODEL) find facts that the data sets do not list, into FILE.

    It is asked the notes' own question about each speaker; what the talk does not bear out is left
    out. Called again, it goes on where it stopped. Give the same --talks and --seed to
    `omoide tune data --taught FILE`. What it writes may be shipped only if the model's licence
    lets its words be learnt from.
    """
    from omoide.tuning.teaching import lesson_plan, teach

    minutes, data = given["minutes"], given["data"]
    whom = lesson_plan(
        data, names=given["names"], talks=given["talks"], seed=given["seed"],
        research=given["research"],
    )  # fmt: skip

    async def all_of_it() -> Report:
        model = chat_model(scope.settings, scope.settings.model, progress=bar, whole=True)
        try:
            return await teach(
                model, whom, file, tries=given["tries"], concurrency=given["concurrency"],
                seconds=60 * minutes if minutes else None, tell=bar,
            )  # fmt: skip
        finally:
            await model.close()

    report = asyncio.run(all_of_it())
    if scope.json:
        emit(as_json(report))
        return
    click.echo(
        f"{report.asked:,} speakers asked about, {report.before:,} before, {report.failed:,} "
        f"without an answer, {report.left:,} left\n"
        f"{report.kept:,} facts kept of {report.said:,} that were named: {file}"
    )


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
@click.option(
    "--tokens-per-batch",
    "tokens",
    type=int,
    default=0,
    help="Most tokens at a time, padding included; fills a large GPU.  [default: by --batch]",
)
@click.option("--compile", "compiled", is_flag=True, help="Compile first: for long runs on a GPU.")
@click.option("--recompute", is_flag=True, help="Spare memory: compute activations twice.")
@click.option("--half", is_flag=True, help="16 bits on the CPU, too: for one that has AMX.")
@click.option(
    "--from",
    "start",
    default="",
    metavar="ADAPTER",
    help="Go on from an adapter: a run's folder best, or a LoRA file such as one that ships.",
)
@click.option(
    "--frozen",
    type=int,
    default=0,
    show_default=True,
    help="So many of the lowest layers learn nothing.",
)
@click.option(
    "--bits",
    type=click.Choice(["4", "16"]),
    default="16",
    show_default=True,
    help="Of the weights that are not trained; 4 needs a GPU and bitsandbytes.",
    callback=lambda _, __, value: int(value),
)
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

    examples, asked = read(train), read(held_out)
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
        held_out=asked,
        recipe=chosen,
        folder=folder,
        resume=resume,
        seconds=60 * minutes if minutes else None,
        tell=_told,
    )
    if not tiny:
        convert_adapter(outcome.adapter, folder / "adapter.gguf", weights=weights)
    if scope.json:
        emit(as_json(outcome))
    else:
        click.echo(_shown(outcome))


@tune.command()
@click.argument("adapter", type=FOLDER)
@click.argument("out", type=FILE)
@click.option("--base", default="small", show_default=True, help="The model it was trained on.")
@_precision("f16")
@scoped
def convert(
    scope: Scope, adapter: Path, out: Path, base: str, precision: Literal["f16", "q8_0"]
) -> None:
    """Write the peft adapter in folder ADAPTER as the LoRA file OUT for the embedded model."""
    weights = asyncio.run(weights_of(scope.settings, base, bar))
    count = convert_adapter(adapter, out, weights=weights, precision=precision)
    if scope.json:
        emit({"out": out, "tensors": count, "bytes": out.stat().st_size})
    else:
        click.echo(f"{out}: {count} tensors, {out.stat().st_size / 1e6:.1f} MB")


@tune.command()
@click.argument("folder", type=FOLDER)
@click.option("--name", required=True, help="What it is called, for example notes-r32.")
@click.option(
    "--skills",
    required=True,
    metavar="A,B",
    callback=_skills,
    help=f"What it is used for: {', '.join(Skill)}.",
)
@click.option("--base", default="small", show_default=True, help="The model it was trained on.")
@click.option("--data-card", "data", type=FILE, required=True, help="card.json of its data.")
@click.option("--licence", default="Apache-2.0", show_default=True)
@click.option("--into", type=FOLDER, help="Another folder than omoide's own.")
@click.option(
    "--strength",
    "strengths",
    multiple=True,
    metavar="SKILL=N",
    callback=_strengths,
    help="How much of it serves a skill, between 0 and 1, where that is not the whole.",
)
@click.option("--instead", default="", metavar="NAME", help="The one that it takes the place of.")
@_precision("q8_0")
@scoped
def ship(scope: Scope, /, folder: Path, **given: Any) -> None:  # noqa: ANN401 - click has checked
    """Make the adapter in FOLDER one that comes with omoide and is used by default.

    FOLDER is what `omoide tune run` wrote. The LoRA file, its card and its entry in the manifest
    go into omoide/tuned; data that must not be shipped is refused, and so is more than 40 MB.
    """
    entry = asyncio.run(ship_adapter(scope.settings, run=folder, progress=bar, **given))
    if scope.json:
        emit(as_json(entry))
    else:
        click.echo(
            f"{entry.file}: {entry.size / 1e6:.1f} MB, rank {entry.rank}, SHA-256 {entry.sha256}\n"
            f"for {', '.join(entry.skills)} with {entry.base}"
        )


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

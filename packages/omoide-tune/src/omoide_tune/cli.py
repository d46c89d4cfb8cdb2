"""`omoide tune`: makes instruction data for memory, trains an adapter, and converts it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from omoide.bootstrap import chat_model, weights_of
from omoide.cli import as_json, bar, emit, options, scoped, table
from omoide.language import LANGUAGES
from omoide.ports import Skill
from omoide_tune.examples import TASKS
from omoide_tune.retrieval.commands import pairs, retriever
from omoide_tune.trainable import convert_adapter, open_trainable, ship_adapter, unpack_adapter

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from omoide.cli import Scope
    from omoide_tune.teaching import TeachingReport
    from omoide_tune.training import TrainingOutcome, TrainingProgress

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
        help="Number format: q8_0 takes half the space.",
    )


def _skills(_: click.Context, __: click.Parameter, value: str) -> tuple[str, ...]:
    """Parse skill names separated by commas."""
    names = tuple(dict.fromkeys(name.strip() for name in value.split(",") if name.strip()))
    if not names or (unknown := [name for name in names if not Skill.knows(name)]):
        raise click.BadParameter(
            f"{', '.join(unknown) if names else 'nothing'}: wanted some of {', '.join(Skill)}"
        )
    return names


def _strengths(_: click.Context, __: click.Parameter, value: tuple[str, ...]) -> dict[str, float]:
    """Parse SKILL=N options, with N above 0 and up to 1."""
    found = {}
    for option in value:
        skill, share = (*option.split("=", 1), "")[:2]
        try:
            found[skill] = float(share)
        except ValueError:
            found[skill] = 0.0
        if not Skill.knows(skill) or not 0 < found[skill] <= 1:
            raise click.BadParameter(f"{option}: wanted SKILL=N with 0 < N <= 1, such as reply=0.5")
    return found


@click.group()
@options
def tune() -> None:
    """Tune a small model for memory."""


tune.add_command(pairs)
tune.add_command(retriever)


@tune.command()
@click.argument("folder", type=FOLDER)
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    required=True,
    help="Folder with the data sets.",
)
@click.option("--source", "names", multiple=True, help="Use only these data sets.")
@click.option("--task", "tasks", multiple=True, type=click.Choice(TASKS), help="Only these tasks.")
@click.option(
    "--language",
    "languages",
    multiple=True,
    type=click.Choice(LANGUAGES),
    help="Only these languages.",
)
@click.option(
    "--most", multiple=True, metavar="TASK=N", help="Maximum training examples of a task."
)
@click.option(
    "--weight", multiple=True, metavar="SOURCE=N", help="Weight of a source; others have 1."
)
@click.option(
    "--contrast",
    default=0,
    show_default=True,
    type=click.IntRange(0, 8),
    metavar="N",
    help="Add facts that change: in N other orders of what is known, and without some of it.",
)
@click.option("--hard", default=0.4, show_default=True, help="Minimum share of hard cases.")
@click.option("--planted", default=0.1, show_default=True, help="Share with a planted instruction.")
@click.option("--talks", type=int, help="Talks per source and language; 0 for all.  [default: 450]")
@click.option("--paper", is_flag=True, help="Paper C's three tasks, with its counts and splits.")
@click.option("--sample", type=int, default=0, help="Print this many examples of each task.")
@click.option("--research", is_flag=True, help="Include data sets whose licence forbids shipping.")
@click.option("--taught", type=FILE, multiple=True, help="A file that `tune teach` wrote.")
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
    contrast: int,
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

    Examples use the prompts that the mechanisms send. Answers are checked for support in the
    dialogue and by the mechanisms' own guards. Tasks, languages and sources are balanced. Data sets
    whose licence does not allow shipping an adapter are left out, unless --research is given.
    """
    from omoide_tune.dataset_files import make
    from omoide_tune.mixture import parsed, weighed

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
        contrast=contrast,
    )
    if scope.json:
        emit(made.card)
        return
    rows = [(*key, f"{count:,}") for key, count in made.counts]
    click.echo(table(("source", "task", "language", "examples"), rows, right=(3,)))
    facts = ", ".join(f"{count:,} {name}" for name, count in made.facts)
    click.echo(f"facts: {facts}\n{made.trained:,} for training, {made.kept:,} held out: {folder}")
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
    help="Folder with the data sets.",
)
@click.option("--source", "names", multiple=True, help="Use only these data sets.")
@click.option("--talks", default=450, show_default=True, help="Talks per source and language.")
@click.option(
    "--tries", default=2, show_default=True, type=click.IntRange(1, 8), help="Per speaker."
)
@click.option("--concurrency", default=1, show_default=True, help="Parallel requests.")
@click.option("--minutes", type=float, help="Stop after this time; run again to continue.")
@click.option("--research", is_flag=True, help="Include data sets whose licence forbids shipping.")
@click.option("--seed", type=int, default=1, show_default=True)
@scoped
def teach(scope: Scope, /, file: Path, **given: Any) -> None:  # noqa: ANN401 - click has checked
    """Let a model (OMOIDE_MODEL) find facts that the data sets do not list, and write them to FILE.

    It is asked the summary's question about each speaker; unsupported facts are dropped. Run
    again, it continues where it stopped. Give the same --talks and --seed to
    `omoide tune data --taught FILE`. The result may be shipped only if the model's licence
    allows training on its output.
    """
    from omoide_tune.teaching import lesson_plan, teach

    minutes, data = given["minutes"], given["data"]
    speakers = lesson_plan(
        data, names=given["names"], talks=given["talks"], seed=given["seed"],
        research=given["research"],
    )  # fmt: skip

    async def teach_all() -> TeachingReport:
        model = chat_model(scope.settings, scope.settings.model, progress=bar, whole=True)
        try:
            return await teach(
                model, speakers, file, tries=given["tries"], concurrency=given["concurrency"],
                seconds=60 * minutes if minutes else None, tell=bar,
            )  # fmt: skip
        finally:
            await model.close()

    report = asyncio.run(teach_all())
    if scope.json:
        emit(as_json(report))
        return
    click.echo(
        f"{report.asked:,} speakers asked about, {report.before:,} already done, {report.failed:,} "
        f"failed, {report.left:,} left\n"
        f"kept {report.kept:,} of {report.said:,} facts: {file}"
    )


@tune.command()
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


@tune.command()
@click.argument("adapter", type=FOLDER)
@click.argument("out", type=FILE)
@click.option("--base", default="small", show_default=True, help="The model it was trained on.")
@_precision("f16")
@scoped
def convert(
    scope: Scope, adapter: Path, out: Path, base: str, precision: Literal["f16", "q8_0"]
) -> None:
    """Convert the peft adapter in folder ADAPTER to the LoRA file OUT for the embedded model."""
    weights = asyncio.run(weights_of(scope.settings, base, bar))
    count = convert_adapter(adapter, out, weights=weights, precision=precision)
    if scope.json:
        emit({"out": out, "tensors": count, "bytes": out.stat().st_size})
    else:
        click.echo(f"{out}: {count} tensors, {out.stat().st_size / 1e6:.1f} MB")


@tune.command()
@click.argument("folder", type=FOLDER)
@click.option("--name", required=True, help="Name of the adapter, for example notes-r32.")
@click.option(
    "--skills",
    required=True,
    metavar="A,B",
    callback=_skills,
    help=f"Skills it is used for: {', '.join(Skill)}.",
)
@click.option("--base", default="small", show_default=True, help="The model it was trained on.")
@click.option("--data-card", "data", type=FILE, required=True, help="card.json of its data.")
@click.option("--licence", default="Apache-2.0", show_default=True)
@click.option("--into", type=FOLDER, help="Target folder.  [default: omoide_weights]")
@click.option(
    "--strength",
    "strengths",
    multiple=True,
    metavar="SKILL=N",
    callback=_strengths,
    help="Strength of the adapter for a skill, above 0 and up to 1.  [default: 1]",
)
@click.option("--instead", default="", metavar="NAME", help="The adapter to replace.")
@_precision("q8_0")
@scoped
def ship(scope: Scope, /, folder: Path, **given: Any) -> None:  # noqa: ANN401 - click has checked
    """Ship the adapter in FOLDER with omoide and use it by default.

    FOLDER is what `omoide tune run` wrote. The LoRA file, its card and its manifest entry go into
    omoide_weights. Data that must not be shipped is refused, and so is more than 70 MB in all.
    """
    entry = asyncio.run(ship_adapter(scope.settings, run=folder, progress=bar, **given))
    if scope.json:
        emit(as_json(entry))
    else:
        click.echo(
            f"{entry.file}: {entry.size / 1e6:.1f} MB, rank {entry.rank}, SHA-256 {entry.sha256}\n"
            f"for {', '.join(entry.skills)} with {entry.base}"
        )


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

"""`omoide tune data` and `teach`: the examples to train on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omoide.bootstrap import chat_model
from omoide.cli import as_json, bar, emit, scoped, table
from omoide.language import LANGUAGES
from omoide_tune.cli.paths import FILE, FOLDER
from omoide_tune.examples import TASKS

if TYPE_CHECKING:
    from omoide.cli import Scope
    from omoide_tune.teaching import TeachingReport


@click.command()
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


@click.command()
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

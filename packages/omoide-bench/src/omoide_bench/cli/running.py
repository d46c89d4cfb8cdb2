"""`omoide bench run`: one task, several methods, one result file."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omoide.cli import Prices, Scope, as_json, emit, scoped, table
from omoide.errors import BadInput
from omoide_bench.cli.options import EMBEDDER, ITERATOR, OUT, TOKENS
from omoide_bench.cli.progress import RunProgress, clock
from omoide_bench.cli.run_options import DEFAULT_SKILLS, CliRunOptions, lab

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide_bench.running.plan import Plan
    from omoide_bench.running.results import Result

CACHE = Path("bench-cache.sqlite")
WAITING = 75
"""Exit status of a run that waits for the answers of a batch (EX_TEMPFAIL of sysexits.h)."""


@click.command()
@click.argument("task", metavar="TASK")
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder of the data set, or of several data sets in subfolders.",
)
@click.option("--model", help="Model that replies and writes memory.  [default: from settings]")
@click.option(
    "--tuned", multiple=True, help="The model with a LoRA adapter, for --skills; repeatable."
)
@click.option(
    "--skills",
    multiple=True,
    help="What a --tuned model is used for (see `omoide models list`), once for each.  "
    f"[default: {DEFAULT_SKILLS}]",
)
@ITERATOR
@click.option("--judge", default="", help="The model that judges, for tasks with a judge.")
@click.option("--pairs", default="", help="Judge this method's replies against all others'.")
@EMBEDDER
@click.option(
    "--encoder", default="", help="For the likeness measure: gte-small, bert-score:MODEL."
)
@TOKENS
@click.option("--method", "methods", multiple=True, help="Such as summary+search; repeatable.")
@click.option("--only", is_flag=True, help="Do not run the baselines.")
@click.option("--limit", type=click.IntRange(min=1), help="Number of cases, drawn by the seed.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--set", "chosen", multiple=True, metavar="NAME=VALUE", help="An option of the task.")
@click.option("--concurrency", type=click.IntRange(min=1), default=8, show_default=True)
@click.option("--together", is_flag=True, help="Run all methods at once, for endpoints that batch.")
@click.option("--minutes", type=float, help="Start no new case after this many minutes.")
@click.option("--at-most", type=float, help="Drop cases not finished after this many minutes.")
@click.option("--window", type=click.IntRange(min=512), help="Context window in tokens.")
@click.option("--grammar", is_flag=True, help="The endpoint accepts GBNF grammars (llama.cpp).")
@click.option(
    "--cache",
    type=click.Path(path_type=Path, dir_okay=False),
    default=CACHE,
    show_default=True,
    help="Cache of all calls; an interrupted run resumes from it.",
)
@click.option(
    "--batch",
    type=click.Path(path_type=Path, file_okay=False),
    help="Ask in batches: write the requests that are due to this folder and stop.",
)
@click.option("--known", is_flag=True, help="No calls: run only cases fully in the cache.")
@click.option("--plan", "only_plan", is_flag=True, help="Print the estimated cost and stop.")
@click.option("--no-plan", is_flag=True, help="Skip the cost estimate, which takes a dry run.")
@click.option("--yes", is_flag=True, help="Start without asking.")
@click.option("--rate", type=float, help="Answer tokens per second, for the plan.")
@click.option("--price-in", type=float, help="Price of a million prompt tokens.")
@click.option("--price-out", type=float, help="Price of a million answer tokens.")
@click.option(
    "--keep-texts",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write all texts to this folder, for local use: data sets may forbid sharing.",
)
@OUT
@scoped
def run(
    scope: Scope,
    task: str,
    data: Path | None,
    model: str | None,
    tuned: tuple[str, ...],
    skills: tuple[str, ...],
    iterator: str,
    judge: str,
    pairs: str,
    embedder: str | None,
    encoder: str,
    tokens: str,
    methods: tuple[str, ...],
    only: bool,
    limit: int | None,
    seed: int,
    chosen: tuple[str, ...],
    concurrency: int,
    together: bool,
    minutes: float | None,
    at_most: float | None,
    window: int | None,
    grammar: bool,
    cache: Path,
    batch: Path | None,
    known: bool,
    only_plan: bool,
    no_plan: bool,
    yes: bool,
    rate: float | None,
    price_in: float | None,
    price_out: float | None,
    keep_texts: Path | None,
    out: Path | None,
) -> None:
    """Run TASK (see `omoide bench list`) and write the result."""
    from omoide_bench.running.batches import RoundWritten
    from omoide_bench.running.runner import RunOptions
    from omoide_bench.tasks.base import Sample

    benchmark = task_named(task)
    if pairs and not judge:
        raise click.UsageError("--pairs needs a --judge")
    if batch and known:
        raise click.UsageError("--batch asks for what is missing and --known does not: give one")
    options = _options(benchmark, chosen)
    if benchmark.source is not None:
        click.echo(benchmark.source.notice(), err=True)
    sample = Sample(limit=limit, seed=seed, options=options)
    making = CliRunOptions(
        model=model or scope.settings.model,
        iterator=iterator,
        judge=judge,
        embedder=embedder or scope.settings.embedder,
        cache=cache,
        data=data,
        tokens=tokens,
        concurrency=concurrency,
        grammar=grammar,
        window=window or scope.settings.window,
        encoder=encoder,
        tuned=tuned,
        skills=skills,
        known=known,
        batch=batch,
    )
    now = time.monotonic()
    course = RunOptions(
        seed=seed,
        options=options,
        concurrency=concurrency,
        deadline=now + 60 * minutes if minutes else None,
        end=now + 60 * at_most if at_most else None,
        together=together,
        known=known,
    )
    prices = Prices(prompt=price_in or 0.0, completion=price_out or 0.0)
    priced = price_in is not None or price_out is not None

    async def run_all() -> Result | None:
        from omoide_bench.running.execute import RunJob, execute, fingerprints, methods_of
        from omoide_bench.running.plan import plan
        from omoide_bench.running.results import write

        progress = RunProgress()
        async with lab(scope.settings, making, called=progress.called) as parts:
            wanted = methods_of(benchmark, methods, only=only, lab=parts)
            cases = benchmark.cases(data, sample)
            if not cases:
                raise BadInput(f"{benchmark.name} has no case for these options: {options}")
            if only_plan or not (no_plan or batch):
                planned = await plan(benchmark, cases, wanted, lab=parts, course=course, rate=rate)
                shown = _plan(planned, prices if priced else None)
                if only_plan:
                    emit(as_json(planned)) if scope.json else click.echo(shown)
                    return None
                click.echo(shown, err=True)
            if not yes and sys.stdin.isatty() and not click.confirm("Start?", err=True):
                return None
            progress.start(len(wanted))
            job = RunJob(
                task=benchmark,
                sample=sample,
                methods=wanted,
                cases=cases,
                data=fingerprints(benchmark, data),
                command=shlex.join(["omoide", *sys.argv[1:]]),
                against=pairs,
            )
            result = await execute(
                job,
                lab=parts,
                course=course,
                report=progress.case,
                written=(lambda r: write(out, r)) if out else (lambda r: None),
            )
            if keep_texts:
                _keep(keep_texts, benchmark.name, job.keep)
            return result

    try:
        result = asyncio.run(run_all())
    except RoundWritten as round_written:
        click.echo(str(round_written), err=scope.json)
        raise click.exceptions.Exit(WAITING) from None
    if result is None:
        return
    if scope.json:
        emit(as_json(replace(result, methods=[replace(m, items=[]) for m in result.methods])))
    else:
        click.echo(shown_result(result))


def task_named(name: str) -> Any:  # noqa: ANN401 - tasks differ in their cases
    """The task of that name. Raises `BadInput` that lists the known ones."""
    from omoide.mechanisms import lookup
    from omoide_bench.tasks import TASKS

    return lookup(TASKS, name, "task")


def _options(task: Any, arguments: Sequence[str]) -> dict[str, str]:  # noqa: ANN401 - as above
    from omoide_bench.tasks.base import checked_options

    pairs = [option.partition("=") for option in arguments]
    for name, mark, _ in pairs:
        if not mark:
            raise click.UsageError(f"--set needs NAME=VALUE, got {name!r}")
    return dict(checked_options(task, {name: value for name, _, value in pairs}))


def _plan(planned: Plan, prices: Prices | None) -> str:
    """The estimated calls, tokens, time and money; a run without calls has nothing to estimate."""
    if not any(load.calls for load in planned.loads):
        return f"{planned.cases:,} cases; no model will be called"
    head = ("method", "calls", "shared", "prompt tokens", "answer tokens")
    rows = [
        (
            load.method,
            f"{load.calls:,}",
            f"{load.shared:,}",
            f"{load.prompt_tokens:,}",
            f"{load.completion_tokens:,}",
        )
        for load in planned.loads
    ]
    lines = [table(head, rows, right=(1, 2, 3, 4)), ""]
    lines.append(
        f"{planned.cases:,} cases, at least {planned.calls:,} calls with "
        f"{planned.prompt_tokens:,} + {planned.completion_tokens:,} tokens (dry run on "
        f"{planned.rehearsed} cases; cached calls are not repeated)"
    )
    if planned.seconds is not None:
        lines.append(f"about {clock(planned.seconds)}")
    else:
        lines.append("duration unknown: the model has not been called yet; set --rate")
    if prices is not None:
        cost = prices.of(planned.prompt_tokens, planned.completion_tokens)
        lines.append(f"about {cost:,.2f} at the prices given")
    return "\n".join(lines)


def shown_result(result: Result) -> str:
    """The aggregates as a table, with notes."""
    from omoide_bench.reports.tables import aggregate_rows, unscored_reasons

    head, rows = aggregate_rows(result)
    lines = [table(head, rows, right=range(2, len(head)))]
    lines += [
        f"\n{count:,} items without {measure}: {why}"
        for (measure, why), count in unscored_reasons(result).items()
    ]
    if not result.complete:
        lines.append("\nNot every case was run; run the same command again to resume.")
    lines += [f"\n{note}" for note in result.notes]
    return "\n".join(lines)


def _keep(folder: Path, task: str, done: Sequence[tuple[str, Any]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, method_run in done:
        path = folder / f"{task}-{name.replace(':', '-')}.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for item in method_run.items:
                record = {"id": item.id, "scores": dict(item.scores), **item.texts}
                file.write(json.dumps(record, ensure_ascii=False) + "\n")

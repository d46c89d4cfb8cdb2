"""`omoide bench suite`: the runs behind the results page, most important first."""

from __future__ import annotations

import asyncio
import shlex
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from omoide.cli import Scope, scoped
from omoide.errors import BadInput, OmoideError
from omoide_bench.cli.options import DATA, EMBEDDER, ITERATOR, TOKENS
from omoide_bench.cli.progress import RunProgress
from omoide_bench.cli.run_options import CliRunOptions, lab

if TYPE_CHECKING:
    from omoide_bench.running.memory_under_test import RunContext
    from omoide_bench.running.results import Result
    from omoide_bench.suite import SuiteRun


@click.command()
@DATA
@click.option("--model", help="Model that replies and writes memory.  [default: from settings]")
@ITERATOR
@click.option("--judge", default="", help="The model that judges.  [default: none]")
@EMBEDDER
@click.option(
    "--encoder", default="", help="For the likeness measure: gte-small, bert-score:MODEL."
)
@TOKENS
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Result folder."
)
@click.option("--minutes", type=float, help="Start no new case after this many minutes.")
@click.option("--concurrency", type=click.IntRange(min=1), default=32, show_default=True)
@click.option("--together", is_flag=True, help="Run all methods at once, for endpoints that batch.")
@click.option("--window", type=click.IntRange(min=512), help="Context window in tokens.")
@click.option("--grammar", is_flag=True, help="The endpoint accepts GBNF grammars (llama.cpp).")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--scale", type=float, default=1.0, help="Multiply every sample size.")
@click.option("--run", "wanted", multiple=True, help="Only this run; repeatable.")
@click.option(
    "--cache", type=click.Path(path_type=Path, dir_okay=False), help="[default: in --out]"
)
@scoped
def suite(
    scope: Scope,
    data: Path,
    model: str | None,
    iterator: str,
    judge: str,
    embedder: str | None,
    encoder: str,
    tokens: str,
    out: Path,
    minutes: float | None,
    concurrency: int,
    together: bool,
    window: int | None,
    grammar: bool,
    seed: int,
    scale: float,
    wanted: tuple[str, ...],
    cache: Path | None,
) -> None:
    """Run everything on the results page, within a time limit. Run it again to resume."""
    from omoide_bench.suite import SUITE

    runs = [run for run in SUITE if not wanted or run.name in wanted]
    if not runs:
        names = ", ".join(run.name for run in SUITE)
        raise BadInput(f"the suite has no run {', '.join(wanted)}; its runs are {names}")
    out.mkdir(parents=True, exist_ok=True)
    making = CliRunOptions(
        model=model or scope.settings.model,
        iterator=iterator,
        tokens=tokens,
        judge=judge,
        embedder=embedder or scope.settings.embedder,
        cache=cache or out / "cache.sqlite",
        data=data,
        concurrency=concurrency,
        grammar=grammar,
        window=window or scope.settings.window,
        encoder=encoder,
    )
    deadline = time.monotonic() + 60 * minutes if minutes else None

    async def run_all() -> None:
        progress = RunProgress()
        async with lab(scope.settings, making, called=progress.called) as parts:
            for run in runs:
                if deadline is not None and time.monotonic() > deadline:
                    click.echo(f"no time left for {run.name}", err=True)
                    continue
                path = out / f"{run.name}.json"
                if _is_done(path, run, seed=seed, scale=scale, model=parts.shared_model.model.name):
                    click.echo(f"{run.name}: already done", err=True)
                    continue
                click.echo(f"{run.name}: {run.about}", err=True)
                try:
                    await _run_one(
                        run.scaled(scale),
                        parts,
                        data=data,
                        seed=seed,
                        deadline=deadline,
                        path=path,
                        progress=progress,
                        concurrency=concurrency,
                        together=together,
                    )
                except OmoideError as error:  # the runs after it may still succeed
                    click.echo(f"{run.name}: {error}", err=True)

    asyncio.run(run_all())


async def _run_one(
    run: SuiteRun,
    parts: RunContext,
    *,
    data: Path,
    seed: int,
    deadline: float | None,
    path: Path,
    progress: RunProgress,
    concurrency: int,
    together: bool,
) -> Result:
    from omoide_bench.running.execute import RunJob, execute, fingerprints, methods_of
    from omoide_bench.running.results import write
    from omoide_bench.running.runner import RunOptions
    from omoide_bench.tasks import TASKS
    from omoide_bench.tasks.base import Sample, checked_options

    task = TASKS[run.task]
    options = checked_options(task, run.options)
    sample = Sample(limit=run.limit, seed=seed, options=options)
    methods = methods_of(task, run.methods, only=True, lab=parts)
    progress.start(len(methods))
    job = RunJob(
        task=task,
        sample=sample,
        methods=methods,
        cases=task.cases(data, sample),
        data=fingerprints(task, data),
        command=shlex.join(["omoide", *sys.argv[1:]]),
        notes=(run.about,),
        against=run.against,
    )
    settings = replace(parts.settings, **run.settings)
    return await execute(
        job,
        lab=replace(parts, settings=settings),
        course=RunOptions(
            seed=seed,
            options=options,
            concurrency=concurrency,
            deadline=deadline,
            together=together,
        ),
        report=progress.case,
        written=lambda result: write(path, result),
    )


def _is_done(path: Path, run: SuiteRun, *, seed: int, scale: float, model: str) -> bool:
    """Whether the file holds the complete result of this run with the same arguments."""
    from omoide_bench.running.results import read

    if not path.exists():
        return False
    try:
        result = read(path)
    except BadInput:
        return False
    same = (result.seed, result.limit, result.model) == (seed, run.scaled(scale).limit, model)
    return same and result.complete and [m.name for m in result.methods] == list(run.methods)

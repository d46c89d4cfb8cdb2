"""`omoide bench suite`: the runs behind the results page, the most important first."""

from __future__ import annotations

import asyncio
import shlex
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from omoide.cli.bench.making import Making, lab
from omoide.cli.bench.options import DATA, EMBEDDER
from omoide.cli.bench.progress import Progress
from omoide.cli.scope import Scope, scoped
from omoide.errors import BadInput, OmoideError

if TYPE_CHECKING:
    from omoide.evals.running.lab import Lab
    from omoide.evals.running.results import Result
    from omoide.evals.suite import Run


@click.command()
@DATA
@click.option("--model", help="Who replies and writes memory.  [default: as set]")
@click.option("--judge", default="", help="The model that judges.  [default: none]")
@EMBEDDER
@click.option("--encoder", default="", help="For likeness: gte-small, bert-score:MODEL.")
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="For results."
)
@click.option("--minutes", type=float, help="Begin no new case after so long.")
@click.option("--concurrency", type=click.IntRange(min=1), default=32, show_default=True)
@click.option("--together", is_flag=True, help="All methods at once: for endpoints that batch.")
@click.option("--window", type=click.IntRange(min=512), help="Tokens the model may hold.")
@click.option("--grammar", is_flag=True, help="The endpoint takes GBNF grammars (llama.cpp).")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--scale", type=float, default=1.0, help="Multiply every sample size.")
@click.option("--run", "wanted", multiple=True, help="Only these runs; see the list it prints.")
@click.option(
    "--cache", type=click.Path(path_type=Path, dir_okay=False), help="[default: in --out]"
)
@scoped
def suite(
    scope: Scope,
    data: Path,
    model: str | None,
    judge: str,
    embedder: str | None,
    encoder: str,
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
    """Run everything that the results page shows, within a time limit; run it again to go on."""
    from omoide.evals.suite import SUITE

    runs = [run for run in SUITE if not wanted or run.name in wanted]
    if not runs:
        names = ", ".join(run.name for run in SUITE)
        raise BadInput(f"the suite has no run of that name; there are {names}")
    out.mkdir(parents=True, exist_ok=True)
    making = Making(
        model=model or scope.settings.model,
        judge=judge,
        embedder=embedder or scope.settings.embedder,
        cache=cache or out / "cache.sqlite",
        concurrency=concurrency,
        grammar=grammar,
        window=window or scope.settings.window,
        encoder=encoder,
    )
    deadline = time.monotonic() + 60 * minutes if minutes else None

    async def all_of_it() -> None:
        progress = Progress()
        async with lab(scope.settings, making, called=progress.called) as parts:
            for run in runs:
                if deadline is not None and time.monotonic() > deadline:
                    click.echo(f"no time left for {run.name}", err=True)
                    continue
                path = out / f"{run.name}.json"
                if _is_done(path, run, seed=seed, scale=scale, model=parts.line.model.name):
                    click.echo(f"{run.name}: done before", err=True)
                    continue
                click.echo(f"{run.name}: {run.about}", err=True)
                try:
                    await _one(
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

    asyncio.run(all_of_it())


async def _one(
    run: Run,
    parts: Lab,
    *,
    data: Path,
    seed: int,
    deadline: float | None,
    path: Path,
    progress: Progress,
    concurrency: int,
    together: bool,
) -> Result:
    from omoide.evals.running.carry import Job, carry_out, fingerprints, methods_of
    from omoide.evals.running.results import write
    from omoide.evals.running.runner import Course
    from omoide.evals.tasks import TASKS
    from omoide.evals.tasks.base import Sample, checked_options

    task = TASKS[run.task]
    options = checked_options(task, run.options)
    sample = Sample(limit=run.limit, seed=seed, options=options)
    methods = methods_of(task, run.methods, only=True, lab=parts)
    progress.start(len(methods))
    job = Job(
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
    return await carry_out(
        job,
        lab=replace(parts, settings=settings),
        course=Course(
            seed=seed,
            options=options,
            concurrency=concurrency,
            deadline=deadline,
            together=together,
        ),
        told=progress.case,
        written=lambda result: write(path, result),
    )


def _is_done(path: Path, run: Run, *, seed: int, scale: float, model: str) -> bool:
    """Whether the file holds this very run, complete."""
    from omoide.evals.running.results import read

    if not path.exists():
        return False
    try:
        result = read(path)
    except BadInput:
        return False
    same = (result.seed, result.limit, result.model) == (seed, run.scaled(scale).limit, model)
    return same and result.complete and [m.name for m in result.methods] == list(run.methods)

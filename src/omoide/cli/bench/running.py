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

from omoide.cli.bench.making import Making, lab
from omoide.cli.bench.options import EMBEDDER, OUT
from omoide.cli.bench.progress import Progress, clock
from omoide.cli.cost import Prices
from omoide.cli.scope import Scope, scoped
from omoide.cli.show import as_json, emit, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.evals.running.plan import Plan
    from omoide.evals.running.results import Result

CACHE = Path("bench-cache.sqlite")


@click.command()
@click.argument("task", metavar="TASK")
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The folder with the data set, or with folders of several.",
)
@click.option("--model", help="Who replies and writes memory.  [default: as set]")
@click.option("--tuned", default="", help="The same with an adapter: asked for --skills alone.")
@click.option(
    "--skills",
    default="memos,iteration,events,reply",
    show_default=True,
    help="What the tuned model is asked for, as `omoide models list` has it.",
)
@click.option("--judge", default="", help="The model that judges, where a task is judged.")
@click.option("--pairs", default="", help="Judge this method's replies against every other's.")
@EMBEDDER
@click.option("--encoder", default="", help="For likeness: gte-small, bert-score:MODEL.")
@click.option("--method", "methods", multiple=True, help="Such as summary+search; may be repeated.")
@click.option("--only", is_flag=True, help="Without the baselines that else run beside them.")
@click.option("--limit", type=click.IntRange(min=1), help="So many cases, drawn by the seed.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--set", "chosen", multiple=True, metavar="NAME=VALUE", help="An option of the task.")
@click.option("--concurrency", type=click.IntRange(min=1), default=8, show_default=True)
@click.option("--together", is_flag=True, help="All methods at once: for endpoints that batch.")
@click.option("--minutes", type=float, help="Begin no new case after so long.")
@click.option("--at-most", type=float, help="Minutes after which unfinished cases are left out.")
@click.option("--window", type=click.IntRange(min=512), help="Tokens the model may hold.")
@click.option("--grammar", is_flag=True, help="The endpoint takes GBNF grammars (llama.cpp).")
@click.option(
    "--cache",
    type=click.Path(path_type=Path, dir_okay=False),
    default=CACHE,
    show_default=True,
    help="Every call that was made; an interrupted run goes on from it.",
)
@click.option("--known", is_flag=True, help="Ask nothing: the cases that the cache has whole.")
@click.option("--plan", "only_plan", is_flag=True, help="Say what it will take, and stop.")
@click.option("--no-plan", is_flag=True, help="Start without one: a rehearsal takes its time.")
@click.option("--yes", is_flag=True, help="Start without asking.")
@click.option("--rate", type=float, help="Tokens of answers a second, for the plan.")
@click.option("--price-in", type=float, help="Money for a million prompt tokens.")
@click.option("--price-out", type=float, help="Money for a million tokens of answers.")
@click.option(
    "--keep-texts",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write what was said to a folder, to read here; data sets may not be passed on.",
)
@OUT
@scoped
def run(
    scope: Scope,
    task: str,
    data: Path | None,
    model: str | None,
    tuned: str,
    skills: str,
    judge: str,
    pairs: str,
    embedder: str | None,
    encoder: str,
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
    """Run TASK (see `omoide bench list`) and write what came of it."""
    from omoide.evals.running.runner import Course
    from omoide.evals.tasks.base import Sample

    found = _task(task)
    if pairs and not judge:
        raise click.UsageError("--pairs needs a --judge")
    options = _options(found, chosen)
    if found.source is not None:
        click.echo(found.source.notice(), err=True)
    sample = Sample(limit=limit, seed=seed, options=options)
    making = Making(
        model=model or scope.settings.model,
        judge=judge,
        embedder=embedder or scope.settings.embedder,
        cache=cache,
        concurrency=concurrency,
        grammar=grammar,
        window=window or scope.settings.window,
        encoder=encoder,
        tuned=tuned,
        skills=tuple(name.strip() for name in skills.split(",") if name.strip()),
        known=known,
    )
    now = time.monotonic()
    course = Course(
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

    async def all_of_it() -> Result | None:
        from omoide.evals.running.carry import Job, carry_out, fingerprints, methods_of
        from omoide.evals.running.plan import plan
        from omoide.evals.running.results import write

        progress = Progress()
        async with lab(scope.settings, making, called=progress.called) as parts:
            wanted = methods_of(found, methods, only=only, lab=parts)
            cases = found.cases(data, sample)
            if only_plan or not no_plan:
                planned = await plan(found, cases, wanted, lab=parts, course=course, rate=rate)
                shown = _plan(planned, prices if priced else None)
                if only_plan:
                    emit(as_json(planned)) if scope.json else click.echo(shown)
                    return None
                click.echo(shown, err=True)
            if not yes and sys.stdin.isatty() and not click.confirm("Start?", err=True):
                return None
            progress.start(len(wanted))
            job = Job(
                task=found,
                sample=sample,
                methods=wanted,
                cases=cases,
                data=fingerprints(found, data),
                command=shlex.join(["omoide", *sys.argv[1:]]),
                against=pairs,
            )
            result = await carry_out(
                job,
                lab=parts,
                course=course,
                told=progress.case,
                written=(lambda r: write(out, r)) if out else (lambda r: None),
            )
            if keep_texts:
                _keep(keep_texts, found.name, job.keep)
            return result

    result = asyncio.run(all_of_it())
    if result is None:
        return
    if scope.json:
        emit(as_json(replace(result, methods=[replace(m, items=[]) for m in result.methods])))
    else:
        click.echo(shown_result(result))


def _task(name: str) -> Any:  # noqa: ANN401 - tasks differ in their cases
    from omoide.evals.tasks import TASKS
    from omoide.mechanisms import chosen

    return chosen(TASKS, name, "task")


def _options(task: Any, given: Sequence[str]) -> dict[str, str]:  # noqa: ANN401 - as above
    from omoide.evals.tasks.base import checked_options

    pairs = [one.partition("=") for one in given]
    for name, mark, _ in pairs:
        if not mark:
            raise click.UsageError(f"--set wants NAME=VALUE, not {name!r}")
    return dict(checked_options(task, {name: value for name, _, value in pairs}))


def _plan(planned: Plan, prices: Prices | None) -> str:
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
        f"{planned.prompt_tokens:,} + {planned.completion_tokens:,} tokens (rehearsed on "
        f"{planned.rehearsed}; what the cache holds is not asked again)"
    )
    if planned.seconds is not None:
        lines.append(f"about {clock(planned.seconds)}")
    else:
        lines.append("how long is not known: the model has not been asked yet; --rate says")
    if prices is not None:
        cost = prices.of(planned.prompt_tokens, planned.completion_tokens)
        lines.append(f"about {cost:,.2f} at the prices given")
    return "\n".join(lines)


def shown_result(result: Result) -> str:
    """The aggregates as a table."""
    from omoide.evals.reports.tables import aggregate_rows

    head, rows = aggregate_rows(result)
    lines = [table(head, rows, right=range(2, len(head)))]
    unscored = sum(1 for method in result.methods for item in method.items if item.unscored)
    if unscored:
        lines.append(f"\n{unscored:,} items have a measure without a score; the file says why.")
    if not result.complete:
        lines.append("\nNot every case was run; the same command goes on from the cache.")
    lines += [f"\n{note}" for note in result.notes]
    return "\n".join(lines)


def _keep(folder: Path, task: str, done: Sequence[tuple[str, Any]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, one in done:
        path = folder / f"{task}-{name.replace(':', '-')}.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for item in one.items:
                kept = {"id": item.id, "scores": dict(item.scores), **item.texts}
                file.write(json.dumps(kept, ensure_ascii=False) + "\n")

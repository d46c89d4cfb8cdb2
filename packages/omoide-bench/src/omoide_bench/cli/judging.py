"""`omoide bench measures` and `omoide bench agreement`: what a measure or a judge can see."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omoide.cli import Scope, as_json, emit, scoped, table
from omoide.errors import BadInput, ModelUnavailable
from omoide_bench.cli.options import DATA
from omoide_bench.cli.run_options import CliRunOptions, lab
from omoide_bench.cli.running import CACHE, WAITING, task_named

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from omoide_bench.discrimination import Discrimination
    from omoide_bench.judges import PairReport
    from omoide_bench.running.cached_model import MethodModel
    from omoide_bench.verdicts import MethodVerdicts, PairAgreement

JUDGE = click.option(
    "--judge", default="", help="The judge to test; without one no model is asked."
)
KEPT = click.option(
    "--cache",
    type=click.Path(path_type=Path, dir_okay=False),
    default=CACHE,
    show_default=True,
    help="Cache of all calls.",
)
BATCH = click.option(
    "--batch",
    type=click.Path(path_type=Path, file_okay=False),
    help="Ask the judge in batches through this folder.",
)
CONCURRENCY = click.option(
    "--concurrency", type=click.IntRange(min=1), default=8, show_default=True
)


@click.command()
@click.argument("task", metavar="TASK")
@DATA
@JUDGE
@click.option("--limit", type=click.IntRange(min=1), help="Number of cases, drawn by the seed.")
@click.option("--seed", type=int, default=0, show_default=True)
@KEPT
@BATCH
@CONCURRENCY
@scoped
def measures(
    scope: Scope,
    task: str,
    data: Path,
    judge: str,
    limit: int | None,
    seed: int,
    cache: Path,
    batch: Path | None,
    concurrency: int,
) -> None:
    """Test the measures of TASK on answers that are known to be better or worse.

    Each kind of answer gets a mean score, and each worse kind the share of pairs in which a better
    answer scores above it (AUC). Read this before you use a measure.
    """
    from omoide_bench.tasks import TASKS
    from omoide_bench.tasks.base import Sample

    benchmark = task_named(task)
    test = getattr(benchmark, "discriminations", None)
    if test is None:
        able = ", ".join(name for name, one in TASKS.items() if hasattr(one, "discriminations"))
        raise BadInput(
            f"{task} has no answers of known quality; tasks that have: {able}. For replies, "
            "compare measures with kept verdicts: omoide bench agreement"
        )

    async def tested(model: MethodModel | None) -> list[Discrimination]:
        cases = benchmark.cases(data, Sample(limit=limit, seed=seed))
        found: list[Discrimination] = await test(cases, model, seed)
        return found

    making = _making(scope, judge, cache=cache, batch=batch, concurrency=concurrency)
    found = _asked(scope, making, tested)
    if scope.json:
        emit(as_json(found))
    else:
        click.echo("\n\n".join(_discrimination(one) for one in found))


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@JUDGE
@click.option(
    "--criterion",
    type=click.Choice(["engaging", "coherent", "consistent", "faithful", "past"]),
    default="consistent",
    show_default=True,
    help="What the judge compares replies by; `past` is the use of earlier sessions.",
)
@click.option("--limit", type=click.IntRange(min=1), help="Number of items that the judge sees.")
@KEPT
@BATCH
@CONCURRENCY
@scoped
def agreement(
    scope: Scope,
    folder: Path,
    judge: str,
    criterion: str,
    limit: int | None,
    cache: Path,
    batch: Path | None,
    concurrency: int,
) -> None:
    """Compare measures and a judge with kept verdicts on replies in FOLDER.

    FOLDER has verdicts.jsonl and, to compare replies item by item, items.jsonl; the docstring of
    omoide_bench.verdicts shows both. The judge sees every two replies to an item in both orders.
    """
    from omoide_bench import verdicts as kept

    verdicts, items = kept.load_verdicts(folder), kept.load_items(folder)
    if judge and not items:
        raise BadInput(f"a judge needs the replies: there is no items.jsonl in {folder}")
    count = len(next(iter(verdicts[0].marks.values())))
    names = (
        kept.CRITERIA if count == len(kept.CRITERIA) else [f"mark {i + 1}" for i in range(count)]
    )
    rows = kept.marks_agreement(verdicts, names)
    rows += [
        kept.agreement_with(verdicts, name, kept.text_scores(items, name))
        for name in (kept.TEXT_MEASURES if items else ())
    ]

    async def judged(model: MethodModel | None) -> tuple[PairAgreement, PairReport] | None:
        from omoide.engine import complete
        from omoide_bench.judges import PairJudge
        from omoide_bench.tasks.base import Sample

        if model is None:
            return None
        judging = PairJudge(ask=lambda request: complete(model, request), about=(criterion,))
        drawn = Sample(limit=limit).draw(items)
        name = f"{model.name}, {criterion}"
        return await kept.judge_agreement(verdicts, drawn, judging, measure=name)

    making = _making(scope, judge, cache=cache, batch=batch, concurrency=concurrency)
    report = None
    if (answer := _asked(scope, making, judged)) is not None:
        rows.append(answer[0])
        report = answer[1]
    summary = kept.summarise(verdicts)
    if scope.json:
        emit({"methods": as_json(summary), "agreement": as_json(rows), "judge": as_json(report)})
        return
    click.echo(_summary(summary, names))
    click.echo()
    click.echo(_agreements(rows))
    if not any(row.agrees for row in rows[len(names) :]) and items:
        click.echo("\nNo item has both replies and a verdict: only the methods' order is compared.")
    if report is not None:
        click.echo(
            f"\nThe judge: {report.ties} ties, {report.unscored} unreadable, position bias "
            f"{report.position_bias or 0:+.2f} (1 is always the first)"
        )


def _making(
    scope: Scope, judge: str, *, cache: Path, batch: Path | None, concurrency: int
) -> CliRunOptions | None:
    """The parts for asking the judge; None without one."""
    if not judge:
        return None
    return CliRunOptions(
        model=judge,
        judge="",
        embedder="none",
        cache=cache,
        concurrency=concurrency,
        grammar=False,
        window=scope.settings.window,
        batch=batch,
    )


def _asked(
    scope: Scope, making: CliRunOptions | None, work: Callable[[MethodModel | None], Awaitable[Any]]
) -> Any:  # noqa: ANN401 - the result of any work
    """The work's result with the judge. Exits if a batch has to be answered first."""
    from omoide_bench.running.batches import RoundWritten
    from omoide_bench.running.cached_model import MethodModel

    async def ask() -> Any:  # noqa: ANN401 - as above
        if making is None:
            return await work(None)
        async with lab(scope.settings, making) as parts:
            try:
                return await work(MethodModel(parts.shared_model))
            except ModelUnavailable:
                if parts.batches is not None:
                    parts.batches.write()
                raise

    try:
        return asyncio.run(ask())
    except RoundWritten as round_written:
        click.echo(str(round_written), err=scope.json)
        raise click.exceptions.Exit(WAITING) from None


def _discrimination(one: Discrimination) -> str:
    rows = [
        (
            kind,
            f"{e.count}",
            f"{100 * e.mean:.1f} [{100 * e.low:.1f}, {100 * e.high:.1f}]",
            f"{one.auc[kind]:.2f}" if kind in one.auc else "",
        )
        for kind, e in one.scores.items()
    ]
    head = (f"{one.measure}: answer", "n", "mean, %", "AUC")
    shown = table(head, rows, right=(1, 2, 3))
    return shown + (f"\nunreadable: {one.unscored}" if one.unscored else "")


def _summary(summary: list[MethodVerdicts], names: Sequence[str]) -> str:
    rows = [
        (
            row.method,
            f"{row.rank.mean:.1f} [{row.rank.low:.1f}, {row.rank.high:.1f}]",
            *(f"{mark.mean:.1f}" for mark in row.marks),
        )
        for row in summary
    ]
    return table(("verdicts", "mean rank", *names), rows, right=range(1, 2 + len(names)))


def _agreements(rows: list[PairAgreement]) -> str:
    shown = [
        (
            row.measure,
            f"{row.agrees.count}" if row.agrees else "",
            f"{100 * row.agrees.mean:.0f} [{100 * row.agrees.low:.0f}, {100 * row.agrees.high:.0f}]"
            if row.agrees
            else "",
            f"{100 * row.tied:.0f}",
            f"{row.order:+.2f}",
        )
        for row in rows
    ]
    head = ("orders as the verdicts do", "pairs", "%", "ties, %", "order of methods (tau)")
    return table(head, shown, right=(1, 2, 3, 4))

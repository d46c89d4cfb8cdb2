"""`omoide bench evidence` and `omoide bench abstention`: retrieval only, no language model."""

from __future__ import annotations

import asyncio
import hashlib
import platform
import shlex
import sys
import time
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import click

from omoide import __version__, bootstrap
from omoide.cli import as_json, bar, emit, scoped, table
from omoide_bench.cli.options import DATA, EMBEDDER, OUT, write

if TYPE_CHECKING:
    from omoide.cli import Scope
    from omoide.settings import Settings
    from omoide_bench.abstention import Refusal
    from omoide_bench.evidence import EvidenceResult, QuestionOutcome


@click.command()
@DATA
@EMBEDDER
@click.option(
    "--half",
    type=click.Choice(["tune", "held-out", "all"]),
    default="all",
    show_default=True,
    help="Conversations that the weights were fitted on (tune), the others, or all.",
)
@click.option(
    "--corpus",
    type=click.Choice(["dmr-like"]),
    help="Ask these questions about the data instead: dmr-like, made from MSC's annotations.",
)
@click.option("--ablate", is_flag=True, help="Also run without each kind of evidence.")
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Plot recall against k as SVG.",
)
@OUT
@scoped
def evidence(
    scope: Scope,
    data: Path,
    embedder: str | None,
    half: str,
    corpus: str | None,
    ablate: bool,
    plot: Path | None,
    out: Path | None,
) -> None:
    """Measure how much of the evidence for questions is recalled, on LoCoMo or another corpus in
    --data (MemoryBank, MSC, DuLeMon, RealPersonaChat, LongMemEval).

    Every turn of a conversation is a candidate. Recall at 5, 10, 20 and 50 in percent, with 95 %
    bootstrap intervals over the questions, against plain BM25 and rank fusion. No language model
    is asked.
    """
    settings = _settings(scope, embedder)
    began = time.monotonic()
    lines, outcomes = asyncio.run(
        _measured(settings, data, half=half, corpus=corpus, ablate=ablate)
    )
    result = _circumstances(settings, data) | {
        "half": half,
        **({"corpus": corpus} if corpus else {}),
        "seconds": round(time.monotonic() - began, 1),
        "lines": as_json(lines),
    }
    if out:
        write(out, result | {"questions": as_json(outcomes)})
    if plot:
        plot.write_text(_drawn(lines, settings.embedder), encoding="utf-8")
    if scope.json:
        emit(result)
    else:
        click.echo(_shown(lines))


@click.command()
@DATA
@EMBEDDER
@OUT
@scoped
def abstention(scope: Scope, data: Path, embedder: str | None, out: Path | None) -> None:
    """Measure whether memory can tell that it has no answer.

    The unanswerable questions are those of another conversation with this one's names put in, and
    LoCoMo's category 5. Precision and recall are measured on the five conversations that nothing
    was fitted on.
    """
    settings = _settings(scope, embedder)
    refusals, areas = asyncio.run(_judged(settings, data))
    result = _circumstances(settings, data) | {"auc": areas, "refusals": as_json(refusals)}
    if out:
        write(out, result)
    if scope.json:
        emit(result)
        return
    rows = [
        (r.against, f"{r.cut}", *(f"{x:.2f}" for x in (r.precision, r.recall, r.refused)))
        for r in refusals
    ]
    head = ("against", "known below", "precision", "recall", "answerable refused")
    click.echo(table(head, rows, right=(1, 2, 3, 4)))
    click.echo("\n".join(f"AUC of {name}: {area:.3f}" for name, area in areas.items()))


def _settings(scope: Scope, embedder: str | None) -> Settings:
    """The settings with search only, which calls no model, and a database in memory: a benchmark
    must not record into the user's own."""
    return replace(
        scope.settings,
        db=Path(":memory:"),
        mechanisms=("search",),
        embedder=embedder or scope.settings.embedder,
    )


def _circumstances(settings: Settings, data: Path) -> dict[str, object]:
    """What a result depends on."""
    return {
        "command": shlex.join(["omoide", *sys.argv[1:]]),
        "versions": {
            "omoide": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "apsw")},
        },
        "data": {path.name: _sha256(path) for path in sorted(data.glob("*.json*"))},
        "embedder": settings.embedder,
    }


async def _judged(settings: Settings, data: Path) -> tuple[list[Refusal], dict[str, float]]:
    from omoide.mechanisms.search import Recall
    from omoide_bench import abstention as task
    from omoide_bench.corpora.locomo import load

    async with await bootstrap.open_runtime(settings, progress=bar) as runtime:
        recall = Recall(store=runtime.store, embedder=runtime.embedder)
        judged = await task.judge(runtime.memory(), recall, load(data), progress=bar)
    areas = {}
    good = [j for j in judged if j.sort == "answerable"]
    for against in ("foreign", "category 5"):
        bad = [j for j in judged if j.sort == against]
        areas[f"known, {against}"] = task.auc([j.known for j in good], [j.known for j in bad])
        areas[f"mismatch, {against}"] = task.auc(
            [-j.mismatch for j in good], [-j.mismatch for j in bad]
        )
    refusals = [r for against in ("foreign", "category 5") for r in task.refusals(judged, against)]
    return refusals, areas


async def _measured(
    settings: Settings, data: Path, *, half: str, corpus: str | None, ablate: bool
) -> tuple[list[EvidenceResult], list[QuestionOutcome]]:
    from omoide.mechanisms.search import weights_for
    from omoide_bench import evidence as task
    from omoide_bench.corpora import load

    conversations = task.half(load(data, corpus), half)
    async with await bootstrap.open_runtime(settings, progress=bar) as runtime:
        questioner = task.CachedQueryEmbedder(runtime.embedder) if runtime.embedder else None
        rankers = {
            "BM25": task.plain_words(runtime.store, tenant=settings.tenant),
            "rank fusion": task.rank_fusion(runtime.store, questioner, tenant=settings.tenant),
            "recall": task.product(runtime.memory()),
        }
        if ablate:
            space = questioner.space.name if questioner else None
            full = weights_for(space, of_memory=True)
            rankers |= {
                name: task.weighed(
                    runtime.store, questioner, tenant=settings.tenant, weights=weights
                )
                for name, weights in task.ablations(full).items()
            }
        outcomes = await task.measure(runtime.memory(), conversations, rankers, progress=bar)
    return task.summarise(outcomes), outcomes


def _shown(lines: list[EvidenceResult]) -> str:
    cuts = list(lines[0].recall)
    rows = [
        (
            line.ranker if line.questions == "all" else "",
            line.questions,
            f"{line.recall[cuts[0]].count:,}",
            *(
                f"{100 * e.mean:.1f} [{100 * e.low:.1f}, {100 * e.high:.1f}]"
                for e in line.recall.values()
            ),
        )
        for line in lines
    ]
    head = ("", "questions", "n", *(f"@{k}" for k in cuts))
    return table(head, rows, right=(2, 3, 4, 5, 6))


def _drawn(lines: list[EvidenceResult], embedder: str) -> str:
    from omoide_bench.reports.drawing import Lines, Series, svg

    series = tuple(
        Series(
            name=line.ranker,
            points=tuple((k, 100 * e.mean) for k, e in line.recall.items()),
            low=tuple(100 * e.low for e in line.recall.values()),
            high=tuple(100 * e.high for e in line.recall.values()),
        )
        for line in lines
        if line.questions == "all"
    )
    title = f"Evidence among the first k turns, embedder {embedder}"
    return svg(Lines(title=title, x="k", y="recall, %", series=series))


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()

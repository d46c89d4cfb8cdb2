"""`omoide bench evidence` and `omoide bench abstention`: retrieval alone, no language model."""

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
from omoide.cli.bench.options import DATA, EMBEDDER, OUT, write
from omoide.cli.progress import bar
from omoide.cli.scope import scoped
from omoide.cli.show import as_json, emit, table

if TYPE_CHECKING:
    from omoide.cli.scope import Scope
    from omoide.evals.abstention import Refusal
    from omoide.evals.evidence import Line, Outcome
    from omoide.settings import Settings


@click.command()
@DATA
@EMBEDDER
@click.option(
    "--half",
    type=click.Choice(["tune", "held-out", "all"]),
    default="all",
    show_default=True,
    help="Conversations that weights were fitted on, the others, or all.",
)
@click.option("--ablate", is_flag=True, help="Also leave out each kind of evidence.")
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw recall against k as SVG.",
)
@OUT
@scoped
def evidence(
    scope: Scope,
    data: Path,
    embedder: str | None,
    half: str,
    ablate: bool,
    plot: Path | None,
    out: Path | None,
) -> None:
    """Measure how much of the evidence for questions comes to mind: of LoCoMo, or of another
    corpus that --data holds (MemoryBank, MSC, DuLeMon, RealPersonaChat, LongMemEval).

    Every turn of a conversation is a candidate. Recall at 5, 10, 20 and 50 in percent, with 95 %
    bootstrap intervals over the questions, against plain BM25 and rank fusion. No language model
    is asked.
    """
    settings = _settings(scope, embedder)
    began = time.monotonic()
    lines, outcomes = asyncio.run(_measured(settings, data, half=half, ablate=ablate))
    result = _circumstances(settings, data) | {
        "half": half,
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
    """Measure whether memory knows that it has no answer.

    Questions about another conversation, with this one's names put in, and LoCoMo's category 5
    are to be told from questions that have an answer. Precision and recall are of the five
    conversations that nothing was fitted on.
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
    """A database in memory, and no mechanism that asks a model."""
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
            **{name: version(name) for name in ("numpy", "apsw", "snowballstemmer")},
        },
        "data": {path.name: _sha256(path) for path in sorted(data.glob("*.json*"))},
        "embedder": settings.embedder,
    }


async def _judged(settings: Settings, data: Path) -> tuple[list[Refusal], dict[str, float]]:
    from omoide.evals import abstention as task
    from omoide.evals.corpora.locomo import load
    from omoide.memory.search.recall import Recall

    memory = await bootstrap.open_memory(settings, progress=bar)
    embedder = bootstrap.make_embedder(settings)
    try:
        recall = Recall(store=memory.store, embedder=embedder)
        judged = await task.judge(memory, recall, load(data), progress=bar)
    finally:
        await memory.close()
        if embedder:
            await embedder.close()
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
    settings: Settings, data: Path, *, half: str, ablate: bool
) -> tuple[list[Line], list[Outcome]]:
    from omoide.evals import evidence as task
    from omoide.evals.corpora import load

    conversations = task.half(load(data), half)
    memory = await bootstrap.open_memory(settings, progress=bar)
    embedder = bootstrap.make_embedder(settings)
    questioner = task.Remembered(embedder) if embedder else None
    rankers = {
        "BM25": task.plain_words(memory),
        "rank fusion": task.rank_fusion(memory, questioner),
        "recall": task.product(memory),
    }
    if ablate:
        rankers |= {
            name: task.weighed(memory, questioner, weights)
            for name, weights in task.ablations().items()
        }
    try:
        outcomes = await task.measure(memory, conversations, rankers, progress=bar)
    finally:
        await memory.close()
        if questioner:
            await questioner.close()
    return task.summarise(outcomes), outcomes


def _shown(lines: list[Line]) -> str:
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


def _drawn(lines: list[Line], embedder: str) -> str:
    from omoide.evals.plot import Chart, Series

    series = [
        Series(
            name=line.ranker,
            points=tuple((k, 100 * e.mean) for k, e in line.recall.items()),
            low=tuple(100 * e.low for e in line.recall.values()),
            high=tuple(100 * e.high for e in line.recall.values()),
        )
        for line in lines
        if line.questions == "all"
    ]
    title = f"Evidence among the first k turns, embedder {embedder}"
    return Chart(title=title, x="k", y="recall, %", series=series).svg()


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()

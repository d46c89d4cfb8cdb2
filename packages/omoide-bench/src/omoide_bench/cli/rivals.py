"""`omoide bench rivals`: our memory beside other libraries, in one table."""

from __future__ import annotations

import asyncio
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from omoide.cli import Scope, emit, scoped, table
from omoide.errors import MissingExtra
from omoide_bench.cli.options import DATA, EMBEDDER
from omoide_bench.cli.progress import RunProgress
from omoide_bench.cli.run_options import STAND_IN, CliRunOptions, lab
from omoide_bench.rivals.note_taker import NAME as NOTE_TAKER

if TYPE_CHECKING:
    from omoide_bench.rivals.comparison import Comparison
    from omoide_bench.running.memory_under_test import RunContext


@click.command()
@DATA
@click.option(
    "--model",
    default=NOTE_TAKER,
    show_default=True,
    help="Model that writes memory; by default a stub that notes every line word for word.",
)
@EMBEDDER
@click.option("--method", "methods", multiple=True, help="Only this method; repeatable.")
@click.option("--conversations", default="conv-44", show_default=True, help="Of LoCoMo.")
@click.option("--languages", default="en", show_default=True, help="Of our own facts: en,ja …")
@click.option("--window", type=click.IntRange(min=512), help="Context window in tokens.")
@click.option(
    "--cache", type=click.Path(path_type=Path, dir_okay=False), help="Cache of calls and vectors."
)
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), help="Folder for the three results."
)
@scoped
def rivals(
    scope: Scope,
    data: Path,
    model: str,
    embedder: str | None,
    methods: tuple[str, ...],
    conversations: str,
    languages: str,
    window: int | None,
    cache: Path | None,
    out: Path | None,
) -> None:
    """Compare with mem0, langmem, a plain vector store and BM25: what they bring into the prompt,
    what they bring unasked, what is left after faults of a model, and what they cost."""
    from omoide_bench.rivals.comparison import METHODS, compare, missing

    if named := missing(methods):
        raise MissingExtra(f"not installed: {', '.join(named)}; pip install 'omoide-bench[rivals]'")
    making = CliRunOptions(
        model=STAND_IN if model == NOTE_TAKER else model,
        judge="",
        embedder=embedder or scope.settings.embedder,
        cache=cache,
        concurrency=1,
        grammar=False,
        window=window or scope.settings.window,
    )

    async def run_all() -> Comparison:
        progress = RunProgress()
        async with lab(scope.settings, making, called=progress.called) as parts:
            if model == NOTE_TAKER:
                parts = _with_note_taker(parts, data, conversations, languages)
            progress.start(3 * len(methods or set(METHODS).difference(missing(METHODS))))
            return await compare(
                parts,
                data=data,
                methods=methods or METHODS,
                options={
                    "locomo": {"conversations": conversations},
                    "noise": {"languages": languages},
                    "faults": {"languages": languages},
                },
                command=shlex.join(["omoide", *sys.argv[1:]]),
                report=progress.case,
            )

    found = asyncio.run(run_all())
    if out is not None:
        from omoide_bench.running.results import write

        for name, result in found.results.items():
            write(out / f"rivals-{name}.json", result)
    head, *rows = found.rows()
    if scope.json:
        emit({"table": [dict(zip(head, row, strict=True)) for row in rows], "notes": found.notes()})
    else:
        click.echo(table(head, rows, right=range(1, len(head))))
        click.echo("\n" + "\n".join(found.notes()))


def _with_note_taker(
    parts: RunContext, data: Path, conversations: str, languages: str
) -> RunContext:
    """The run with the stub as its model."""
    from omoide_bench.rivals.note_taker import NoteTaker
    from omoide_bench.running.cached_model import SharedModel
    from omoide_bench.tasks import OWN
    from omoide_bench.tasks.base import Sample

    dialogues = OWN["locomo"].cases(data, Sample(options={"conversations": conversations}))
    users = OWN["noise"].cases(data, Sample(options={"languages": languages}))
    sessions = [[line.text for line in s.lines] for one in dialogues for s in one.sessions]
    sessions += [[one.text for one in talk] for user in users for talk in user.sessions()]
    stub = NoteTaker(sessions)
    return replace(parts, shared_model=SharedModel(stub, parts.shared_model.cache, concurrency=1))

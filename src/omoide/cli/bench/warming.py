"""`omoide bench warm`: embed what the suite will need, in several processes, before it starts."""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import click

from omoide import bootstrap
from omoide.cli.bench.options import DATA, EMBEDDER
from omoide.cli.progress import bar
from omoide.cli.scope import Scope, scoped
from omoide.errors import BadInput

if TYPE_CHECKING:
    from omoide.ports import Embedder, Vectors
    from omoide.settings import Settings

CHUNK = 128


@click.command()
@DATA
@EMBEDDER
@click.option(
    "--cache", type=click.Path(path_type=Path, dir_okay=False), required=True, help="The cache."
)
@click.option("--run", "wanted", multiple=True, help="Only what these runs of the suite need.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--processes", type=click.IntRange(min=1), help="[default: one a core]")
@scoped
def warm(
    scope: Scope,
    data: Path,
    embedder: str | None,
    cache: Path,
    wanted: tuple[str, ...],
    seed: int,
    processes: int | None,
) -> None:
    """Embed the suite's dialogues into the cache of calls, so that no run waits for it."""
    from omoide.evals.running.calls import CallCache, key_of_text

    settings = replace(scope.settings, embedder=embedder or scope.settings.embedder)
    chosen = bootstrap.make_embedder(settings)
    if chosen is None:
        raise BadInput("without an embedder there is nothing to warm")
    space = chosen.space
    asyncio.run(chosen.close())
    texts = _texts(data, wanted, seed)
    calls = CallCache(cache)
    keys = {key_of_text(space, text): text for text in texts}
    known = calls.vectors(list(keys))
    missing = [key for key in keys if key not in known]
    chunks = [missing[i : i + CHUNK] for i in range(0, len(missing), CHUNK)]
    done = 0
    with ProcessPoolExecutor(processes or os.cpu_count(), mp_context=get_context("spawn")) as pool:
        made = pool.map(_embedded, [settings] * len(chunks), [[keys[k] for k in c] for c in chunks])
        for chunk, vectors in zip(chunks, made, strict=True):
            calls.keep_vectors(chunk, vectors)
            done += len(chunk)
            bar(done, len(missing), "embedding")
    calls.close()
    click.echo(f"{len(missing):,} texts embedded, {len(known):,} were known")


def _texts(data: Path, wanted: tuple[str, ...], seed: int) -> list[str]:
    from omoide.evals.running.texts import texts_of
    from omoide.evals.suite import SUITE
    from omoide.evals.tasks import TASKS
    from omoide.evals.tasks.base import Sample

    found: dict[str, None] = {}
    for run in SUITE:
        if not wanted or run.name in wanted:
            sample = Sample(limit=run.limit, seed=seed, options=run.options)
            try:
                cases = TASKS[run.task].cases(data, sample)
            except BadInput as error:  # a data set that is not here
                click.echo(f"{run.name}: {error}", err=True)
                continue
            found.update(dict.fromkeys(text for case in cases for text in texts_of(case)))
    return list(found)


def _embedded(settings: Settings, texts: list[str]) -> Vectors:
    """In a process of its own, with an embedder of its own."""
    return asyncio.run(_own(settings).embed(texts))


@lru_cache(maxsize=1)
def _own(settings: Settings) -> Embedder:
    """This process's embedder, loaded once; it goes with the process."""
    embedder = bootstrap.make_embedder(settings)
    if embedder is None:
        raise BadInput("there is no embedder")
    return embedder

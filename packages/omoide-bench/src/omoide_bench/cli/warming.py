"""`omoide bench warm`: embed the suite's texts beforehand, in several processes."""

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
from omoide.cli import Scope, bar, scoped
from omoide.errors import BadInput
from omoide_bench.cli.options import DATA, EMBEDDER

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
@click.option("--run", "wanted", multiple=True, help="Only texts of this run; repeatable.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--processes", type=click.IntRange(min=1), help="[default: one per core]")
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
    """Embed the suite's dialogues into the cache, so that no run waits for embeddings."""
    from omoide_bench.running.calls import CallCache, key_of_text

    settings = replace(scope.settings, embedder=embedder or scope.settings.embedder)
    chosen = bootstrap.make_embedder(settings)
    if chosen is None:
        raise BadInput("nothing to warm without an embedder; set --embedder")
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
        embedded = pool.map(
            _embedded, [settings] * len(chunks), [[keys[k] for k in c] for c in chunks]
        )
        for chunk, vectors in zip(chunks, embedded, strict=True):
            calls.keep_vectors(chunk, vectors)
            done += len(chunk)
            bar(done, len(missing), "embedding")
    calls.close()
    click.echo(f"{len(missing):,} texts embedded, {len(known):,} were in the cache")


def _texts(data: Path, wanted: tuple[str, ...], seed: int) -> list[str]:
    from omoide_bench.running.texts import texts_of
    from omoide_bench.suite import SUITE
    from omoide_bench.tasks import TASKS
    from omoide_bench.tasks.base import Sample

    texts: dict[str, None] = {}
    for run in SUITE:
        if not wanted or run.name in wanted:
            sample = Sample(limit=run.limit, seed=seed, options=run.options)
            try:
                cases = TASKS[run.task].cases(data, sample)
            except BadInput as error:  # the data set is not in `data`
                click.echo(f"{run.name}: {error}", err=True)
                continue
            texts.update(dict.fromkeys(text for case in cases for text in texts_of(case)))
    return list(texts)


def _embedded(settings: Settings, texts: list[str]) -> Vectors:
    """Embed the texts; runs in a worker process."""
    return asyncio.run(_process_embedder(settings).embed(texts))


@lru_cache(maxsize=1)
def _process_embedder(settings: Settings) -> Embedder:
    """This process's embedder, loaded once and kept until the process ends."""
    embedder = bootstrap.make_embedder(settings)
    if embedder is None:
        raise BadInput("the settings name no embedder; set --embedder")
    return embedder

"""A lab for the tests of the harness: a stand-in for the model, vectors by hashed words."""

from __future__ import annotations

from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omoide.adapters.analysers import analyser_for
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.settings import Settings
from omoide.testing import HashEmbedder
from omoide_bench.running.cached_model import CachedEmbedder, SharedModel
from omoide_bench.running.calls import CallCache
from omoide_bench.running.execute import RunJob, methods_of
from omoide_bench.running.memory_under_test import RunContext
from omoide_bench.running.runner import RunOptions
from omoide_bench.running.standin import StandIn
from omoide_bench.tasks import TASKS
from omoide_bench.tasks.base import Sample

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from omoide.ports import ChatModel, Store

FIXTURES = Path(__file__).parents[1] / "fixtures" / "bench"


async def temporary_store() -> Store:
    """A store in memory."""
    return await SqliteStore.open(":memory:")


@asynccontextmanager
async def lab(
    model: ChatModel | None = None, *, cache: Path | None = None, judge: ChatModel | None = None
) -> AsyncIterator[RunContext]:
    """A lab whose cache is in memory unless a file is named."""
    calls = CallCache(cache)
    embedder = HashEmbedder(name="use-multilingual", version="3")
    try:
        yield RunContext(
            shared_model=SharedModel(model or StandIn(), calls, concurrency=4),
            open_store=temporary_store,
            embedder=CachedEmbedder(embedder, calls),
            settings=Settings(),
            judge=SharedModel(judge, calls, concurrency=4) if judge else None,
            analyser=analyser_for,
        )
    finally:
        calls.close()


def job(
    task: str,
    *methods: str,
    only: bool = True,
    limit: int | None = None,
    seed: int = 0,
    **options: str,
) -> RunJob:
    """A job on the fixtures."""
    found: Any = TASKS[task]
    sample = Sample(limit=limit, seed=seed, options=options)
    return RunJob(
        task=found,
        sample=sample,
        methods=methods_of(found, methods, only=only),
        cases=found.cases(FIXTURES, sample),
        data={},
    )


def course(of: RunJob) -> RunOptions:
    """How the job goes."""
    return RunOptions(seed=of.sample.seed, options=of.sample.options, concurrency=4)

"""A lab for the tests of the harness: a stand-in for the model, vectors by hashed words."""

from __future__ import annotations

from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omoide.adapters.analysers import choose
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.evals.running.asked import KnownVectors, Line
from omoide.evals.running.calls import CallCache
from omoide.evals.running.carry import Job, methods_of
from omoide.evals.running.lab import Lab
from omoide.evals.running.runner import Course
from omoide.evals.running.standin import StandIn
from omoide.evals.tasks import TASKS
from omoide.evals.tasks.base import Sample
from omoide.settings import Settings
from omoide.testing import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from omoide.ports import ChatModel, Store

FIXTURES = Path(__file__).parents[1] / "fixtures" / "bench"


async def passing_store() -> Store:
    """A store in memory."""
    return await SqliteStore.open(":memory:")


@asynccontextmanager
async def lab(
    model: ChatModel | None = None, *, cache: Path | None = None, judge: ChatModel | None = None
) -> AsyncIterator[Lab]:
    """A lab whose cache is in memory unless a file is named."""
    calls = CallCache(cache)
    embedder = HashEmbedder(name="use-multilingual", version="3")
    try:
        yield Lab(
            line=Line(model or StandIn(), calls, concurrency=4),
            open_store=passing_store,
            embedder=KnownVectors(embedder, calls),
            settings=Settings(),
            judge=Line(judge, calls, concurrency=4) if judge else None,
            analyser=choose,
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
) -> Job:
    """A job on the fixtures."""
    found: Any = TASKS[task]
    sample = Sample(limit=limit, seed=seed, options=options)
    return Job(
        task=found,
        sample=sample,
        methods=methods_of(found, methods, only=only),
        cases=found.cases(FIXTURES, sample),
        data={},
    )


def course(of: Job) -> Course:
    """How the job goes."""
    return Course(seed=of.sample.seed, options=of.sample.options, concurrency=4)

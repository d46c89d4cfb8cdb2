"""The interface of a task: cases of a data set, and scored items of a case and a method."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from omoide.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime
    from pathlib import Path

    from omoide_bench.data.source import DatasetSource
    from omoide_bench.methods import Method
    from omoide_bench.running.cached_model import MethodModel
    from omoide_bench.running.items import ScoredItem
    from omoide_bench.running.memory_under_test import MemoryUnderTest, RunContext

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Which cases of a data set to run: how many, drawn by which seed, and the task's options."""

    limit: int | None = None
    seed: int = 0
    options: Mapping[str, str] = field(default_factory=dict)

    def draw(self, cases: Sequence[T]) -> tuple[T, ...]:
        """A sample of the cases, in their order. A larger sample contains every smaller one."""
        if self.limit is None or self.limit >= len(cases):
            return tuple(cases)
        order = list(range(len(cases)))
        random.Random(self.seed).shuffle(order)  # noqa: S311 - a seeded choice, not a secret
        return tuple(cases[i] for i in sorted(order[: self.limit]))

    def option(self, name: str, default: str) -> str:
        """The value of an option, or the default."""
        return self.options.get(name, default)


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A score that items get."""

    name: str
    about: str
    percent: bool = True
    """Whether it is a share between 0 and 1, shown in percent."""
    better: int = 1
    """1 if more is better, -1 if less is, 0 if neither."""
    sparse: bool = False
    """Whether only some items of a group have it, so that a group without it is of no other kind
    than the rest."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One method on one case."""

    lab: RunContext
    method: Method
    model: MethodModel
    judge: MethodModel | None = None
    seed: int = 0
    options: Mapping[str, str] = field(default_factory=dict)

    def new_memory(
        self,
        *,
        user: str,
        began: datetime,
        gold: Mapping[str, Sequence[str]] | None = None,
        partner: str = "person",
    ) -> AbstractAsyncContextManager[MemoryUnderTest]:
        """An empty memory of the method, for one user who talks with a person or an assistant."""
        return self.lab.new_memory(
            self.method, user=user, began=began, model=self.model, gold=gold, partner=partner
        )

    async def prefetch_embeddings(self, texts: Iterable[str]) -> None:
        """Embed in one batch what will be embedded one by one: it is several times cheaper."""
        if self.lab.embedder is not None and self.method.needs_vectors:
            await self.lab.embedder.embed(list(dict.fromkeys(texts)))

    def option(self, name: str, default: str) -> str:
        """The value of an option, or the default."""
        return self.options.get(name, default)


class Task(Protocol[T]):
    """A benchmark."""

    @property
    def name(self) -> str:
        """Its name on the command line."""

    @property
    def about(self) -> str:
        """What it measures, in one line."""

    @property
    def source(self) -> DatasetSource | None:
        """The data set and its licence; None if it needs no data set."""

    @property
    def default_methods(self) -> tuple[str, ...]:
        """The methods to run by default, besides the baselines."""

    @property
    def alternatives(self) -> tuple[str, ...]:
        """The only methods to choose from, if the task does not compare memory mechanisms."""

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures of its items."""

    @property
    def options(self) -> Mapping[str, str]:
        """Options for `--set name=value`, each with its meaning."""

    def cases(self, data: Path, sample: Sample) -> tuple[T, ...]:
        """The cases of the sample. Raises `BadInput` that names a missing file."""

    async def run(self, case: T, trial: Trial) -> list[ScoredItem]:
        """Run one method on one case."""

    def whole(self, items: Sequence[ScoredItem]) -> Mapping[str, Mapping[str, float]]:
        """Corpus-level measures, by group."""


def checked_options(task: Task[T], given: Mapping[str, str]) -> Mapping[str, str]:
    """The options. Raises `BadInput` for one that the task does not know, and for a value that the
    option does not know."""
    from omoide_bench.tasks.option_values import check_value

    for name, value in given.items():
        if name not in task.options:
            known = ", ".join(task.options) or "none"
            raise BadInput(f"{task.name} has no option {name!r}; its options: {known}")
        check_value(task.name, name, value)
    return given

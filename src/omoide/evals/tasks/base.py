"""What every task is: cases out of a data set, and items out of a case and a method."""

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

    from omoide.evals.data.source import Source
    from omoide.evals.methods import Method
    from omoide.evals.running.asked import Asked
    from omoide.evals.running.items import Item
    from omoide.evals.running.lab import Lab, Place

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Which cases of a data set: so many, drawn by a seed; and what else a task lets choose."""

    limit: int | None = None
    seed: int = 0
    options: Mapping[str, str] = field(default_factory=dict)

    def draw(self, cases: Sequence[T]) -> tuple[T, ...]:
        """That many of the cases, in their order. A larger sample holds every smaller one."""
        if self.limit is None or self.limit >= len(cases):
            return tuple(cases)
        order = list(range(len(cases)))
        random.Random(self.seed).shuffle(order)  # noqa: S311 - a seeded choice, not a secret
        return tuple(cases[i] for i in sorted(order[: self.limit]))

    def option(self, name: str, default: str) -> str:
        """What was chosen, or the default."""
        return self.options.get(name, default)


@dataclass(frozen=True, kw_only=True)
class Measure:
    """Something that an item is scored by."""

    name: str
    about: str
    percent: bool = True
    """Whether it is a share, shown in percent."""
    better: int = 1
    """1 if more is better, -1 if less is, 0 if neither."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One method on one case."""

    lab: Lab
    method: Method
    model: Asked
    judge: Asked | None = None
    seed: int = 0
    options: Mapping[str, str] = field(default_factory=dict)

    def place(
        self,
        *,
        user: str,
        began: datetime,
        gold: Mapping[str, Sequence[str]] | None = None,
    ) -> AbstractAsyncContextManager[Place]:
        """A memory of the method, for one user."""
        return self.lab.place(self.method, user=user, began=began, model=self.model, gold=gold)

    async def warm(self, texts: Iterable[str]) -> None:
        """Embed at once what will be embedded one by one: it is several times cheaper."""
        if self.lab.embedder is not None and self.method.needs_vectors:
            await self.lab.embedder.embed(list(dict.fromkeys(texts)))

    def option(self, name: str, default: str) -> str:
        """What was chosen, or the default."""
        return self.options.get(name, default)


class Case(Protocol):
    """A dialogue, or whatever else stands for itself."""

    @property
    def id(self) -> str:
        """Its name in the data set."""


class Task(Protocol[T]):
    """A benchmark."""

    @property
    def name(self) -> str:
        """As on the command line."""

    @property
    def about(self) -> str:
        """In one line, what it measures."""

    @property
    def source(self) -> Source | None:
        """The data set and its licence; None where nothing but this program is needed."""

    @property
    def usual(self) -> tuple[str, ...]:
        """The methods it is run with where none is named, besides the baselines."""

    @property
    def rivals(self) -> tuple[str, ...]:
        """What is compared, where that is not mechanisms of memory."""

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What items are scored by."""

    @property
    def options(self) -> Mapping[str, str]:
        """What can be chosen with `--set name=value`, and what it means."""

    def cases(self, data: Path, sample: Sample) -> tuple[T, ...]:
        """The sample. Raises `BadInput` that says which file is missing."""

    async def run(self, case: T, trial: Trial) -> list[Item]:
        """Everything measured of one case by one method."""

    def whole(self, items: Sequence[Item]) -> Mapping[str, Mapping[str, float]]:
        """By group, measures that only all items together have."""


def checked_options(task: Task[T], given: Mapping[str, str]) -> Mapping[str, str]:
    """The options, if the task knows them."""
    for name in given:
        if name not in task.options:
            known = ", ".join(task.options) or "none"
            raise BadInput(f"{task.name} has no option {name!r}; there are: {known}")
    return given

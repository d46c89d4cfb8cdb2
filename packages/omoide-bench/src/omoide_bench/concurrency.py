"""Coroutines that run at the same time and are all heard out."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable
    from types import TracebackType

T = TypeVar("T")
U = TypeVar("U")


async def gather_all(parts: Iterable[Coroutine[object, object, T]]) -> list[T]:
    """Run coroutines concurrently and return their results in order. Unlike `asyncio.gather`, it
    lets all of them end before it raises the first error: in a batch run each still has a request
    to write."""
    results = await asyncio.gather(*parts, return_exceptions=True)
    kept: list[T] = []
    for result in results:
        if isinstance(result, BaseException):
            raise result
        kept.append(result)
    return kept


async def gather_both(
    one: Coroutine[object, object, T], other: Coroutine[object, object, U]
) -> tuple[T, U]:
    """The same for two coroutines with results of different types."""
    first, second = await asyncio.gather(one, other, return_exceptions=True)
    if isinstance(first, BaseException):
        raise first
    if isinstance(second, BaseException):
        raise second
    return first, second


class Started(Generic[T]):
    """Coroutines that are started one by one and heard out when the block ends, also if the block
    itself ends with an error. Only a cancellation cancels them."""

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[T]] = []

    def start(self, part: Coroutine[object, object, T]) -> None:
        """Start a coroutine."""
        self._tasks.append(asyncio.ensure_future(part))

    def results(self) -> list[T]:
        """The results in order, after the block. Raises the first error."""
        return [task.result() for task in self._tasks]

    async def __aenter__(self) -> Started[T]:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if kind is not None and not issubclass(kind, Exception):
            for task in self._tasks:
                task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

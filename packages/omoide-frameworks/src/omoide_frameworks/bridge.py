"""One flow for blocking and asyncio code, over any memory.

A flow is a generator that yields calls of a memory's methods and gets their results. `run` and
`arun` do the calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from omoide import Memory, RemoteMemory, SyncMemory
from omoide.engine import Answer, SyncExchange

AnyMemory = Memory | RemoteMemory | SyncMemory
T = TypeVar("T")


@dataclass(frozen=True)
class Call:
    """A call of a memory's method."""

    method: str
    args: tuple[Any, ...]
    options: dict[str, Any] = field(default_factory=dict)


Flow = Generator[Call, Any, T]


def call(method: str, *args: Any, **options: Any) -> Call:  # noqa: ANN401 - any method's arguments
    """A call of this method."""
    return Call(method, args, options)


def blocking_memory(memory: AnyMemory) -> SyncMemory:
    """The memory, if blocking code can use it."""
    if not isinstance(memory, SyncMemory):
        raise TypeError(
            "blocking code needs a memory of omoide.open or omoide.connect: their async twins "
            "work only with the asynchronous methods of the framework"
        )
    return memory


def run(memory: AnyMemory, flow: Flow[T]) -> T:
    """Run a flow and wait for it. The memory must be one of `omoide.open` or `omoide.connect`."""
    blocking = blocking_memory(memory)
    try:
        wanted = next(flow)
        while True:
            wanted = flow.send(getattr(blocking, wanted.method)(*wanted.args, **wanted.options))
    except StopIteration as end:
        result: T = end.value
        return result


async def arun(memory: AnyMemory, flow: Flow[T]) -> T:
    """Run a flow without blocking the event loop."""
    try:
        wanted = next(flow)
        while True:
            wanted = flow.send(await ask(memory, wanted.method, *wanted.args, **wanted.options))
    except StopIteration as end:
        result: T = end.value
        return result


async def ask(memory: AnyMemory, method: str, *args: Any, **options: Any) -> Any:  # noqa: ANN401
    """The result of one call, without blocking the event loop."""
    bound = getattr(memory, method)
    if isinstance(memory, SyncMemory):
        return await asyncio.to_thread(bound, *args, **options)
    return await bound(*args, **options)


@dataclass(frozen=True, kw_only=True)
class Begun:
    """An exchange that has begun: the prompt with memory, and the way to record the reply."""

    messages: list[dict[str, Any]]
    """The messages to send to a model, with what memory adds."""
    added: str
    """What memory adds, as one text."""
    exchange: Any

    async def finish(self, text: str) -> None:
        """Record the reply, once for each message that it answers."""
        answer = Answer(text=text, once=True)
        if isinstance(self.exchange, SyncExchange):
            await asyncio.to_thread(self.exchange.finish, answer)
        else:
            await self.exchange.finish(answer)


async def begin(
    memory: AnyMemory,
    user: str,
    messages: list[dict[str, Any]],
    *,
    session: str | None = None,
    tolerant: bool = False,
) -> Begun:
    """Record what is new in the messages, and find what memory adds to their prompt."""
    if isinstance(memory, SyncMemory):
        block = memory.exchange(user, messages, session=session, tolerant=tolerant)
        exchange: Any = await asyncio.to_thread(block.__enter__)
        await asyncio.to_thread(block.__exit__, None, None, None)  # it can be finished later
    else:
        exchange = await memory.begin(user, messages, session=session, tolerant=tolerant)
    context = exchange.context
    return Begun(
        messages=exchange.messages, added=context.text if context else "", exchange=exchange
    )

"""What the tortured processes are made of: models that answer from the prompt, and a memory over a
store."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypedDict, TypeVar, Unpack

from omoide.bootstrap import SystemClock, worker_name
from omoide.engine.runtime import Runtime
from omoide.errors import StoreLocked
from omoide.settings import Settings
from omoide.testing import HashEmbedder, ScriptedModel

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from omoide.engine.memory import Memory
    from omoide.ports import Clock, Completion, Request, Store
    from omoide.ports.spool import Spool

T = TypeVar("T")
TENANTS = ("acme", "zeta")
"""Both have a user of the same name, who says other words."""
USER = "ana"


def summarise(request: Request) -> str:
    """A memory that names every code word it was shown."""
    shown = request.messages[0].content
    words = sorted({w.strip(".") for w in shown.split() if w.startswith("code-")})
    return "\n".join(f"The user knows {word}." for word in words[-15:]) or "The user talks."


def noted(request: Request) -> str:
    """The same as lines about the user, as the form for small models wants them."""
    shown = request.messages[-1].content
    words = sorted({w.strip(".") for w in shown.split() if w.startswith("code-")})
    return "\n".join(f"User knows the word {word}." for word in words[-15:]) or "User talks."


class Endless(ScriptedModel):
    """Answers every request the same way, a word at a time, slowly enough to be caught."""

    def __init__(self, answer: str | Callable[[Request], str], *, pause: float = 0.002) -> None:
        super().__init__(name="endless")
        self._answer = answer
        self._pause = pause

    async def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
        """Refill the script, then answer."""
        self.answers.append(self._answer)
        async for piece in super().stream(request):
            await asyncio.sleep(self._pause)
            yield piece


class Choices(TypedDict, total=False):
    """What may be chosen."""

    mechanisms: tuple[str, ...]
    iterator: ScriptedModel | None
    model: ScriptedModel | None
    clock: Clock | None
    form: str
    spool: Spool | None


def remember(store: Store, tenant: str, **choices: Unpack[Choices]) -> Memory:
    """A memory of one tenant over the store."""
    return runtime_over(store, tenant, **choices).memory()


def runtime_over(
    store: Store,
    tenant: str,
    *,
    mechanisms: tuple[str, ...] = ("summary", "search"),
    iterator: ScriptedModel | None = None,
    model: ScriptedModel | None = None,
    clock: Clock | None = None,
    form: str = "paper",
    spool: Spool | None = None,
) -> Runtime:
    """A runtime whose tenant that is."""
    return Runtime(
        Settings(
            tenant=tenant, mechanisms=mechanisms, form=form, max_turn_chars=2000, reply_tokens=40
        ),
        store=store,
        model=model or Endless("I hear you, my friend, go on."),
        summariser=iterator or Endless(summarise),
        embedder=HashEmbedder(),
        clock=clock or SystemClock(),
        name=worker_name(),
        spool=spool,
        owns=[spool] if spool is not None else (),
    )


async def insisted(ask: Callable[[], Awaitable[T]]) -> T:
    """Ask until it is done. An erasure says so if another process that reads keeps traces of it
    alive, and is to be asked for again."""
    while True:
        try:
            return await ask()
        except StoreLocked:
            await asyncio.sleep(0.02)


async def worked(runtime: Runtime, *, every: float) -> None:
    """Do the work of the runtime's tenant until cancelled."""
    runtime.memory()
    async with runtime.working(every=every):
        await asyncio.Event().wait()

"""What the tortured processes are made of: models that answer from the prompt, and a memory over a
store."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from omoide.bootstrap import SystemClock, worker_name
from omoide.composition import compose
from omoide.settings import Settings
from omoide.testing import HashEmbedder, ScriptedModel

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from omoide.engine import Memory
    from omoide.ports import Clock, Completion, Request, Store

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


def remember(
    store: Store,
    tenant: str,
    *,
    mechanisms: tuple[str, ...] = ("summary", "search"),
    iterator: ScriptedModel | None = None,
    model: ScriptedModel | None = None,
    clock: Clock | None = None,
    form: str = "paper",
) -> Memory:
    """A memory of one tenant over the store."""
    return compose(
        Settings(tenant=tenant, mechanisms=mechanisms, form=form, longest=2000, reply_tokens=40),
        store=store,
        model=model or Endless("I hear you, my friend, go on."),
        iterator=iterator or Endless(summarise),
        embedder=HashEmbedder(),
        clock=clock or SystemClock(),
        worker=worker_name(),
    )

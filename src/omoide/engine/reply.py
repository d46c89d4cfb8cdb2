"""A reply while it is being streamed."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

from omoide.domain.text import printable
from omoide.mechanisms.base import PromptPlace
from omoide.mechanisms.reply_forms import is_looping
from omoide.ports import Completion

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
    from typing import Any

    from omoide.domain import Turn
    from omoide.mechanisms.base import Contribution
    from omoide.ports import Request

    Ask = Callable[[Request], AsyncGenerator[str | Completion]]


class Draft:
    """What a model has written of a reply so far. A small model's sentences are checked before they
    are shown, so it may run ahead of the pieces, and a second try begins it anew."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self.text = ""

    async def ask(self, request: Request) -> AsyncGenerator[str | Completion]:
        """Ask the model, and note what comes."""
        self.text = ""
        async with aclosing(self._ask(request)) as pieces:
            async for piece in pieces:
                if not isinstance(piece, Completion):
                    self.text += piece
                yield piece


class Reply:
    """A reply that is being streamed: iterate over it for the pieces. The user's message is already
    recorded; the reply is recorded when it ends, or as far as it came if it is stopped."""

    def __init__(
        self,
        *,
        turn: Turn,
        contributions: tuple[Contribution, ...],
        pieces: AsyncGenerator[str, None],
        draft: Draft | None = None,
        mark: str = "",
    ) -> None:
        self.turn = turn
        self.mark = mark
        """The owner's erasure mark from before memory was read for it."""
        self.contributions = contributions
        """What memory added to the prompt, and why."""
        self._pieces = pieces
        self._draft = draft

    @property
    def draft(self) -> str:
        """What the model has written so far, the pieces that came included: words that are not
        checked yet, and may still be replaced. To be shown as such, or not at all."""
        return self._draft.text if self._draft is not None else ""

    @property
    def why(self) -> tuple[Contribution, ...]:
        """What memory added to the prompt, each with its reason."""
        return self.contributions

    @property
    def recalled(self) -> tuple[Contribution, ...]:
        """What was recalled for the user's message."""
        return tuple(c for c in self.contributions if c.place is PromptPlace.RECALLED)

    def __aiter__(self) -> AsyncIterator[str]:
        return self._pieces

    async def text(self) -> str:
        """Wait for the end, and return all of it."""
        return "".join([piece async for piece in self])

    async def close(self) -> None:
        """Stop the reply if it has not ended."""
        await self._pieces.aclose()


async def stream_reply(
    stream: AsyncGenerator[str | Completion],
    *,
    record: Callable[[str], Coroutine[Any, Any, object]],
    cut_loops: bool = True,
) -> AsyncGenerator[str, None]:
    """The pieces of a model's answer as they come; with `cut_loops`, one that loops is cut off.
    However it ends, what came until then is passed to `record`, which is not cancelled with it."""
    answer = ""
    try:
        async with aclosing(stream) as pieces:
            async for piece in pieces:
                if not isinstance(piece, Completion):
                    answer += piece
                    yield piece
                if cut_loops and is_looping(answer):
                    break
    finally:
        if text := printable(answer):
            await asyncio.shield(asyncio.ensure_future(record(text)))

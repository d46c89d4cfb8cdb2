"""Asking a model and writing the cost of each call into the ledger, even if the call fails."""

from __future__ import annotations

from contextlib import aclosing, suppress
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING

from omoide.domain import CallPurpose, ModelCall
from omoide.errors import BadReply, OmoideError
from omoide.language import estimate_tokens
from omoide.ports import Completion

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from omoide.domain import Owner
    from omoide.ports import ChatModel, Clock, Ledger, Request


async def complete(model: ChatModel, request: Request) -> Completion:
    """The whole answer at once. The call is not written into the ledger."""
    return await _completion(model.stream(request), model.name)


async def _completion(stream: AsyncGenerator[str | Completion], name: str) -> Completion:
    async with aclosing(stream) as pieces:
        async for piece in pieces:
            if isinstance(piece, Completion):
                return piece
    raise BadReply(f"the answer of {name} ended without a completion")


async def _counted(model: ChatModel, request: Request, text: str) -> tuple[int, int]:
    """Prompt and answer tokens of a call that did not finish. If the model said nothing it may not
    be available at all: asking it to count would load it, or fetch its weights, once more."""
    prompt = "\n".join(message.content for message in request.messages)
    if text:
        with suppress(OmoideError):
            return await model.count(prompt), await model.count(text)
    return estimate_tokens(prompt), estimate_tokens(text) if text else 0


class Account:
    """Makes model calls for one owner and session, and writes them into the ledger."""

    def __init__(self, *, ledger: Ledger, clock: Clock, owner: Owner, session: int | None) -> None:
        self._ledger = ledger
        self._clock = clock
        self._owner = owner
        self._session = session

    def asker(
        self, model: ChatModel, purpose: CallPurpose
    ) -> Callable[[Request], Awaitable[Completion]]:
        """A function that asks `model` and writes the call into the ledger. Digests run in the
        background: nobody waits for them."""
        background = purpose is CallPurpose.DIGEST

        async def ask(request: Request) -> Completion:
            asked = replace(request, background=background)
            return await _completion(self.stream(model, asked, purpose), model.name)

        return ask

    async def stream(
        self, model: ChatModel, request: Request, purpose: CallPurpose
    ) -> AsyncGenerator[str | Completion]:
        """The answer in pieces. The call is written into the ledger even if it does not finish."""
        began, text, written = monotonic(), "", False
        try:
            async with aclosing(model.stream(request)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Completion):
                        spent = (piece.prompt_tokens, piece.completion_tokens, piece.seconds)
                        await self._write(piece.by or model.name, purpose, spent=spent)
                        written = True
                    else:
                        text += piece
                    yield piece
        finally:
            if not written:
                spent = (*await _counted(model, request, text), monotonic() - began)
                await self._write(model.name, purpose, spent=spent, failed=True)

    async def _write(
        self,
        model: str,
        purpose: CallPurpose,
        *,
        spent: tuple[int, int, float],
        failed: bool = False,
    ) -> None:
        prompt_tokens, completion_tokens, seconds = spent
        call = ModelCall(
            purpose=purpose,
            model=model,
            session=self._session,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            seconds=seconds,
            time=self._clock.now(),
            failed=failed,
        )
        await self._ledger.add(self._owner, call)

"""The contract of `omoide.ports.ChatModel`."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

import pytest

from omoide.ports import Completion, Message, Request

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from omoide.ports import ChatModel


def ask(text: str = "Count to ten.", *, max_tokens: int = 16) -> Request:
    """A short question."""
    return Request(messages=(Message(role="user", content=text),), max_tokens=max_tokens)


async def answer(model: ChatModel, request: Request) -> tuple[list[str], Completion]:
    """All pieces, and the completion after them."""
    pieces: list[str] = []
    completions: list[Completion] = []
    async for item in model.stream(request):
        if isinstance(item, Completion):
            completions.append(item)
        else:
            assert not completions, "a piece came after the completion"
            pieces.append(item)
    (completion,) = completions
    return pieces, completion


class ModelContract:
    """The contract of every chat model. Its answer to "Count to ten." must have several pieces."""

    pytestmark = pytest.mark.asyncio
    cuts = True
    """Whether answers end at `max_tokens`, as a real model's do."""

    def open(self) -> AbstractAsyncContextManager[ChatModel]:
        """An `@asynccontextmanager` that yields a model and closes it."""
        raise NotImplementedError

    async def test_pieces_come_first_and_make_up_the_completion(self) -> None:
        """There is one completion; it comes last and contains all pieces."""
        async with self.open() as model:
            pieces, completion = await answer(model, ask())
        assert len(pieces) > 1
        assert "".join(pieces) == completion.text

    async def test_the_completion_accounts_for_the_answer(self) -> None:
        """Tokens and seconds are counted, and cached tokens do not exceed the prompt."""
        async with self.open() as model:
            _, completion = await answer(model, ask())
        assert completion.prompt_tokens > 0
        assert completion.completion_tokens > 0
        assert completion.seconds >= 0
        assert 0 <= completion.cached_tokens <= completion.prompt_tokens

    async def test_an_answer_that_was_cut_says_so(self) -> None:
        """At `max_tokens` the answer ends, and its finish is `length`."""
        if not self.cuts:
            pytest.skip("its answers are not cut")
        async with self.open() as model:
            _, completion = await answer(
                model, ask("Count to ten, slowly, in words.", max_tokens=3)
            )
        assert completion.finish == "length"
        assert completion.completion_tokens == 3

    async def test_closing_early_leaves_the_model_ready(self) -> None:
        """After a stream is closed at its first piece, the next request is answered in full."""
        async with self.open() as model:
            async with aclosing(model.stream(ask(max_tokens=200))) as stream:
                assert isinstance(await anext(stream), str)
            pieces, completion = await answer(model, ask())
        assert "".join(pieces) == completion.text

    async def test_many_may_ask_at_once(self) -> None:
        """Five concurrent requests each get their own complete answer."""
        async with self.open() as model:
            answers = await asyncio.gather(
                *(answer(model, ask(f"Say {n}.", max_tokens=6)) for n in range(5))
            )
        assert all("".join(pieces) == completion.text for pieces, completion in answers)

    async def test_more_text_counts_more_tokens(self) -> None:
        """A longer text has more tokens."""
        async with self.open() as model:
            short, long = await model.count("Hello."), await model.count("Hello, world. " * 50)
        assert 0 < short < long

    async def test_it_says_who_it_is(self) -> None:
        """Name and window are known before the first request."""
        async with self.open() as model:
            assert model.name
            assert model.window > 0

    async def test_closing_twice_does_nothing(self) -> None:
        """A second close does nothing, even before the first use."""
        async with self.open() as model:
            await model.close()
            await model.close()

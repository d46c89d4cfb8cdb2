"""Recalls that were used are consolidated, whichever way the reply went; costs stay in order."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from omoide.domain import CallPurpose, MemoryKind
from omoide.engine.ledger import Account
from omoide.errors import ModelUnavailable
from omoide.language import estimate_tokens
from omoide.mechanisms.base import Contribution, PromptPlace, ReadOnlyMechanism
from omoide.ports import Message, Request
from omoide.server.options import Options
from omoide.testing import ScriptedModel
from omoide.testing.endpoint import whole

from .serving import serving

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from pathlib import Path

    from omoide.mechanisms.base import ReplyRequest
    from tests.unit.conftest import World


class Noting(ReadOnlyMechanism):
    """A mechanism that offers one thing, when it may, and notes whether it was used."""

    name = "noting"

    def __init__(self) -> None:
        self.may = asyncio.Event()
        self.used: list[str] = []

    async def contribute(self, request: ReplyRequest) -> tuple[Contribution, ...]:
        """One thing."""
        await self.may.wait()
        thing = Contribution(
            mechanism=self.name,
            place=PromptPlace.RECALLED,
            kind=MemoryKind.EVENT,
            id="e1",
            text="User has a cat.",
            value=1.0,
            sources=(),
            time=request.now,
            why="it is all there is",
        )
        return (thing,)

    async def mark_used(self, request: ReplyRequest, used: Sequence[Contribution]) -> None:
        """Note it."""
        del request
        self.used += [contribution.id for contribution in used]


async def test_what_the_proxy_put_into_a_prompt_is_marked_as_used(tmp_path: Path) -> None:
    """So that events consolidate through the proxy as they do in the library."""
    noting = Noting()
    noting.may.set()
    async with serving(tmp_path, mechanisms=[noting]) as bench:
        await bench.chat("What about my cat?")
        assert "User has a cat." in str(bench.upstairs.requests[-1].body)
        assert noting.used == ["e1"]


async def test_what_came_too_late_is_not_marked_as_used(tmp_path: Path) -> None:
    """The prompt went without it."""
    noting = Noting()
    options = Options(patience=0.01)
    async with serving(tmp_path, mechanisms=[noting], options=options) as bench:
        bench.upstairs.answers.append(whole("I see."))
        answer = await bench.chat("What about my cat?")
        assert answer.headers["x-omoide-status"] == "degraded; reason=timeout"
        assert "User has a cat." not in str(bench.upstairs.requests[-1].body)
        noting.may.set()
        await bench.server.runtime.exchanges.settled()
        assert await bench.said() == ["What about my cat?", "I see."]
        assert noting.used == []


@pytest.mark.parametrize("counts", [True, False])
async def test_the_tokens_of_a_call_that_broke_off(world: World, counts: bool) -> None:
    """Prompt and answer are not exchanged, whether the model counts them or they are estimated."""
    prompt, said = "A rather long question about many things. " * 20, "Two words"

    class Breaking(ScriptedModel):
        """A model that breaks off, and may be unable to count afterwards."""

        async def count(self, text: str) -> int:
            """The estimate, or an error."""
            if not counts:
                raise ModelUnavailable("gone")
            return estimate_tokens(text)

    async def breaks(request: Request) -> AsyncGenerator[str]:
        del request
        yield said
        raise ModelUnavailable("gone")

    await world.memory.record("ana", "Hello")
    [owner] = await world.store.archive.owners("default")
    account = Account(ledger=world.store.ledger, clock=world.clock, owner=owner, session=1)
    request = Request(messages=(Message(role="user", content=prompt),), max_tokens=10)
    stream = account.stream(Breaking([breaks]), request, CallPurpose.REPLY)
    with pytest.raises(ModelUnavailable):
        assert [piece async for piece in stream] == []
    [call] = await world.memory.calls("ana")
    assert (call.prompt_tokens, call.completion_tokens) == (
        estimate_tokens(prompt),
        estimate_tokens(said),
    )
    assert call.failed

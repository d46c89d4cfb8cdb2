"""A model that is loaded at its first use, and let go of whenever it is closed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from omoide.adapters.models.lazy import LazyChat
from omoide.errors import ModelUnavailable
from omoide.testing import ScriptedModel

if TYPE_CHECKING:
    from omoide.ports import ChatModel


class Counted(ScriptedModel):
    """Knows how often it was closed."""

    closed = 0

    async def close(self) -> None:
        """One more time."""
        self.closed += 1


async def test_a_model_that_is_closed_while_it_loads_is_let_go_of() -> None:
    """Whoever waits for it is told; its memory is not kept by anybody."""
    model, begun, go = Counted(), asyncio.Event(), asyncio.Event()

    async def load() -> ChatModel:
        begun.set()
        await go.wait()
        return model

    lazy = LazyChat(load, name="lazy", window=8192)
    counting = asyncio.create_task(lazy.count("How long is this?"))
    await begun.wait()
    await lazy.close()
    go.set()
    with pytest.raises(ModelUnavailable, match="closed while"):
        await counting
    assert model.closed == 1


async def test_a_model_that_was_never_asked_is_not_loaded_to_be_closed() -> None:
    """Closing costs nothing then."""

    async def load() -> ChatModel:
        raise AssertionError("nobody asked")

    await LazyChat(load, name="lazy", window=8192).close()

"""A memory to test with: a database in memory, scripted models, a clock that stands still."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.engine.runtime import Runtime
from omoide.ports.telemetry import OFF
from omoide.settings import Settings
from omoide.testing import FrozenClock, HashEmbedder, ScriptedModel

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from omoide.engine.memory import Memory
    from omoide.mechanisms.memos.compressors import TextTools
    from omoide.ports import ChatModel, Store
    from omoide.ports.telemetry import Telemetry
    from omoide.ports.webhooks import WebhookSender
    from omoide.testing import Answer

SETTINGS = Settings(
    form="paper", timezone="UTC", recall_items=6, reply_tokens=200, max_turn_chars=10_000
)


@dataclass
class World:
    """A memory and all it is made of."""

    runtime: Runtime
    memory: Memory
    store: Store
    replier: ScriptedModel
    iterator: ScriptedModel
    clock: FrozenClock

    async def session(self, user: str, *said: str, answers: tuple[Answer, ...] = ()) -> None:
        """Talk, one reply each, then end the session and digest it with the answers given."""
        for text in said:
            self.replier.answers.append("Go on.")
            await (await self.memory.reply(user, text)).text()
            self.clock.advance(timedelta(seconds=30))
        self.iterator.answers.extend(answers)
        await self.memory.end_session(user)
        await self.memory.run_jobs()
        self.clock.advance(timedelta(days=7))


Maker = "Callable[..., Awaitable[World]]"


@pytest.fixture
async def make_world() -> AsyncIterator[Callable[..., Awaitable[World]]]:
    """Makes worlds, several on one store if wanted, and closes them."""
    async with AsyncExitStack() as stack:

        async def make(
            *,
            store: Store | None = None,
            tenant: str = "default",
            settings: Settings = SETTINGS,
            clock: FrozenClock | None = None,
            model: ChatModel | None = None,
            text_tools: TextTools | None = None,
            webhooks: WebhookSender | None = None,
            telemetry: Telemetry = OFF,
        ) -> World:
            if store is None:
                store = await SqliteStore.open(":memory:")
                stack.push_async_callback(store.close)
            replier = ScriptedModel(name="replier")
            iterator = ScriptedModel(name="iterator")
            clock = clock or FrozenClock()
            runtime = Runtime(
                replace(settings, tenant=tenant),
                store=store,
                model=model or replier,
                summariser=iterator,
                embedder=HashEmbedder(),
                clock=clock,
                text_tools=text_tools,
                webhooks=webhooks,
                telemetry=telemetry,
                name=f"test-{id(clock)}",
            )
            return World(
                runtime=runtime,
                memory=runtime.memory(),
                store=store,
                replier=replier,
                iterator=iterator,
                clock=clock,
            )

        yield make


@pytest.fixture
async def world(make_world: Callable[..., Awaitable[World]]) -> World:
    """One world with the paper's form."""
    return await make_world()

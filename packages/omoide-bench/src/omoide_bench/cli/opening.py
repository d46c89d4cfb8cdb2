"""A memory for one command: the model and embedder from the settings, over a temporary store."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from omoide import bootstrap
from omoide.cli import bar
from omoide.engine import Runtime

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from omoide.ports import Clock, Embedder
    from omoide.settings import Settings


@asynccontextmanager
async def opened(
    settings: Settings, *, embedder: Embedder | None, clock: Clock | None = None
) -> AsyncIterator[Runtime]:
    """A runtime over an empty store. On exit, the model, store and embedder are closed."""
    store = await bootstrap.temporary_store()
    model = bootstrap.chat_model(settings, settings.model, progress=bar)
    try:
        yield Runtime(
            settings,
            store=store,
            clock=clock or bootstrap.SystemClock(),
            model=model,
            embedder=embedder,
        )
    finally:
        await model.close()
        await store.close()
        if embedder:
            await embedder.close()

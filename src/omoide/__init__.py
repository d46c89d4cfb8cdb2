"""omoide: long-term memory for conversations with language models.

    import omoide

    with omoide.open() as memory:
        for piece in memory.reply("ana", "Hi! I adopted a cat called Miso."):
            print(piece, end="")
        memory.end_session("ana")
        memory.run_jobs()
        print(memory.summary("ana").text)

Importing it reads nothing, opens nothing and logs nothing.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from omoide.domain import (
    Ending,
    Fact,
    FactKind,
    MemoryKind,
    Outdated,
    Owner,
    RecalledItem,
    RecallResult,
    Sentence,
    Session,
    Speaker,
    Summary,
    Support,
    TimelineEntry,
    Turn,
)
from omoide.errors import OmoideError
from omoide.settings import Settings
from omoide.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractAsyncContextManager

    from httpx import AsyncBaseTransport

    from omoide.client import RemoteMemory
    from omoide.engine import (
        Context,
        Exchange,
        Memory,
        Reply,
        Runtime,
        SyncMemory,
        Utterance,
        When,
    )
    from omoide.mechanisms.base import Mechanism
    from omoide.ports import ChatModel, Clock, Embedder, Store

_ENGINE = frozenset("Context Exchange Memory Reply Runtime SyncMemory Utterance When".split())
"""Names that are imported on first use, since they load the whole engine."""


def __getattr__(name: str) -> object:
    if name == "RemoteMemory":
        return import_module("omoide.client").RemoteMemory
    if name in _ENGINE:
        return getattr(import_module("omoide.engine"), name)
    raise AttributeError(f"module 'omoide' has no attribute {name!r}")


def open(  # noqa: A001 - read as omoide.open
    settings: Settings | None = None,
    *,
    model: str | ChatModel | None = None,
    summariser: str | ChatModel | None = None,
    embedder: str | Embedder | None = None,
    mechanisms: str | Sequence[str | Mechanism] | None = None,
    store: Store | None = None,
    clock: Clock | None = None,
    background: bool = True,
    **fields: object,
) -> SyncMemory:
    """Open a memory and start its background work. Use it in a `with` statement.

    Without `settings`, the environment variables `OMOIDE_…` are read. Fields of `Settings` may be
    given by name (`db="team.sqlite"`). Where a name is expected you may pass an object instead;
    you then close it yourself.
    """
    from omoide.engine import SyncMemory

    return SyncMemory(
        open_async(
            settings,
            model=model,
            summariser=summariser,
            embedder=embedder,
            mechanisms=mechanisms,
            store=store,
            clock=clock,
            background=background,
            **fields,
        )
    )


def open_async(
    settings: Settings | None = None,
    *,
    model: str | ChatModel | None = None,
    summariser: str | ChatModel | None = None,
    embedder: str | Embedder | None = None,
    mechanisms: str | Sequence[str | Mechanism] | None = None,
    store: Store | None = None,
    clock: Clock | None = None,
    background: bool = True,
    **fields: object,
) -> AbstractAsyncContextManager[Memory]:
    """`open` for asyncio code: `async with omoide.open_async() as memory`."""
    from omoide.bootstrap import open_memory

    named = {
        "model": model,
        "summary_model": summariser,
        "embedder": embedder,
        "mechanisms": mechanisms,
    }
    fields |= {name: value for name, value in named.items() if isinstance(value, str)}
    if settings is None:
        settings = Settings.read(os.environ)
    return open_memory(
        settings.changed(**fields),
        background=background,
        model=None if isinstance(model, str) else model,
        summariser=None if isinstance(summariser, str) else summariser,
        embedder=None if isinstance(embedder, str) else embedder,
        mechanisms=None if isinstance(mechanisms, str) else mechanisms,
        store=store,
        clock=clock,
    )


def connect(url: str, *, key: str = "", timeout: float = 60.0, retries: int = 2) -> SyncMemory:
    """The memory of a server (`omoide serve`), with the methods of `open`. Use it in a `with`
    statement.

    `key` is an API key of that server. A request that could not be delivered, or that the server
    could not do at the moment, is sent again up to `retries` times; a write is done once all the
    same. Errors are those of the library, and `ServerUnavailable`, `AccessDenied`.
    """
    from omoide.engine import SyncMemory

    remote: Any = connect_async(url, key=key, timeout=timeout, retries=retries)
    return SyncMemory(remote)  # the same methods, as `tests/unit/test_facade.py` checks


def connect_async(
    url: str,
    *,
    key: str = "",
    timeout: float = 60.0,
    retries: int = 2,
    transport: AsyncBaseTransport | None = None,
) -> AbstractAsyncContextManager[RemoteMemory]:
    """`connect` for asyncio code: `async with omoide.connect_async(url) as memory`. `transport`
    is one of httpx, for tests and proxies."""
    from omoide.client import open_remote

    return open_remote(url, key=key, timeout=timeout, retries=retries, transport=transport)


__all__ = [
    "Context",
    "Ending",
    "Exchange",
    "Fact",
    "FactKind",
    "Memory",
    "MemoryKind",
    "OmoideError",
    "Outdated",
    "Owner",
    "RecallResult",
    "RecalledItem",
    "RemoteMemory",
    "Reply",
    "Runtime",
    "Sentence",
    "Session",
    "Settings",
    "Speaker",
    "Summary",
    "Support",
    "SyncMemory",
    "TimelineEntry",
    "Turn",
    "Utterance",
    "When",
    "__version__",
    "connect",
    "connect_async",
    "open",
    "open_async",
]

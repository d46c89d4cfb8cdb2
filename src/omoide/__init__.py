"""omoide: long-term memory for conversations with language models.

    import omoide

    with omoide.open() as memory:
        for piece in memory.reply("ana", "Hi! I adopted a cat called Miso."):
            print(piece, end="")
        memory.end_session("ana")
        memory.settle()
        print(memory.memory("ana").text)

Importing it reads nothing, opens nothing and logs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import (
    Kind,
    Owner,
    Recalled,
    Recollection,
    Sentence,
    Session,
    Speaker,
    Summary,
    Support,
    Turn,
)
from omoide.engine import Memory, Utterance
from omoide.errors import OmoideError
from omoide.facade import SyncMemory
from omoide.reply import Reply
from omoide.settings import Settings
from omoide.version import __version__
from omoide.versions import When

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any


def open(settings: Settings | None = None) -> SyncMemory:  # noqa: A001 - read as omoide.open
    """Open a memory, with its background work running. Use it in a `with` statement."""
    from omoide.bootstrap import open_sync

    return open_sync(settings)


def open_async(settings: Settings | None = None) -> Coroutine[Any, Any, Memory]:
    """Open a memory for asyncio code. Its `worker.run()` is yours to start as a task."""
    from omoide.bootstrap import open_memory

    return open_memory(settings or Settings())


__all__ = [
    "Kind",
    "Memory",
    "OmoideError",
    "Owner",
    "Recalled",
    "Recollection",
    "Reply",
    "Sentence",
    "Session",
    "Settings",
    "Speaker",
    "Summary",
    "Support",
    "SyncMemory",
    "Turn",
    "Utterance",
    "When",
    "__version__",
    "open",
    "open_async",
]

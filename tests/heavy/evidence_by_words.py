"""What recall finds by words alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.engine.runtime import Runtime
from omoide.settings import Settings
from omoide.testing import FrozenClock, ScriptedModel
from omoide_bench import evidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide_bench.corpora.questions import EvidenceConversation


async def recalled_by_words(
    conversations: Sequence[EvidenceConversation],
) -> list[evidence.EvidenceResult]:
    """The share of the evidence that is found, by kind of question."""
    runtime = Runtime(
        Settings(mechanisms=("search",)),
        store=await SqliteStore.open(":memory:"),
        model=ScriptedModel(),
        clock=FrozenClock(),
        name="test",
    )
    memory = runtime.memory()
    outcomes = await evidence.measure(memory, conversations, {"recall": evidence.product(memory)})
    await runtime.store.close()
    return evidence.summarise(outcomes)

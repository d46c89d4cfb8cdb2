"""What `Memory` works with; shared by all tenants of a process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.mechanisms.events.human_recall import HumanRecall
from omoide.mechanisms.events.writer import ModelEventWriter
from omoide.mechanisms.parts import recall_settings

if TYPE_CHECKING:
    from omoide.domain import Owner
    from omoide.engine.corrections import Corrections
    from omoide.engine.erasure import Erasures
    from omoide.engine.exchange import Exchanges
    from omoide.engine.facts import Facts
    from omoide.engine.memory_folder import MemoryFolders
    from omoide.engine.methods import Methods
    from omoide.engine.recorder import Recorder
    from omoide.engine.versions import Versions
    from omoide.engine.worker import Worker
    from omoide.mechanisms.base import Mechanism
    from omoide.mechanisms.search.recall import Recall
    from omoide.ports import ChatModel, Clock, Embedder, Store
    from omoide.ports.telemetry import Telemetry
    from omoide.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Services:
    """The parts that `Runtime` puts together."""

    settings: Settings
    store: Store
    clock: Clock
    model: ChatModel
    """The model that replies."""
    summariser: ChatModel
    """The model that writes the memory."""
    embedder: Embedder | None
    mechanisms: tuple[Mechanism, ...]
    layers: tuple[Mechanism, ...]
    """Those that are written but do not add to prompts."""
    recall: Recall
    recorder: Recorder
    methods: Methods
    """The method that each user's memory works by."""
    exchanges: Exchanges
    folders: MemoryFolders
    versions: Versions
    facts: Facts
    corrections: Corrections
    worker: Worker
    erasures: Erasures
    telemetry: Telemetry

    async def human_recall(self, owner: Owner) -> HumanRecall:
        """The mechanism that the owner's memory uses; if it uses none, one that only reads."""
        method = await self.methods.of(owner)
        for mechanism in (*method.mechanisms, *(layer.mechanism for layer in method.layers)):
            if isinstance(mechanism, HumanRecall):
                return mechanism
        model = self.summariser
        return HumanRecall(
            store=self.store,
            embedder=self.embedder,
            writer=ModelEventWriter(window=model.window, count=model.count, name=model.name),
            knobs=recall_settings(method.settings),
        )

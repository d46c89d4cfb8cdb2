"""A store in memory, and the parts of a mechanism made of fakes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.documents import DocumentStore, MemoryDocuments
from omoide.mechanisms.parts import MechanismParts
from omoide.mechanisms.search.recall import Recall
from omoide.settings import Settings
from omoide.testing.fakes import FrozenClock, HashEmbedder, ScriptedModel

if TYPE_CHECKING:
    from omoide.mechanisms.base import Ask, ReplyRequest
    from omoide.ports import ChatModel, Completion, Embedder, Request, Store


class InMemoryStore(DocumentStore):
    """A store in memory. It passes the same contract as every other store."""

    def __init__(self) -> None:
        super().__init__(MemoryDocuments())


def parts(
    *,
    store: Store | None = None,
    model: ChatModel | None = None,
    embedder: Embedder | None = None,
    settings: Settings | None = None,
    clock: FrozenClock | None = None,
) -> MechanismParts:
    """The parts of a mechanism: fakes, except for those given."""
    store, model = store or InMemoryStore(), model or ScriptedModel()
    embedder = embedder or HashEmbedder()

    def asker(request: ReplyRequest) -> Ask:
        return asking(model)

    return MechanismParts(
        settings=settings or Settings(),
        store=store,
        model=model,
        iterator=model,
        embedder=embedder,
        recall=Recall(store=store, embedder=embedder),
        clock=clock or FrozenClock(),
        asker=asker,
    )


def asking(model: ChatModel) -> Ask:
    """A function that asks the model for a complete answer, as the engine does for a mechanism."""

    async def ask(request: Request) -> Completion:
        async for piece in model.stream(request):
            if not isinstance(piece, str):
                return piece
        raise AssertionError(f"{model.name} ended without a completion")

    return ask

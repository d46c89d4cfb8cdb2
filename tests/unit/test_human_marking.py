"""Which events a reply strengthens: those that this mechanism itself brought."""

from __future__ import annotations

from datetime import timedelta

from omoide.documents import DocumentStore, MemoryDocuments
from omoide.domain import MemoryKind
from omoide.mechanisms.base import Contribution, PromptPlace, ReplyRequest
from omoide.mechanisms.events.human_recall import HumanRecall
from omoide.mechanisms.events.writer import NullEventWriter
from omoide.testing.contracts.making import ANN, START, event


def brought(name: str, *, mechanism: str, kind: MemoryKind = MemoryKind.EVENT) -> Contribution:
    """What a mechanism brought."""
    return Contribution(
        mechanism=mechanism,
        place=PromptPlace.RECALLED,
        kind=kind,
        id=name,
        text=name,
        value=1.0,
        sources=(),
        time=START,
        why="",
    )


async def test_only_its_own_events_are_strengthened() -> None:
    """Not what another mechanism brought, nor what is no event."""
    store = DocumentStore(MemoryDocuments())
    names = ("ours", "theirs", "other", "unused")
    await store.events.add(ANN, [event(name, id=name) for name in names])
    recall = HumanRecall(store=store, embedder=None, writer=NullEventWriter())
    later = START + timedelta(days=30)
    request = ReplyRequest(owner=ANN, text="Hi", session=(), now=later, language="en")
    used = [
        brought("ours", mechanism=recall.name),
        brought("theirs", mechanism="search"),
        brought("other", mechanism=recall.name, kind=MemoryKind.FACT),
    ]
    await recall.mark_used(request, used)
    recalls = {e.id: e.recalls for e in await store.events.read(ANN)}
    assert recalls == {"ours": 1, "theirs": 0, "other": 0, "unused": 0}

"""What memory is measured against: all history, as far as it fits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import NewTurn, Owner, Speaker
from omoide.mechanisms.base import ReplyRequest, fit_budget
from omoide.mechanisms.baselines.plain import FullContext, VectorBaseline
from omoide.testing import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.ports import Vectors

OWNER = Owner(tenant="t", user="u")
NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)
LONG = "a long walk along the river with my sister and her two dogs, " * 6


async def test_all_history_loses_the_oldest_first() -> None:
    """Short turns of long ago do not push out long ones of yesterday."""
    store = await SqliteStore.open(":memory:")
    said = [
        NewTurn(
            speaker=Speaker.USER,
            text=f"{i}: {LONG if i % 2 else 'oh'}",
            time=NOW + timedelta(minutes=i),
            id=f"t{i}",
            language="en",
        )
        for i in range(20)
    ]
    await store.turns.append(OWNER, said, session="s", idle=timedelta(hours=1))
    now = NOW + timedelta(days=1)
    request = ReplyRequest(owner=OWNER, text="And?", session=(), now=now, language="en")
    offered = await FullContext(store).contribute(request)
    await store.close()
    assert all(0 < one.value <= 1 for one in offered)
    whole = sum(one.tokens for one in offered)
    assert [one.id for one in fit_budget(offered, budget=whole)] == [one.id for one in said]
    kept = [one.id for one in fit_budget(offered, budget=sum(one.tokens for one in offered[12:]))]
    assert kept == [f"t{i}" for i in range(12, 20)]


class TwoEncoders(HashEmbedder):
    """An embedder that encodes what is searched for by another encoder: one that reads French."""

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """The vectors of the English words."""
        return await self.embed([text.replace("jardin", "garden") for text in texts])


async def test_dense_retrieval_encodes_the_message_by_the_encoder_for_queries() -> None:
    """If the embedder has two, as DPR has; the utterances are encoded by the other."""
    found = {}
    for embedder in (HashEmbedder(), TwoEncoders()):
        store = await SqliteStore.open(":memory:")
        texts = ["My garden is full of roses.", "The car needs new brakes."]
        said = [
            NewTurn(speaker=Speaker.USER, text=text, time=NOW, id=f"t{i}", language="en")
            for i, text in enumerate(texts)
        ]
        await store.turns.append(OWNER, said, session="s", idle=timedelta(hours=1))
        vectors = await embedder.embed(texts)
        await store.index.put(OWNER, embedder.space, ids=["t0", "t1"], vectors=vectors)
        now = NOW + timedelta(days=1)
        request = ReplyRequest(owner=OWNER, text="jardin", session=(), now=now, language="en")
        offered = await VectorBaseline(store, embedder=embedder, k=1).contribute(request)
        found[type(embedder)] = offered[0].score if offered else 0.0
        await store.close()
    assert found[TwoEncoders] > 0.3 > found[HashEmbedder]

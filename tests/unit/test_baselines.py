"""What memory is measured against: all history, as far as it fits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import NewTurn, Owner, Speaker
from omoide.mechanisms.base import ReplyRequest, fit_budget
from omoide.mechanisms.baselines.plain import FullContext

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

"""Bringing in exports of other programs over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from .serving import Bench, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

CLAUDE = {
    "uuid": "c1",
    "name": "A trip to Kyoto",
    "created_at": "2025-05-01T10:00:00Z",
    "chat_messages": [
        {"uuid": "m1", "sender": "human", "text": "I fly to Kyoto.", "created_at": "2025-05-01"},
        {"uuid": "m2", "sender": "assistant", "text": "Enjoy!", "created_at": "2025-05-01"},
    ],
}


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """A running server."""
    async with serving(tmp_path) as bench:
        yield bench


async def send(bench: Bench, *conversations: Any, user: str = "ana") -> Any:  # noqa: ANN401 - JSON
    """Send a part of an export."""
    body = {"conversations": list(conversations), "digest": False}
    return await bench.client.post("/api/import", params={"user": user}, json=body)


async def test_an_export_is_recorded_once_with_its_titles(bench: Bench) -> None:
    """Sent again, it adds nothing; a title that a person gave stays; others see nothing of it."""
    made = (await send(bench, CLAUDE)).json()
    assert (made["source"], made["sessions"], made["turns"]) == ("claude", 1, 2)
    assert await bench.memory().titles("ana") == {1: "A trip to Kyoto"}
    await bench.memory().rename("ana", 1, "Japan")
    again = (await send(bench, CLAUDE)).json()
    assert (again["turns"], again["known"]) == (0, 2)
    assert await bench.memory().titles("ana") == {1: "Japan"}
    assert await bench.said("ben") == []


async def test_what_is_skipped_is_told(bench: Bench) -> None:
    """With where and why; the rest is recorded."""
    odd = {**CLAUDE, "uuid": "c2", "chat_messages": [{"sender": "system", "text": "x"}]}
    made = (await send(bench, CLAUDE, odd, {"other": 1})).json()
    assert made["turns"] == 2
    assert made["skipped"] == len(made["left_out"]) >= 2
    assert all(one["where"] and one["reason"] for one in made["left_out"])


async def test_something_else_is_refused_with_what_is_wanted(bench: Bench) -> None:
    """And nothing is recorded; our own export is restored by the command."""
    refused = await send(bench, {"other": 1})
    assert refused.status_code == 422
    assert "conversations.json" in refused.json()["detail"]
    own = await send(bench, {"kind": "header", "schema": 1})
    assert own.status_code == 422
    assert await bench.memory().users() == ()


async def test_of_very_many_skipped_the_first_hundred_are_listed(bench: Bench) -> None:
    """The others are counted, so that the answer to a large export stays short."""
    strange = [{"sender": "system", "text": "x"}] * 150
    made = (await send(bench, {**CLAUDE, "chat_messages": strange})).json()
    assert made["skipped"] >= 150
    assert len(made["left_out"]) == 100

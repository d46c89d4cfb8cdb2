"""Limits of the server: what is just within is let in, what is just beyond is not."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from omoide.domain import Speaker
from omoide.engine.messages import Utterance
from omoide.server.latest_replies import MAX_USERS, LatestReplies, LatestReply
from omoide.server.options import Options
from omoide.server.probes import healthz
from tests import virtual_time

from .serving import Bench, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

JSON = {"Content-Type": "application/json", "X-Omoide-User": "ana"}


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """A running server."""
    async with serving(tmp_path, options=Options(rate=0)) as bench:
        yield bench


@pytest.mark.parametrize("told", [True, False], ids=["by its header", "as it comes"])
async def test_the_largest_body(tmp_path: Path, told: bool) -> None:
    """One byte more is refused, whether the client says how many come or not."""
    body = b'{"turns": [{"speaker": "user", "text": "Hi."}]}'

    async def pieces(whole: bytes) -> AsyncIterator[bytes]:
        for start in range(0, len(whole), 20):
            yield whole[start : start + 20]

    async with serving(tmp_path, options=Options(max_body=len(body))) as bench:
        for whole, status in ((body, 201), (body + b" ", 413)):
            content = whole if told else pieces(whole)
            response = await bench.client.post("/api/turns", content=content, headers=JSON)
            assert response.status_code == status, response.text


@pytest.mark.parametrize(("length", "status"), [(256, 200), (257, 400)])
async def test_the_longest_name_in_a_header(bench: Bench, length: int, status: int) -> None:
    """A user, and a session's key."""
    for header in ("X-Omoide-User", "X-Omoide-Session"):
        sent = {"X-Omoide-User": "ana", header: "x" * length}
        response = await bench.chat("Hi.", headers=sent)
        assert response.status_code == status, response.text


@pytest.mark.parametrize(
    ("path", "field"), [("/api/turns", "position"), ("/api/sessions", "number")]
)
async def test_pages_end_where_the_items_do(bench: Bench, path: str, field: str) -> None:
    """A page that holds the last item names no next one; no item is shown twice or left out."""
    for n in range(5):
        turn = Utterance(speaker=Speaker.USER, text=f"Number {n}.")
        await bench.memory().record("ana", [turn], session=f"s{n}")
    for limit, sizes in ((1, [1] * 5), (2, [2, 2, 1]), (4, [4, 1]), (5, [5]), (6, [5])):
        shown: list[list[int]] = []
        query: dict[str, str | int] = {"user": "ana", "limit": limit}
        while len(shown) < 9:
            page = (await bench.client.get(path, params=query)).json()
            shown.append([item[field] for item in page["items"]])
            if page["next"] is None:
                break
            query["cursor"] = page["next"]
        assert [len(part) for part in shown] == sizes
        assert [number for part in shown for number in part] == [1, 2, 3, 4, 5]


async def test_cards_before_a_session_leave_it_out(bench: Bench) -> None:
    """They go on where the page before ended, newest first."""
    for n in range(3):
        await bench.memory().record(
            "ana", [Utterance(speaker=Speaker.USER, text=f"Talk {n}.")], session=f"s{n}"
        )

    async def numbers(**query: int) -> list[int]:
        params: dict[str, str | int] = {"user": "ana", **query}
        cards = (await bench.client.get("/api/sessions/latest", params=params)).json()["items"]
        return [card["number"] for card in cards]

    assert await numbers() == [3, 2, 1]
    assert await numbers(limit=2) == [3, 2]
    assert await numbers(before=2) == [1]
    assert await numbers(before=1) == []


def test_the_latest_replies_of_so_many_users_are_kept() -> None:
    """Whoever was answered longest ago goes first."""
    replies = LatestReplies()
    reply = LatestReply(
        text="Hi.", time=datetime(2026, 1, 5, tzinfo=UTC), session=1, contributions=()
    )
    users = [str(n) for n in range(MAX_USERS)]
    for user in (*users, "0"):
        replies.note("t", user, reply, mark="")
    assert all(replies.of("t", user, mark="") for user in users)
    replies.note("t", "one more", reply, mark="")
    assert replies.of("t", "1", mark="") is None
    assert replies.of("t", "0", mark="") is reply
    assert replies.of("t", "one more", mark="") is reply
    assert replies.of("other", "0", mark="") is None
    assert replies.of("t", "0", mark="erased since") is None
    assert replies.of("t", "0", mark="") is None


async def hang(*_: object, **__: object) -> Any:  # noqa: ANN401 - never returns
    """Stands for a part of the database that never answers."""
    await asyncio.Event().wait()


async def test_a_database_that_hangs_holds_up_no_chat_with_an_idempotency_key(
    tmp_path: Path,
) -> None:
    """Whether anything was erased is asked no longer than memory may take."""
    async with serving(tmp_path, options=Options(patience=0.01)) as bench:
        archive: Any = bench.server.runtime.store.archive
        archive.erasure_mark = hang
        answer = await bench.chat("Hi", headers={"Idempotency-Key": "k"})
        assert answer.json()["choices"][0]["message"]["content"] == "I see."


@pytest.mark.parametrize("part", ["notes.read", "archive.erasure_mark"])
async def test_a_stored_conversation_is_not_waited_for_without_end(
    tmp_path: Path, part: str
) -> None:
    """Without it the chat cannot go on, so the client is told to try again."""
    async with serving(tmp_path, options=Options(patience=0.01)) as bench:
        post, named = bench.client.post, {"X-Omoide-User": "ana"}
        made = (await post("/v1/conversations", json={}, headers=named)).json()
        where, _, name = part.partition(".")
        setattr(getattr(bench.server.runtime.store, where), name, hang)
        body = {"model": "m", "input": "Hi", "conversation": made["id"]}
        answer = await post("/v1/responses", json=body, headers=named)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert answer.json()["error"]["code"] == "store_locked"


def test_a_disk_that_hangs_is_no_death() -> None:
    """The process answers, without how many exchanges wait."""
    call: Any = SimpleNamespace()
    call.context = SimpleNamespace(runtime=SimpleNamespace(spool=SimpleNamespace(status=hang)))
    answer = virtual_time.run(healthz(call))
    assert json.loads(bytes(answer.body)) == {"status": "ok"}

"""Answers of a server, or of something else at its address, as the client reads them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import httpx
import pytest

import omoide
from omoide.errors import ServerUnavailable
from omoide.transfer import ForeignMemories, KeptItem
from tests.integration.test_client import connected
from tests.server.serving import serving
from tests.unit.fact_stories import FACTS

if TYPE_CHECKING:
    from pathlib import Path

SEPARATED = "One\u2028two\u2029three"
"""Characters at which Python would cut a line, but JSON does not."""


async def test_a_line_separator_does_not_cut_an_answer(tmp_path: Path) -> None:
    """Neither in an export nor in a reply that is streamed."""
    async with serving(tmp_path, settings=FACTS) as bench, connected(bench) as memory:
        await memory.record("ana", SEPARATED)
        texts = [record.get("text") async for record in memory.export("ana")]
        assert SEPARATED in texts
        bench.replier.answers.append(SEPARATED)
        reply = await memory.reply("ana", "Count.")
        assert await reply.text() == SEPARATED


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(301, headers={"Location": "https://memory.example/api/about"}),
        httpx.Response(200, html="<title>Another program</title>"),
        httpx.Response(200, json=["another", "program"]),
        httpx.Response(204),
    ],
    ids=["redirect", "page", "list", "nothing"],
)
async def test_another_program_at_the_address_is_noticed_at_once(answer: httpx.Response) -> None:
    """Such as a proxy that only knows https, or a web page."""
    elsewhere = httpx.MockTransport(lambda request: answer)
    with pytest.raises(ServerUnavailable, match="at that address"):
        await omoide.connect_async("http://memory.example", transport=elsewhere).__aenter__()


async def test_much_that_is_kept_is_sent_in_parts(tmp_path: Path) -> None:
    """A server takes 16 MiB at once; a kept item may be as long as a turn."""
    kept = tuple(KeptItem(key=f"k{i}", text=f"{i}" + "x" * 90_000, what="x") for i in range(190))
    given = ForeignMemories(
        source="letta", items=len(kept), facts=(), conversations=(), kept=kept, left_out=()
    )
    settings = replace(FACTS, max_turn_chars=100_000)
    async with serving(tmp_path, settings=settings) as bench, connected(bench) as memory:
        assert (await memory.import_memories("ana", given)).kept == {"x": len(kept)}

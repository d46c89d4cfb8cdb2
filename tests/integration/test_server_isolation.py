"""Nobody's data is shown to another user or tenant, in any route of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omoide.server.options import Options
from tests.lanes import some
from tests.server.serving import CAT, M1, Bench, serving
from tests.server.test_server_access import FACT, GUARDED, ask, name

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from omoide.server.endpoint import RouteSpec

NOTHING = {
    "POST /api/memory/amend": 409,
    "PATCH /api/facts": 404,
    "DELETE /api/facts": 404,
    "POST /api/jobs/digest": 404,
    "POST /api/jobs/embed": 404,
    "PATCH /api/sessions": 404,
    "POST /api/events/calibrate": 422,
    "POST /api/facts/correct": 404,
    "POST /api/memory/files/restore": 404,
}
"""Routes that find nothing to change, and how they say so."""


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """A running server."""
    async with serving(tmp_path, options=Options(rate=0)) as bench:
        yield bench


def expected(row: RouteSpec, status: int) -> bool:
    """Whether a route may answer so to someone who may call it."""
    if "{" in row.path:
        return status == 404
    return status == NOTHING[name(row)] if name(row) in NOTHING else status < 300


async def words_of(bench: Bench, tenant: str) -> list[dict[str, object]]:
    """What is stored of ana's words there; the account may still grow by work in the background."""
    records = [r async for r in bench.memory(tenant).export("ana")]
    return [r for r in records if r["kind"] in ("session", "turn", "version", "aside")]


@pytest.mark.parametrize("row", GUARDED, ids=name)
async def test_no_route_shows_or_touches_another_tenant(bench: Bench, row: RouteSpec) -> None:
    """The same user name in two tenants is two people, in every route of the table."""
    await bench.remember("theirs")
    before = await words_of(bench, "theirs")
    bench.replier.answers.append("I see.")
    response = await ask(bench, row, bench.key("ours"))
    assert [f.id for f in await bench.memory("theirs").facts("ana")] == [FACT]
    assert expected(row, response.status_code)
    for words in (CAT, M1, "Miso", "Good morning from theirs"):
        assert words not in response.text
        assert all(words.encode() not in r.raw for r in bench.upstairs.requests)
        assert all(words not in m.content for r in bench.replier.requests for m in r.messages)
    assert await words_of(bench, "theirs") == before


@pytest.mark.parametrize("row", some(GUARDED, GUARDED[::3], ids=name))
async def test_no_route_shows_or_touches_another_user(bench: Bench, row: RouteSpec) -> None:
    """Within a tenant, whoever asks about ana sees nothing of bob."""
    await bench.remember("ours", user="bob")
    before = [r async for r in bench.memory("ours").export("bob") if r["kind"] != "call"]
    bench.replier.answers.append("I see.")
    response = await ask(bench, row, bench.key("ours"))
    assert expected(row, response.status_code)
    for words in (CAT, M1, "Miso", "Good morning from ours"):
        assert words not in response.text
        assert all(words.encode() not in r.raw for r in bench.upstairs.requests)
        assert all(words not in m.content for r in bench.replier.requests for m in r.messages)
    after = [r async for r in bench.memory("ours").export("bob") if r["kind"] != "call"]
    kept = ("session", "turn", "version", "aside")
    assert [r for r in after if r["kind"] in kept] == [r for r in before if r["kind"] in kept]

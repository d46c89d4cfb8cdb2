"""How long responses are kept for an idempotency key, and how many."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from starlette.responses import Response

from omoide.errors import StoreError
from omoide.server.idempotency import (
    MAX_BYTES,
    MAX_ENTRIES,
    MAX_ENTRY_BYTES,
    MAX_TENANT_BYTES,
    SECONDS,
    ReplayCache,
)
from omoide.server.problems import HttpProblem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omoide.server.endpoint import RouteCall, RouteSpec


@dataclass
class Call:
    """A request, as far as the cache looks at it."""

    tenant: str = "t"
    user: str = "ana"
    raw: bytes = b"{}"
    raw_query: str = ""
    path: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    broken_after: int | None = None
    """How many times the erasure mark can be read; None for always."""

    @property
    def caller(self) -> SimpleNamespace:
        """Who asks."""
        return SimpleNamespace(tenant=self.tenant)

    async def erasure_mark(self) -> str:
        """Nothing was erased."""
        if self.broken_after is not None:
            self.broken_after -= 1
            if self.broken_after < 0:
                raise StoreError("the database is damaged")
        return "1.0"


@dataclass
class Route:
    """A route that counts how often it was done."""

    body: bytes = b"done"
    times: int = 0
    path: str = "/api/x"
    user: bool = True
    quotes: bool = True
    headers: tuple[str, ...] = ("X-Omoide-Session",)
    gate: asyncio.Event | None = None
    """What a request waits for, if anything."""

    async def handler(self, call: object) -> Response:
        """Do it."""
        del call
        self.times += 1
        if self.gate is not None:
            await self.gate.wait()
        return Response(self.body + str(self.times).encode())


@dataclass
class Clock:
    """A clock that moves when told to."""

    time: float = 0.0

    def __call__(self) -> float:
        """The time it is set to."""
        return self.time


async def ask(cache: ReplayCache, route: Route, key: str, call: Call | None = None) -> bytes:
    """The body of the response for a key."""
    made = cast("RouteCall", call or Call())
    response = await cache.run_once(cast("RouteSpec", route), key, made)
    return bytes(response.body)


async def test_a_key_is_good_for_a_day() -> None:
    """Within a day it replays; after that the request is done again."""
    clock = Clock()
    cache, route = ReplayCache(clock), Route()
    assert await ask(cache, route, "k") == b"done1"
    clock.time = SECONDS - 1
    assert await ask(cache, route, "k") == b"done1"
    clock.time = SECONDS
    assert await ask(cache, route, "k") == b"done2"


@pytest.mark.parametrize("reads", [0, 1])
async def test_a_database_that_fails_stops_no_request(reads: int) -> None:
    """Before the handler or after it: its answer is given, and not kept."""
    cache, route = ReplayCache(Clock()), Route()
    assert await ask(cache, route, "k", Call(broken_after=reads)) == b"done1"
    assert cache.kept_answers == 0
    assert await ask(cache, route, "k") == b"done2"
    assert await ask(cache, route, "k", Call(broken_after=0)) == b"done3"


@pytest.mark.parametrize(
    "other",
    [
        {"raw": b"[]"},
        {"raw_query": "user=bob"},
        {"path": {"conversation_id": "c2"}},
        {"headers": {"X-Omoide-Session": "B"}},
    ],
)
async def test_a_key_is_for_one_request(other: dict[str, Any]) -> None:
    """Another body, query, address or session under the same key is refused, not replayed."""
    cache, route = ReplayCache(Clock()), Route()
    first: dict[str, Any] = {
        "path": {"conversation_id": "c1"},
        "headers": {"X-Omoide-Session": "A"},
    }
    await ask(cache, route, "k", Call(**first))
    with pytest.raises(HttpProblem) as refused:
        await ask(cache, route, "k", Call(**(first | other)))
    assert (refused.value.status, refused.value.slug) == (409, "idempotency-key-reused")
    assert await ask(cache, route, "k", Call(**first)) == b"done1"


@pytest.mark.parametrize(
    ("size", "count"),
    [(MAX_ENTRY_BYTES - 10, MAX_TENANT_BYTES // MAX_ENTRY_BYTES + 3), (9, MAX_ENTRIES + 3)],
)
async def test_a_tenant_keeps_a_bounded_number_of_answers_and_bytes(size: int, count: int) -> None:
    """The oldest go first, and only its own."""
    cache, route, other = ReplayCache(Clock()), Route(body=b"x" * size), Route()
    await ask(cache, other, "k", Call(tenant="other"))
    for number in range(count):
        await ask(cache, route, f"k{number}")
    assert route.times == count
    await ask(cache, route, f"k{count - 1}")
    assert route.times == count
    await ask(cache, route, "k0")
    assert route.times == count + 1
    await ask(cache, other, "k", Call(tenant="other"))
    assert other.times == 1


async def test_a_long_response_is_not_kept() -> None:
    """It is done again instead."""
    cache, route = ReplayCache(Clock()), Route(body=b"x" * (MAX_ENTRY_BYTES + 1))
    await ask(cache, route, "k")
    await ask(cache, route, "k")
    assert route.times == 2


async def test_the_longest_response_that_may_be_kept_is() -> None:
    """The bound itself is inside."""
    cache, route = ReplayCache(Clock()), Route(body=b"x" * (MAX_ENTRY_BYTES - 1))
    assert len(await ask(cache, route, "k")) == MAX_ENTRY_BYTES
    await ask(cache, route, "k")
    assert route.times == 1


async def test_what_is_kept_of_an_erased_user_goes_at_once() -> None:
    """It quotes them, so it does not wait for the next request; others keep theirs, and so does a
    user of the same name elsewhere."""
    cache, route = ReplayCache(Clock()), Route()
    others = Call(user="bob"), Call(tenant="other")
    for call in (Call(), *others):
        await ask(cache, route, "k", call)
        await ask(cache, route, "k2", call)
    cache.forget("t", "ana")
    assert cache.kept_answers == 4
    for call in others:
        await ask(cache, route, "k", call)
    assert route.times == 6
    await ask(cache, route, "k")
    assert route.times == 7


async def test_a_flood_of_keys_from_many_tenants_keeps_a_bounded_number_of_bytes() -> None:
    """What all tenants keep is bounded as well: the one with most gives way, the small one not."""
    cache, small = ReplayCache(Clock()), Route()
    await ask(cache, small, "k", Call(tenant="small"))
    route = Route(body=b"x" * (MAX_ENTRY_BYTES - 10))
    each = MAX_TENANT_BYTES // MAX_ENTRY_BYTES
    tenants = [f"t{number}" for number in range(MAX_BYTES // MAX_TENANT_BYTES + 4)]
    for tenant in tenants:
        for number in range(each):
            await ask(cache, route, f"k{number}", Call(tenant=tenant))
    assert cache.kept_bytes <= MAX_BYTES
    assert cache.kept_bytes > MAX_BYTES - 2 * MAX_ENTRY_BYTES
    await ask(cache, small, "k", Call(tenant="small"))
    assert small.times == 1


async def test_a_flood_of_keys_at_once_keeps_a_bounded_number_of_places() -> None:
    """Requests that are under way take places too, but never more than a tenant has; each is
    answered all the same."""
    cache, route = ReplayCache(Clock()), Route(gate=asyncio.Event())
    count = 3 * MAX_ENTRIES
    asking = [asyncio.create_task(ask(cache, route, f"k{n}")) for n in range(count)]
    for _ in range(20):
        await asyncio.sleep(0)
    assert route.times == count
    assert cache.kept_answers == MAX_ENTRIES
    assert route.gate is not None
    route.gate.set()
    assert len(set(await asyncio.gather(*asking))) == 1
    assert cache.kept_answers == MAX_ENTRIES


async def test_keys_that_failed_keep_no_place() -> None:
    """A flood of requests that fail leaves nothing behind."""

    class Failing(Route):
        async def handler(self, call: object) -> Response:
            raise ValueError(str(call))

    cache, route = ReplayCache(Clock()), Failing()
    for number in range(20):
        with pytest.raises(ValueError, match="Call"):
            await ask(cache, route, f"k{number}")
    assert cache.kept_answers == 0

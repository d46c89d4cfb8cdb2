"""A server that is killed: chats over every protocol, with words that wait while the database
refuses them, sessions that end, facts written of them, and users who are erased."""

from __future__ import annotations

import json
import random
import tempfile
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from omoide.adapters.spool import FileSpool
from omoide.errors import StoreLocked
from omoide.server.app import Server, make_app
from omoide.server.keys import ApiKeys, Scope
from omoide.server.options import Options
from omoide.server.upstream import HttpUpstream
from omoide.testing.endpoint import stream, whole
from tests.torture.parts import TENANTS, USER, Endless, noted, runtime_over

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from omoide.engine.runtime import Runtime
    from omoide.ports import Store
    from tests.torture.places import Place
    from tests.torture.processes import Promise

REFUSED = 0.25
"""The share of writes that the database refuses."""


def _said(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


PROTOCOLS: dict[str, Callable[[str], dict[str, Any]]] = {
    "/v1/chat/completions": lambda text: {"messages": _said(text)},
    "/v1/responses": lambda text: {"input": text},
    "/v1/messages": lambda text: {"messages": _said(text), "max_tokens": 99},
    "/api/chat": lambda text: {"messages": _said(text)},
}


def served(store: Store, place: Place) -> Runtime:
    """The runtime of a server over the store, which keeps what the store refuses."""
    return runtime_over(
        store,
        TENANTS[0],
        iterator=Endless(noted),
        form="small",
        spool=FileSpool(place.spool, reserve=4096),
    )


async def serve(place: Place, run: str, promise: Promise) -> None:
    """Every tenant talks over the protocols in turn, streamed and not; every fifth message ends the
    session, and every seventh is of a guest, who is erased at once."""
    store = await place.open(patience=60.0)
    _refuse_some(store, random.Random(run))
    keys = ApiKeys(Path(tempfile.mkdtemp()) / "keys")
    now = datetime.now(UTC)
    bearers = {
        tenant: keys.create(tenant=tenant, name=tenant, scopes=tuple(Scope), at=now).secret
        for tenant in TENANTS
    }
    upstream = HttpUpstream(
        "http://upstream/v1", model="m", wait=60.0, transport=httpx.MockTransport(_answered)
    )
    options = Options(patience=60.0, pause=0.001, idle_every=0.05, rate=0)
    server = Server.of(served(store, place), upstream=upstream, keys=keys, options=options)
    transport = httpx.ASGITransport(make_app(server))
    async with server.run(), httpx.AsyncClient(transport=transport, base_url="http://x") as client:
        for number, path in enumerate(cycle(PROTOCOLS)):
            for tenant in TENANTS:
                client.headers["Authorization"] = f"Bearer {bearers[tenant]}"
                w = f"code-{tenant}-{run}-{number:04}"
                guest = f"guest-{run}-{number}" if number % 7 == 6 else ""
                if guest:
                    promise(f"{tenant} erasing {w}")
                body = {"model": "m", "stream": number % 8 < 4, **PROTOCOLS[path](f"I know {w}.")}
                told = await client.post(path, json=body, headers={"X-Omoide-User": guest or USER})
                assert told.status_code == 200, told.text
                if guest:
                    await _erase(client, guest)
                    promise(f"{tenant} erased {w}")
                elif not (
                    told.headers["x-omoide-stored"] == "no" or told.text.endswith("Stored: no\n\n")
                ):
                    promise(f"{tenant} told {w}")
                if number % 5 == 4:
                    await client.post(f"/api/sessions/end?user={USER}", json={})


async def _erase(client: httpx.AsyncClient, user: str) -> None:
    """Erase a user; again while another process that reads keeps traces alive."""
    answer = httpx.Response(503)
    while answer.status_code == 503:
        answer = await client.post(f"/api/erase?user={user}", json={"all": True})
    assert answer.json()["receipt"]["found"] == [], answer.text


async def replay(store: Store, place: Place) -> None:
    """Store what waits of processes that were killed, as the next server does."""
    await served(store, place).exchanges.waiting.replay()


def _refuse_some(store: Store, dice: random.Random) -> None:
    """Have some of the writes of turns refused, as by a database that is locked."""
    append = store.turns.append

    async def refusing(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as the store's
        if dice.random() < REFUSED:
            raise StoreLocked("the database is locked")
        return await append(*args, **kwargs)

    object.__setattr__(store.turns, "append", refusing)


async def _answered(request: httpx.Request) -> httpx.Response:
    """What the model behind the server says: the word that it was told."""
    body = json.loads(await request.aread())
    words = [w for w in str(body["messages"][-1]["content"]).split() if w.startswith("code-")]
    text = f"You know {words[-1]}"
    given = stream(text[:8], text[8:]) if body.get("stream") else whole(text)

    async def blocks() -> AsyncIterator[bytes]:
        for block in given.blocks:
            assert isinstance(block, bytes)
            yield block

    return httpx.Response(200, headers={"content-type": given.media_type}, content=blocks())

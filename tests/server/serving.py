"""A server to test with: scripted models, a clock that stands still, an upstream in memory."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import httpx
import uvicorn

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import CallPurpose, Speaker
from omoide.engine.messages import Utterance
from omoide.engine.runtime import Runtime
from omoide.server.app import Server, make_app
from omoide.server.connections import protocol
from omoide.server.embedded import EngineUpstream
from omoide.server.keys import ApiKeys, Scope
from omoide.server.options import Options
from omoide.server.upstream import HttpUpstream
from omoide.testing import FrozenClock, HashEmbedder, ScriptedModel
from omoide.testing.endpoint import Received, Scripted, whole
from tests.unit.conftest import SETTINGS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path
    from socket import socket

    from starlette.applications import Starlette

    from omoide.domain import ModelCall
    from omoide.engine.memory import Memory
    from omoide.mechanisms.base import Mechanism
    from omoide.ports import Store
    from omoide.ports.spool import Spool
    from omoide.server.upstream import Upstream
    from omoide.settings import Settings

CHAT = "/v1/chat/completions"
CAT = "I have a cat called Miso."
M1 = "The user has a cat called Miso."


class Upstairs:
    """An upstream endpoint in memory: gives its answers in turn, and notes what it was asked."""

    def __init__(self) -> None:
        self.answers: deque[Scripted | Exception] = deque()
        self.requests: list[Received] = []

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        """For `httpx.MockTransport`."""
        raw = await request.aread()
        self.requests.append(
            Received(
                method=request.method,
                path=request.url.raw_path.decode(),
                headers=dict(request.headers),
                raw=raw,
            )
        )
        given = self.answers.popleft() if self.answers else _usual(request.url.path)
        if isinstance(given, Exception):
            raise given

        async def blocks() -> AsyncIterator[bytes]:
            for block in given.blocks:
                if isinstance(block, bytes):
                    yield block
                else:
                    await block.wait()

        headers = {"content-type": given.media_type, **given.headers}
        return httpx.Response(given.status, headers=headers, content=blocks())


def _usual(path: str) -> Scripted:
    """What an endpoint says when nothing else was put into its mouth."""
    if path.endswith("/models"):
        return Scripted(blocks=(b'{"object":"list","data":[{"id":"fake-1","object":"model"}]}',))
    if path.endswith("/embeddings"):
        row = b'{"object":"embedding","index":0,"embedding":[0.5,0.25]}'
        usage = b'"usage":{"prompt_tokens":2,"total_tokens":2}'
        body = b'{"object":"list","model":"fake-e","data":[' + row + b"]," + usage + b"}"
        return Scripted(blocks=(body,))
    return whole("I see.")


@dataclass
class Bench:
    """A server, what it is made of, and a client of it."""

    server: Server
    app: Starlette
    client: httpx.AsyncClient
    upstairs: Upstairs
    replier: ScriptedModel
    iterator: ScriptedModel
    clock: FrozenClock
    keys: ApiKeys

    def memory(self, tenant: str = "default") -> Memory:
        """A tenant's memory."""
        return self.server.runtime.memory(tenant)

    async def said(self, user: str = "ana", tenant: str = "default") -> list[str]:
        """What was recorded of the user, in order."""
        return [turn.text for turn in await self.memory(tenant).turns(user)]

    async def settled(self, *texts: str) -> bool:
        """Whether these, and no others, are what is recorded of ana, once all is written."""
        for _ in range(100_000):
            if len(said := await self.said()) >= len(texts):
                return said == list(texts)
            await asyncio.sleep(0.001)
        return False

    async def replies(self, user: str = "ana") -> list[ModelCall]:
        """The account of replies."""
        calls = await self.memory().calls(user)
        return [call for call in calls if call.purpose is CallPurpose.REPLY]

    async def chat(
        self,
        *messages: dict[str, Any] | str,
        headers: dict[str, str] | None = None,
        **more: Any,  # noqa: ANN401 - passed through
    ) -> httpx.Response:
        """Send a chat of ana's; a text stands for a message of the user's."""
        sent = [{"role": "user", "content": m} if isinstance(m, str) else m for m in messages]
        body = {"model": "m", "messages": sent, "user": "ana", **more}
        return await self.client.post(CHAT, json=body, headers=headers)

    def key(self, tenant: str = "default", *scopes: Scope) -> dict[str, str]:
        """The header with a new key of the tenant."""
        wanted = scopes or tuple(Scope)
        made = self.keys.create(tenant=tenant, name="k", scopes=wanted, at=self.clock.now())
        return {"Authorization": f"Bearer {made.secret}"}

    async def remember(self, tenant: str = "default", user: str = "ana") -> None:
        """Give the user a session about a cat, ended and digested, and a second, open one."""
        memory = self.memory(tenant)
        said = [
            Utterance(speaker=Speaker.USER, text=CAT),
            Utterance(speaker=Speaker.ASSISTANT, text="A lovely name."),
        ]
        self.iterator.answers.append(M1)
        await memory.record(user, said)
        await memory.end_session(user)
        await memory.run_jobs()
        opening = Utterance(speaker=Speaker.USER, text=f"Good morning from {tenant}.")
        await memory.record(user, [opening], session="second")


@asynccontextmanager
async def serving(
    folder: Path,
    *,
    options: Options | None = None,
    settings: Settings = SETTINGS,
    store: Store | None = None,
    embedded: bool = False,
    url: str = "",
    wait: float = 300.0,
    mechanisms: Sequence[str | Mechanism] | None = None,
    spool: Spool | None = None,
    replaying: bool = True,
    keys: ApiKeys | None = None,
) -> AsyncIterator[Bench]:
    """A bench whose server runs. Its upstream is in memory, unless a URL is given. Without
    `replaying`, what waits is stored only when a test says so."""
    upstairs = Upstairs()
    clock = FrozenClock()
    replier, iterator = ScriptedModel(name="replier"), ScriptedModel(name="iterator")
    keys = keys or ApiKeys(folder / "keys")
    store = store or await SqliteStore.open(":memory:")
    runtime = Runtime(
        settings,
        store=store,
        model=replier,
        summariser=iterator,
        embedder=HashEmbedder(),
        clock=clock,
        mechanisms=mechanisms,
        spool=spool,
        owns=[store] if spool is None else [store, spool],
    )
    if not replaying:
        runtime.replaying = nullcontext  # type: ignore[assignment,method-assign]
    upstream: Upstream = HttpUpstream(
        url or "http://upstream/v1",
        model="fake-1",
        wait=wait,
        transport=None if url else httpx.MockTransport(upstairs),
    )
    if embedded:
        upstream = EngineUpstream(replier, runtime.embedder, max_tokens=200)
    options = options or Options(patience=300.0)
    server = Server.of(
        runtime, upstream=upstream, keys=keys, options=replace(options, grace=2.0, pause=0.001)
    )
    app = make_app(server)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(server.run())
        client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8377"
        )
        await stack.enter_async_context(client)
        yield Bench(
            server=server,
            app=app,
            client=client,
            upstairs=upstairs,
            replier=replier,
            iterator=iterator,
            clock=clock,
            keys=keys,
        )


class Listener(uvicorn.Server):
    """uvicorn without its pauses of a tenth of a second before it stops and while it does."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.wanted = asyncio.Event()
        """Set when it is to stop."""

    async def main_loop(self) -> None:
        """See `uvicorn.Server`."""
        await self.on_tick(0)
        await self.wanted.wait()

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """See `uvicorn.Server`."""
        del sockets
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        while self.server_state.connections or self.server_state.tasks:  # noqa: ASYNC110 - uvicorn's
            await asyncio.sleep(0.001)
        for server in self.servers:
            await server.wait_closed()


@asynccontextmanager
async def listening(
    app: Starlette, *, receive: float = 60.0, keep_alive: int = 5
) -> AsyncIterator[str]:
    """The application on a socket of this machine; its address. Its server is run elsewhere."""
    config = uvicorn.Config(
        app,
        port=0,
        lifespan="off",
        log_config=None,
        access_log=False,
        http=protocol(receive),
        timeout_keep_alive=keep_alive,
    )
    server = Listener(config)
    task = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.001)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.wanted.set()
        await task

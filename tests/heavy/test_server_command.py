"""`omoide serve` as a process: it starts, tells where, and stops without losing a word."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import shutil
import signal
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import Owner
from omoide.server.keys import ApiKeys, Scope
from omoide.testing import FrozenClock
from omoide.testing.endpoint import FakeEndpoint, stream
from tests.server.serving import CHAT

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

BODY: dict[str, Any] = {
    "model": "omoide",
    "messages": [{"role": "user", "content": "Hi"}],
    "stream": True,
}


@asynccontextmanager
async def served(folder: Path, *args: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """The command, and the address that it logs."""
    db = str(folder / "m.sqlite")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "omoide.cli", "--db", db, "serve", "--port", "0", *args),
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "OMOIDE_EMBEDDER": "none"},
    )
    try:
        assert process.stderr
        address = ""
        async with asyncio.timeout(300):
            while not address:
                address = json.loads(await process.stderr.readline()).get("address", "")
        yield process, address
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def streamed(url: str) -> AsyncIterator[bytes]:
    """The blocks of a streamed chat."""
    async with (
        httpx.AsyncClient(timeout=300) as client,
        client.stream("POST", f"{url}{CHAT}", json=BODY) as response,
    ):
        async for block in response.aiter_bytes():
            yield block


async def test_a_reply_under_way_is_finished_when_it_is_told_to_stop(tmp_path: Path) -> None:
    """SIGTERM in the middle of a stream: the client gets all of it, it is recorded, and the process
    ends without an error."""
    gate = asyncio.Event()
    async with (
        FakeEndpoint([stream("One ", gate, "two")]) as endpoint,
        served(tmp_path, "--upstream", f"{endpoint.url}#fake-1", "--default-user", "me") as (
            process,
            url,
        ),
    ):
        seen = b""
        async for block in streamed(url):
            seen += block
            if b"One" in seen and not gate.is_set():
                process.send_signal(signal.SIGTERM)
                await asyncio.sleep(0.01)
                gate.set()
        assert seen.endswith(b"data: [DONE]\n\n")
        assert process.stderr
        async with asyncio.timeout(300):
            told = await process.stderr.read()
            await process.wait()
        assert b"Traceback" not in told
    store = await SqliteStore.open(tmp_path / "m.sqlite", create=False)
    turns = await store.turns.read(Owner(tenant="default", user="me"))
    await store.close()
    assert [t.text for t in turns] == ["Hi", "One two"]


async def test_what_takes_longer_than_the_grace_is_recorded_as_far_as_it_came(
    tmp_path: Path,
) -> None:
    """The upstream never ends; the server does."""

    async def told_to_stop() -> None:
        async for block in streamed(url):
            if b"One" in block:
                process.send_signal(signal.SIGTERM)

    async with FakeEndpoint([stream("One ", asyncio.Event())]) as endpoint:
        args = ("--upstream", f"{endpoint.url}#fake-1", "--grace", "0.2", "--default-user", "me")
        async with served(tmp_path, *args) as (process, url):
            with pytest.raises(httpx.RemoteProtocolError):
                await told_to_stop()
            async with asyncio.timeout(300):
                await process.wait()
    store = await SqliteStore.open(tmp_path / "m.sqlite", create=False)
    turns = await store.turns.read(Owner(tenant="default", user="me"))
    await store.close()
    assert [t.text for t in turns] == ["Hi", "One "]


async def test_an_open_address_serves_those_with_a_key(tmp_path: Path) -> None:
    """And nobody else, also when the key is revoked while it runs."""
    keys = ApiKeys.for_file(tmp_path / "m.sqlite")
    now = FrozenClock().now()
    made = keys.create(tenant="acme", name="k", scopes=[Scope.READ, Scope.WRITE], at=now)
    auth = {"Authorization": f"Bearer {made.secret}"}
    async with FakeEndpoint() as endpoint:
        args = ("--host", "0.0.0.0", "--upstream", f"{endpoint.url}#fake-1")  # noqa: S104
        async with served(tmp_path, *args) as (_, url), httpx.AsyncClient(timeout=300) as client:
            url = url.replace("0.0.0.0", "127.0.0.1")  # noqa: S104
            nobody = await client.post(f"{url}{CHAT}", json=BODY, headers=auth)
            body = {**BODY, "user": "ana"}
            named = await client.post(f"{url}{CHAT}", json=body, headers=auth)
            stranger = await client.post(f"{url}{CHAT}", json=body)
            keys.revoke(made.key.prefix, at=now)
            revoked = await client.post(f"{url}{CHAT}", json=body, headers=auth)
    statuses = [r.status_code for r in (nobody, named, stranger, revoked)]
    assert statuses == [400, 200, 401, 401]


def read_greeting(terminal: int) -> str:
    """What is written to a terminal, up to the last line of the greeting."""
    seen = b""
    while b"Ctrl-C" not in seen:
        seen += os.read(terminal, 4096)
    return seen.decode().replace("\r\n", "\n")


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
async def test_a_person_is_told_what_to_try_and_it_works(tmp_path: Path) -> None:
    """On a terminal the server greets, and the commands that it shows succeed."""
    theirs, ours = pty.openpty()
    async with FakeEndpoint(otherwise="The user has a cat called Miso.") as endpoint:
        upstream = ("--upstream", f"{endpoint.url}#fake-1")
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "omoide.cli", "--db", str(tmp_path / "m.sqlite")),
            *("serve", "--port", "0", *upstream),
            stderr=ours,
            env={**os.environ, "OMOIDE_EMBEDDER": "none"},
        )
        os.close(ours)
        try:
            greeting = await asyncio.to_thread(read_greeting, theirs)
            commands = re.findall(r"^  (curl .*)$", greeting, flags=re.MULTILINE)
            assert len(commands) == 3
            for command in commands:
                curl = await asyncio.create_subprocess_shell(
                    f"{command} --silent --show-error --fail-with-body",
                    stdout=asyncio.subprocess.PIPE,
                )
                output = (await curl.communicate())[0].decode()
                assert curl.returncode == 0, output
        finally:
            process.terminate()
            await process.wait()
            os.close(theirs)
    address = re.findall(r"http://127\.0\.0\.1:[0-9]+", greeting)[0]
    assert f"base URL {address}/v1" in greeting
    assert f"fake-1 at {endpoint.url}" in greeting
    assert "--default-user" in greeting
    chats = [r.body["messages"] for r in endpoint.requests if r.body["messages"]]
    assert any("What is my cat called?" in str(chat[-1]["content"]) for chat in chats)


async def test_nobody_is_me_unless_someone_says_so(tmp_path: Path) -> None:
    """A request without a user is refused; --user before the command counts as saying so."""
    async with FakeEndpoint() as endpoint:
        args = ("--upstream", f"{endpoint.url}#fake-1")
        body = {**BODY, "stream": False}
        async with httpx.AsyncClient(timeout=300) as client:
            async with served(tmp_path, *args) as (_, url):
                refused = await client.post(f"{url}{CHAT}", json=body)
                assert refused.status_code == 400
                assert "--default-user" in refused.json()["error"]["message"]
            async with served(tmp_path, *args, "--user", "ana") as (_, url):
                assert (await client.post(f"{url}{CHAT}", json=body)).status_code == 200
    store = await SqliteStore.open(tmp_path / "m.sqlite", create=False)
    owners = await store.archive.owners("default")
    await store.close()
    assert [owner.user for owner in owners] == ["ana"]

"""Two API servers and three workers over one PostgreSQL, killed at random: nothing that was
acknowledged is lost or doubled, and no session is digested twice."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx

from omoide.adapters.stores.postgres import PostgresStore
from omoide.adapters.stores.postgres.keys import PostgresKeys
from omoide.domain import JobState, Origin, Owner
from omoide.server.keys import ApiKeys, Scope
from omoide.testing import FrozenClock
from omoide.testing.endpoint import FakeEndpoint, Scripted, stream, whole
from tests.postgres import databases

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.testing.endpoint import Received

TENANTS = ("acme", "other")
USERS = ("ann", "bob", "東京")
TURNS = 20
KILLS = 10


class Echo(FakeEndpoint):
    """Answers a chat with a few words, and a request for the memory with every code word in it."""

    def _next(self, received: Received) -> Scripted:
        if received.path.startswith("/v1/models"):
            return super()._next(received)
        text = "I hear you."
        if received.body["model"] == "digest":
            shown = " ".join(m["content"] for m in received.body["messages"])
            words = sorted({w.strip(".") for w in shown.split() if w.startswith("code-")})
            text = "\n".join(f"The user knows {w}." for w in words[-10:]) or "The user talks."
        streamed = received.body.get("stream")
        return stream(*text.splitlines(keepends=True)) if streamed else whole(text)


@dataclass
class Fleet:
    """The processes, by name; whoever is killed is started again."""

    environment: dict[str, str]
    processes: dict[str, asyncio.subprocess.Process] = field(default_factory=dict)
    addresses: dict[str, str] = field(default_factory=dict)
    ready: asyncio.Condition = field(default_factory=asyncio.Condition)
    drains: list[asyncio.Task[None]] = field(default_factory=list)

    async def start(self, name: str) -> None:
        """Start a server or a worker, and wait until a server listens."""
        args = ["work", "--every", "0.05"]
        if name.startswith("server"):
            args = ["serve", "--port", "0", "--rate", "0"]
        process = self.processes[name] = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "omoide.cli", *args),
            stderr=asyncio.subprocess.PIPE,
            env=self.environment,
        )
        assert process.stderr
        if name.startswith("server"):
            address = ""
            while not address:
                line = await process.stderr.readline()
                assert line, f"{name} ended before it listened"
                with suppress(ValueError):
                    address = json.loads(line).get("address", "")
            async with self.ready:
                self.addresses[name] = address
                self.ready.notify_all()
        self.drains.append(asyncio.ensure_future(self._drain(process.stderr)))

    async def kill(self, name: str) -> None:
        """SIGKILL, and a new one in its place."""
        self.addresses.pop(name, None)
        self.processes[name].send_signal(signal.SIGKILL)
        assert await self.processes[name].wait() == -signal.SIGKILL
        await self.start(name)

    async def address(self, dice: random.Random) -> str:
        """Any server that listens."""
        async with self.ready:
            await self.ready.wait_for(lambda: self.addresses)
            return dice.choice(sorted(self.addresses.values()))

    async def stop(self) -> None:
        """End all of them, as one ends a deployment."""
        for process in self.processes.values():
            if process.returncode is None:
                process.terminate()
        for process in self.processes.values():
            await process.wait()
        await asyncio.gather(*self.drains)

    async def _drain(self, output: asyncio.StreamReader) -> None:
        while await output.readline():
            pass


@dataclass
class Talk:
    """One user who talks to whichever server answers, and asks again where none did."""

    fleet: Fleet
    owner: Owner
    secret: str
    heard: asyncio.Condition
    acknowledged: list[str]

    async def run(self) -> None:
        """Say everything, ending a session now and then."""
        dice = random.Random(f"{self.owner}")
        async with httpx.AsyncClient(timeout=300) as client:
            for number in range(TURNS):
                name = f"{self.owner.tenant}-{self.owner.user}-{number}"
                said = {"speaker": "user", "text": f"My word is code-{number:03}.", "id": name}
                await self._post(client, dice, "/api/turns", {"turns": [said]})
                async with self.heard:
                    self.acknowledged.append(name)
                    self.heard.notify_all()
                if number % 4 == 3:
                    await self._post(client, dice, "/api/sessions/end", {})

    async def _post(
        self, client: httpx.AsyncClient, dice: random.Random, path: str, body: dict[str, object]
    ) -> None:
        query = {"user": self.owner.user}
        headers = {"Authorization": f"Bearer {self.secret}"}
        while True:
            address = await self.fleet.address(dice)
            try:
                answer = await client.post(
                    f"{address}{path}", json=body, params=query, headers=headers
                )
            except httpx.TransportError:
                await asyncio.sleep(0)  # it was killed: ask another
                continue
            assert answer.is_success, answer.text
            return


async def test_nothing_is_lost_or_doubled(tmp_path: Path) -> None:
    """Any number of stateless servers and workers over one database is safe, also when they die."""
    url = databases().for_folder(tmp_path)
    await (await PostgresStore.open(url, partitions=2)).close()
    keys, now = ApiKeys(PostgresKeys(url)), FrozenClock().now()
    secrets = {
        tenant: keys.create(
            tenant=tenant, name="k", scopes=[Scope.READ, Scope.WRITE], at=now
        ).secret
        for tenant in TENANTS
    }
    acknowledged: list[str] = []
    heard = asyncio.Condition()
    dice = random.Random(11)
    owners = [Owner(tenant=tenant, user=user) for tenant in TENANTS for user in USERS]
    async with Echo() as endpoint:
        environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("OMOIDE_")},
            "OMOIDE_DB": url,
            "OMOIDE_MODEL": f"{endpoint.url}#chat",
            "OMOIDE_SUMMARY_MODEL": f"{endpoint.url}#digest",
            "OMOIDE_FORM": "paper",
            "OMOIDE_EMBEDDER": "none",
        }
        fleet = Fleet(environment)
        names = ["server-1", "server-2", "worker-1", "worker-2", "worker-3"]
        await asyncio.gather(*(fleet.start(name) for name in names))
        talks = [Talk(fleet, owner, secrets[owner.tenant], heard, acknowledged) for owner in owners]
        talking = asyncio.gather(*(talk.run() for talk in talks))
        total = TURNS * len(owners)
        for number in range(KILLS):
            async with heard:
                enough = total * (number + 0.5) / KILLS
                await heard.wait_for(lambda enough=enough: len(acknowledged) >= enough)  # type: ignore[misc]
            await fleet.kill(dice.choice(names))
        await talking
        await fleet.stop()
        assert len(acknowledged) == total

        store = await PostgresStore.open(url, create=False)
        for tenant in TENANTS:
            for _ in range(20):  # what was under way when all ended
                left = await store.jobs.list(tenant, states=[JobState.WAITING, JobState.RUNNING])
                if not left:
                    break
                worker = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "omoide.cli", "--tenant", tenant, "work", "--once"),
                    stdout=asyncio.subprocess.DEVNULL,
                    env=environment,
                )
                assert await worker.wait() == 0
            jobs = await store.jobs.list(tenant)
            assert {job.state for job in jobs} == {JobState.DONE}
    for owner in owners:
        await _check(store, owner, acknowledged)
    await store.close()


async def _check(store: PostgresStore, owner: Owner, acknowledged: list[str]) -> None:
    turns = await store.turns.read(owner)
    counted = Counter(turn.id for turn in turns)
    mine = [name for name in acknowledged if name.startswith(f"{owner.tenant}-{owner.user}-")]
    assert len(mine) == TURNS
    assert counted == Counter(mine)
    assert [turn.position for turn in turns] == list(range(1, len(turns) + 1))
    sessions = await store.turns.sessions(owner)
    assert sum(session.turns for session in sessions) == TURNS
    history = await store.summaries.history(owner)
    digested = Counter(v.session for v in history if v.origin is Origin.DIGEST)
    assert set(digested.values()) == {1}
    assert set(digested) == {session.number for session in sessions if not session.open}
    assert [version.number for version in history] == list(range(1, len(history) + 1))
    assert f"code-{TURNS - 1:03}" in history[-1].text

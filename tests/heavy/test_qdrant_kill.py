"""Workers that are killed while they put vectors into Qdrant: none is lost, doubled or left over.

Qdrant is answered by the client's local mode behind a socket here: it shows what happens to ours
when it dies, not what a server does when it is killed."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from omoide.adapters.stores.outside import JoinedStore
from omoide.adapters.stores.postgres import PostgresStore
from omoide.adapters.stores.sql.workers import worker_name
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import JobState, Speaker
from omoide.engine.messages import Utterance
from omoide.engine.runtime import Runtime
from omoide.settings import Address, Settings, database
from omoide.testing import FrozenClock, HashEmbedder, ScriptedModel
from omoide_qdrant import connect
from omoide_qdrant.points import item_of
from tests.postgres import databases
from tests.qdrant_wire import Wire, serving

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.adapters.stores.sql.store import SqlStore

TURNS = 150
"""Of each user: three requests."""
KILLS = ((1, "before"), (1, "after"), (2, "after"), (1, "before"))
"""At which request that puts vectors, and on which side of its being done."""


async def opened(where: str, port: int, now: datetime) -> Runtime:
    """A runtime over the database and the wire."""
    address = database(where)
    store: SqlStore = (
        await PostgresStore.open(address, partitions=2)
        if isinstance(address, Address)
        else await SqliteStore.open(address)
    )
    model = ScriptedModel()
    joined = await JoinedStore.join(store, connect(f"qdrant://127.0.0.1:{port}"))
    return Runtime(
        Settings(tenant="acme", mechanisms=("search",)),
        store=joined,
        model=model,
        summariser=model,
        embedder=HashEmbedder(),
        clock=FrozenClock(now),
        name=worker_name(),
        owns=[joined],
    )


def victim(where: str, port: int) -> None:
    """Do all work there is: what the killed processes run."""

    async def work() -> None:
        async with await opened(where, port, datetime.now(UTC)) as runtime:
            await runtime.memory().run_jobs()

    asyncio.run(work())


class Killer:
    """Kills a process at a request."""

    def __init__(self, wire: Wire, where: str) -> None:
        self._wire = wire
        self._where = where

    def run(self, number: int, side: str) -> int:
        """Start a worker, and kill it there; how it ended."""
        code = f"from {__name__} import victim; victim({self._where!r}, {self._wire.port})"
        left = [number]
        with ExitStack() as started:
            process = started.enter_context(subprocess.Popen([sys.executable, "-c", code]))

            def kill(method: str, path: str) -> None:
                if method == "PUT" and "/points" in path:
                    left[0] -= 1
                    if not left[0]:
                        process.send_signal(signal.SIGKILL)
                        process.wait()

            setattr(self._wire, side, kill)
            ended = process.wait()
        setattr(self._wire, side, lambda _, __: None)
        return ended


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
async def test_killed_workers_leave_nothing_behind(tmp_path: Path, engine: str) -> None:
    """Four are killed before and after a request is done; of two users one is erased after a kill.
    In the end each turn of the other has its one vector, and the erased one has none."""
    where = databases().for_folder(tmp_path) if engine == "postgres" else str(tmp_path / "m.db")
    with serving(wire := Wire()):
        now = datetime.now(UTC)
        runtime = await opened(where, wire.port, now)
        memory = runtime.memory()
        for user in ("ann", "bob"):
            said = [Utterance(speaker=Speaker.USER, text=f"{user} {i}") for i in range(TURNS)]
            await memory.record(user, said)
        killer = Killer(wire, where)
        for place, (number, side) in enumerate(KILLS):
            assert await asyncio.to_thread(killer.run, number, side) == -signal.SIGKILL
            if place == 1:
                await memory.erase("ann")
        await runtime.close()
        runtime = await opened(where, wire.port, now + timedelta(days=1))
        memory = runtime.memory()
        await memory.run_jobs()
        found = []
        for collection in wire.client.get_collections().collections:
            points, _ = wire.client.scroll(collection.name, limit=10_000)
            found += [(p.payload["owner"], item_of(p.id).number) for p in points if p.payload]
        assert len({owner for owner, _ in found}) == 1
        assert Counter(number for _, number in found) == Counter(range(1, TURNS + 1))
        assert await memory.jobs(states=[s for s in JobState if s is not JobState.DONE]) == ()
        assert await memory.users() == ("bob",)
        assert len(await memory.recall("bob", "bob 7", k=5)) == 5
        await runtime.close()

"""Work for many tenants by a process that does nothing else: `omoide work`."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, cast

import pytest
from click.testing import CliRunner

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.cli.main import cli
from omoide.cli.scope import Outside
from omoide.domain import State, Task
from omoide.errors import StoreLocked
from omoide.shift import Shift
from omoide.testing import FrozenClock
from omoide.worker import Worker

from .test_cli_commands import M1, Bench

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime
    from pathlib import Path

    from omoide.domain import Job
    from omoide.engine import Memory
    from omoide.ports import Jobs

    from .conftest import World


async def three(make_world: Callable[..., Awaitable[World]]) -> dict[str, World]:
    """Tenants on one store; the first has three users with a session to digest, the others one."""
    store, clock = await SqliteStore.open(":memory:"), FrozenClock()
    worlds = {
        name: await make_world(store=store, tenant=name, clock=clock) for name in ("a", "b", "c")
    }
    for name, world in worlds.items():
        for user in ("x", "y", "z")[: 3 if name == "a" else 1]:
            world.replier.answers.append("Go on.")
            await (await world.memory.reply(user, "I live in Oslo.")).text()
            await world.memory.end_session(user)
            world.iterator.answers.append("The user lives in Oslo.")
    return worlds


def shift_of(worlds: dict[str, World], asked: list[str]) -> Shift:
    """One that works for them, and notes whom it made a memory for."""

    async def tenants() -> tuple[str, ...]:
        return tuple(worlds)

    def memory(tenant: str) -> Memory:
        asked.append(tenant)
        return worlds[tenant].memory

    return Shift(tenants=tenants, memory=memory)


async def test_every_tenant_is_served(make_world: Callable[..., Awaitable[World]]) -> None:
    """All that is due is done, with one memory a tenant, however often it is asked."""
    worlds = await three(make_world)
    asked: list[str] = []
    shift = shift_of(worlds, asked)
    assert await shift.once() == 10  # five to digest, five to embed
    assert await shift.once() == 0
    assert asked == ["a", "b", "c"]
    for name, world in worlds.items():
        assert {job.state for job in await world.store.jobs.list(name)} == {State.DONE}
        assert (await world.memory.memory("x")).text == "The user lives in Oslo."
    await worlds["a"].store.close()


async def test_a_busy_tenant_does_not_hold_up_the_others(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """One job of each in turn: the small tenants are done before the large one's third."""
    worlds = await three(make_world)
    order: list[str] = []
    for name, world in worlds.items():
        answer = world.iterator.answers.popleft()
        for _ in range(3 if name == "a" else 1):
            world.iterator.answers.appendleft(_noting(order, name, str(answer)))
    await shift_of(worlds, []).once()
    assert sorted(order[:3]) == ["a", "b", "c"]
    await worlds["a"].store.close()


def _noting(order: list[str], name: str, answer: str) -> Callable[[object], str]:
    def told(request: object) -> str:
        order.append(name)
        return answer

    return told


async def test_idle_sessions_are_ended(make_world: Callable[..., Awaitable[World]]) -> None:
    """Without a server, someone else has to see that nobody speaks any more."""
    world = await make_world()
    world.replier.answers.append("Go on.")
    await (await world.memory.reply("x", "I live in Oslo.")).text()
    world.iterator.answers.append("The user lives in Oslo.")
    world.clock.time += world.memory._limits.idle * 2
    assert await shift_of({"default": world}, []).once() == 2
    assert [s.open for s in await world.memory.sessions("x")] == [False]


async def test_a_broken_database_is_waited_out() -> None:
    """It looks again after a while."""
    looks = 0

    async def tenants() -> tuple[str, ...]:
        nonlocal looks
        looks += 1
        if looks == 3:
            raise asyncio.CancelledError
        raise StoreLocked("busy")

    shift = Shift(tenants=tenants, memory=lambda tenant: pytest.fail(tenant))
    with pytest.raises(asyncio.CancelledError):
        await shift.run(every=0.001)
    assert looks == 3


class Shaky:
    """Jobs that cannot be reached when the lease is extended for the first time."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self.extended = 0
        self.held = asyncio.Event()

    def __getattr__(self, name: str) -> object:
        return getattr(self._jobs, name)

    async def extend(self, job: Job, *, until: datetime) -> bool:
        """Fail once."""
        self.extended += 1
        if self.extended == 1:
            raise StoreLocked("the server is away")
        self.held.set()
        return await self._jobs.extend(job, until=until)


async def test_a_lease_is_kept_over_a_broken_database(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """A worker whose database was away for a moment goes on extending the lease of its job, so
    that nobody else takes it up."""
    world = await make_world()
    world.replier.answers.append("Go on.")
    await (await world.memory.reply("x", "I live in Oslo.")).text()
    await world.memory.end_session("x")
    shaky = Shaky(world.store.jobs)

    async def work(_: Job) -> None:
        await shaky.held.wait()

    worker = Worker(
        jobs=cast("Jobs", shaky),
        tenant=world.memory.tenant,
        name="w",
        clock=FrozenClock(),
        tasks={Task.DIGEST: work, Task.EMBED: work},
        lease=timedelta(milliseconds=3),
    )
    assert await worker.step()
    assert shaky.extended == 2


class Away:
    """Jobs that can be taken, and cannot be reached from then on."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    def __getattr__(self, name: str) -> object:
        return getattr(self._jobs, name)

    async def settle(self, job: Job, **_: object) -> bool:
        """Fail."""
        raise StoreLocked(f"the server of job {job.id} is away")


async def test_a_worker_ends_though_the_database_is_away(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """One that is cancelled in the middle of a job, and cannot give it back, ends all the same:
    the job is free when its lease is over."""
    world = await make_world()
    world.replier.answers.append("Go on.")
    await (await world.memory.reply("x", "I live in Oslo.")).text()
    begun = asyncio.Event()

    async def work(_: Job) -> None:
        begun.set()
        await asyncio.Event().wait()

    worker = Worker(
        jobs=cast("Jobs", Away(world.store.jobs)),
        tenant=world.memory.tenant,
        name="w",
        clock=world.clock,
        tasks={Task.DIGEST: work, Task.EMBED: work},
    )
    running = asyncio.create_task(worker.run())
    await begun.wait()
    running.cancel()
    await asyncio.wait({running}, timeout=1)
    assert running.cancelled()


def test_the_command_works_for_all_tenants_or_for_one(tmp_path: Path) -> None:
    """And tells how much it tried."""
    bench = Bench(tmp_path)
    for tenant in ("a", "b"):
        bench.replier.answers.append("I see.")
        talk = bench.run("--tenant", tenant, "chat", "--say", "I live in Oslo.")
        assert talk.exit_code == 0, talk.output
    bench.clock.advance(timedelta(hours=2))  # the session has gone idle

    def work(*args: str) -> str:
        result = CliRunner().invoke(
            cli,
            ["--db", str(bench.db), *args, "work", "--once"],
            obj=Outside(open=bench.open, clock=bench.clock),
            env={"OMOIDE_EMBEDDER": "none"},
        )
        assert result.exit_code == 0, result.output
        return result.stdout

    bench.iterator.answers.append(M1)
    assert work("--tenant", "a") == "2 jobs tried.\n"
    bench.iterator.answers.append(M1)
    assert work() == "2 jobs tried.\n"
    assert work() == "0 jobs tried.\n"

"""Work for many tenants by a process that does nothing else: `omoide work`."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

import pytest
from click.testing import CliRunner

from omoide.adapters.stores.sqlite import SqliteStore, worker_name
from omoide.cli.main import cli
from omoide.cli.scope import Outside
from omoide.domain import JobState, JobTask
from omoide.engine.runtime import Runtime
from omoide.engine.worker import TRIES, Worker
from omoide.errors import ModelUnavailable, NoModel, StoreLocked
from omoide.testing import HashEmbedder
from tests.unit.conftest import SETTINGS

from .test_cli_commands import M1, Bench

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from omoide.domain import Job
    from omoide.ports import JobStore
    from tests.unit.conftest import World


async def three(world: World) -> None:
    """Three tenants on one store; the first has three users with a session to digest, the others
    one."""
    for name, users in TENANTS.items():
        memory = world.runtime.memory(name)
        for user in users:
            await memory.record(user, "I live in Oslo.")
            await memory.end_session(user)


TENANTS = {"a": ("x", "y", "z"), "b": ("x",), "c": ("x",)}
NOTED = "The user lives in Oslo."


async def test_every_tenant_is_served(world: World) -> None:
    """All that is due is done, for each of them."""
    await three(world)
    world.iterator.answers.extend([NOTED] * 5)
    assert await world.runtime.worker.drain(*TENANTS) == 10  # five to digest, five to embed
    assert await world.runtime.worker.drain(*TENANTS) == 0
    for name in TENANTS:
        assert {job.state for job in await world.store.jobs.list(name)} == {JobState.DONE}
        assert (await world.runtime.memory(name).summary("x")).text == NOTED


async def test_a_busy_tenant_does_not_hold_up_the_others(world: World) -> None:
    """One job of each in turn: the small tenants are done before the large one's second."""
    await three(world)
    world.iterator.answers.extend([NOTED] * 5)
    order: list[str] = []
    claim = world.store.jobs.claim

    async def claimed(tenant: str, **how: Any) -> Job | None:  # noqa: ANN401 - passed on
        job = await claim(tenant, **how)
        if job is not None:
            order.append(tenant)
        return job

    world.store.jobs.claim = claimed  # type: ignore[method-assign]
    await world.runtime.worker.drain(*TENANTS)
    assert order == ["a", "b", "c", "a", "b", "c", "a", "a", "a", "a"]


async def test_one_job_at_a_time_goes_round_the_tenants(world: World) -> None:
    """Each claim begins after the tenant that was served last, and leaves none out."""
    await three(world)
    order: list[str] = []

    async def note(job: Job) -> None:
        order.append(job.owner.tenant)

    worker = Worker(
        jobs=world.store.jobs,
        name="w",
        clock=world.clock,
        tasks={JobTask.DIGEST: note, JobTask.EMBED: note},
    )
    worker.at_once = 1
    await worker.drain(*TENANTS)
    assert order == ["a", "b", "c", "a", "b", "c", "a", "a", "a", "a"]


async def test_a_slow_job_does_not_hold_up_others_where_several_run(world: World) -> None:
    """With two at a time, the work of all other users is done while one digest hangs."""
    await three(world)
    gate, done = asyncio.Event(), asyncio.Event()
    finished: list[tuple[str, str]] = []

    async def digest(job: Job) -> None:
        if job.owner.user == "x" and job.owner.tenant == "a":
            await gate.wait()
        finished.append((job.owner.tenant, job.owner.user))
        if len(finished) == 4:
            done.set()

    async def embed(_: Job) -> None:
        pass

    worker = Worker(
        jobs=world.store.jobs,
        name="w",
        clock=world.clock,
        tasks={JobTask.DIGEST: digest, JobTask.EMBED: embed},
    )
    worker.at_once = 2

    async def tenants() -> tuple[str, ...]:
        return tuple(TENANTS)

    running = asyncio.create_task(worker.run(tenants))
    await done.wait()
    assert ("a", "x") not in finished
    assert sorted(finished) == [("a", "y"), ("a", "z"), ("b", "x"), ("c", "x")]
    running.cancel()
    await asyncio.wait({running})
    (left,) = await world.store.jobs.list("a", states=[JobState.WAITING])  # given back, at once
    assert (left.owner.user, left.task) == ("x", JobTask.DIGEST)


async def test_work_waits_for_a_model_that_is_not_there(world: World) -> None:
    """Without a chat model words are recorded and recalled; sessions wait, however often they are
    tried, and are digested as soon as there is one."""
    bare = Runtime(SETTINGS, store=world.store, clock=world.clock, embedder=HashEmbedder())
    memory = bare.memory()
    await memory.record("ana", "I live in Oslo.")
    await memory.end_session("ana")
    for _ in range(TRIES + 2):
        await memory.run_jobs()
        world.clock.advance(timedelta(days=1))
    (job,) = await memory.jobs("ana", states=[JobState.WAITING])
    assert "OMOIDE_MODEL" in job.error
    assert [item.text for item in await memory.recall("ana", "Oslo")] == ["I live in Oslo."]
    with pytest.raises(NoModel, match="OMOIDE_MODEL"):
        await (await memory.reply("ana", "Hello?")).text()
    world.iterator.answers.append(NOTED)
    await world.memory.run_jobs()
    assert (await world.memory.summary("ana")).text == NOTED


async def test_idle_sessions_are_ended(world: World) -> None:
    """Without a server, someone else has to see that nobody speaks any more."""
    await world.memory.record("x", "I live in Oslo.")
    world.iterator.answers.append(NOTED)
    world.clock.time += SETTINGS.idle * 2
    assert await world.runtime.end_idle("default") == 1
    assert await world.runtime.worker.drain("default") == 2
    assert [s.open for s in await world.memory.sessions("x")] == [False]


async def test_the_loop_ends_idle_sessions_and_digests_them(world: World) -> None:
    """One loop does both, for the tenants that it is told of."""
    await world.memory.record("x", "I live in Oslo.")
    world.iterator.answers.append(NOTED)
    world.clock.time += SETTINGS.idle * 2
    digested = asyncio.Event()
    commit = world.store.summaries.commit

    async def committed(*what: Any, **how: Any) -> None:  # noqa: ANN401 - passed on
        await commit(*what, **how)
        digested.set()

    world.store.summaries.commit = committed  # type: ignore[method-assign]
    async with world.runtime.working(every=0.001):
        await digested.wait()
    assert (await world.memory.summary("x")).text == NOTED


async def test_a_broken_database_is_waited_out(world: World) -> None:
    """It looks again after a while."""
    looks = 0

    async def tenants() -> tuple[str, ...]:
        nonlocal looks
        looks += 1
        if looks == 3:
            raise asyncio.CancelledError
        raise StoreLocked("busy")

    with pytest.raises(asyncio.CancelledError):
        await world.runtime.worker.run(tenants, every=0.001)
    assert looks == 3


class Away:
    """Jobs that can be taken, and cannot be reached from then on."""

    def __init__(self, jobs: JobStore) -> None:
        self._jobs = jobs

    def __getattr__(self, name: str) -> object:
        return getattr(self._jobs, name)

    async def set_state(self, job: Job, **_: object) -> bool:
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
        jobs=cast("JobStore", Away(world.store.jobs)),
        name="w",
        clock=world.clock,
        tasks={JobTask.DIGEST: work, JobTask.EMBED: work},
    )

    async def tenants() -> tuple[str, ...]:
        return (world.memory.tenant,)

    running = asyncio.create_task(worker.run(tenants))
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


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
    assert work("--tenant", "a") == "1 job tried.\n"
    bench.iterator.answers.append(M1)
    assert work() == "1 job tried.\n"
    assert work() == "0 jobs tried.\n"


def test_the_command_says_what_is_left_and_why(tmp_path: Path) -> None:
    """Who runs `omoide work --once` or `omoide jobs` after a crash learns where a job still runs,
    that a process has ended, when a job is tried again, and what was given up."""
    bench = Bench(tmp_path)
    bench.replier.answers.append("I see.")
    bench.run("chat", "--say", "I live in Oslo.")
    bench.clock.advance(timedelta(hours=2))
    bench.iterator.answers.append(ModelUnavailable("the model is away"))
    first = bench.run("work", "--once")
    assert "running digest for ana" in first.stderr
    assert "1 job to be tried again, the next just now." in first.stdout
    assert "due just now: the model is away" in bench.run("jobs").stdout

    host, pid, started, mark = worker_name().split(":")
    _claim(bench, f"{host}:{pid}:{started}:{mark}")
    second = bench.run("work", "--once")
    assert second.stdout.startswith("0 jobs tried.")
    assert f"(digest) is running in process {pid}. Others can take it" in second.stdout
    assert f"in process {pid}\n" in bench.run("jobs").stdout
    assert [job["state"] for job in bench.data("work", "--once")["left"]] == ["running"]

    bench.clock.advance(timedelta(minutes=2))
    _claim(bench, f"elsewhere/1:{pid}:{started}:{mark}")
    assert f"is running in process {pid} on elsewhere. " in bench.run("jobs", "run").stdout

    bench.clock.advance(timedelta(minutes=2))
    _claim(bench, f"{host}:{pid}:12:{mark}")
    assert f"in process {pid}, which has ended\n" in bench.run("jobs").stdout
    bench.iterator.answers.append(M1)
    last = bench.run("work", "--once")
    assert last.stdout == "1 job tried.\n"


def _claim(bench: Bench, worker: str) -> None:
    """Have that worker take the job, and do nothing more."""

    async def claimed() -> None:
        store = await SqliteStore.open(bench.db)
        now, lease = bench.clock.now() + timedelta(seconds=10), timedelta(minutes=1)
        assert await store.jobs.claim("default", worker=worker, now=now, lease=lease) is not None
        await store.close()

    asyncio.run(claimed())

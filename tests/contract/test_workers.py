"""How our stores know that a worker is gone before its lease ran out: by its process."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from omoide.adapters.stores.sqlite import worker_name
from omoide.testing.contracts.making import ANN
from omoide.testing.contracts.store.jobs import claim, queue, taken

if TYPE_CHECKING:
    from omoide.ports import Store


async def test_gone_worker_holds_nothing(store: Store) -> None:
    """A worker of this host that no longer runs loses its job at once; a living one keeps it."""
    await queue(store, ANN, 1)
    process = await asyncio.create_subprocess_exec("true")
    await process.wait()
    host, _, started, mark = worker_name().split(":")
    await taken(store, worker=f"{host}:{process.pid}:{started}:{mark}")
    mine = await taken(store, worker=worker_name())
    assert mine.attempts == 2
    assert await claim(store, worker="two") is None


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
async def test_killed_worker_whose_parent_does_not_look(store: Store) -> None:
    """A worker that was killed loses its job also while its parent, such as a container's first
    process, has not taken note of its end."""
    await queue(store, ANN, 1)
    host, *_ = worker_name().split(":")
    with subprocess.Popen(["sleep", "60"]) as process:  # noqa: ASYNC220 - it ends at once
        name = f"{host}:{process.pid}:{_stat(process.pid)[21]}:mark"
        await taken(store, worker=name)
        assert await claim(store, worker="two") is None
        _kill(process.pid)
        assert _stat(process.pid)[2] == "Z"
        assert await claim(store, worker="two") is not None


async def test_reused_process_number(store: Store) -> None:
    """A process number that another program has since been given does not count as the worker."""
    await queue(store, ANN, 1)
    host, pid, _, mark = worker_name().split(":")
    await taken(store, worker=f"{host}:{pid}:12:{mark}")
    assert await claim(store, worker="two") is not None


async def test_worker_of_another_host_is_trusted(store: Store) -> None:
    """Of a worker elsewhere nothing is known, so its lease counts."""
    await queue(store, ANN, 1)
    _, _, started, mark = worker_name().split(":")
    await taken(store, worker=f"elsewhere:999999999:{started}:{mark}")
    assert await claim(store, worker="two") is None


def _stat(pid: int) -> list[str]:
    """What the kernel says about a process."""
    return Path(f"/proc/{pid}/stat").read_text().split()


def _kill(pid: int) -> None:
    """Kill a process of ours, and do not take note of its end."""
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)

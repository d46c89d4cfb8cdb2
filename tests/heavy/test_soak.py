"""A short soak of the server; `python benchmarks/soak.py` is the long one."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

SOAK = Path(__file__).parents[2] / "benchmarks/soak.py"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc: Linux only")
async def test_nothing_is_lost_while_clients_leave_and_the_upstream_fails() -> None:
    """Six clients for five seconds: every remembered line is stored once, nothing else failed."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(SOAK), "--seconds", "5", "--clients", "6"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ,
    )
    told, errors = await process.communicate()
    assert process.returncode == 0, (told + errors).decode()
    assert b"lost 0, doubled 0" in told

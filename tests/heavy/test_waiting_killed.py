"""Words that wait, and a process that is killed at every single write to their file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.server.test_waiting import broken, mend

ROOT = str(Path(__file__).parents[2])
VICTIM = """
import asyncio, os, signal, sys
from pathlib import Path
folder, root, at, after = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "after"
sys.path.insert(0, root)
from tests.server.test_waiting import broken, mend

count, real = 0, os.pwrite

def pwrite(file, data, offset):
    global count
    count += 1
    if count == at and not after:
        os.kill(os.getpid(), signal.SIGKILL)
    done = real(file, data[: len(data) // 2] if count == at else data, offset)
    if count == at:
        os.kill(os.getpid(), signal.SIGKILL)
    return done

os.pwrite = pwrite

async def main():
    async with broken(Path(folder)) as bench:
        for text in ("One", "Two"):
            told = await bench.chat(text)
            print(text, told.headers["x-omoide-stored"], flush=True)
        mend(bench)
        await bench.server.runtime.exchanges.waiting.replay()
        print("replayed", flush=True)

asyncio.run(main())
"""
WRITES = 9
"""Two messages and two replies are kept, each is blanked, and then the file is cleared."""


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("at", range(1, WRITES + 2))
async def test_nothing_is_lost_or_doubled(tmp_path: Path, at: int, moment: str) -> None:
    """What was answered with `waiting` is stored once, whichever write is cut off."""
    died = subprocess.run(  # noqa: ASYNC221 - nothing else runs
        [sys.executable, "-c", VICTIM, str(tmp_path), ROOT, str(at), moment],
        capture_output=True,
        check=False,
    )
    assert died.returncode == (-9 if at <= WRITES else 0), died.stderr.decode()
    told = died.stdout.decode().split()
    async with broken(tmp_path) as bench:
        mend(bench)
        await bench.server.runtime.exchanges.waiting.replay()
        said = await bench.said()
        assert await bench.server.runtime.exchanges.waiting.replay() == 0
        assert await bench.said() == said
    for text in ("One", "Two"):
        if text in told:
            assert said.count(text) == 1
    assert said in (
        [],
        ["One"],
        ["One", "I see."],
        ["One", "I see.", "Two"],
        ["One", "I see.", "Two", "I see."],
    )
    assert len(said) >= told.count("waiting") * 2

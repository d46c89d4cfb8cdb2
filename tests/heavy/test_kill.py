"""`kill -9` at random moments between the user's line and the end of the memory update."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from omoide.domain import JobState, Origin, Speaker

from .chatter import open_chatter

KILLS = 30


async def test_nothing_is_lost_or_doubled_by_killing_the_process(tmp_path: Path) -> None:
    """Every acknowledged turn is there once; every ended session is digested exactly once; the
    updates that were interrupted happen at the next start."""
    path = tmp_path / "memory.sqlite"
    dice = random.Random(20260105)
    said: list[str] = []
    ended: set[int] = set()
    for run in range(KILLS):
        lines = _run_and_kill(path, str(run), after=dice.uniform(0.0, 0.25))
        said += [name for verb, name in lines if verb == "said"]
        ended |= {int(name) for verb, name in lines if verb == "ended"}
    assert len(said) > KILLS  # it did get to talk

    runtime = await open_chatter(path)
    memory = runtime.memory()
    await memory.end_session("ana")
    while await memory.run_jobs():
        pass
    turns = await memory.turns("ana")
    counted = Counter(turn.id for turn in turns)
    assert [name for name in said if counted[name] != 1] == []
    assert max(counted.values()) == 1
    sessions = await memory.sessions("ana")
    assert ended <= {s.number for s in sessions if not s.open}
    history = await memory.history("ana")
    digested = Counter(v.session for v in history if v.origin is Origin.DIGEST)
    assert set(digested.values()) == {1}
    assert set(digested) == {s.number for s in sessions}
    assert [v.number for v in history] == list(range(1, len(history) + 1))
    assert await memory.jobs(states=[JobState.WAITING, JobState.RUNNING, JobState.DEAD]) == ()
    last = max(turns, key=lambda t: t.position if t.speaker is Speaker.USER else 0)
    word = last.text.split()[-1].strip(".")
    assert word in (await memory.summary("ana")).text
    await runtime.close()


def _run_and_kill(path: Path, run: str, *, after: float) -> list[tuple[str, str]]:
    """Start the chatter, kill it some time after its first promise, and give its promises."""
    program = Path(__file__).with_name("chatter.py")
    process = subprocess.Popen(
        [sys.executable, str(program), str(path), run], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    deadline = time.monotonic() + after
    while time.monotonic() < deadline:
        pass
    process.kill()
    rest, _ = process.communicate()
    lines = [first, *rest.splitlines(keepends=True)]
    whole = [line.split() for line in lines if line.endswith("\n")]
    return [(verb, name) for verb, name in whole]

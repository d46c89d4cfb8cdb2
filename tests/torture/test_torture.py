"""A little of the torture, on every run of the tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from omoide.domain import Speaker
from omoide.engine import Utterance
from tests.torture.kills import look
from tests.torture.parts import USER, open_store, remember

ROOT = Path(__file__).parents[2]


def test_a_little_torture_loses_nothing() -> None:
    """Twenty kills and a little of every fault: nothing acknowledged is lost or doubled, no memory
    is emptied, and no tenant sees another's words."""
    command = [sys.executable, "-m", "tests.torture", "--kills", "20", "--seconds", "15", "--small"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split("|") for line in done.stdout.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == 11
    assert all(int(row[3].replace(",", "")) > 0 for row in rows)  # each got something acknowledged


async def test_the_torturer_sees_what_is_wrong(tmp_path: Path) -> None:
    """What was promised and is not there, or is there and should not be, is counted."""
    url = f"sqlite:{tmp_path / 'm.sqlite'}"
    store = await open_store(url)
    memory = remember(store, "acme")
    said = Utterance(speaker=Speaker.USER, text="A word of code-zeta-0001-0001.", id="here")
    await memory.record(USER, [said])
    await store.close()
    nothing: dict[str, list[str]] = {}
    gone = {"said": ["here", "gone"]}
    found = await look(url, {"acme": gone, "zeta": nothing}, settle=False)
    assert (found["lost"], found["crossed"]) == (1, 2)  # seen in the export and in recall
    erased = {"erasing": ["here"], "erased": ["here"]}
    found = await look(url, {"acme": erased, "zeta": nothing}, settle=False)
    assert found["lost"] == 2  # as a turn, and as bytes in the file

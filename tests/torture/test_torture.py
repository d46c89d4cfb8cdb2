"""A little of the torture, on every run of the tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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

"""Put each kept fault into a copy of the sources and run the tests nearest to it.

    python -m tests.mutants            all of them; fails if one is not noticed
    python -m tests.mutants jobs       those whose name begins like this

A fault that cannot be put in any more, because the code changed, is reported and counts as missed:
mend or remove it in `faults.py`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.mutants.faults import FAULTS, Fault

ROOT = Path(__file__).parents[2]


def noticed(fault: Fault, copy: Path) -> bool | None:
    """Whether a test fails with the fault in place; None if it cannot be put in."""
    path = copy / "src" / "omoide" / fault.path
    text = path.read_text("utf-8")
    if text.count(fault.old) != 1:
        return None
    path.write_text(text.replace(fault.old, fault.new), "utf-8")
    packages = [str(p) for p in (ROOT / "packages").glob("*/src")]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(copy / "src"), *packages, str(ROOT)]),
    }
    options = ["-q", "-x", "-p", "no:cacheprovider", "--no-header", "--durations=0"]
    command = [sys.executable, "-m", "pytest", *options, *fault.tests]
    result = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, check=False, timeout=600
    )
    path.write_text(text, "utf-8")
    if result.returncode not in (0, 1):
        sys.stderr.buffer.write(result.stdout[-2000:])
        return None
    return result.returncode == 1


def main() -> int:
    """Try the faults; returns the exit status."""
    wanted = [f for f in FAULTS if f.name.startswith(tuple(sys.argv[1:]) or "")]
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__"))
        for fault in wanted:
            outcome = noticed(fault, copy)
            missed += outcome is not True
            word = {True: "noticed", False: "MISSED", None: "CANNOT BE PUT IN"}[outcome]
            print(f"{word:8} {fault.name}: {fault.about}", flush=True)  # noqa: T201
    print(f"{len(wanted) - missed} of {len(wanted)} noticed")  # noqa: T201
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main())

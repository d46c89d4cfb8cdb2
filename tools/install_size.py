"""Measures the size of the core install and its import time, and checks both against limits.

    python tools/install_size.py dist/omoide-0.1.0-py3-none-any.whl

Measured like a new user's install: a fresh environment, `pip install` of the built wheel with all
dependencies, and the bytes of all added files. pip compiles what it installs, so the
compiled files (.pyc) count; the size without them is printed too.
"""

from __future__ import annotations

import json
import platform
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

MOST_MB = 130 if platform.machine() == "x86_64" else 140  # SQLite's module is larger on ARM
MOST_DISTRIBUTIONS, MOST_IMPORT_SECONDS = 20, 0.25
IMPORTS = 11
CPU = "import os, omoide; t = os.times(); print(t.user + t.system)"
PARTS = """
import json
from importlib.metadata import distributions
print(json.dumps({
    d.name: sum(p.stat().st_size for f in d.files or () if (p := f.locate()).is_file())
    for d in distributions()
}))
"""


@dataclass(frozen=True)
class Size:
    """Bytes of a folder."""

    all: int
    compiled: int
    """Of these, .pyc files."""


def main(wheel: str) -> int:
    """Measure, print, and fail if a limit is exceeded."""
    with tempfile.TemporaryDirectory() as folder:
        venv = Path(folder) / "venv"
        python = str(venv / "bin" / "python")
        run([sys.executable, "-m", "venv", str(venv)])
        before, present = size(venv), parts(python)
        pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        run([*pip, str(Path(wheel).resolve())])
        after = size(venv)
        added = {name: count for name, count in parts(python).items() if name not in present}
        seconds = statistics.median(float(run([python, "-c", CPU])) for _ in range(IMPORTS))
    megabytes = (after.all - before.all) / 1e6
    bare = megabytes - (after.compiled - before.compiled) / 1e6
    for name, count in sorted(added.items(), key=lambda item: -item[1]):
        print(f"{count / 1e6:8.1f} MB  {name}")
    print(f"core install: {megabytes:.1f} MB (limit {MOST_MB}); {bare:.1f} MB without .pyc")
    print(f"distributions: {len(added)} (limit {MOST_DISTRIBUTIONS})")
    print(
        f"python -c 'import omoide': {seconds:.2f} s of CPU, user and system, the interpreter's "
        f"start included; median of {IMPORTS} (limit {MOST_IMPORT_SECONDS})"
    )
    within = (
        megabytes <= MOST_MB,
        len(added) <= MOST_DISTRIBUTIONS,
        seconds <= MOST_IMPORT_SECONDS,
    )
    return 0 if all(within) else 1


def size(folder: Path) -> Size:
    """Bytes of all files below; links do not count."""
    sizes = [
        (file.suffix == ".pyc", file.stat().st_size)
        for file in folder.rglob("*")
        if file.is_file() and not file.is_symlink()
    ]
    return Size(sum(count for _, count in sizes), sum(count for pyc, count in sizes if pyc))


def parts(python: str) -> dict[str, int]:
    """Bytes of each distribution in an environment, by its own list of files."""
    found = json.loads(run([python, "-c", PARTS]))
    return {str(name): int(count) for name, count in found.items()}


def run(command: list[str]) -> str:
    """What the command prints."""
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))

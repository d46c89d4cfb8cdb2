"""Checks that the installed wheels work by themselves. Run with `python -I` in their environment.

Each package must come from that environment and not from a checkout, and the commands that read
their packages' files must find them.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

PACKAGES = (
    "omoide",
    "omoide.testing.contracts",
    "omoide_bench",
    "omoide_frameworks",
    "omoide_qdrant",
    "omoide_tune",
    "omoide_weights",
)
COMMANDS = (("--help",), ("bench", "list"), ("mechanisms",), ("models", "list"), ("tune", "--help"))


def main() -> int:
    """Print what was checked; fail at the first error."""
    prefix = Path(sys.prefix).resolve()
    for name in PACKAGES:
        found = importlib.import_module(name).__file__
        if found is None or not Path(found).resolve().is_relative_to(prefix):
            print(f"{name} comes from {found}, not from {prefix}")
            return 1
    for command in COMMANDS:
        run = [str(prefix / "bin" / "omoide"), *command]
        done = subprocess.run(run, capture_output=True, text=True, check=False)
        if done.returncode or not done.stdout.strip():
            print(f"omoide {' '.join(command)} failed: {done.stdout}{done.stderr}")
            return 1
        print(f"omoide {' '.join(command)}: {len(done.stdout.splitlines())} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())

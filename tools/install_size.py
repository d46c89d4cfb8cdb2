"""How large is the core install? Builds the wheel, installs it alone, and holds it to limits.

python tools/install_size.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

MOST_MB, MOST_DISTRIBUTIONS, MOST_IMPORT_SECONDS = 150, 25, 0.3
ROOT = Path(__file__).parents[1]
CPU = "import time, omoide; print(time.process_time())"
BARE = "import time; print(time.process_time())"


def main() -> int:
    """Measure, print, and fail if a limit is passed."""
    with tempfile.TemporaryDirectory() as folder:
        venv = Path(folder) / "venv"
        python = venv / "bin" / "python"
        run([sys.executable, "-m", "venv", str(venv)])
        pip = [str(python), "-m", "pip", "--disable-pip-version-check"]
        before = size(venv)
        run([*pip, "install", "--quiet", str(ROOT)])
        megabytes = (size(venv) - before) / 1e6
        listed = run([*pip, "list", "--format=freeze"]).splitlines()
        names = [line for line in listed if not line.startswith(("pip==", "setuptools=="))]
        seconds = min(float(run([str(python), "-c", CPU])) for _ in range(12))
        seconds -= min(float(run([str(python), "-c", BARE])) for _ in range(12))
    print(f"core install: {megabytes:.0f} MB (limit {MOST_MB})")
    print(f"distributions: {len(names)} (limit {MOST_DISTRIBUTIONS})")
    print(f"import omoide: {seconds:.3f} s of CPU (limit {MOST_IMPORT_SECONDS})")
    within = (
        megabytes <= MOST_MB and len(names) <= MOST_DISTRIBUTIONS and seconds <= MOST_IMPORT_SECONDS
    )
    return 0 if within else 1


def size(folder: Path) -> int:
    """Bytes of all files below, compiled ones left out: they come only with use."""
    files = (f for f in folder.rglob("*") if f.is_file() and not f.is_symlink())
    return sum(f.stat().st_size for f in files if f.suffix != ".pyc")


def run(command: list[str]) -> str:
    """What the command prints."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())

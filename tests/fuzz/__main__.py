"""A target under atheris, which looks for inputs that reach new code."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import mkdtemp


def main() -> None:
    """`python -m tests.fuzz TARGET [libFuzzer options]`."""
    try:
        import atheris
    except ImportError:
        sys.exit("atheris is not installed: pip install atheris")
    with atheris.instrument_imports(include=["omoide"]):
        from tests.fuzz.targets import SEEDS, TARGETS
    if len(sys.argv) < 2 or sys.argv[1] not in TARGETS:
        sys.exit(f"name one of {', '.join(TARGETS)}")
    name = sys.argv.pop(1)
    corpus = Path(os.environ.get("CORPUS") or mkdtemp())
    for number, seed in enumerate(SEEDS[name]):
        (corpus / f"seed-{number}").write_bytes(seed)
    atheris.Setup([*sys.argv, str(corpus)], TARGETS[name])
    atheris.Fuzz()


main()

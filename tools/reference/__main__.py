"""Generates docs/reference/: settings, commands, REST routes, Python API and errors, from the code.

    python tools/reference            write the pages
    python tools/reference --check    say which pages differ from the code, and exit with 1

A test makes the same comparison, so a page cannot fall behind.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path

from commands_page import commands_page
from errors_page import errors_page
from python_page import python_page
from rest_page import rest_page
from settings_page import settings_page

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
PAGES = {
    "settings.md": settings_page,
    "commands.md": commands_page,
    "rest.md": rest_page,
    "python.md": python_page,
    "errors.md": errors_page,
}


def pages() -> dict[Path, str]:
    """The text that each page should have."""
    os.environ["COLUMNS"] = "100"
    made = {FOLDER / name: "\n".join(make()).rstrip() + "\n" for name, make in PAGES.items()}
    return {path: re.sub(r"\n{3,}", "\n\n", text) for path, text in made.items()}


def main() -> None:
    """Write the pages, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    wanted = pages()
    if parser.parse_args().check:
        old = [p.name for p, t in wanted.items() if not p.exists() or p.read_text("utf-8") != t]
        sys.exit(f"not as the code has it: {', '.join(old)}; run make reference" if old else 0)
    FOLDER.mkdir(exist_ok=True)
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

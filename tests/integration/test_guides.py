"""The code on the pages Start and Guides runs as it stands there."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

import pytest

from tests.guides import ROOT, blocks, run_page

if TYPE_CHECKING:
    from pathlib import Path

DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    DOCS / "README.md",
    DOCS / "facts.md",
    *sorted((DOCS / "guides").glob("*.md")),
]
TRANSLATED = sorted((DOCS / "start").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
async def test_a_page_runs(page: Path, tmp_path: Path) -> None:
    """From top to bottom in a new home; what it shows is what is printed."""
    assert blocks(page)
    await run_page(page, tmp_path)


@pytest.mark.parametrize("page", TRANSLATED, ids=lambda page: page.stem)
def test_a_translated_start_has_the_same_code(page: Path) -> None:
    """Which therefore runs as well."""
    wanted = [(b.language, b.code, b.shown) for b in blocks(DOCS / "README.md")]
    assert [(b.language, b.code, b.shown) for b in blocks(page)] == wanted


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_that_is_not_run_has_a_reason(page: Path) -> None:
    """A few words at least, so that nobody leaves out what is merely broken."""
    assert all(len(block.skipped) > 10 for block in blocks(page) if block.skipped)


def test_every_extra_that_is_named_exists() -> None:
    """`pip install "omoide[…]"` on any page installs something."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = set(tomllib.load(file)["project"]["optional-dependencies"])
    for page in [ROOT / "README.md", *DOCS.rglob("*.md")]:
        text = page.read_text(encoding="utf-8")
        for named in re.findall(r"(?:omoide|\.)\[([a-z,]+)\]\"", text):
            assert set(named.split(",")) <= extras, (page, named)

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
START = DOCS / "README.md"
TRANSLATED = sorted((DOCS / "start").glob("*.md"))
QUICK = [ROOT / "README.md", START]
"""Those that run in `make test`: each command takes a second of CPU."""
PAGES = [*QUICK, *TRANSLATED, DOCS / "facts.md", *sorted((DOCS / "guides").glob("*.md"))]
RUNS = [pytest.param(p, marks=() if p in QUICK else pytest.mark.heavy) for p in PAGES]


def name(page: Path) -> str:
    """The page, for the list of tests."""
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", RUNS, ids=name)
async def test_a_page_runs(page: Path, tmp_path: Path) -> None:
    """From top to bottom in a new home; what it shows is what is printed."""
    assert blocks(page)
    await run_page(page, tmp_path)


@pytest.mark.parametrize("page", TRANSLATED, ids=name)
def test_a_translated_start_has_the_same_parts(page: Path) -> None:
    """Which are run, too: only what is said in them is in the page's language."""

    def parts(of: Path) -> list[tuple[str, str]]:
        said = re.compile(r"\"[^\"\n]*[.。?？]\"|: .*[.。]$", re.MULTILINE)
        return [(b.language, said.sub("…", f"{b.code}\n{b.shown}")) for b in blocks(of)]

    assert parts(page) == parts(START)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_code_that_is_not_run_has_a_reason(page: Path) -> None:
    """A few words at least, so that nobody leaves out what is merely broken."""
    assert all(len(block.skipped) > 10 for block in blocks(page) if block.skipped)


def test_every_extra_that_is_named_exists() -> None:
    """`pip install "omoide[…]"` on any page installs something."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = set(tomllib.load(file)["project"]["optional-dependencies"])
    found = set()
    for page in [ROOT / "README.md", *DOCS.rglob("*.md")]:
        text = page.read_text(encoding="utf-8")
        for named in re.findall(r"install [^\n`]*?(?:omoide|\.)\[([a-z,]+)\]", text):
            found |= {(one, name(page)) for one in named.split(",")}
    assert len(found) >= 5
    assert {(one, page) for one, page in found if one not in {*extras, "extra"}} == set()

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
QUICK = [ROOT / "README.md"]
"""What runs in `make test`: each command takes a second of CPU."""
PAGES = [*QUICK, START, *TRANSLATED, DOCS / "facts.md", *sorted((DOCS / "guides").glob("*.md"))]
ELSEWHERE = {
    "clients.md": "tests/integration/clients and tests/heavy/test_server_examples.py",
    "extending.md": "tests/integration/test_extending.py",
    "languages.md": "tests/unit/test_language_pack.py",
    "models.md": "tests/unit/test_cli_models.py",
    "moving-in.md": "tests/unit/test_transfer_products.py",
    "observing.md": "tests/unit/test_telemetry.py and tests/unit/test_webhooks.py",
    "page.md": "tests/e2e",
    "postgres.md": "tests/heavy/test_postgres_fleet.py and tests/heavy/test_migrate.py",
    "tuning.md": "tests/heavy/test_tuning_run.py",
}
"""Guides that are not run from top to bottom, and the tests of what they show."""
RUNS = [pytest.param(p, marks=() if p in QUICK else pytest.mark.heavy) for p in PAGES]


def name(page: Path) -> str:
    """The page, for the list of tests."""
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", RUNS, ids=name)
async def test_a_page_runs(page: Path, tmp_path: Path) -> None:
    """From top to bottom in a new home; what it shows is what is printed."""
    assert blocks(page)
    await run_page(page, tmp_path)


def test_every_guide_is_run_or_tested_elsewhere() -> None:
    """Each page that the navigation has under Guides."""
    with (ROOT / "zensical.toml").open("rb") as file:
        nav = tomllib.load(file)["project"]["nav"]
    [guides] = [part["Guides"] for part in nav if "Guides" in part]
    listed = {path for guide in guides for path in guide.values()}
    run = {page.relative_to(DOCS).as_posix() for page in PAGES if page.is_relative_to(DOCS)}
    assert listed - run == ELSEWHERE.keys()
    for tests in ELSEWHERE.values():
        assert all((ROOT / path).exists() for path in tests.split(" and "))


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

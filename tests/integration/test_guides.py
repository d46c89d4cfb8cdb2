"""The code in the docs runs as it stands there; what does not is counted, and says why."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
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
LOOSE = ("clients", "facts", "models", "moving-in", "observing", "postgres", "security", "tuning")
"""Guides that lie beside those of the folder."""
GUIDES = [*sorted((DOCS / "guides").glob("*.md")), *(DOCS / f"{name}.md" for name in LOOSE)]
PAGES = [*QUICK, START, *TRANSLATED, *GUIDES]
ELSEWHERE = {
    "extending.md": "tests/integration/test_extending.py",
    "languages.md": "tests/unit/test_language_pack.py",
    "page.md": "tests/e2e",
}
"""Guides that are not run from top to bottom, and the tests of what they show."""
NOT_RUN = {
    "README.md": 1,  # make chat
    "docs/clients.md": 4,  # vendors' endpoints, Node, two desktop clients
    "docs/facts.md": 1,  # a picture of the demo's timeline
    "docs/guides/chat.md": 1,  # an endpoint of one's own
    "docs/guides/server.md": 1,  # a container
    "docs/models.md": 1,  # a download of gigabytes
    "docs/observing.md": 1,  # a collector
    "docs/postgres.md": 4,  # a database server, a vector server
    "docs/reproduction.md": 1,  # hours of a model
    "docs/results/tuning-data.md": 1,  # hours of a strong model
    "docs/security.md": 1,  # another build of a package
    "docs/tuning.md": 5,  # hours of training
}
"""How many blocks of code of each page are not run. Each says why, and which test comes nearest."""
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
    """Which are run, too: only what is said and recalled in them is in the page's language."""

    def parts(of: Path) -> list[tuple[str, str]]:
        said = re.compile(r"\"[^\"\n]*[.。?？]\"|^.*….*[:：]$|^- …, .*$", re.MULTILINE)
        return [(b.language, said.sub("…", f"{b.code}\n{b.shown}")) for b in blocks(of)]

    assert parts(page) == parts(START)


def test_every_block_of_code_runs_or_is_counted_with_its_reason() -> None:
    """On every page of the docs, in any language; a test that a reason names exists."""
    not_run, unknown = Counter[str](), []
    for page in [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]:
        for block in filter(lambda block: block.is_code, blocks(page)):
            if block.skipped:
                not_run[name(page)] += 1
                assert len(block.skipped) > 10, (name(page), block.line)
                for test in re.findall(r"tests/[\w/]+\.py", block.skipped):
                    assert (ROOT / test).exists(), test
            elif page not in PAGES and page.name not in ELSEWHERE:
                unknown.append((name(page), block.line))
    assert unknown == []
    assert not_run == NOT_RUN


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

"""The docs as a site: built strictly, whole, and searched from a folder without a network."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

if TYPE_CHECKING:
    from playwright.async_api import Browser

ROOT = Path(__file__).parents[2]
pytest.importorskip("zensical", reason="zensical is not installed: make docs")


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    """Build the site of a copy of the docs, as `make docs` does."""
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def copied(folder: Path) -> Path:
    """A copy of what the site is made of."""
    shutil.copy(ROOT / "zensical.toml", folder)
    shutil.copytree(ROOT / "docs", folder / "docs")
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site."""
    folder = copied(tmp_path_factory.mktemp("site"))
    done = build(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


def test_a_broken_link_fails_the_build(tmp_path: Path) -> None:
    """To a page that is not there, and to a heading that is not there."""
    page = copied(tmp_path) / "docs" / "facts.md"
    text = page.read_text(encoding="utf-8")
    for link in ("[x](nowhere.md)", "[x](recall.md#nowhere)"):
        page.write_text(f"{text}\n{link}\n", encoding="utf-8")
        assert build(tmp_path).returncode != 0


def test_every_link_of_the_site_leads_to_a_file(site: Path) -> None:
    """Pages, pictures, scripts and styles; whatever the pages say as text."""
    missing = set()
    for page in site.rglob("*.html"):
        if page.name == "404.html":  # its links are of the root of a web server
            continue
        for link in re.findall(r'(?:href|src)="([^"#?]+)', page.read_text(encoding="utf-8")):
            target = unquote(unescape(link))
            if ":" not in target and not (page.parent / target).exists():
                missing.add((page.relative_to(site).as_posix(), target))
    assert missing == set()


@pytest.mark.asyncio(loop_scope="session")
async def test_search_works_without_a_server_and_asks_nobody(browser: Browser, site: Path) -> None:
    """From a folder: a word of a page is found, and no request leaves."""
    page = await browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await page.goto((site / "index.html").as_uri())
    await page.locator("button.md-search__button").click()
    await page.locator("input[aria-label=Search]").fill("verify-receipt")
    await page.get_by_role("option", name="omoide verify-receipt").first.click()
    await page.wait_for_url("**/reference/commands.html**")
    assert {url.partition(":")[0] for url in asked} <= {"file", "blob", "data", "about"}
    await page.close()

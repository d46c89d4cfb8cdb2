"""The TypeScript client: types made from the OpenAPI document, compiled, and run in Node, Deno and
a browser against `omoide serve`."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import threading
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
import pytest_asyncio

from omoide.server.keys import ApiKeys, Scope
from omoide.server.routes import document
from omoide.testing import FrozenClock
from omoide.testing.endpoint import FakeEndpoint, stream
from tests.heavy.test_server_command import served
from tests.unit.fact_stories import CAT, add, answer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from omoide.testing.endpoint import Scripted

PACKAGE = Path(__file__).parents[2] / "packages/omoide-js"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


async def run(folder: Path, *command: str, **variables: str) -> str:
    """What a command prints; it must succeed."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1", **variables},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output = (await process.communicate())[0].decode()
    assert process.returncode == 0, output
    return output


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, built."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    package = tmp_path_factory.mktemp("js") / "omoide-js"
    built = shutil.ignore_patterns("node_modules", "dist", "openapi.json", "schema.ts")
    shutil.copytree(PACKAGE, package, ignore=built)
    (package / "openapi.json").write_text(json.dumps(document()))
    await run(package, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts")
    await run(package, "npm", "run", "build")
    return package


@asynccontextmanager
async def server(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *args: str, first: tuple[Scripted, ...] = ()
) -> AsyncIterator[tuple[str, str]]:
    """A server over a model that answers so first, then "I see you."; its address, and a key that
    may do everything."""
    keys = ApiKeys.for_file(folder / "m.sqlite")
    made = keys.create(tenant="default", name="js", scopes=tuple(Scope), at=FrozenClock().now())
    for name, value in {"FORM": "small", "WRITER": "facts", "PROFILE": "large"}.items():
        monkeypatch.setenv(f"OMOIDE_{name}", value)
    async with (
        FakeEndpoint(list(first), otherwise="I see you.") as endpoint,
        served(folder, "--upstream", f"{endpoint.url}#fake-1", "--no-work", *args) as (_, url),
    ):
        yield url, made.secret


@pytest.mark.parametrize(
    ("script", "passed"), [("test", "pass 18"), ("test:deno", "18 passed")], ids=["node", "deno"]
)
async def test_the_client_talks_to_a_server(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, passed: str
) -> None:
    """All of its own tests, with the AI SDK among them, in Node and in Deno."""
    facts = stream(answer(add(CAT)))
    async with server(tmp_path, monkeypatch, first=(facts,)) as (url, key):
        output = await run(package, "npm", "run", script, OMOIDE_URL=url, OMOIDE_SERVER_KEY=key)
    assert re.search(rf"\b{passed}\b", output), output


@contextmanager
def files_of(folder: Path) -> Iterator[str]:
    """A web server for the files of a folder: an origin of its own."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{web.server_port}"
        web.shutdown()


async def test_the_client_runs_in_a_browser(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was built, from a page of another origin that the server was told of."""
    playwright = pytest.importorskip("playwright.async_api")
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("no browser: apt-get install chromium")
    with files_of(package) as origin:
        async with (
            server(tmp_path, monkeypatch, "--cors", origin) as (url, key),
            playwright.async_playwright() as driver,
        ):
            browser = await driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
            page = await browser.new_page()
            await page.goto(f"{origin}/test/page.html?{urlencode({'url': url, 'key': key})}")
            await page.wait_for_function("window.result", timeout=300_000)
            result = await page.evaluate("window.result")
            await browser.close()
    assert "".join(result.pop("pieces", ())).strip() == "I see you."
    assert result.pop("records") > 3
    assert result == {"best": "I have a cat called Miso.", "refused": "no-such-version"}


def test_no_registry_is_named() -> None:
    """There is no lock file, whose addresses would be those of somebody's registry."""
    assert not (PACKAGE / "package-lock.json").exists()
    assert "package-lock=false" in (PACKAGE / ".npmrc").read_text()

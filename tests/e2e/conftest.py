"""A browser, and a server for it to look at: scripted models, a clock that stands still."""

from __future__ import annotations

import asyncio
import os
import shutil
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from omoide.demo import load
from omoide.server.options import Options
from tests.server.serving import Bench, listening, serving
from tests.unit.conftest import SETTINGS

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from playwright.async_api import Browser, ConsoleMessage, Page, Request

    from omoide.settings import Settings

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = int(os.environ.get("BROWSER_PATIENCE", "300000"))
"""Milliseconds that the browser may take for one step."""
DESK = {"width": 1360, "height": 850}
PHONE = {"width": 390, "height": 844}


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def browser() -> AsyncIterator[Browser]:
    """Debian's Chromium, or whichever of its kin is installed."""
    playwright = pytest.importorskip(
        "playwright.async_api", reason="playwright is not installed: pip install playwright"
    )
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("no browser: apt-get install chromium")
    playwright.expect.set_options(timeout=PATIENCE)  # machines that others use too are slow
    async with playwright.async_playwright() as driver:
        browser = await driver.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield browser
        await browser.close()


@dataclass
class Window:
    """A page that is open, and what it did on the side."""

    page: Page
    bench: Bench
    url: str
    errors: list[str] = field(default_factory=list)
    expected: tuple[str, ...] = ()
    """Parts of messages on the console that this test provokes."""
    outside: list[str] = field(default_factory=list)

    async def enter(self) -> None:
        """Open the page, and wait until it is ready."""
        await self.page.goto(self.url)
        await self.ready()

    async def ready(self) -> None:
        """Wait until it is ready."""
        await self.page.wait_for_selector("html[data-ready]", state="attached")

    async def demo(self, language: str = "en") -> None:
        """Put the demo into the store, and look at it."""
        await load(self.bench.memory(), "demo", language, now=self.bench.clock.now())
        await self.bench.memory().run_jobs()
        await self.page.add_init_script("sessionStorage.setItem('omoide-user', 'demo')")
        await self.enter()
        await self.page.wait_for_selector("#panel-memory .fact", state="attached")

    async def say(self, text: str) -> None:
        """Write a message and send it."""
        await self.page.fill("#say", text)
        await self.page.press("#say", "Enter")

    def told(self, message: ConsoleMessage) -> None:
        """Note an error of the page, or a breach of its policy."""
        if message.type == "error" and not any(part in message.text for part in self.expected):
            self.errors.append(message.text)

    def asked(self, request: Request) -> None:
        """Note a request that leaves the server."""
        if not request.url.startswith((self.url, "data:", "blob:")):
            self.outside.append(request.url)


@pytest_asyncio.fixture(loop_scope="session")
async def opened(
    browser: Browser, tmp_path: Path
) -> AsyncIterator[Callable[..., Awaitable[Window]]]:
    """Opens windows on servers of their own. Whatever a test does, the page must not complain and
    must not ask anything of anyone else."""
    windows: list[Window] = []
    async with AsyncExitStack() as stack:

        async def open_window(
            *,
            mechanisms: tuple[str, ...] = ("summary", "search", "human-recall"),
            keys: bool = False,
            settings: Settings | None = None,
            **context: Any,  # noqa: ANN401 - passed on
        ) -> Window:
            settings = settings or replace(SETTINGS, mechanisms=mechanisms)
            folder = tmp_path / str(len(windows))
            folder.mkdir()
            options = Options(default_user="me", patience=300.0)
            running = serving(folder, settings=settings, options=options)
            bench = await stack.enter_async_context(running)
            if keys:
                bench.key()
            url = await stack.enter_async_context(listening(bench.app))
            made = await browser.new_context(
                **{"viewport": DESK, "locale": "en-GB", "timezone_id": "UTC", **context}
            )
            stack.push_async_callback(made.close)
            made.set_default_timeout(PATIENCE)
            page = await made.new_page()
            window = Window(page=page, bench=bench, url=url)
            page.on("console", window.told)
            page.on("pageerror", lambda error: window.errors.append(str(error)))
            page.on("request", window.asked)
            windows.append(window)
            return window

        yield open_window
    assert [window.errors for window in windows] == [[] for _ in windows]
    assert [window.outside for window in windows] == [[] for _ in windows]


@pytest_asyncio.fixture(loop_scope="session")
async def window(opened: Callable[..., Awaitable[Window]]) -> Window:
    """A window on a desk, with the page open and nobody known."""
    window = await opened()
    await window.enter()
    return window


@pytest_asyncio.fixture(loop_scope="session")
async def demo(opened: Callable[..., Awaitable[Window]]) -> Window:
    """The same, looking at the demo."""
    window = await opened()
    await window.demo()
    return window


class Gate:
    """A reply whose pieces come when the test says so."""

    def __init__(self, *pieces: str) -> None:
        self._pieces = pieces
        self._go = asyncio.Semaphore(0)

    def open(self, times: int = 1) -> None:
        """Let so many pieces come."""
        for _ in range(times):
            self._go.release()

    async def __call__(self, _: object) -> AsyncGenerator[str]:
        """For `ScriptedModel`."""
        for piece in self._pieces:
            await self._go.acquire()
            yield piece

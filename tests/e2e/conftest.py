"""A browser, and a server for it to look at: scripted models, a clock that stands still.

Every test of the page runs in two of the four looks (desk or phone, light or dark): once on a desk
and once on a phone, once light and once dark. Tests of layout, reach, contrast and dialogs are
marked `FOUR` and run in all of them.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import time
import zlib
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import pytest
import pytest_asyncio

from omoide.demo import load
from omoide.server.options import Options
from tests.server.serving import Bench, listening, serving
from tests.unit.conftest import SETTINGS

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from playwright.async_api import Browser, ConsoleMessage, Locator, Page, Request

    from omoide.settings import Settings

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = int(os.environ.get("BROWSER_PATIENCE", "300000"))
"""Milliseconds that the browser may take for one step."""
HOLD_NOTICES = """(() => {
  const [start, stop] = [window.setTimeout, window.clearTimeout];
  const held = new Map();
  window.setTimeout = (work, wait = 0, ...given) => {
    if (wait < 2000 || wait >= 20000) return start(work, wait, ...given);
    const id = -1 - held.size;
    held.set(id, work);
    return id;
  };
  window.clearTimeout = (id) => (id < 0 ? held.set(id, () => {}) : stop(id));
  window.setInterval = () => 0;
  window.endNotices = () => [...held.keys()].forEach((id) => {
    const work = held.get(id);
    held.set(id, () => {});
    work();
  });
})()"""
"""What goes away by itself stays until the test lets it go: notices, "Copied", the moment in which
forgetting can be undone, the seconds that a reply takes. A busy machine may not decide a test."""


@dataclass(frozen=True, kw_only=True)
class Look:
    """The window and the theme that a test runs in."""

    phone: bool
    scheme: Literal["light", "dark"]

    @property
    def name(self) -> str:
        """For the test's id."""
        return f"{'phone' if self.phone else 'desk'}-{self.scheme}"

    @property
    def context(self) -> dict[str, Any]:
        """For Playwright's `new_context`."""
        size = {"width": 390, "height": 844} if self.phone else {"width": 1360, "height": 850}
        touch = {"is_mobile": self.phone, "has_touch": self.phone}
        return {"viewport": size, "color_scheme": self.scheme, **touch}


_ALL = (
    Look(phone=False, scheme="light"),
    Look(phone=False, scheme="dark"),
    Look(phone=True, scheme="light"),
    Look(phone=True, scheme="dark"),
)
LOOKS = {look.name: look for look in _ALL}
PAIRS = (("desk-light", "phone-dark"), ("desk-dark", "phone-light"))
FOUR = pytest.mark.looks(*LOOKS)
ON_DESK = pytest.mark.looks("desk-light", "desk-dark")
ON_PHONE = pytest.mark.looks("phone-light", "phone-dark")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test in the looks that it is marked with, or else in one of the pairs: its name says
    in which, so that it is the same one however the tests are chosen."""
    if "look" not in metafunc.fixturenames:
        return
    mark = metafunc.definition.get_closest_marker("looks")
    pair = PAIRS[zlib.crc32(metafunc.function.__name__.encode()) % 2]
    names = mark.args if mark else pair
    metafunc.parametrize("look", [LOOKS[name] for name in names], ids=names)


async def until(holds: Callable[[], Awaitable[bool]], *, seconds: float = PATIENCE / 1000) -> None:
    """Wait until something holds of which no event tells."""
    end = time.monotonic() + seconds
    while not await holds():
        assert time.monotonic() < end, f"still not so after {seconds:g} s"
        await asyncio.sleep(0.02)


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
    look: Look
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

    async def go(self, view: str) -> None:
        """Go to a tab, or with `chat` to the chat: by the tabs, on a phone by the dock."""
        if self.look.phone:
            if await self.page.locator(".app.side-open").count():
                await self.close_side()
            await self.page.tap(f"#dock [data-view={view}]")
        elif view != "chat":
            await self.page.click(f"#tab-{view}")

    async def side(self, selector: str) -> Locator:
        """An element of the side bar, which on a phone is opened first."""
        if self.look.phone and not await self.page.locator(".app.side-open").count():
            await self.go("chat")
            await self.page.tap("#open-side")
        return self.page.locator(selector)

    async def close_side(self) -> None:
        """Put the side bar away where it lies over the page."""
        if self.look.phone:
            await self.page.tap("#close-side")

    async def press(self, selector: str) -> None:
        """Press a button of the side bar."""
        button = await self.side(selector)
        await (button.tap() if self.look.phone else button.click())

    async def search(self, words: str) -> None:
        """Look for words in the palette: Ctrl+K opens it, on a phone the button."""
        if self.look.phone:
            await self.press("#open-search")
        else:
            await self.page.keyboard.press("Control+k")
        await self.page.keyboard.type(words)

    async def say(self, text: str) -> None:
        """Write a message and send it: by Enter, on a phone by the button."""
        await self.go("chat")
        await self.page.fill("#say", text)
        if self.look.phone:
            await self.page.tap("#send")
        else:
            await self.page.press("#say", "Enter")

    async def end_notices(self) -> None:
        """Let everything go that goes away by itself."""
        await self.page.evaluate("endNotices()")

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
    browser: Browser, look: Look, tmp_path: Path
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
            usual = {"locale": "en-GB", "timezone_id": "UTC", **look.context}
            made = await browser.new_context(**{**usual, **context})
            stack.push_async_callback(made.close)
            made.set_default_timeout(PATIENCE)
            page = await made.new_page()
            await page.add_init_script(HOLD_NOTICES)
            window = Window(page=page, bench=bench, url=url, look=look)
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
    """A window with the page open and nobody known."""
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

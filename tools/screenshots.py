"""Takes screenshots of the page: light and dark, desktop and phone.

    make screenshots                # or: python tools/screenshots.py docs/pictures [MODEL]

The conversations and memories are the demo's, written by us. The messages sent here are answered by
the model, whose name is at the foot of the page: the embedded default, or a name or URL#NAME as for
`omoide chat --model`. The browser is one on the PATH (`apt-get install chromium fonts-inter
fonts-noto-cjk`).
"""

from __future__ import annotations

import asyncio
import io
import shutil
import sys
import tempfile
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import uvicorn
from PIL import Image
from playwright.async_api import ViewportSize, async_playwright

from omoide import bootstrap
from omoide.demo import load
from omoide.server import ApiKeys, EngineUpstream, Options, Server, make_app
from omoide.settings import Settings
from omoide.testing import FrozenClock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Browser, Page

NOW = datetime(2026, 5, 14, 10, 12, tzinfo=UTC)
LARGEST = 150_000
PATIENCE = 600_000
"""Milliseconds that a step may take: a local model on a busy machine is slow."""
PLAIN = ["--no-sandbox", "--disable-lcd-text", "--font-render-hinting=none"]
DESK = ViewportSize(width=1280, height=800)
PHONE = ViewportSize(width=390, height=760)
SAID = "Remind me: where do I live now?"


@dataclass(frozen=True, kw_only=True)
class Picture:
    """One picture: what it shows, its size and its theme."""

    name: str
    view: str
    scheme: Literal["light", "dark"] = "light"
    phone: bool = False
    talk: bool = False
    """Whether a message is sent first; the later pictures show it too."""


PICTURES = (
    Picture(name="page-facts-light", view="facts", talk=True),
    Picture(name="page-timeline-dark", view="timeline", scheme="dark"),
    Picture(name="page-events-dark", view="events", scheme="dark"),
    Picture(name="page-why-light", view="why"),
    Picture(name="page-phone-chat-light", view="chat", phone=True),
    Picture(name="page-phone-facts-dark", view="facts", scheme="dark", phone=True),
    Picture(name="page-phone-events-light", view="events", phone=True),
    Picture(name="page-phone-why-dark", view="why", scheme="dark", phone=True),
)


@asynccontextmanager
async def served(model: str) -> AsyncIterator[str]:
    """Start a server with the demo; yields its address."""
    with tempfile.TemporaryDirectory() as home:
        settings = Settings(
            mechanisms=("summary", "search", "human-recall"),
            model=model,
            db=Path(home, "memory.sqlite"),
        )
        runtime = await bootstrap.open_runtime(settings, clock=FrozenClock(NOW))
        upstream = EngineUpstream(runtime.model, runtime.embedder, max_tokens=400)
        server = Server.of(
            runtime,
            upstream=upstream,
            keys=ApiKeys(Path(home, "keys")),
            options=Options(default_user="me", patience=PATIENCE / 1000),
        )
        async with server.run():
            memory = runtime.memory()
            await load(memory, "demo", "en", now=NOW)
            await memory.run_jobs()
            config = uvicorn.Config(make_app(server), port=0, lifespan="off", log_level="error")
            listener = uvicorn.Server(config)
            task = asyncio.create_task(listener.serve())
            while not listener.started:  # noqa: ASYNC110 - uvicorn has no event for it
                await asyncio.sleep(0.01)
            yield f"http://127.0.0.1:{listener.servers[0].sockets[0].getsockname()[1]}"
            listener.should_exit = True
            await task


async def take(browser: Browser, picture: Picture, *, url: str, folder: Path) -> None:
    """Open the page in the picture's state, and save a screenshot."""
    context = await browser.new_context(
        viewport=PHONE if picture.phone else DESK,
        device_scale_factor=1.5 if picture.phone else 1,
        is_mobile=picture.phone,
        has_touch=picture.phone,
        color_scheme=picture.scheme,
        locale="en-GB",
        timezone_id="UTC",
        reduced_motion="reduce",
    )
    context.set_default_timeout(PATIENCE)
    page = await context.new_page()
    await page.add_init_script("sessionStorage.setItem('omoide-user', 'demo')")
    await page.goto(url)
    await page.wait_for_selector("#panel-memory .fact", state="attached")
    await show(page, picture)
    await page.evaluate("document.activeElement.blur()")
    await page.wait_for_timeout(400)
    target = folder / f"{picture.name}.png"
    target.write_bytes(small(await page.screenshot()))
    await context.close()
    size = target.stat().st_size
    print(f"{target}: {size // 1000} kB", flush=True)
    if size > LARGEST:
        sys.exit(f"{target} has {size:,} bytes; the limit is {LARGEST:,}")


async def show(page: Page, picture: Picture) -> None:
    """Bring the page into the picture's state."""
    if picture.talk:
        await page.fill("#say", SAID)
        await page.press("#say", "Enter")
        await page.wait_for_selector("#stop", state="visible")
        await page.wait_for_selector("#stop", state="hidden")
        print(await page.locator(".said .text").last.inner_text(), flush=True)
        await page.wait_for_timeout(800)
    tab = "facts" if picture.view == "timeline" else picture.view
    if picture.phone:
        await page.click(f"#dock [data-view={tab}]")
    elif tab != "chat":
        await page.click(f"#tab-{tab}")
    await page.wait_for_selector(f"#panel-{tab} h2" if tab != "chat" else ".said")
    if picture.view == "facts":
        await page.locator(".known > button").nth(2).click()
        await page.wait_for_selector(".known .quote")
    if picture.view == "timeline":
        await page.locator("#panel-facts .choice button").nth(1).click()
        await page.locator(".moment > button").nth(1).click()


def small(png: bytes) -> bytes:
    """The same picture in 256 colours."""
    saved = io.BytesIO()
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(saved, "PNG", optimize=True)
    return saved.getvalue()


async def main(folder: Path, model: str) -> None:
    """Take all pictures."""
    path = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    if path is None:
        sys.exit("no browser found: apt-get install chromium")
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=path, args=PLAIN)
        async with served(model) as url:
            for picture in PICTURES:
                await take(browser, picture, url=url, folder=folder)
        await browser.close()


if __name__ == "__main__":
    folder, model = [*sys.argv[1:], *["docs/pictures", "default"][len(sys.argv) - 1 :]]
    Path(folder).mkdir(parents=True, exist_ok=True)
    asyncio.run(main(Path(folder), model))

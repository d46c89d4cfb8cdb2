"""Takes screenshots of the page with the demo: light and dark, desktop and phone.

    make screenshots

Uses a real server with the real embedder and a scripted model, in a browser on the PATH
(`apt-get install chromium fonts-inter fonts-noto-cjk`).
"""

from __future__ import annotations

import asyncio
import base64
import shutil
import struct
import sys
import zlib
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import uvicorn
from playwright.async_api import async_playwright

from omoide import bootstrap
from omoide.demo import load
from omoide.engine import Runtime
from omoide.server import ApiKeys, EngineUpstream, Options, Server, make_app
from omoide.settings import Settings
from omoide.testing import FrozenClock, ScriptedModel

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Browser, Page

NOW = datetime(2026, 5, 14, 10, 12, tzinfo=UTC)
LARGEST = 150_000
PLAIN = ["--no-sandbox", "--disable-lcd-text", "--font-render-hinting=none"]
DESK = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 760}
SAID = {
    "en": "Do you remember how Biscuit cut her paw on that bottle?",
    "ja": "ビスケットが瓶で前足を切ったときのこと、覚えていますか？",
}
ANSWERED = {
    "en": "I do. Ten days with a bandage and only short walks, just before the two of you moved to "
    "Porto. And now she pulls you along the river every morning.",
    "ja": "覚えていますよ。十日間の包帯と短い散歩、ポルトへ引っ越す少し前のことでしたね。"
    "今では毎朝、川沿いを引っぱってくれるのですから。",
}


@dataclass(frozen=True, kw_only=True)
class Picture:
    """One picture: what it shows, its size and its theme."""

    name: str
    view: str
    scheme: str = "light"
    phone: bool = False
    language: str = "en"
    talk: bool = False
    """Whether a message is sent first; the later pictures show it too."""


PICTURES = (
    Picture(name="page-memory-light", view="memory"),
    Picture(name="page-changes-dark", view="changes", scheme="dark"),
    Picture(name="page-memos-light", view="memos"),
    Picture(name="page-cost-light", view="cost"),
    Picture(name="page-phone-memory-dark", view="memory", scheme="dark", phone=True),
    Picture(name="page-events-dark", view="events", scheme="dark", talk=True),
    Picture(name="page-why-light", view="why"),
    Picture(name="page-phone-chat-light", view="chat", phone=True),
    Picture(name="page-phone-events-light", view="events", phone=True),
    Picture(name="page-phone-why-dark", view="why", scheme="dark", phone=True),
    Picture(name="page-japanese-light", view="events", language="ja", talk=True),
)


@asynccontextmanager
async def served(language: str) -> AsyncIterator[str]:
    """Start a server with the demo; yields its address."""
    settings = Settings(mechanisms=("summary", "search", "human-recall"))
    model = ScriptedModel([ANSWERED[language]], name="qwen2.5-1.5b")
    store = await bootstrap.temporary_store()
    runtime = Runtime(
        settings,
        store=store,
        model=model,
        embedder=bootstrap.make_embedder(settings),
        clock=FrozenClock(NOW),
        owns=[store],
    )
    upstream = EngineUpstream(model, runtime.embedder, max_tokens=200)
    server = Server.of(
        runtime,
        upstream=upstream,
        keys=ApiKeys(Path("/nonexistent/keys")),
        options=Options(default_user="me"),
    )
    async with server.run():
        memory = runtime.memory()
        await load(memory, "demo", language, now=NOW)
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
        locale={"en": "en-GB", "ja": "ja-JP"}[picture.language],
        timezone_id="UTC",
        reduced_motion="reduce",
    )
    page = await context.new_page()
    await page.add_init_script("sessionStorage.setItem('omoide-user', 'demo')")
    await page.goto(url)
    await page.wait_for_selector("#panel-memory .fact", state="attached")
    await show(page, picture)
    await page.evaluate("document.activeElement.blur()")
    await page.wait_for_timeout(400)
    target = folder / f"{picture.name}.png"
    target.write_bytes(await small(page, await page.screenshot()))
    await context.close()
    size = target.stat().st_size
    print(f"{target}: {size // 1000} kB")
    if size > LARGEST:
        sys.exit(f"{target} has {size:,} bytes; the limit is {LARGEST:,}")


async def show(page: Page, picture: Picture) -> None:
    """Bring the page into the picture's state."""
    if picture.talk:
        await page.fill("#say", SAID[picture.language])
        await page.press("#say", "Enter")
        await page.wait_for_selector(".said .recalled")
        await page.wait_for_timeout(800)
    tab = {"changes": "memory"}.get(picture.view, picture.view)
    if picture.phone:
        await page.click(f"#dock [data-view={tab}]")
    elif tab != "chat":
        await page.click(f"#tab-{tab}")
    await page.wait_for_selector(f"#panel-{tab} h2" if tab != "chat" else ".said")
    if picture.view == "memory":
        await page.locator(".fact > button").nth(3).click()
    if picture.view == "changes":
        await page.fill("#version", "4")
        await page.wait_for_selector("#panel-memory del")
    if picture.view == "memos":
        await page.locator("#panel-memos .card").nth(1).locator(".choice button").nth(1).click()


PIXELS = """async (png) => {
  const bytes = Uint8Array.from(atob(png), (c) => c.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes]));
  const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
  canvas.drawImage(image, 0, 0);
  const { data } = canvas.getImageData(0, 0, image.width, image.height);
  let text = "";
  for (let i = 0; i < data.length; i += 8192) {
    text += String.fromCharCode(...data.subarray(i, i + 8192));
  }
  return [image.width, image.height, btoa(text)];
}"""


async def small(page: Page, png: bytes) -> bytes:
    """The same picture in 256 colours: the most common, and those furthest from them."""
    width, height, raw = await page.evaluate(PIXELS, base64.b64encode(png).decode())
    pixels = np.frombuffer(base64.b64decode(raw), np.uint8).reshape(-1, 4)[:, :3]
    colours, place, count = np.unique(pixels, axis=0, return_inverse=True, return_counts=True)
    chosen = list(np.argsort(-count)[:192])
    wide = colours.astype(int)
    nearest = ((wide[:, None] - wide[chosen][None]) ** 2).sum(-1).min(1)
    for _ in range(min(64, len(colours) - len(chosen))):
        chosen.append(nearest.argmax())
        nearest = np.minimum(nearest, ((wide - wide[chosen[-1]]) ** 2).sum(-1))
    palette = colours[chosen]
    far = ((wide[:, None] - palette[None].astype(int)) ** 2).sum(-1)
    rows = far.argmin(1).astype(np.uint8)[place.ravel()].reshape(height, width)
    lines = np.hstack([np.zeros((height, 1), np.uint8), rows]).tobytes()

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = [(b"IHDR", head), (b"PLTE", palette.tobytes()), (b"IDAT", zlib.compress(lines, 9))]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in [*parts, (b"IEND", b"")])


async def main(folder: Path) -> None:
    """Take all pictures."""
    path = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    if path is None:
        sys.exit("no browser found: apt-get install chromium")
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=path, args=PLAIN)
        for language, pictures in groupby(PICTURES, key=lambda picture: picture.language):
            async with served(language) as url:
                for picture in pictures:
                    await take(browser, picture, url=url, folder=folder)
        await browser.close()


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures")
    target.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(target))

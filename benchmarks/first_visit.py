"""Measures how long the page takes to open, and how smoothly a long conversation scrolls.

    python benchmarks/first_visit.py        # needs a browser: apt-get install chromium

A user with 1,000 conversations and one with 10,000 turns, in a database of its own; no model. Each
visit has a new browser profile, so nothing is cached.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
from playwright.async_api import async_playwright

import omoide

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.async_api import Browser

VISITS = 7
START = datetime(2024, 1, 1, tzinfo=UTC)
WATCH = """
sessionStorage.setItem("omoide-user", "many");
window.seen = {};
new MutationObserver(() => {
  const { chat, ready } = document.documentElement?.dataset ?? {};
  if (chat !== undefined) seen.chat ??= performance.now();
  if (ready !== undefined) seen.ready ??= performance.now();
}).observe(document, { subtree: true, childList: true, attributes: true });
"""
LOADED = """() => ({
  paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? null, ...seen,
})"""
SCROLL = """async () => {
  const place = document.getElementById("scroll");
  const frames = [];
  let last = performance.now();
  for (let i = 0; i < 240; i++) {
    place.scrollTop -= 150;
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    frames.push(now - last);
    last = now;
  }
  return { frames, nodes: document.querySelectorAll("*").length };
}"""


def fill(db: Path) -> None:
    """Record both users."""
    with omoide.open(db=db, model="none", embedder="none") as memory:
        for i in range(1_000):
            at = START + timedelta(hours=8 * i)
            memory.record("many", f"Conversation {i}: I read a book.", at=at)
            memory.end_session("many", at=at)
        turns = [
            {"role": ("user", "assistant")[i % 2], "content": f"Turn {i}."} for i in range(10_000)
        ]
        memory.record("long", turns)


@contextmanager
def served(db: Path) -> Iterator[tuple[str, int]]:
    """Run `omoide serve`; yields its address and process."""
    environment = {
        **os.environ, "OMOIDE_DB": str(db), "OMOIDE_MODEL": "none", "OMOIDE_EMBEDDER": "none",
    }  # fmt: skip
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "omoide.cli", "serve", "--port", str(port), "--no-work"]
    server = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            with suppress(httpx.HTTPError):
                httpx.get(f"{url}/readyz")
                break
            time.sleep(0.1)
        yield url, server.pid
    finally:
        server.terminate()
        server.wait()


def cpu(pid: int) -> float:
    """Seconds of CPU that a process took so far (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def visit(browser: Browser, url: str, server: int) -> dict[str, float]:
    """Open the page in a new profile; milliseconds until it can be used, and what they took."""
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(300_000)
    page = await context.new_page()
    await page.add_init_script(WATCH)
    devtools = await context.new_cdp_session(page)
    await devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = cpu(server)
    await page.goto(url, wait_until="commit")
    for shown in ("#talks [data-talk='1000']", "#log .said"):
        await page.wait_for_selector(f"html[data-ready] {shown}", state="attached")
    seen: dict[str, float] = await page.evaluate(LOADED)
    taken = {
        m["name"]: m["value"] for m in (await devtools.send("Performance.getMetrics"))["metrics"]
    }
    await context.close()
    return {
        "first paint, ms": seen["paint"],
        "conversations and chat shown, ms": seen["chat"],
        "all parts ready, ms": seen["ready"],
        "CPU of the page's thread, ms": 1000 * taken["TaskDuration"],
        "CPU of the server, ms": 1000 * (cpu(server) - before),
    }


async def scroll(browser: Browser, url: str) -> dict[str, float]:
    """Scroll 36,000 pixels up a conversation of 10,000 turns."""
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(300_000)
    page = await context.new_page()
    await page.add_init_script("sessionStorage.setItem('omoide-user', 'long')")
    await page.goto(url)
    await page.wait_for_selector("html[data-ready] .said")
    devtools = await context.new_cdp_session(page)
    await devtools.send("Performance.enable", {"timeDomain": "threadTicks"})

    async def busy() -> float:
        metrics = (await devtools.send("Performance.getMetrics"))["metrics"]
        return next(1000 * float(m["value"]) for m in metrics if m["name"] == "TaskDuration")

    before = await busy()
    seen = await page.evaluate(SCROLL)
    taken = (await busy() - before) / len(seen["frames"])
    await context.close()
    frames = sorted(seen["frames"])
    return {
        "a frame, median, ms": statistics.median(frames),
        "a frame, 95th percentile, ms": frames[int(0.95 * len(frames))],
        "CPU of the page's thread a frame, ms": taken,
        "elements in the document": seen["nodes"],
    }


async def main() -> None:
    """Fill a database, serve it, visit it."""
    path = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    if path is None:
        sys.exit("no browser found: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder, "memory.sqlite")
        await asyncio.to_thread(fill, db)
        with served(db) as (url, server):
            async with async_playwright() as driver:
                browser = await driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
                visits = [await visit(browser, url, server) for _ in range(VISITS)]
                scrolled = await scroll(browser, url)
                await browser.close()
    print(
        f"load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores; {VISITS} visits, median (least)"
    )
    for name in visits[0]:
        taken = [one[name] for one in visits]
        print(f"{name}: {statistics.median(taken):.0f} ({min(taken):.0f})")
    for name, value in scrolled.items():
        print(f"{name}: {value:.1f}")


if __name__ == "__main__":
    asyncio.run(main())

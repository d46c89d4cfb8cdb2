"""On a phone's home screen: installable, and it opens without the server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Window

playwright = pytest.importorskip("playwright.async_api", reason="pip install playwright")
expect = playwright.expect
pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_it_can_be_installed(window: Window) -> None:
    """Chromium reads the manifest without an error, and finds every icon."""
    page = window.page
    session = await page.context.new_cdp_session(page)
    manifest = await session.send("Page.getAppManifest")
    assert manifest["errors"] == []
    errors = await session.send("Page.getInstallabilityErrors")
    kinds = [error["errorId"] for error in errors["installabilityErrors"]]
    assert [kind for kind in kinds if kind != "in-incognito"] == []
    for icon in ("icon-192.png", "icon-512.png", "maskable-512.png", "touch-180.png"):
        found = await page.request.get(f"{window.url}/page/icons/{icon}")
        assert (found.status, found.headers["content-type"]) == (200, "image/png")


async def test_it_opens_without_the_server(window: Window) -> None:
    """Its own files are kept, and no data of anyone: it says that the server does not answer."""
    page = window.page
    window.expected = ("ERR_INTERNET_DISCONNECTED", "Failed to load resource")
    await page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    # Told by an event: Playwright's own waiting evaluates a string again and again in the page,
    # which the page's policy rightly forbids.
    await page.evaluate(
        """new Promise((done) => {
          const worker = navigator.serviceWorker;
          worker.addEventListener("controllerchange", () => done(true));
          if (worker.controller !== null) done(true);
        })"""
    )
    kept = await page.evaluate(
        "caches.open('omoide-page').then((c) => c.keys()).then((k) => k.map((r) => r.url))"
    )
    assert f"{window.url}/page/js/app.js" in kept
    assert not [url for url in kept if "/api/" in url]
    await page.context.set_offline(True)
    await page.reload()
    await window.ready()
    await expect(page.locator(".trouble")).to_contain_text("The server does not answer")
    await page.context.set_offline(False)
    await page.get_by_role("button", name="Try again").click()
    await expect(page.locator(".welcome")).to_be_visible()

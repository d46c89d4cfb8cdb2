"""Somebody quick: another conversation or person is chosen, or a key pressed, before the answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from omoide import Speaker, Utterance

from .conftest import ON_DESK

if TYPE_CHECKING:
    from playwright.async_api import Route

    from .conftest import Window

playwright = pytest.importorskip("playwright.async_api", reason="pip install playwright")
expect = playwright.expect
pytestmark = pytest.mark.asyncio(loop_scope="session")


class Late:
    """Answers to some requests that come when the test says so."""

    def __init__(self, user: str = "") -> None:
        self._user = user
        self.asked = asyncio.Event()
        self.go = asyncio.Event()

    async def __call__(self, route: Route) -> None:
        """For `Page.route`."""
        if f"user={self._user}" in route.request.url:
            self.asked.set()
            await self.go.wait()
        await route.continue_()


@ON_DESK
async def test_another_reply_is_to_the_last_message_however_far_one_scrolled(
    window: Window,
) -> None:
    """The last message is not drawn any more when the palette asks for another reply to it."""
    page = window.page
    turns = [
        Utterance(speaker=Speaker.USER if i % 2 == 0 else Speaker.ASSISTANT, text=f"Turn {i}.")
        for i in range(400)
    ]
    await window.bench.memory().record("me", turns)
    await page.reload()
    await window.ready()
    await expect(page.locator(".said .text").last).to_have_text("Turn 399.")
    for _ in range(4):
        first = await page.locator(".said .text").first.inner_text()
        await page.evaluate("document.getElementById('scroll').scrollTop = 0")
        await expect(page.locator(".said .text").first).not_to_have_text(first)
    window.bench.replier.answers.append("Once more.")
    await window.search("another reply")
    await page.keyboard.press("Enter")
    await expect(page.locator(".said .text").last).to_have_text("Once more.")
    assert (await window.bench.said("me"))[-2:] == ["Turn 398.", "Once more."]

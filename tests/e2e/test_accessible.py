"""Nothing that axe-core finds, of any level, on any panel, light or dark, desk or phone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .conftest import FOUR
from .looking import AXE, faults

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .conftest import Window

playwright = pytest.importorskip("playwright.async_api", reason="pip install playwright")
pytestmark = pytest.mark.asyncio(loop_scope="session")

REPLY = "# Plan\n\n- **one**\n\n```py\nprint(1)\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> [so](https://a.example)"
TABS = ("memory", "facts", "memos", "events", "why", "cost")


@FOUR
async def test_axe_finds_nothing(opened: Callable[..., Awaitable[Window]]) -> None:
    """The welcome, every panel with the demo in it, open sentences, changes, and a dialog."""
    window = await opened(reduced_motion="reduce")
    page = window.page
    await window.enter()
    await page.evaluate(AXE)
    assert await faults(page) == []
    await window.demo()
    await page.evaluate(AXE)
    assert await faults(page) == []
    for name in TABS:
        await window.go(name)
        if name == "memory":
            await page.locator("#panel-memory .fact > button").last.click()
            await page.get_by_role("button", name="Show changes").click()
            await page.wait_for_selector("#panel-memory ins")
        if name == "facts":
            await page.locator(".known > button").first.click()
            await page.wait_for_selector(".known .quote")
            assert await faults(page) == [], "facts that hold"
            await page.get_by_role("button", name="Timeline").click()
            await page.locator(".moment > button").nth(1).click()
        if name == "events":
            await page.locator(".happened > button").first.click()
        if name == "why":
            await page.locator("#panel-why .others > summary").click()
        assert await faults(page) == [], name
    await window.side("#add-user")
    assert await faults(page) == [], "the side bar, on a phone as a drawer"
    await window.press("#add-user")
    await page.wait_for_selector("dialog[open]")
    assert await faults(page) == [], "a dialog"
    await page.keyboard.press("Escape")
    await window.press("#data")
    await page.wait_for_selector("dialog[open]")
    assert await faults(page) == [], "one's data"
    await page.keyboard.press("Escape")
    await window.search("porto")
    await page.wait_for_selector("#found [role=group]:nth-of-type(2)")
    assert await faults(page) == [], "the palette"
    await page.keyboard.press("Escape")
    await window.close_side()
    window.bench.replier.answers.append(REPLY)
    await window.say("Show me.")
    await page.wait_for_selector(".said .code")
    await page.wait_for_selector("#send", state="visible")
    assert await faults(page) == [], "a reply in Markdown"

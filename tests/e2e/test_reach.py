"""Everything can be reached: nothing lies over anything, nothing is too small for a finger, no
dialog is larger than the window, and nothing must be scrolled sideways."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omoide.errors import ModelRefused

from .conftest import FOUR
from .looking import out_of_reach, too_wide

if TYPE_CHECKING:
    from .conftest import Window

playwright = pytest.importorskip("playwright.async_api", reason="pip install playwright")
expect = playwright.expect
pytestmark = pytest.mark.asyncio(loop_scope="session")

SMALLEST = {"desk": 20, "phone": 30}
"""Pixels that a control has at least in each direction. WCAG 2.2 wants 24 of those that stand
close together; a mouse is more exact than a finger."""


STILL = """Promise.all(document.getAnimations()
  .filter((a) => a.effect.getComputedTiming().endTime < Infinity)
  .map((a) => a.finished.catch(() => null)))"""
"""Ends when every movement with an end has come to it."""


async def sound(window: Window, stop: str) -> None:
    """Nothing is out of reach here, once what moves stands still."""
    await window.page.evaluate(STILL)
    least = SMALLEST["phone" if window.look.phone else "desk"]
    assert await out_of_reach(window.page, least) == [], stop
    assert await too_wide(window.page) == [], stop


@FOUR
async def test_every_control_of_every_part_is_reached(demo: Window) -> None:
    """The chat, all tabs with something opened in each, and the side bar."""
    page = demo.page
    await sound(demo, "chat")
    await demo.go("memory")
    await page.locator("#panel-memory .fact > button").first.click()
    await expect(page.locator("#panel-memory .quote").first).to_be_visible()
    await sound(demo, "memory")
    await demo.go("facts")
    await page.locator(".known > button").first.click()
    await expect(page.locator(".known .quote").first).to_be_visible()
    await sound(demo, "facts")
    await page.get_by_role("button", name="Timeline").click()
    await page.locator(".moment > button").nth(1).click()
    await expect(page.locator(".moment .quote").first).to_be_visible()
    await sound(demo, "timeline")
    await demo.go("memos")
    await expect(page.locator("#panel-memos .card").first).to_be_visible()
    await sound(demo, "memos")
    await demo.go("events")
    await page.locator(".happened > button").first.click()
    await expect(page.locator(".happened .quote").first).to_be_visible()
    await sound(demo, "events")
    await demo.go("why")
    await page.locator("#panel-why .others > summary").click()
    await sound(demo, "why")
    await demo.go("cost")
    await expect(page.locator("#panel-cost tbody tr").first).to_be_visible()
    await sound(demo, "cost")
    await demo.side("#user")
    await expect(page.locator("#talks button").first).to_be_in_viewport()
    await sound(demo, "side bar")


@FOUR
async def test_every_dialog_fits_and_is_closed_by_escape(demo: Window) -> None:
    """With the focus in it while it is open."""
    page, dialog = demo.page, demo.page.locator("dialog[open]")

    async def fits(stop: str) -> None:
        await expect(dialog).to_be_visible()
        await expect(dialog.locator(":focus")).to_have_count(1)
        box, window = await dialog.bounding_box(), page.viewport_size
        assert box is not None
        assert window is not None
        assert min(box["x"], box["y"]) >= 0, stop
        assert box["x"] + box["width"] <= window["width"], stop
        assert box["y"] + box["height"] <= window["height"], stop
        await sound(demo, stop)
        await page.keyboard.press("Escape")
        await expect(dialog).to_have_count(0)

    for button in ("#rename-talk", "#delete-talk"):
        await page.click(button)
        await fits(button)
    await demo.go("facts")
    fact = page.locator(".known").first
    await fact.locator("> button").click()
    for name in ("Correct", "Forget"):
        await fact.get_by_role("button", name=name).click()
        await fits(name)
    for button in ("#add-user", "#preset", "#data", "#demo", "#open-search"):
        await demo.press(button)
        await fits(button)
    await demo.press("#data")
    await page.get_by_role("button", name="Erase everything").click()
    await expect(dialog.locator("[data-danger]")).to_be_visible()
    await fits("erase everything")
    await demo.go("facts")
    await fact.get_by_role("button", name="Forget").click()
    await dialog.get_by_role("button", name="Forget").click()
    await page.get_by_role("button", name="Forget now").click()
    await expect(dialog).to_contain_text("Here is the receipt")
    await dialog.get_by_text("Details").click()
    await expect(dialog.locator(".paper")).to_be_visible()
    await fits("a receipt with its details")


async def test_the_bar_has_room_for_all_it_can_show(demo: Window) -> None:
    """The date, work that needs a look, and the buttons of an open conversation, on lines of
    their own where they do not fit beside each other."""
    page, bench = demo.page, demo.bench
    bench.replier.answers += ["Hello.", "Hello again."]
    bench.iterator.answers.append(ModelRefused("the key is wrong"))
    await demo.say("Hi!")
    await expect(page.locator(".said.assistant .text")).to_have_text("Hello.")
    await page.click("#end-talk")
    await expect(page.locator("#work-pill")).to_contain_text("Needs a look: 1")
    await demo.say("Hi again!")
    await expect(page.locator(".said.assistant .text")).to_have_text("Hello again.")
    await expect(page.locator("#end-talk")).to_be_visible()
    title = await page.locator("#talk-title").bounding_box()
    button = await page.locator("#end-talk").bounding_box()
    assert title is not None
    assert title["width"] > 70
    cut = "(title) => title.scrollWidth > title.clientWidth"
    assert not await page.locator("#talk-title").evaluate(cut)
    assert button is not None
    assert button["height"] < 40
    await sound(demo, "the bar")

"""Facts beside the chat: in groups, with their words; pinned, corrected, forgotten; a timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .conftest import PHONE

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .conftest import Window

playwright = pytest.importorskip("playwright.async_api", reason="pip install playwright")
expect = playwright.expect
pytestmark = pytest.mark.asyncio(loop_scope="session")

PORTO = "The user lives in Porto, near the river, with Biscuit."


async def test_facts_stand_in_groups_with_their_words(demo: Window) -> None:
    """What holds, under headings that speak to the person; ended facts are not among them."""
    page = demo.page
    await page.click("#tab-facts")
    panel = page.locator("#panel-facts")
    await expect(panel.locator("h3")).to_have_text(
        [
            "About you",
            "Plans and promises",
            "What you like",
            "People and animals in your life",
        ]
    )
    await expect(panel.locator(".known")).to_have_count(9)
    await expect(panel).not_to_contain_text("lives alone in Lisbon")
    walnuts = panel.locator(".known").filter(has_text="allergic to walnuts")
    await expect(walnuts.locator(".fine").first).to_contain_text("said 9 Sept")
    await walnuts.locator("> button").click()
    await expect(walnuts.locator(".quote p")).to_contain_text("I'm allergic to walnuts")
    guitar = panel.locator(".known").filter(has_text="guitar")
    await expect(guitar.locator(".badge")).to_have_text("no source")


async def test_the_timeline_tells_what_changed_and_why(demo: Window) -> None:
    """Newest first, with what was before, the reason, and the words on a click."""
    page = demo.page
    await page.click("#tab-facts")
    await page.get_by_role("button", name="Timeline").click()
    moments = page.locator("#panel-facts .moment")
    await expect(moments).to_have_count(17)
    porto = moments.filter(has_text=PORTO)
    await expect(porto).to_contain_text("changed")
    await expect(porto).to_contain_text("before: The user lives alone in Lisbon")
    await expect(porto).to_contain_text("because: she moved to Porto")
    await porto.locator("> button").click()
    await expect(porto.locator(".quote p")).to_contain_text("moved to Porto last weekend")
    healed = moments.filter(has_text="the paw has healed")
    await expect(healed.locator("del")).to_contain_text("wears a bandage")


async def test_a_fact_is_pinned_corrected_and_forgotten(demo: Window) -> None:
    """Each is seen at once, in the memory beside it too."""
    page, memory = demo.page, demo.bench.memory()
    await page.click("#tab-facts")
    known = page.locator("#panel-facts .known")
    porto = known.filter(has_text=PORTO)
    await porto.locator("> button").click()
    await porto.get_by_role("button", name="Pin", exact=True).click()
    await expect(porto.locator(".badge")).to_have_text("pinned")
    await porto.get_by_role("button", name="Unpin").click()
    await expect(porto.locator(".badge")).to_have_count(0)
    await porto.get_by_role("button", name="Correct").click()
    await page.get_by_role("dialog").locator("textarea").fill("The user lives in Braga.")
    await page.get_by_role("dialog").get_by_role("button", name="Save").click()
    braga = known.filter(has_text="The user lives in Braga.")
    await expect(braga).to_contain_text("corrected by you")
    await expect(page.locator("#panel-memory .fact").filter(has_text="Braga")).to_have_count(1)
    await braga.locator("> button").click()
    await braga.get_by_role("button", name="Forget").click()
    await page.get_by_role("dialog").get_by_role("checkbox").check()
    await page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    await expect(braga).to_have_count(0)
    texts = [fact.text for fact in await memory.facts("demo", ended=True)]
    assert "The user lives in Braga." not in texts
    assert "The user lives in Braga." not in [turn.text for turn in await memory.turns("demo")]


async def test_facts_on_a_phone_in_every_language(
    opened: Callable[..., Awaitable[Window]],
) -> None:
    """The dock has room for the tab, and nothing is wider than the screen."""
    for code, heading in (
        ("zh", "关于你"),
        ("ja", "あなたのこと"),
        ("ko", "나에 대해"),
        ("vi", "Về bạn"),
    ):
        window = await opened(viewport=PHONE, locale=code)
        await window.demo(code)
        page = window.page
        await page.click("#dock [data-view=facts]")
        await expect(page.locator("#panel-facts h3").first).to_have_text(heading)
        await page.locator("#panel-facts .choice button").last.click()
        await expect(page.locator("#panel-facts .moment")).to_have_count(17)
        wide = "document.documentElement.scrollWidth <= innerWidth"
        assert await page.evaluate(wide)


async def test_an_empty_memory_says_what_will_be_here(window: Window) -> None:
    """And nothing else."""
    page = window.page
    await page.click("#tab-facts")
    await expect(page.locator("#panel-facts .empty")).to_contain_text("Nothing yet.")

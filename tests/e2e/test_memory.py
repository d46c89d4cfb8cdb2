"""The memory beside the chat: sources, versions, going back, correcting, forgetting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.server.serving import CAT, M1

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .conftest import Window

playwright = pytest.importorskip("playwright.async_api", reason="pip install playwright")
expect = playwright.expect
pytestmark = pytest.mark.asyncio(loop_scope="session")

GUITAR = "You play the guitar."


async def test_each_sentence_shows_the_words_it_rests_on(demo: Window) -> None:
    """On a click; one that nothing supports is flagged, and says so."""
    page = demo.page
    await demo.go("memory")
    facts = page.locator("#panel-memory .fact")
    await expect(facts).to_have_count(8)
    walnuts = facts.filter(has_text="walnuts")
    await walnuts.locator("> button").click()
    await expect(walnuts.locator(".quote p")).to_contain_text("I'm allergic to walnuts")
    await expect(walnuts.locator(".badge")).to_have_count(0)
    guitar = facts.filter(has_text="guitar")
    await expect(guitar.locator(".badge")).to_have_text("no source")
    await guitar.locator("> button").click()
    await expect(guitar.locator(".inner")).to_contain_text("Nothing that was said supports")
    await walnuts.get_by_role("button", name="Open").click()
    await expect(page.locator("#talk-title")).to_have_text("9 September 2025")
    await expect(page.locator(".said.flash")).to_contain_text("allergic to walnuts")


async def test_the_slider_goes_through_the_versions_word_by_word(demo: Window) -> None:
    """What came is marked, what went is struck, within a sentence by words."""
    page = demo.page
    await demo.go("memory")
    panel = page.locator("#panel-memory")
    await page.fill("#version", "4")
    await expect(panel.locator("output")).to_have_text("Version 4 of 5")
    await expect(panel.locator("del").filter(has_text="bandage")).to_be_visible()
    await expect(panel.locator("ins").filter(has_text="live in Porto")).to_be_visible()
    await page.fill("#version", "5")
    swims = panel.locator(".fact").filter(has_text="hundred metres")
    await expect(swims.locator("del")).to_have_text("fifty")
    await expect(swims.locator("ins")).to_have_text("a hundred")
    await page.fill("#version", "0")
    await expect(panel).to_contain_text("Before anything was remembered")
    await page.fill("#version", "5")
    await page.get_by_role("button", name="Hide changes").click()
    await expect(panel.locator("ins, del")).to_have_count(0)


async def test_words_are_told_apart_where_they_are_not_spaced(
    opened: Callable[..., Awaitable[Window]],
) -> None:
    """In Japanese only what is new is marked; and no difference loses a character."""
    window = await opened(locale="ja-JP")
    await window.demo("ja")
    page = window.page
    await window.go("memory")
    await page.get_by_role("button", name="変更を表示").click()
    swims = page.locator("#panel-memory .fact").filter(has_text="百メートル")
    await expect(swims.locator("del").first).to_have_text("五十")
    await expect(swims.locator("ins").first).to_have_text("百")
    whole = """async () => {
      const { diff } = await import("/page/js/diff.js");
      const texts = ["", "The user lives in Oslo.", "The user lives alone in Bergen now.",
        "用户住在里斯本。", "用户和饼干住在波尔图的河边。", "사용자는 산다.", "a  b", "a b c"];
      for (const [a, b] of texts.flatMap((a) => texts.map((b) => [a, b]))) {
        const parts = diff(a, b, "zh");
        const join = (kind) => parts.filter((p) => p[0] !== kind).map((p) => p[1]).join("");
        if (join("new") !== a || join("old") !== b) return [a, b, parts];
      }
      return "kept";
    }"""
    assert await page.evaluate(whole) == "kept"


async def test_an_old_version_is_brought_back(demo: Window) -> None:
    """As a new one; nothing goes."""
    page = demo.page
    await demo.go("memory")
    await page.fill("#version", "3")
    await page.get_by_role("button", name="Bring it back").click()
    await page.get_by_role("dialog").get_by_role("button", name="Bring it back").click()
    panel = page.locator("#panel-memory")
    await expect(panel.locator("output")).to_have_text("Version 6 of 6")
    await expect(panel).to_contain_text("Brought back from version 3")
    await expect(panel).to_contain_text("bandage")
    assert len(await demo.bench.memory().history("demo")) == 6


async def test_a_sentence_is_corrected(demo: Window) -> None:
    """It then rests on the user's own word."""
    page = demo.page
    await demo.go("memory")
    fact = page.locator("#panel-memory .fact").filter(has_text="guitar")
    await fact.locator("> button").click()
    await fact.get_by_role("button", name="Correct").click()
    await page.get_by_role("dialog").locator("textarea").fill("You play\nthe cello.")
    await page.get_by_role("dialog").get_by_role("button", name="Save").click()
    mended = page.locator("#panel-memory .fact").filter(has_text="You play the cello.")
    await expect(mended.locator(".badge")).to_have_count(0)
    await mended.locator("> button").click()
    await expect(mended.locator(".quote")).to_contain_text("Corrected by you")
    await expect(page.locator("#panel-memory .lead")).to_contain_text("Corrected by you")
    await expect(page.locator("#talks button")).to_have_count(5)
    await page.get_by_role("button", name="Show changes").click()
    await expect(mended.locator("del")).to_have_text("guitar")
    await expect(mended.locator("ins")).to_have_text("cello")


async def test_a_fact_is_forgotten_with_its_words_if_wanted(demo: Window) -> None:
    """Out of every version; what else rests on the words goes with them."""
    page, memory = demo.page, demo.bench.memory()
    await demo.go("memory")
    facts = page.locator("#panel-memory .fact")
    for text, words in ((GUITAR, False), ("allergic to walnuts", True)):
        fact = facts.filter(has_text=text)
        await fact.locator("> button").click()
        await fact.get_by_role("button", name="Forget").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog.locator("blockquote")).to_contain_text(text)
        if words:
            await dialog.locator("input[type=checkbox]").check()
        await dialog.get_by_role("button", name="Forget").click()
        await page.get_by_role("button", name="Forget now").click()
        await expect(dialog).to_contain_text("nothing of it is left")
        await dialog.get_by_role("button", name="Close").click()
        await expect(facts.filter(has_text=text)).to_have_count(0)
    versions = "".join(version.text for version in await memory.history("demo"))
    assert "guitar" not in versions
    assert "walnuts" not in versions
    said = [turn.text for turn in await memory.turns("demo")]
    assert len(said) == 29
    assert not any("I'm allergic to walnuts" in text for text in said)


async def test_the_memory_grows_by_itself_when_a_talk_ends(
    opened: Callable[..., Awaitable[Window]],
) -> None:
    """Work is shown while it lasts; the new sentence appears without a reload."""
    window = await opened(mechanisms=("summary", "search"))
    await window.enter()
    page = window.page
    window.bench.replier.answers.append("A lovely name.")
    window.bench.iterator.answers.append(M1)
    await window.say(CAT)
    await expect(page.locator(".said.assistant .text")).to_have_text("A lovely name.")
    await page.click("#end-talk")
    await expect(page.locator("#panel-memory .fact")).to_contain_text("Miso")
    await expect(page.locator("#work-pill")).to_be_hidden()
    await expect(page.locator("#end-talk")).to_be_hidden()

"""Conversations: named, deleted with a receipt, searched, reached by the keyboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omoide import Speaker, Utterance
from omoide.transfer import read_values

from .conftest import ON_DESK

if TYPE_CHECKING:
    from .conftest import Window

playwright = pytest.importorskip("playwright.async_api", reason="pip install playwright")
expect = playwright.expect
pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_conversation_is_renamed_and_deleted(demo: Window) -> None:
    """The title stays; deleting takes what it said out of the memory, and shows the receipt."""
    page = demo.page
    await demo.press("#talks [data-talk='1']")
    await page.click("#rename-talk")
    await page.get_by_role("dialog").locator("input").fill("Meeting <b>Nadia</b>")
    await page.keyboard.press("Enter")
    await expect(page.locator("#talk-title")).to_have_text("Meeting <b>Nadia</b>")
    await page.reload()
    await demo.ready()
    await expect(page.locator("#talks [data-talk='1'] .opening")).to_have_text(
        "Meeting <b>Nadia</b>"
    )
    await demo.press("#talks [data-talk='1']")
    await page.click("#delete-talk")
    dialog = page.get_by_role("dialog")
    await expect(dialog.locator("blockquote")).to_have_text("Meeting <b>Nadia</b>")
    await dialog.get_by_role("button", name="Delete").click()
    await expect(dialog).to_contain_text("Here is the receipt")
    await expect(dialog.locator(".receipt")).to_contain_text("Messages")
    await expect(dialog).to_contain_text("nothing of it is left")
    async with page.expect_download() as download:
        await dialog.get_by_role("button", name="Save receipt").click()
    assert (await download.value).suggested_filename.startswith("omoide-receipt-")
    await dialog.get_by_role("button", name="Close").click()
    await expect(page.locator("#talks [data-talk]")).to_have_count(4)
    await expect(page.locator(".welcome")).to_be_visible()
    assert all(turn.session != 1 for turn in await demo.bench.memory().turns("demo"))
    await expect(page.locator("#panel-memory .fact").filter(has_text="walnuts")).to_have_count(0)


async def test_the_palette_finds_commands_conversations_and_words(demo: Window) -> None:
    """By Ctrl+K or the button: arrows choose, Enter does it, Escape closes."""
    page, press = demo.page, demo.page.keyboard.press
    field = page.locator("#search")
    await demo.search("")
    await expect(field).to_be_focused()
    await page.keyboard.type("events")
    await expect(page.locator("#found [aria-selected=true]")).to_contain_text("Events")
    await press("Enter")
    await expect(page.locator("#panel-events")).to_be_visible()
    await expect(field).to_have_count(0)
    if demo.look.phone:  # nothing lies over the part that was asked for
        await expect(page.locator("#side")).not_to_be_in_viewport()
    await demo.search("library in porto")
    await expect(page.locator("#found [role=group]").first).to_contain_text("Conversations")
    await press("Enter")
    await expect(page.locator("#talk-title")).to_have_text("19 November 2025")
    await demo.search("allergic walnuts")
    said = page.locator("#found [role=group]").filter(has_text="What was said")
    await said.get_by_role("option").filter(has_text="I'm allergic to walnuts").click()
    await expect(page.locator(".said.flash")).to_contain_text("I'm allergic to walnuts")
    other = "light" if demo.look.scheme == "dark" else "dark"
    await demo.search(other)
    await press("ArrowDown")
    await press("ArrowUp")
    await press("Enter")
    await expect(page.locator("html")).to_have_attribute("data-theme", other)
    await demo.press("#open-search")
    await expect(field).to_be_focused()
    await press("Escape")
    await expect(field).to_have_count(0)


async def test_the_palette_shows_replies_without_their_marks(window: Window) -> None:
    """A reply in Markdown is one line of plain words; what the person wrote stays as it is."""
    await window.enter()
    window.bench.replier.answers.append(
        "## Swimming\n\n1. **Monday**: [rest](https://a.example)\n2. `swim` *far*\n\n"
        "| a | b |\n|---|---|\n| c | d |"
    )
    await window.say("Swimming **when**?")
    await expect(window.page.locator(".said.assistant .text")).to_contain_text("far")
    await window.search("swimming monday")
    said = window.page.locator("#found [role=group]").filter(has_text="What was said")
    found = said.get_by_role("option").locator(".name")
    await expect(found.filter(has_text="Monday")).to_have_text(
        "Swimming Monday: rest swim far a b c d"
    )
    await expect(found.filter(has_text="when")).to_have_text("Swimming **when**?")


@ON_DESK
async def test_one_line_of_the_palette_is_chosen_by_keys_and_pointer(demo: Window) -> None:
    """Both move the same choice: no second line looks as if Enter would take it."""
    page = demo.page
    await demo.search("")
    third = page.locator("#found [role=option]").nth(2)
    await third.hover()
    await expect(third).to_have_attribute("aria-selected", "true")
    await page.keyboard.press("ArrowDown")
    await expect(page.locator("#found [aria-selected=true]")).to_have_count(1)
    await expect(third).to_have_css("background-color", "rgba(0, 0, 0, 0)")


async def nodes(window: Window) -> int:
    """How many elements are in the document."""
    count: int = await window.page.evaluate("document.querySelectorAll('*').length")
    return count


async def test_ten_thousand_turns_are_drawn_in_windows(window: Window) -> None:
    """From the end; scrolling up brings older ones; far ones are let go; a source is reached."""
    page, memory = window.page, window.bench.memory()
    turns = [
        Utterance(speaker=Speaker.USER if i % 2 == 0 else Speaker.ASSISTANT, text=f"Turn {i}.")
        for i in range(10_000)
    ]
    await memory.record("me", turns)
    await page.reload()
    await window.ready()
    await expect(page.locator(".said .text").last).to_have_text("Turn 9999.")
    assert await nodes(window) < 2_500
    for _ in range(20):
        first = await page.locator(".said .text").first.inner_text()
        await page.evaluate("document.getElementById('scroll').scrollTop = 0")
        await expect(page.locator(".said .text").first).not_to_have_text(first)
        assert await nodes(window) < 4_000
    await window.search("Turn 40.")
    await page.locator("#found [role=option]").filter(has_text="Turn 40.").first.click()
    await expect(page.locator(".said.flash")).to_contain_text("Turn 40.")
    assert await nodes(window) < 4_000
    window.bench.replier.answers.append("Still here.")
    await window.say("Hello?")
    await expect(page.locator(".said .text").last).to_have_text("Still here.")


async def test_a_thousand_conversations_are_listed_in_windows(window: Window) -> None:
    """The newest at once, older ones on the way down, far ones let go; all are found by name."""
    page, memory = window.page, window.bench.memory()
    said = {"messages": [{"role": "user", "content": "Hello."}]}
    conversations = read_values(
        [
            {"id": f"c{i}", "title": f"Talk {i}", "create_time": 1_600_000_000 + i} | said
            for i in range(1_000)
        ],
        max_chars=10_000,
    ).conversations
    await memory.import_conversations("me", conversations, digest=False)
    await page.reload()
    await window.ready()
    await expect(await window.side("#talks [data-talk='1000']")).to_be_visible()
    assert await nodes(window) < 2_500
    talks, oldest = page.locator("#talks"), page.locator("#talks [data-talk]").last
    while (number := await oldest.get_attribute("data-talk")) != "1":
        await talks.evaluate("(list) => { list.scrollTop = list.scrollHeight; }")
        await expect(oldest).not_to_have_attribute("data-talk", number or "")
        assert await nodes(window) < 4_000
    await expect(page.locator("#talks [data-talk='1']")).to_be_visible()
    await page.reload()
    await window.ready()
    await window.search("talk 123")
    await expect(page.locator("#found [role=option]").filter(has_text="Talk 123")).to_be_visible()


async def test_imported_conversations_stand_at_their_own_time(demo: Window) -> None:
    """Those of long ago below today's, whatever came in first, and each once in a list of pages."""
    page, memory = demo.page, demo.bench.memory()
    said = {"messages": [{"role": "user", "content": "Hello."}]}
    conversations = read_values(
        [
            {"id": f"c{i}", "title": f"Talk {i}", "create_time": 1_600_000_000 + i * 86_400} | said
            for i in range(40)
        ],
        max_chars=10_000,
    ).conversations
    demo.bench.replier.answers.append("Hello again.")
    await demo.say("Good morning!")
    await expect(page.locator(".said.assistant .text").last).to_have_text("Hello again.")
    await memory.import_conversations("demo", conversations, digest=False)
    await page.reload()
    await demo.ready()
    headings, cards = await demo.side("#talks h2"), page.locator("#talks [data-talk]")
    await expect(headings.nth(0)).to_have_text("Today")
    await expect(headings.nth(1)).to_have_text("Last 7 days")
    await expect(page.locator("#talk-title")).to_have_text("5 January")
    await page.locator("#talks").evaluate("(list) => { list.scrollTop = list.scrollHeight; }")
    await expect(cards).to_have_count(46)
    demo.bench.replier.answers.append("Still here.")
    await demo.say("Are you there?")
    await expect(page.locator(".said.assistant .text").last).to_have_text("Still here.")
    numbers = await cards.evaluate_all("(all) => all.map((one) => Number(one.dataset.talk))")
    assert numbers == [6, 5, 4, 3, 2, 1, *range(46, 6, -1)]

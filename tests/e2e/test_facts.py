"""Facts beside the chat: in groups, with their words; pinned, corrected, forgotten; a timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .conftest import until
from .looking import cut_words, too_wide

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .conftest import Window

playwright = pytest.importorskip("playwright.async_api", reason="pip install playwright")
expect = playwright.expect
pytestmark = pytest.mark.asyncio(loop_scope="session")

PORTO = "You live in Porto, near the river, with Biscuit."

NOTE = "The user lives in Braga."

LANGUAGES = {
    "zh": ("纳迪娅，这是我了解的你", "关于你", "你对核桃过敏。", "用户"),
    "ja": (
        "ナディアさんについて知っていること",
        "あなたのこと",
        "くるみアレルギーである。",
        "ユーザー",
    ),
    "ko": ("나디아 님에 대해 아는 것", "당신에 대해", "호두 알레르기가 있다.", "사용자"),
    "vi": ("Những điều tôi biết về bạn, Nadia", "Về bạn", "Bạn bị dị ứng", "người dùng"),
}
"""The title of the facts, their first heading, a fact as it is said to the person (Japanese and
Korean leave out the "you"), and the word for "user"."""


async def test_facts_stand_in_groups_with_their_words(demo: Window) -> None:
    """What holds, under headings that speak to the person; ended facts are not among them."""
    page = demo.page
    await demo.go("facts")
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
    await expect(panel).not_to_contain_text("live alone in Lisbon")
    walnuts = panel.locator(".known").filter(has_text="allergic to walnuts")
    await expect(walnuts.locator(".fine").first).to_contain_text("said 9 Sept")
    await walnuts.locator("> button").click()
    await expect(walnuts.locator(".quote p")).to_contain_text("I'm allergic to walnuts")
    cake = panel.locator(".known").filter(has_text="lemon cake")
    await expect(cake.locator(".fine").first).to_contain_text("until 10 Jan")
    guitar = panel.locator(".known").filter(has_text="guitar")
    await expect(guitar.locator(".badge")).to_have_text("no source")


async def test_words_that_could_not_be_read_are_not_said_to_be_missing(demo: Window) -> None:
    """A source that is there, but not for the moment: it can be looked for again."""
    page = demo.page
    demo.expected = ("ERR_FAILED",)
    await demo.go("facts")
    walnuts = page.locator("#panel-facts .known").filter(has_text="allergic to walnuts")
    await page.route("**/api/turns*", lambda route: route.abort())
    await walnuts.locator("> button").click()
    await expect(walnuts.locator(".trouble")).to_be_visible()
    await expect(walnuts).not_to_contain_text("made it up")
    await page.unroute("**/api/turns*")
    await walnuts.get_by_role("button", name="Try again").click()
    await expect(walnuts.locator(".quote p")).to_contain_text("I'm allergic to walnuts")


async def test_the_timeline_tells_what_changed_and_why(demo: Window) -> None:
    """Newest first, with what was before, the reason, and the words on a click."""
    page = demo.page
    await demo.go("facts")
    await page.get_by_role("button", name="Timeline").click()
    moments = page.locator("#panel-facts .moment")
    await expect(moments).to_have_count(17)
    porto = moments.filter(has_text=PORTO)
    await expect(porto).to_contain_text("changed")
    await expect(porto).to_contain_text("before: You live alone in Lisbon")
    await expect(porto).to_contain_text("because: you moved to Porto")
    await porto.locator("> button").click()
    await expect(porto.locator(".quote p")).to_contain_text("moved to Porto last weekend")
    healed = moments.filter(has_text="the paw has healed")
    await expect(healed.locator("del")).to_contain_text("wears a bandage")


async def test_a_fact_is_pinned_corrected_and_forgotten(demo: Window) -> None:
    """Each is seen at once, in the memory beside it too."""
    page, memory = demo.page, demo.bench.memory()
    await demo.go("facts")
    known = page.locator("#panel-facts .known")
    porto = known.filter(has_text=PORTO)
    await porto.locator("> button").click()
    await porto.get_by_role("button", name="Pin", exact=True).click()
    await expect(porto.locator(".badge")).to_have_text("pinned")
    await porto.get_by_role("button", name="Unpin").click()
    await expect(porto.locator(".badge")).to_have_count(0)
    await porto.get_by_role("button", name="Correct").click()
    await page.get_by_role("dialog").locator("textarea").fill("I live in Braga.")
    await page.get_by_role("dialog").get_by_role("button", name="Save").click()
    braga = known.filter(has_text="You live in Braga.")
    await expect(braga).to_contain_text("corrected by you")
    await expect(page.locator("#panel-memory .fact").filter(has_text="Braga")).to_have_count(1)
    await braga.locator("> button").click()
    await braga.get_by_role("button", name="Forget").click()
    await page.get_by_role("dialog").get_by_role("checkbox").check()
    await page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    await page.get_by_role("button", name="Undo").click()
    await expect(braga).to_have_count(1)
    assert NOTE in [fact.text for fact in await memory.facts("demo")]
    await braga.get_by_role("button", name="Forget").click()
    await page.get_by_role("dialog").get_by_role("checkbox").check()
    await page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    await page.get_by_role("button", name="Forget now").click()
    paper = page.get_by_role("dialog")
    await expect(paper).to_contain_text("Here is the receipt")
    await expect(paper.locator(".receipt")).to_contain_text("Facts")
    await expect(braga).to_have_count(0)
    assert NOTE not in [fact.text for fact in await memory.facts("demo", ended=True)]
    assert "I live in Braga." not in [turn.text for turn in await memory.turns("demo")]


async def test_what_is_not_undone_is_forgotten_with_its_receipt(demo: Window) -> None:
    """When the moment to undo is over, without another click; what was undone stays."""
    page, memory = demo.page, demo.bench.memory()
    await demo.go("facts")
    for text in ("guitar", "walnuts"):
        fact = page.locator("#panel-facts .known").filter(has_text=text)
        await fact.locator("> button").click()
        await fact.get_by_role("button", name="Forget").click()
        await page.get_by_role("dialog").get_by_role("button", name="Forget").click()
        if text == "guitar":
            await page.get_by_role("button", name="Undo").click()
            await expect(fact).to_have_count(1)
    await expect(page.locator("#panel-facts .going")).to_have_count(1)  # its moment has begun
    await demo.end_notices()
    await expect(page.get_by_role("dialog")).to_contain_text("Here is the receipt")
    known = " ".join(fact.text for fact in await memory.facts("demo", ended=True))
    assert "guitar" in known
    assert "walnuts" not in known


async def test_leaving_the_page_does_not_bring_back_what_is_forgotten(demo: Window) -> None:
    """The seconds in which it can be undone end at once."""
    page, memory = demo.page, demo.bench.memory()
    await demo.go("facts")
    guitar = page.locator("#panel-facts .known").filter(has_text="guitar")
    await guitar.locator("> button").click()
    await guitar.get_by_role("button", name="Forget").click()
    await page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    await expect(page.get_by_role("button", name="Undo")).to_be_visible()
    assert any("guitar" in fact.text for fact in await memory.facts("demo"))
    await page.reload()

    async def gone() -> bool:
        return not any("guitar" in fact.text for fact in await memory.facts("demo", ended=True))

    await until(gone)  # the request outlives the page that sent it
    await page.reload()
    await demo.ready()
    await demo.go("facts")
    await expect(page.locator("#panel-facts .known")).to_have_count(8)


async def test_the_slider_goes_to_any_day(demo: Window) -> None:
    """With the memory as it was then, and what had happened until then."""
    page = demo.page
    await demo.go("facts")
    await page.get_by_role("button", name="Timeline").click()
    await expect(page.locator(".moment")).to_have_count(17)
    await page.fill("#day", "60")
    await expect(page.locator("output[for=day]")).to_have_text("8 November 2025")
    await expect(page.locator("#then h3")).to_have_text("What I remembered on 8 November 2025")
    await expect(page.locator("#then")).to_contain_text("You live alone in Lisbon")
    await expect(page.locator("#then")).not_to_contain_text("Porto")
    await expect(page.locator("#moments")).not_to_contain_text("Porto")
    await page.fill("#day", "0")
    await expect(page.locator("#then")).to_contain_text("with your brother Rui")
    await page.fill("#day", await page.locator("#day").get_attribute("max") or "")
    await expect(page.locator("#then")).to_be_hidden()
    await expect(page.locator(".moment")).to_have_count(17)


async def test_it_speaks_to_the_person_by_name(demo: Window) -> None:
    """In the title, in the greeting, never as "the user"; and of itself it says "I"."""
    page = demo.page
    await demo.go("facts")
    await expect(page.locator("#panel-facts h2")).to_have_text("What I know about you, Nadia")
    for tab in ("memory", "facts", "events"):
        await demo.go(tab)
        await expect(page.locator(f"#panel-{tab}")).to_contain_text("You ")
        await expect(page.locator(f"#panel-{tab}")).not_to_contain_text("user")
        await expect(page.locator(f"#panel-{tab}")).not_to_contain_text("assistant")
    await demo.go("facts")
    await expect(page.locator("#panel-facts")).to_contain_text("I suggested starting with floating")
    await demo.press("#new-talk")
    await expect(page.locator(".welcome h2")).to_have_text("Good to see you again, Nadia")


@pytest.mark.parametrize("code", LANGUAGES)
async def test_it_speaks_to_the_person_in_their_language(
    opened: Callable[..., Awaitable[Window]], code: str
) -> None:
    """By name and as "you", never as "the user"; the dock has room for its words, and nothing is
    wider than the window."""
    title, heading, fact, user = LANGUAGES[code]
    window = await opened(locale=code)
    await window.demo(code)
    page = window.page
    for tab in ("memory", "facts", "events"):
        await window.go(tab)
        await expect(page.locator(f"#panel-{tab}")).to_contain_text(fact)
        await expect(page.locator(f"#panel-{tab}")).not_to_contain_text(user, ignore_case=True)
        assert await too_wide(page) == []
    for tab in ("memos", "why", "cost"):
        await window.go(tab)
        await expect(
            page.locator(f"#panel-{tab} :is(.quote, .card, tbody tr)").first
        ).to_be_visible()
        assert await too_wide(page) == []
    await window.go("facts")
    await expect(page.locator("#panel-facts h2")).to_have_text(title)
    await expect(page.locator("#panel-facts h3").first).to_have_text(heading)
    await page.locator("#panel-facts .choice button").last.click()
    await expect(page.locator("#panel-facts .moment")).to_have_count(17)
    await expect(page.locator("#panel-facts")).not_to_contain_text(user, ignore_case=True)
    assert await too_wide(page) == []
    assert await cut_words(page, "#dock span") == []


async def test_an_empty_memory_says_what_will_be_here(window: Window) -> None:
    """And invites to fill it."""
    page = window.page
    await window.go("facts")
    await expect(page.locator("#panel-facts .empty")).to_contain_text("I don't know you yet.")
    await page.locator("#panel-facts .empty").get_by_role("button", name="Bring in").click()
    await expect(page.get_by_role("dialog")).to_contain_text("Drop your ChatGPT or Claude export")

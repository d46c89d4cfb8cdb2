"""A first day with the default settings, from the welcome to the erasure: desktop and phone, light
and dark. At every stop axe finds nothing and nothing is wider than the window."""

from __future__ import annotations

import io
import json
import re
import zipfile
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import pytest

from omoide.settings import Settings

from .conftest import FOUR, ON_PHONE
from .looking import AXE, DROP, beneath, cut_words, drawn, faults, too_wide

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from playwright.async_api import Locator, Page

    from .conftest import Window

    Open = Callable[..., Awaitable[Window]]

playwright = pytest.importorskip("playwright.async_api", reason="pip install playwright")
expect = playwright.expect
pytestmark = pytest.mark.asyncio(loop_scope="session")

DEFAULTS = Settings(timezone="UTC", profile="large")
"""As they are for everybody whose model is an endpoint."""
SAID = "My cat Miso is three. I fly to Kyoto in April, and I love green tea."
REPLY = "Miso is a fine name."
VIEWS = ("memory", "facts", "memos", "events", "why", "cost")
CLAUDE = {
    "uuid": "c1",
    "name": "A garden",
    "created_at": "2025-12-05T09:00:00Z",
    "chat_messages": [
        {"uuid": "m1", "sender": "human", "text": "My tomatoes have brown spots."},
        {"uuid": "m2", "sender": "assistant", "text": "Water them less, and only in the morning."},
    ],
}


def noted(text: str, **more: str) -> dict[str, Any]:
    """A fact that the model finds in the first turn."""
    return {"do": "add", "facts": [], "text": text, "about": "user", "turns": [1], **more}


FACTS = json.dumps(
    {
        "changes": [
            noted("User has a cat called Miso.", kind="state"),
            noted("Miso is three years old.", about="Miso", kind="state"),
            noted("User flies to Kyoto in April.", kind="plan"),
            noted("User loves green tea.", kind="preference"),
        ],
        "topics": [{"topic": "A cat", "first": 1, "last": 2, "summary": "User has a cat, Miso."}],
    }
)


def claude_zip() -> bytes:
    """An export as Claude mails it: other files lie beside the conversations."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("users.json", json.dumps([{"uuid": "u", "full_name": "Ana"}]))
        packed.writestr("projects.json", "[]")
        packed.writestr("conversations.json", json.dumps([CLAUDE]))
    return file.getvalue()


async def remembered(window: Window) -> None:
    """One conversation is had and ended, and its facts are in the memory."""
    page = window.page
    window.bench.replier.answers.append(REPLY)
    window.bench.iterator.answers.append(FACTS)
    await window.go("chat")
    await window.say(SAID)
    await expect(page.locator(".said.assistant .text")).to_have_text(REPLY)
    await page.click("#end-talk")
    await expect(page.locator("#panel-memory .fact")).to_have_count(4)


async def on_chart(page: Page, share: float) -> dict[str, tuple[float, float]]:
    """What is named where the pointer goes down the chart, so far from its left edge."""
    over = page.locator("#panel-events .u-over")
    await over.scroll_into_view_if_needed()
    box = await over.bounding_box()
    assert box is not None
    named: dict[str, tuple[float, float]] = {}
    x = box["x"] + share * box["width"]
    for step in range(int(box["height"] // 4)):
        y = box["y"] + 2 + 4 * step
        await page.mouse.move(x, y)
        named.setdefault(await page.locator("#under-pointer").inner_text(), (x, y))
    return named


async def written(line: Locator) -> str:
    """The text of an element."""
    return (await line.inner_text()).strip()


@FOUR
async def test_the_first_day(opened: Open) -> None:
    """Chat, groups of facts, memos, curves, timeline, reasons, cost, an import, the erasure."""
    window = await opened(settings=DEFAULTS, reduced_motion="reduce")
    await window.enter()
    page = window.page
    await page.evaluate(AXE)

    async def sound(stop: str) -> None:
        assert await faults(page) == [], stop
        assert await too_wide(page) == [], stop

    await sound("the welcome")
    for view in VIEWS:  # before anything is known, every tab invites and none wants a setting
        await window.go(view)
        empty = await written(page.locator(f"#panel-{view} .empty").first)
        assert not re.search(r"[A-Z]+_[A-Z]+|settings|does not write", empty), view
        await sound(f"{view}, empty")

    await remembered(window)
    await expect(page.locator(".toast")).to_be_visible()
    assert await beneath(page, ".toast") == []
    await sound("the chat, with a notice")

    await window.go("memory")
    await expect(page.locator("#panel-memory")).to_contain_text("You love green tea.")
    await page.locator("#panel-memory .fact > button").first.click()
    await expect(page.locator("#panel-memory .quote p").first).to_have_text(SAID)
    await sound("memory")

    await window.go("facts")
    groups = ["About you", "Plans and promises", "What you like", "People and animals in your life"]
    await expect(page.locator("#panel-facts h3")).to_have_text(groups)
    tea = page.locator(".known").filter(has_text="You love green tea.")
    await tea.locator("> button").click()
    await expect(tea.locator(".quote p")).to_have_text(SAID)
    await sound("facts")
    await page.get_by_role("button", name="Timeline").click()
    await expect(page.locator(".moment")).to_have_count(4)
    await sound("timeline")

    await window.go("memos")
    await expect(page.locator("#panel-memos .card")).to_contain_text("You have a cat, Miso.")
    await sound("memos")

    await window.go("events")
    await expect(page.locator(".happened")).to_have_count(4)
    await expect(page.locator("#panel-events")).to_contain_text("You fly to Kyoto in April 2026.")
    await drawn(page.locator("#panel-events canvas"), 500)
    await expect(page.locator("#recall-effect")).to_contain_text("stay")
    await sound("events")

    window.bench.replier.answers.append("Three years already!")
    await window.press("#new-talk")
    await window.say("How old is Miso?")
    await expect(page.locator(".said.assistant .text").last).to_have_text("Three years already!")
    await window.go("why")
    await expect(page.locator("#panel-why .card").first).to_contain_text("Miso")
    await sound("why")
    await window.go("cost")
    await expect(page.locator("#panel-cost tbody tr")).to_have_count(3)  # and the index
    await sound("cost")

    await page.evaluate(DROP, ["data-2026-01-05.zip", b64encode(claude_zip()).decode()])
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("This came in")
    await expect(dialog.locator(".receipt dd")).to_have_text(["1", "2"])
    await expect(page.locator("#import-ask")).to_contain_text("What did we say about “A garden”?")
    await sound("the import")
    await page.get_by_role("button", name="Erase everything").click()
    await dialog.get_by_role("button", name="Erase everything").click()
    await expect(dialog).to_contain_text("Here is the receipt")
    await sound("the receipt")
    await dialog.get_by_role("button", name="Close").click()
    await window.go("chat")
    await expect(page.locator(".welcome")).to_be_visible()
    assert await window.bench.memory().users() == ()


async def test_memos_and_curves_come_without_a_call_of_their_own(opened: Open) -> None:
    """One call a session writes all of it, and a recall in a later chat lifts the curve."""
    window = await opened(settings=DEFAULTS)
    await window.enter()
    page = window.page
    await remembered(window)
    assert len(window.bench.iterator.requests) == 1
    tea = page.locator(".happened").filter(has_text="You love green tea.")
    await window.go("events")
    await expect(tea).to_contain_text("never recalled")
    window.bench.replier.answers.append("Green tea.")
    await window.go("chat")
    await window.say("Do you know which tea I love? Green tea?")
    await expect(page.locator(".said.assistant .text").last).to_have_text("Green tea.")
    await window.go("events")
    await expect(tea).to_contain_text("recalled 1×")


async def test_the_event_under_the_pointer_is_named(demo: Window) -> None:
    """With its chance on that day; a click on the line chooses it; elsewhere nothing is named."""
    window, page = demo, demo.page
    await window.go("events")
    events = await page.locator(".happened .text").all_inner_texts()
    named = await on_chart(page, 0.9)
    assert "Point at a line, or tap it, to see what it is." in named
    lines = {text: place for text, place in named.items() if not text.startswith("Point at")}
    found = {event for text in lines for event in events if text.startswith(event)}
    assert len(found) >= 2
    assert all(re.search(r" \d+ ?%, in ", text) for text in lines)
    text, place = list(lines.items())[-1]
    await page.mouse.click(*place)
    await expect(page.locator("#panel-events .chosen")).to_have_text(text.split(". ")[0] + ".")


async def test_what_a_recall_would_do_is_what_it_does(demo: Window) -> None:
    """The month that is foretold for an event is the one it has after the recall; and however far
    the chart looks ahead, it is the same month."""
    page = demo.page
    await demo.go("events")
    effect, paw = page.locator("#recall-effect"), page.locator("[data-event=demo-paw]")
    await paw.locator("> button").click()
    said = await written(effect)
    foretold = re.fullmatch(
        r"If it came to mind today, it would stay in reach until (.+); otherwise until (.+)\.", said
    )
    assert foretold, said
    then, otherwise = foretold.groups()
    await page.get_by_role("button", name="10 years").click()
    await expect(page.get_by_role("button", name="10 years")).to_have_attribute(
        "aria-pressed", "true"
    )
    await expect(effect).to_have_text(said)
    await expect(paw).to_contain_text("never recalled")
    demo.bench.replier.answers.append("Poor thing.")
    await demo.say(await written(paw.locator(".text")))
    await demo.go("events")
    await expect(paw).to_contain_text("recalled 1×")
    await paw.locator("> button").click()
    await expect(effect).to_contain_text(f"until {then}")
    await expect(effect).not_to_contain_text(otherwise)


@FOUR
async def test_a_notice_covers_nothing(demo: Window) -> None:
    """On any tab and in the chat the rest makes room for it."""
    window, page = demo, demo.page
    show = "import('/page/js/dom.js').then(({ toast }) => toast('Pinned: it stays.'.repeat(4)))"
    for view in ("chat", *VIEWS):
        await window.go(view)
        await page.evaluate(show)
        await expect(page.locator(".toast")).to_be_visible()
        assert await beneath(page, ".toast") == [], view
        assert await too_wide(page) == [], view
        await window.end_notices()
        await expect(page.locator(".toast")).to_have_count(0)


@ON_PHONE
async def test_korean_wraps_between_words(opened: Open) -> None:
    """On a phone, in the chat and on every tab."""
    window = await opened(locale="ko-KR")
    await window.demo("ko")
    page = window.page
    wrapped = "#panel-{} :is(.text, p, h2, .empty)"
    for view in VIEWS:
        await window.go(view)
        await expect(page.locator(f"#panel-{view} h2").first).to_be_visible()
        assert await cut_words(page, wrapped.format(view)) == [], view
    await window.go("chat")
    assert await cut_words(page, ".said .text") == []
    plain = ":lang(ko) { word-break: normal !important }"
    await page.evaluate("(rule) => document.styleSheets[0].insertRule(rule)", plain)
    cut = await cut_words(page, ".said .text")
    for view in VIEWS:
        await window.go(view)
        cut += await cut_words(page, wrapped.format(view))
    assert cut != []  # so it would be, were it not for the style

"""Somebody quick: another conversation or person is chosen, or a key pressed, before the answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from omoide import Speaker, Utterance
from omoide.errors import ModelUnavailable
from omoide.transfer import read_values

from .conftest import ON_DESK, Gate

if TYPE_CHECKING:
    from playwright.async_api import Route

    from .conftest import Window

playwright = pytest.importorskip("playwright.async_api", reason="pip install playwright")
expect = playwright.expect
pytestmark = pytest.mark.asyncio(loop_scope="session")

HELLO = [{"role": "user", "content": "Hello."}]


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


@ON_DESK
async def test_a_reply_that_begins_late_leaves_the_conversation_that_is_shown(demo: Window) -> None:
    """Its title, and what "delete" would delete, are those of what was opened meanwhile."""
    page, late = demo.page, Late()
    await page.route("**/api/reply*", late)
    demo.bench.replier.answers.append("Good morning.")
    await demo.say("Hello there!")
    await late.asked.wait()
    await demo.press("#talks [data-talk='2']")
    await expect(page.locator(".said.user").first).not_to_contain_text("Hello there!")
    title = await page.locator("#talk-title").inner_text()
    late.go.set()
    await expect(page.locator("#send")).to_be_visible()
    await expect(page.locator("#talk-title")).to_have_text(title)
    await expect(page.locator("#talks [data-talk='6']")).to_have_attribute("aria-current", "false")


@ON_DESK
async def test_a_failure_is_not_told_in_a_conversation_that_was_opened_since(demo: Window) -> None:
    """To try again there would put the message where it was not said."""
    demo.expected = ("502",)
    page, late = demo.page, Late()
    await page.route("**/api/reply*", late)
    demo.bench.replier.answers.append(ModelUnavailable("nobody"))
    await demo.say("Hello there!")
    await late.asked.wait()
    await demo.press("#talks [data-talk='2']")
    await expect(page.locator(".said.user").first).not_to_contain_text("Hello there!")
    late.go.set()
    await expect(page.locator("#toasts")).to_contain_text("What you said is kept")
    await expect(page.locator(".trouble")).to_have_count(0)


@ON_DESK
async def test_a_reply_is_there_for_who_comes_back_before_its_end(demo: Window) -> None:
    """Another conversation was looked at while it came."""
    page, gate = demo.page, Gate("Good morning. How ", "are you?")
    demo.bench.replier.answers.append(gate)
    await demo.say("Hello there!")
    gate.open()
    await expect(page.locator(".said.assistant .text").last).to_contain_text("Good morning.")
    await demo.press("#talks [data-talk='2']")
    await expect(page.locator(".said.user").first).not_to_contain_text("Hello there!")
    await demo.press("#talks [data-talk='6']")
    await expect(page.locator(".said .text")).to_have_text(["Hello there!"])
    gate.open()
    await expect(page.locator(".said .text")).to_have_text(
        ["Hello there!", "Good morning. How are you?"]
    )


@ON_DESK
async def test_a_source_opens_a_conversation_that_is_not_listed_yet(demo: Window) -> None:
    """With its title; and what is said next is not put beneath it."""
    page, memory = demo.page, demo.bench.memory()
    newer = read_values(
        [{"id": f"c{i}", "create_time": 1_790_000_000 + i, "messages": HELLO} for i in range(40)],
        max_chars=10_000,
    ).conversations
    await memory.import_conversations("demo", newer, digest=False)
    await page.reload()
    await demo.ready()
    await demo.go("facts")
    walnuts = page.locator("#panel-facts .known").filter(has_text="allergic to walnuts")
    await walnuts.locator("> button").click()
    await walnuts.locator(".quote").get_by_role("button", name="Open").click()
    await expect(page.locator(".said.flash")).to_contain_text("allergic to walnuts")
    await expect(page.locator("#talk-title")).to_have_text("9 September 2025")
    demo.bench.replier.answers.append("Still here.")
    await demo.say("Are you there?")
    await expect(page.locator(".said .text")).to_have_text(["Are you there?", "Still here."])


@ON_DESK
async def test_what_is_chosen_in_the_palette_stays_when_more_is_found(demo: Window) -> None:
    """What was said comes later than the rest: Enter still takes what the arrows chose."""
    page, late = demo.page, Late()
    await page.route("**/api/recall*", late)
    await demo.search("e")
    await late.asked.wait()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowDown")
    chosen = await page.locator("#found [aria-selected=true]").inner_text()
    late.go.set()
    said = page.locator("#found [role=group]").filter(has_text="What was said")
    await expect(said).to_be_visible()
    assert await page.locator("#found [aria-selected=true]").inner_text() == chosen


@ON_DESK
async def test_a_late_answer_about_one_person_is_not_taken_for_another(demo: Window) -> None:
    """Neither what is known, nor the name in the greeting."""
    page, late = demo.page, Late(user="demo")
    ben = [Utterance(speaker=Speaker.USER, text="I am here.")]
    await demo.bench.memory().record("ben", ben)
    await page.reload()
    await demo.ready()
    await page.route("**/api/facts*", late)
    await demo.go("facts")
    await late.asked.wait()
    await page.select_option("#user", "ben")
    await expect(page.locator("#panel-facts .empty")).to_contain_text("I don't know you yet.")
    async with page.expect_response(lambda answer: "user=demo" in answer.url):
        late.go.set()
    await page.click("#new-talk")
    await expect(page.locator(".welcome h2")).to_have_text("Good to see you again")


@ON_DESK
async def test_a_panel_waits_for_the_person_chosen_last(demo: Window) -> None:
    """The memos of the one before come while the conversations of the next are awaited."""
    page, memos, talks = demo.page, Late(user="demo"), Late(user="ben")
    await page.route("**/api/memos*", memos)
    await page.route("**/api/sessions/latest*", talks)
    await demo.bench.memory().record("ben", [Utterance(speaker=Speaker.USER, text="I am here.")])
    await page.reload()
    await memos.asked.wait()
    await page.select_option("#user", "ben")
    await talks.asked.wait()
    async with page.expect_response(lambda answer: "/api/memos" in answer.url):
        memos.go.set()
    await expect(page.locator("#panel-memos")).to_have_text("One moment…")
    talks.go.set()
    await expect(page.locator("#panel-memos .empty")).to_contain_text("No memos yet.")


@ON_DESK
async def test_conversations_go_with_the_person_before(demo: Window) -> None:
    """While those of the next are awaited nothing can be deleted: it would be another's."""
    page, late = demo.page, Late(user="ben")
    await page.route("**/api/sessions/latest*", late)
    await demo.bench.memory().record("ben", [Utterance(speaker=Speaker.USER, text="I am here.")])
    await page.reload()
    await demo.ready()
    await expect(page.locator("#delete-talk")).to_be_visible()
    await page.select_option("#user", "ben")
    await late.asked.wait()
    await expect(page.locator("#delete-talk")).to_be_hidden()
    await expect(page.locator("#talks [data-talk]")).to_have_count(0)
    await expect(page.locator(".said")).to_have_count(0)
    late.go.set()
    await expect(page.locator(".said .text")).to_have_text(["I am here."])
    await expect(page.locator("#delete-talk")).to_be_visible()

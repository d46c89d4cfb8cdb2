"""Talking: streaming, stopping, sessions, users, keys, keyboard, phone, light, dark, languages."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Literal

import pytest

from omoide.errors import ModelUnavailable
from omoide.server.keys import Scope

from .conftest import ON_DESK, ON_PHONE, Gate
from .looking import cut_words

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from playwright.async_api import Route

    from .conftest import Window

playwright = pytest.importorskip("playwright.async_api", reason="pip install playwright")
expect = playwright.expect
pytestmark = pytest.mark.asyncio(loop_scope="session")

LANGUAGES = {
    "en": ("Memory", "Remove the demo"),
    "zh": ("记忆", "移除演示"),
    "ja": ("記憶", "デモを削除"),
    "ko": ("기억", "데모 지우기"),
    "vi": ("Ký ức", "Xóa bản demo"),
}
"""What the first tab and the button of the demo say."""


async def test_a_reply_is_seen_as_it_comes(window: Window) -> None:
    """Each piece when it is there, announced politely, and recorded in the end."""
    gate = Gate("Good morning. How ", "are you, ", "Ana?")
    window.bench.replier.answers.append(gate)
    page = window.page
    await window.say("Hello, I am Ana.")
    reply = page.locator(".said.assistant")
    await expect(reply).to_contain_text("Thinking")
    await expect(reply).to_have_attribute("aria-busy", "true")
    gate.open()
    await expect(reply.locator(".text")).to_have_text("Good morning.")
    await expect(page.locator("#stop")).to_be_visible()
    gate.open(2)
    await expect(reply.locator(".text")).to_have_text("Good morning. How are you, Ana?")
    await expect(page.locator("#send")).to_be_visible()
    await expect(reply).to_have_attribute("aria-busy", "false")
    await expect(page.locator("#log")).to_have_attribute("aria-live", "polite")
    await expect(page.locator("#talks button .opening")).to_have_text("Hello, I am Ana.")
    said = [turn.text for turn in await window.bench.memory().turns("me")]
    assert said == ["Hello, I am Ana.", "Good morning. How are you, Ana?"]


async def test_what_is_said_before_the_page_is_ready_stays(window: Window) -> None:
    """A slow list of conversations does not draw over it, and what was said before is there too."""
    page, listed = window.page, asyncio.Event()

    async def late(route: Route) -> None:
        await listed.wait()
        await route.continue_()

    window.bench.replier.answers += ["Hello!", "I do."]
    await window.say("Hi, I am Ana.")
    await expect(page.locator(".said.assistant .text")).to_have_text("Hello!")
    await page.route("**/api/sessions/latest*", late)
    await page.reload()
    await expect(page.locator("#user")).to_have_value("me")
    await window.say("Do you know me?")
    await expect(page.locator("#stop")).to_be_visible()
    assert len(await window.bench.memory().turns("me")) == 2
    listed.set()
    await expect(page.locator(".said .text")).to_have_text(
        ["Hi, I am Ana.", "Hello!", "Do you know me?", "I do."]
    )
    await expect(page.locator("#say")).to_have_value("")


async def test_what_is_said_before_the_person_is_known_is_sent(window: Window) -> None:
    """The list of people is slow; the field is there at once."""
    page, known = window.page, asyncio.Event()

    async def late(route: Route) -> None:
        await known.wait()
        await route.continue_()

    window.bench.replier.answers.append("Hello!")
    await page.route("**/api/users*", late)
    await page.reload()
    await page.wait_for_function("document.getElementById('say').placeholder")
    await page.fill("#say", "Hi, I am Ana.")
    await page.press("#say", "Enter")
    await expect(page.locator("#stop")).to_be_visible()
    known.set()
    await expect(page.locator(".said .text")).to_have_text(["Hi, I am Ana.", "Hello!"])


async def test_a_reply_can_be_stopped_and_is_kept_so_far(window: Window) -> None:
    """By the button, and by Escape."""
    page, reply = window.page, window.page.locator(".said.assistant .text")
    for i, (stop, shown) in enumerate((("button", "One is first."), ("Escape", "Blue sky today."))):
        gate = Gate(f"{shown} Two ", "three. ", "Four.")
        window.bench.replier.answers.append(gate)
        await window.say("Count.")
        gate.open()
        await expect(reply.nth(i)).to_have_text(shown)
        if stop == "button":
            await page.click("#stop")
        else:
            await page.keyboard.press("Escape")
        await expect(page.locator("#send")).to_be_visible()
        await expect(page.locator(".said.broken .meta").nth(i)).to_contain_text("stopped by you")
    await page.reload()
    await window.ready()
    await expect(page.locator(".said.assistant")).to_have_count(2)


async def test_a_model_that_fails_is_told_kindly_and_can_be_tried_again(window: Window) -> None:
    """What was said is recorded once."""
    window.expected = ("502",)
    window.bench.replier.answers += [ModelUnavailable("nobody answers there"), "Here I am."]
    await window.say("Anyone?")
    trouble = window.page.locator(".trouble")
    await expect(trouble).to_contain_text("What you said is kept")
    await expect(trouble).to_contain_text("nobody answers there")
    await trouble.get_by_role("button", name="Try again").click()
    await expect(window.page.locator(".said.assistant .text")).to_have_text("Here I am.")
    await expect(trouble).to_have_count(0)
    said = [turn.text for turn in await window.bench.memory().turns("me")]
    assert said == ["Anyone?", "Here I am."]


async def test_a_server_that_is_gone_is_told_kindly(window: Window) -> None:
    """With what to look for."""
    window.expected = ("ERR_INTERNET_DISCONNECTED",)
    await window.page.context.set_offline(True)
    await window.say("Hello?")
    await expect(window.page.locator(".trouble")).to_contain_text("omoide serve still running")
    await window.page.context.set_offline(False)
    window.bench.replier.answers.append("There you are.")
    await window.page.get_by_role("button", name="Try again").click()
    await expect(window.page.locator(".said.assistant .text")).to_have_text("There you are.")


async def test_sessions_are_listed_by_date(demo: Window) -> None:
    """Each opens what was said in it; a message after an old one begins a new one."""
    page = demo.page
    await expect(await demo.side("#talks h2")).to_have_text(
        ["Last 7 days", "December 2025", "November 2025", "October 2025", "September 2025"]
    )
    await page.locator("#talks button").last.click()
    await expect(page.locator("#talk-title")).to_have_text("9 September 2025")
    await expect(page.locator(".said").first).to_contain_text("I'm Nadia")
    demo.bench.replier.answers.append("Hello again.")
    await demo.say("Good morning!")
    await expect(page.locator(".said.assistant .text")).to_have_text("Hello again.")
    await expect((await demo.side("#talks h2")).first).to_have_text("Today")
    await expect(page.locator("#talks button").first).to_contain_text("open")
    await demo.press("#new-talk")
    await expect(page.locator(".welcome")).to_be_visible()
    await expect(page.locator("#talks .open-dot")).to_have_count(0)


async def test_everyone_has_a_memory_of_their_own(demo: Window) -> None:
    """A person is added by a name, and chosen from the list."""
    page = demo.page
    await demo.press("#add-user")
    await expect(page.get_by_role("dialog").locator("input")).to_be_focused()
    await page.keyboard.type("Ana <b>")
    await page.keyboard.press("Enter")
    await expect(page.locator(".welcome h2")).to_have_text("A friend who remembers")
    await expect(page.locator("#panel-memory")).to_contain_text("Nothing yet")
    demo.bench.replier.answers.append("Hi Ana.")
    await demo.say("Hi!")
    await expect(page.locator(".said.assistant .text")).to_have_text("Hi Ana.")
    await (await demo.side("#user")).select_option("demo")
    await expect(page.locator("#panel-memory")).to_contain_text("Biscuit")
    await (await demo.side("#user")).select_option("Ana <b>")
    await expect(page.locator(".said .text")).to_have_text(["Hi!", "Hi Ana."])
    assert sorted(await demo.bench.memory().users()) == ["Ana <b>", "demo"]


async def test_words_are_never_markup(window: Window) -> None:
    """Neither the user's nor the model's, nor in the list, nor in the reasons."""
    evil = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'
    window.bench.replier.answers += [evil, evil]  # an echo is asked for once more
    await window.say(evil)
    page = window.page
    await expect(page.locator(".said.assistant .text")).to_have_text(evil)
    await expect(page.locator("#talks .opening")).to_contain_text("<img")
    await window.go("why")
    await expect(page.locator("#panel-why")).to_contain_text("<img")
    assert await page.evaluate("window.hacked") is None
    assert await page.locator(".said img, .said script").count() == 0


async def test_with_keys_the_page_asks_for_one(
    opened: Callable[..., Awaitable[Window]],
) -> None:
    """Keeps it in this tab only, asks again for a wrong one, and says what a weak one lacks."""
    window = await opened(keys=True)
    window.expected = ("401", "403")
    page = window.page
    await page.goto(window.url)
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("omoide keys create")
    await expect(dialog.locator("input")).to_be_focused()
    await page.keyboard.type("omo_wrong")
    await page.keyboard.press("Enter")
    await expect(dialog.locator("input")).to_have_value("")
    weak = window.bench.key("default", Scope.READ, Scope.WRITE)["Authorization"].split()[1]
    await page.keyboard.type(weak)
    await page.keyboard.press("Enter")
    await window.ready()
    await window.press("#demo")
    await expect(page.locator("#panel-memory")).to_contain_text("Biscuit")
    stores = await page.evaluate("[{...sessionStorage}, {...localStorage}]")
    assert weak in json.dumps(stores[0])
    assert weak not in json.dumps(stores[1])
    await window.press("#demo")
    await page.get_by_role("dialog").get_by_role("button", name="Remove the demo").click()
    await expect(page.locator(".toast").last).to_contain_text("may not do that")
    await window.press("#leave")
    await expect(page.get_by_role("dialog")).to_be_visible()


@ON_DESK
async def test_everything_can_be_done_by_keyboard(demo: Window) -> None:
    """The skip link, a message, the tabs, a sentence's sources and a dialog."""
    page, press = demo.page, demo.page.keyboard.press
    await page.reload()
    await demo.ready()
    await press("Tab")
    await expect(page.locator(".skip")).to_be_focused()
    await press("Enter")
    await expect(page.locator("#say")).to_be_focused()
    outline = "getComputedStyle(document.activeElement.closest('form')).borderColor"
    focused = await page.evaluate(outline)
    demo.bench.replier.answers.append("Hello.")
    await page.keyboard.type("Hi")
    await press("Enter")
    await expect(page.locator(".said.assistant .text")).to_have_text("Hello.")
    await page.locator("#tab-memory").focus()
    assert await page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert focused != await page.evaluate(
        "getComputedStyle(document.querySelector('#composer')).borderColor"
    )
    await press("ArrowRight")
    await expect(page.locator("#tab-facts")).to_be_focused()
    await expect(page.locator("#panel-facts")).to_be_visible()
    await press("Home")
    await press("Tab")
    await press("Tab")
    await press("Tab")
    await expect(page.locator("#version")).to_be_focused()
    await press("ArrowLeft")
    await expect(page.locator("#panel-memory output")).to_have_text("Version 4 of 5")
    await expect(page.locator("#version")).to_be_focused()
    await press("ArrowRight")
    await expect(page.locator("#panel-memory output")).to_have_text("Version 5 of 5")
    await press("Tab")
    await press("Enter")
    await expect(page.locator(".fact .quote").first).to_be_visible()
    await page.get_by_role("button", name="Correct").first.focus()
    await press("Enter")
    await expect(page.get_by_role("dialog").locator("textarea")).to_be_focused()
    await press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)


@ON_PHONE
async def test_it_works_on_a_phone(demo: Window) -> None:
    """One part at a time, by the dock; the rest in a drawer; nothing wider than the screen."""
    window, page = demo, demo.page
    wide = "document.documentElement.scrollWidth > innerWidth"
    for view in ("memory", "memos", "events", "why", "cost"):
        await page.tap(f"#dock [data-view={view}]")
        await expect(page.locator(f"#panel-{view} h2").first).to_be_visible()
        await expect(page.locator("#chat")).to_be_hidden()
        assert not await page.evaluate(wide)
        assert not await page.evaluate(
            f"document.getElementById('panel-{view}').scrollWidth > innerWidth"
        )
    await page.tap("#dock [data-view=memory]")
    await page.locator(".fact > button").first.tap()
    await page.locator(".quote").get_by_role("button", name="Open").first.tap()
    await expect(page.locator("#chat")).to_be_visible()
    await expect(page.locator(".said.flash")).to_contain_text("bind and restore old books")
    await expect(page.locator("#side")).not_to_be_in_viewport()
    await page.tap("#open-side")
    await expect(page.locator("#close-side")).to_be_focused()
    await page.locator("#talks button").first.tap()
    await expect(page.locator("#side")).not_to_be_in_viewport()
    window.bench.replier.answers.append("On the go?")
    await page.fill("#say", "Hello from the tram")
    await page.tap("#send")
    await expect(page.locator(".said.assistant .text").last).to_have_text("On the go?")


async def test_it_is_light_or_dark(window: Window) -> None:
    """As the system says, unless the switch says otherwise; the choice is kept."""
    page, body = window.page, window.page.locator("body")
    paper = {"light": "rgb(250, 246, 239)", "dark": "rgb(26, 23, 21)"}
    system = window.look.scheme
    other: Literal["light", "dark"] = "light" if system == "dark" else "dark"
    await expect(body).to_have_css("background-color", paper[system])
    await page.emulate_media(color_scheme=other)
    await expect(body).to_have_css("background-color", paper[other])
    await (await window.side("#theme")).select_option(system)
    await expect(body).to_have_css("background-color", paper[system])
    await page.reload()
    await window.ready()
    await expect(body).to_have_css("background-color", paper[system])
    await (await window.side("#theme")).select_option("auto")
    await expect(body).to_have_css("background-color", paper[other])


async def test_it_speaks_five_languages(opened: Callable[..., Awaitable[Window]]) -> None:
    """By the browser's wish, and by the list; every panel has its words."""
    window = await opened(locale="ko-KR")
    await window.demo("ko")
    page = window.page
    await expect(page.locator("#tab-memory")).to_have_text(LANGUAGES["ko"][0])
    for code, (memory, remove) in LANGUAGES.items():
        await (await window.side("#language")).select_option(code)
        await expect(page.locator("html")).to_have_attribute("lang", code)
        await expect(page.locator("#tab-memory")).to_have_text(memory)
        await expect(page.locator("#dock [data-view=memory]")).to_have_text(memory)
        await expect(page.locator("#demo")).to_have_text(remove)
        await window.close_side()
        for tab in ("memory", "facts", "memos", "events", "why", "cost"):
            await window.go(tab)
            await expect(page.locator(f"#panel-{tab} h2").first).to_be_visible()
    await page.reload()
    await window.ready()
    await expect(page.locator("html")).to_have_attribute("lang", "vi")
    await (await window.side("#user")).select_option("me")
    await expect(page.locator(".welcome")).to_be_visible()


@ON_DESK
async def test_dates_have_the_form_of_the_language(demo: Window) -> None:
    """Day and time as they are written there; a title leaves out this year, which is cut else."""
    page = demo.page
    forms = {
        "en": ("3 January", "3 Jan, 17:50"),
        "zh": ("1月3日", "1月3日 17:50"),
        "ja": ("1月3日", "1月3日 17:50"),
        "ko": ("1월 3일", "1월 3일 오후 5:50"),
        "vi": ("3 tháng 1", "3 thg 1, 17:50"),
    }
    for code, (title, hour) in forms.items():
        await page.locator("#language").select_option(code)
        await expect(page.locator("#talk-title")).to_have_text(title)
        await expect(page.locator(".hour").first).to_have_text(hour)


@ON_PHONE
async def test_a_chinese_word_on_a_button_is_not_cut(
    opened: Callable[..., Awaitable[Window]],
) -> None:
    """Chinese breaks anywhere: "Cancel" stays whole beside the notice that a message changes."""
    window = await opened(locale="zh-CN")
    await window.enter()
    window.bench.replier.answers.append("Hello.")
    await window.say("Hi!")
    await expect(window.page.locator(".said.assistant .text")).to_have_text("Hello.")
    await window.page.locator(".said.user .while-open").tap()
    await expect(window.page.locator("#stop-editing")).to_be_visible()
    assert await cut_words(window.page, "#stop-editing") == []


@ON_PHONE
async def test_centred_chinese_breaks_between_words(
    opened: Callable[..., Awaitable[Window]],
) -> None:
    """The greeting, and where a file is dropped: at spaces, commas and full stops."""
    clause = r"[^\s，。]+"
    window = await opened(locale="zh-CN")
    await window.enter()
    assert await cut_words(window.page, ".welcome p", word=clause) == []
    await window.press("#data")
    await expect(window.page.locator(".drop")).to_be_visible()
    assert await cut_words(window.page, ".drop", word=clause) == []

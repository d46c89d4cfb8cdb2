"""What a developer wants to see: memos, events and their curves, reasons, cost, work, the demo."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from omoide import Speaker, Utterance
from omoide.domain import Memo, Owner
from omoide.errors import ModelRefused
from tests.server.serving import CAT, M1

from .looking import drawn

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .conftest import Window

playwright = pytest.importorskip("playwright.async_api", reason="pip install playwright")
expect = playwright.expect
pytestmark = pytest.mark.asyncio(loop_scope="session")


def turns(count: int) -> list[Utterance]:
    """So many messages."""
    return [Utterance(speaker=Speaker.USER, text=f"Turn {i}.") for i in range(count)]


CUE = "Biscuit the greyhound from the shelter"


async def test_the_demo_is_loaded_and_removed_with_one_click(window: Window) -> None:
    """Every panel is filled, and nobody else is touched; no model is asked."""
    page = window.page
    await page.get_by_role("button", name="Look at a demo first").click()
    await expect(page.locator("#user")).to_have_value("demo")
    await expect(page.locator("#talks button")).to_have_count(5)
    await expect(page.locator(".said")).to_have_count(6)
    for tab, what, count in (
        ("memory", ".fact", 8),
        ("memos", ".card", 7),
        ("events", ".happened", 10),
        ("cost", "tbody tr", 6),
    ):
        await window.go(tab)
        await expect(page.locator(f"#panel-{tab} {what}")).to_have_count(count)
    await window.go("why")
    await expect(page.locator("#panel-why .quote")).to_contain_text("hundred metres")
    await window.press("#demo")
    await page.get_by_role("dialog").get_by_role("button", name="Remove the demo").click()
    await expect(page.locator(".welcome")).to_be_visible()
    await expect(page.locator("#demo")).to_have_text("Load the demo")
    assert await window.bench.memory().users() == ()
    assert window.bench.replier.requests == window.bench.iterator.requests == []


async def test_memos_show_summary_compressed_and_original(demo: Window) -> None:
    """By topic, and found by a word."""
    page = demo.page
    await demo.go("memos")
    card = page.locator("#panel-memos .card").filter(has_text="The offer from Porto")
    await expect(card).to_contain_text("A library in Porto offers two years")
    await card.get_by_role("button", name="Compressed").click()
    await expect(card.locator(".body")).to_contain_text("User:")
    await expect(card).to_contain_text("Method")
    await card.get_by_role("button", name="Original").click()
    await expect(card.locator(".quote")).to_have_count(4)
    await expect(card).to_contain_text("% of these characters")
    await page.fill("#panel-memos input", "greyhound")
    await expect(page.locator("#panel-memos .card")).to_have_count(1)
    await page.fill("#panel-memos input", "zebra")
    await expect(page.locator("#panel-memos")).to_contain_text("No memo says that")


async def test_the_original_of_a_memo_is_all_that_it_rests_on(window: Window) -> None:
    """Also the end of a very long conversation, and several conversations that were merged."""
    page, memory = window.page, window.bench.memory()
    said = [
        *await memory.record("me", turns(3), session="a"),
        *await memory.record("me", turns(1_100), session="b"),
    ]
    await memory.end_session("me")
    memo = Memo(
        id="m",
        session=2,
        topic="Turns",
        summary="There were turns.",
        sources=tuple(turn.id for turn in (*said[:2], *said[-300:])),
        time=said[-1].time,
        compressed="Turns.",
        method="merged",
    )
    store = window.bench.server.runtime.store
    unread = replace(memo, id="u", topic="", sources=(said[0].id,), whole=False)
    await store.memos.add(Owner(tenant="default", user="me"), [memo, unread])
    await page.reload()
    await window.ready()
    await window.go("memos")
    await expect(page.locator("#panel-memos h2", has_text="Topic unknown")).to_be_visible()
    card = page.locator("#panel-memos .card", has=page.get_by_role("heading", name="Turns"))
    await card.get_by_role("button", name="Original").click()
    await expect(card.locator(".quote p")).to_have_count(302)
    await expect(card.locator(".quote p").last).to_have_text("Turn 1099.")


async def test_events_stand_on_a_timeline_with_their_curves(demo: Window) -> None:
    """Drawn, told in words, with what is no longer true struck out and the sources at hand."""
    page = demo.page
    await demo.go("events")
    chart = page.locator("#panel-events .chart")
    await drawn(chart.locator("canvas"), 500)
    await expect(chart).to_have_attribute("role", "img")
    event = page.locator("[data-event=demo-allergy]")
    await event.locator("> button").click()
    await expect(chart).to_have_attribute("aria-label", re.compile("allergic to walnuts"))
    await expect(event.locator(".quote")).to_contain_text("walnut biscuits")
    # Another event took its place, its fact ended.
    for over, since in (("lisbon", "17 Dec 2025"), ("canal", "14 Oct 2025")):
        gone = page.locator(f"[data-event=demo-{over}]")
        await expect(gone).to_contain_text(f"no longer true since {since}")
        await expect(gone).to_have_class(re.compile("gone"))
    await expect(page.locator("[data-event=demo-paw]")).not_to_have_class(re.compile("gone"))
    await page.get_by_role("button", name="10 years").click()
    await expect(chart).to_have_attribute("aria-label", re.compile("3650 days"))


async def test_an_event_without_a_curve_has_no_figures(demo: Window) -> None:
    """Of many events the newest are drawn: nothing is said of how the others fade, nor of one that
    is no longer true."""
    page, store = demo.page, demo.bench.server.runtime.store
    owner = Owner(tenant="default", user="demo")
    (event,) = await store.events.read(owner, ids=["demo-biscuit"])
    now = demo.bench.clock.now()
    later = [replace(event, id=f"lap-{i}", text=f"User ran lap {i}.", time=now) for i in range(40)]
    await store.events.add(owner, later)
    await page.reload()
    await demo.ready()
    await demo.go("events")
    effect = page.locator("#recall-effect")
    await page.locator("[data-event=lap-39] > button").click()
    await expect(effect).not_to_be_empty()
    await page.locator("#panel-events").evaluate("(panel) => { panel.scrollTop = 1e6; }")
    oldest = page.locator("[data-event=demo-allergy]")
    await expect(oldest).to_contain_text("recalled")
    await expect(oldest).not_to_contain_text("0% now")
    await expect(oldest).not_to_contain_text("stays in reach")
    await page.locator("[data-event=demo-lisbon] > button").click()
    await expect(effect).to_be_empty()


async def test_an_event_is_out_of_reach_on_the_same_day_in_every_span(demo: Window) -> None:
    """Ten years are drawn by fewer points a year: the day is read between them."""
    page = demo.page
    await demo.go("events")
    cake = page.locator(".happened").filter(has_text="bake a cake")
    for span in ("1 year", "10 years", "3 years"):
        await page.locator("#panel-events .choice").get_by_text(span, exact=True).click()
        await expect(page.locator("#panel-events .choice [aria-pressed=true]")).to_have_text(span)
        await expect(cake).to_contain_text("out of reach in 10 months")


async def test_a_recall_lifts_the_curve_at_once(demo: Window) -> None:
    """The event that came to mind is chosen, and drawn as it was and as it is."""
    page = demo.page
    await demo.go("events")
    event = page.locator("[data-event=demo-biscuit]")
    await expect(event).to_contain_text("recalled 3×")
    demo.bench.replier.answers.append("She is the best.")
    await demo.say(CUE)
    if demo.look.phone:  # one tab at a time
        await demo.go("events")
    await expect(event).to_contain_text("recalled 4×")
    await demo.go("events")
    await expect(event.locator("> button")).to_have_attribute("aria-pressed", "true")
    await expect(page.locator("#panel-events .key")).to_contain_text("before the last recall")


async def test_why_something_came_to_mind_is_told_with_its_figures(demo: Window) -> None:
    """r, t, g and p of the moment of the reply, and what was weighed besides; also for a guess."""
    page = demo.page
    demo.bench.replier.answers.append("She is the best.")
    await demo.say(CUE)
    await page.get_by_role("button", name="Why?").click()
    panel = page.locator("#panel-why")
    card = panel.locator("> .stack > ul > .card").filter(has_text="adopted a greyhound")
    event = card.filter(has=page.locator(".odds"))
    await expect(event).to_contain_text("still fresh: you told me on 14 October 2025")
    await event.get_by_text("The numbers").click()
    figures = event.locator(".odds dd")
    await expect(figures).to_have_count(4)
    r, t, g, p = await figures.all_inner_texts()
    assert 0.5 < float(r) <= 1
    assert t == "1.6 d"
    assert float(g) == pytest.approx(1.32, abs=0.02)  # as it was before this recall
    assert float(p) > 0.86
    await expect(panel.locator(".others > summary")).to_contain_text("Also considered")
    sentence = panel.locator(".card").filter(has_text="allergic to walnuts")
    await expect(sentence.first).to_contain_text("you told me on 9 September 2025")  # not written
    await expect(panel.locator(".card").filter(has_text="what was said").first).to_be_visible()
    shown = await panel.inner_text()  # words as they were said; a prompt's lines have their dates
    assert not re.search(r"\d{4}-\d\d-\d\d|months ago", shown)
    await page.reload()  # the server remembers
    await demo.ready()
    await demo.go("why")
    await event.get_by_text("The numbers").click()
    await expect(figures).to_have_text([r, t, g, p])
    await page.fill("#try", "a birthday cake for the neighbour")
    await page.click(".try button")
    guess = panel.locator("form .card").filter(has_text="bake a cake")
    await expect(guess.filter(has=page.locator(".odds dt")).first).to_be_visible()


async def test_what_would_come_to_mind_is_what_a_reply_would_get(
    opened: Callable[..., Awaitable[Window]],
) -> None:
    """Also by search alone, and also if nobody remembers what the last reply got: it is looked up
    as for a reply."""
    window = await opened(mechanisms=("summary", "search"))
    await window.enter()
    page = window.page
    await window.bench.memory().record("me", "I adopted a cat called Miso.", session="old")
    await window.bench.memory().record("me", "What is my cat called?", session="new")
    await page.reload()
    await window.ready()
    await window.go("why")
    panel = page.locator("#panel-why")
    await expect(panel.locator(".lead")).to_contain_text("What would come to mind today")
    await expect(panel.locator("> .stack > ul > .card").first).to_contain_text("called Miso")
    await page.fill("#try", "Is my cat Miso well?")
    await page.click(".try button")
    await expect(panel.locator("form .card").first).to_contain_text("called Miso")


async def test_cost_is_told_by_session_and_work_with_its_progress(
    opened: Callable[..., Awaitable[Window]],
) -> None:
    """While a session is taken in, and after."""
    window = await opened(mechanisms=("summary", "search"))
    await window.enter()
    page, gate = window.page, asyncio.Event()

    async def slowly(_: object) -> str:
        await gate.wait()
        return M1

    window.bench.replier.answers.append("A lovely name.")
    window.bench.iterator.answers.append(slowly)
    await window.say(CAT)
    await expect(page.locator(".said.assistant .text")).to_have_text("A lovely name.")
    await page.click("#end-talk")
    await expect(page.locator("#work-pill")).to_contain_text("Remembering: 1")
    await page.click("#work-pill")
    panel = page.locator("#panel-cost")
    await expect(panel.locator("progress")).to_be_visible()
    await expect(panel).to_contain_text("0 of 1 conversations are in memory")
    await expect(panel.locator(".jobs")).to_contain_text("Taking in the conversation of 5 Jan")
    gate.set()
    await expect(panel).to_contain_text("Nothing is under way")
    row = panel.locator("tbody tr").filter(has_text="5 Jan")
    await expect(row.locator("td").first).to_have_text("2")
    await drawn(panel.locator("canvas"), 200)


async def test_work_that_was_given_up_is_tried_again(
    opened: Callable[..., Awaitable[Window]],
) -> None:
    """By a button beside the reason."""
    window = await opened(mechanisms=("summary", "search"))
    await window.enter()
    page = window.page
    window.bench.replier.answers.append("A lovely name.")
    window.bench.iterator.answers += [ModelRefused("the key is wrong"), M1]
    await window.say(CAT)
    await expect(page.locator(".said.assistant .text")).to_have_text("A lovely name.")
    await page.click("#end-talk")
    await expect(page.locator("#work-pill")).to_contain_text("Needs a look: 1")
    await page.click("#work-pill")
    panel = page.locator("#panel-cost")
    await expect(panel.locator(".jobs")).to_contain_text("could not be taken into memory")
    await expect(panel.locator(".jobs")).to_contain_text("The reason: ")
    await expect(panel.locator(".jobs")).to_contain_text("the key is wrong")
    await expect(panel.locator(".jobs")).to_contain_text("The memory stays as it was")
    await expect(panel).to_contain_text("1 of these calls failed. What was said is kept")
    await expect(panel).not_to_contain_text("Under way")  # it waits for somebody
    await expect(panel.locator("progress")).to_have_count(0)
    await panel.get_by_role("button", name="Try again").click()
    await expect(panel).to_contain_text("Nothing is under way")
    assert (await window.bench.memory().summary("me")).text == M1


async def test_empty_panels_say_what_to_do(opened: Callable[..., Awaitable[Window]]) -> None:
    """A newcomer is not left before an empty space."""
    window = await opened(mechanisms=("summary", "search"))
    await window.enter()
    page = window.page
    for tab, words in (
        ("memory", "When a conversation ends"),
        ("memos", "does not write memos"),
        ("events", "does not write events"),
        ("why", "When you talk"),
        ("cost", "No model was asked yet"),
    ):
        await window.go(tab)
        await expect(page.locator(f"#panel-{tab} .empty")).to_contain_text(words)

"""Replies in Markdown, and what can be done with a message: copy, another reply, edit, resend."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omoide.errors import ModelUnavailable

from .conftest import Gate

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .conftest import Window

playwright = pytest.importorskip("playwright.async_api", reason="pip install playwright")
expect = playwright.expect
pytestmark = pytest.mark.asyncio(loop_scope="session")

PLAN = """## Your plan

1. **Monday**: swim, see [the pool](https://pool.example/hours)
2. *Tuesday*: rest

```python
print("<b>hi</b>")
```

| day | metres |
|-----|-------:|
| Mon | 100 |
"""
UNSAFE = """[run](javascript:alert(1)) [data](data:text/html,x) <script>window.hacked = 1</script>

![a picture](https://tracker.example/pixel.png) <img src=x onerror="window.hacked = 1">"""


async def test_a_reply_is_shown_as_markdown(window: Window) -> None:
    """Headings, lists, emphasis, tables, code; in the history too."""
    page = window.page
    window.bench.replier.answers.append(PLAN)
    await window.say("Make a **plan**.")
    for _ in range(2):
        reply = page.locator(".said.assistant .text")
        await expect(reply.locator(".heading")).to_have_text("Your plan")
        await expect(reply.locator("ol > li")).to_have_count(2)
        await expect(reply.locator("strong")).to_have_text("Monday")
        await expect(reply.locator("pre code")).to_have_text('print("<b>hi</b>")')
        await expect(reply.locator("td").last).to_have_text("100")
        link = reply.get_by_role("link", name="the pool")
        assert await link.get_attribute("rel") == "noopener noreferrer nofollow"
        assert await link.get_attribute("target") == "_blank"
        await expect(page.locator(".said.user .text")).to_have_text("Make a **plan**.")
        await page.reload()
        await window.ready()


async def test_what_a_reply_could_run_or_load_is_only_text(window: Window) -> None:
    """No script, no unsafe link, no picture whose address carries words away."""
    page = window.page
    window.bench.replier.answers.append(UNSAFE)
    await window.say("Hello.")
    reply = page.locator(".said.assistant .text")
    await expect(reply).to_contain_text("<script>window.hacked = 1</script>")
    await expect(reply).to_contain_text("run data")
    links = await reply.locator("a").evaluate_all("(all) => all.map((a) => a.protocol)")
    assert links == ["https:"]  # the picture, as a link
    assert await reply.locator("img, script").count() == 0
    assert await page.evaluate("window.hacked") is None


async def test_a_streamed_reply_does_not_flicker(window: Window) -> None:
    """What has come stays the same node; emphasis is closed before its end comes."""
    streamed = """async () => {
      const { show } = await import("/page/js/markdown.js");
      const place = document.createElement("div");
      show(place, "First.\\n\\nA **bo", { streaming: true });
      const [first, bold] = [place.firstChild, place.querySelector("strong").textContent];
      show(place, "First.\\n\\nA **bold** word\\n\\n```js\\nlet a;", { streaming: true });
      const [code, whole] = [place.querySelector("pre"), place.querySelector("strong").textContent];
      show(place, "First.\\n\\nA **bold** word\\n\\n```js\\nlet a;\\nlet b;\\n```\\n");
      const same = place.firstChild === first && place.querySelector("pre") === code;
      return [bold, whole, same, code.textContent];
    }"""
    shown = await window.page.evaluate(streamed)
    assert shown == ["bo", "bold", True, "let a;\nlet b;"]


async def test_replies_and_code_are_copied(opened: Callable[..., Awaitable[Window]]) -> None:
    """A reply as it was written, and a code block alone."""
    window = await opened(permissions=["clipboard-read", "clipboard-write"])
    await window.enter()
    page = window.page
    window.bench.replier.answers.append(PLAN)
    await window.say("Plan.")
    read = "navigator.clipboard.readText()"
    await page.locator(".code").get_by_role("button", name="Copy").click()
    await expect(page.locator(".code").get_by_role("button")).to_have_text("Copied")
    assert await page.evaluate(read) == 'print("<b>hi</b>")'
    await page.locator(".said.assistant .under-said").get_by_role("button", name="Copy").click()
    await expect(page.locator(".said.assistant .under-said button").first).to_have_text("Copied")
    assert await page.evaluate(read) == PLAN


async def test_another_reply_takes_the_place_of_the_last(window: Window) -> None:
    """For the last one only, while the conversation is open; stopping at once keeps the former."""
    page, gate = window.page, Gate("never")
    window.bench.replier.answers += ["One.", "Two.", "Three.", gate]
    for text in ("Count.", "Go on."):
        await window.say(text)
        await expect(page.locator("#send")).to_be_visible()
    again = page.get_by_role("button", name="Another reply")
    await expect(again.filter(visible=True)).to_have_count(1)
    await again.last.click()
    replies = page.locator(".said.assistant .text")
    await expect(replies).to_have_text(["One.", "Three."])
    await expect(page.locator(".said.user .text")).to_have_text(["Count.", "Go on."])
    assert await window.bench.said("me") == ["Count.", "One.", "Go on.", "Three."]
    await expect(page.locator("#send")).to_be_visible()
    await again.last.click()
    await expect(page.locator("#stop")).to_be_visible()
    await page.click("#stop")
    await expect(replies).to_have_text(["One.", "Three."])
    await page.click("#end-talk")
    await expect(again.filter(visible=True)).to_have_count(0)


async def test_a_message_is_edited_and_sent_again(window: Window) -> None:
    """What followed goes; Escape lets it be, and so does the button."""
    page = window.page
    window.bench.replier.answers += ["In Oslo.", "Yes.", "In Bergen."]
    for text in ("Where is Ana?", "Really?"):
        await window.say(text)
        await expect(page.locator("#send")).to_be_visible()
    first = page.locator(".said.user").first.get_by_role("button", name="Edit")
    for stop in ("Escape", "button"):
        await first.click()
        await expect(page.locator("#editing")).to_be_visible()
        if stop == "button":
            await page.click("#stop-editing")
        else:
            await page.keyboard.press(stop)
        await expect(page.locator("#editing")).to_be_hidden()
        await expect(page.locator("#say")).to_have_value("")
    await first.click()
    await expect(page.locator("#say")).to_have_value("Where is Ana?")
    await window.say("Where is Ben?")
    await expect(page.locator(".said .text")).to_have_text(["Where is Ben?", "In Bergen."])
    assert await window.bench.said("me") == ["Where is Ben?", "In Bergen."]
    await page.reload()
    await window.ready()
    await expect(page.locator(".said .text")).to_have_text(["Where is Ben?", "In Bergen."])


async def test_an_edited_message_that_got_no_reply_is_tried_again_in_its_place(
    window: Window,
) -> None:
    """It is shown once, and the notice goes."""
    page = window.page
    window.expected = ("502",)
    window.bench.replier.answers += ["In Oslo.", ModelUnavailable("nobody"), "In Bergen."]
    await window.say("Where is Ana?")
    await expect(page.locator("#send")).to_be_visible()
    await page.locator(".said.user").get_by_role("button", name="Edit").click()
    await window.say("Where is Ben?")
    await page.locator(".trouble").get_by_role("button", name="Try again").click()
    await expect(page.locator(".said .text")).to_have_text(["Where is Ben?", "In Bergen."])
    await expect(page.locator(".trouble")).to_have_count(0)

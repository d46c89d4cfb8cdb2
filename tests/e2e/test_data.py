"""The person's data: an export brought in, everything saved, everything erased."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import pytest

from .looking import DROP

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from playwright.async_api import Route

    from .conftest import Window

playwright = pytest.importorskip("playwright.async_api", reason="pip install playwright")
expect = playwright.expect
pytestmark = pytest.mark.asyncio(loop_scope="session")


def chat(number: int) -> dict[str, Any]:
    """A conversation as ChatGPT exports it."""
    said = {"content_type": "text", "parts": [f"I plan trip {number} to Kyoto."]}
    answer = {"content_type": "text", "parts": ["How lovely!"]}
    return {
        "conversation_id": f"c{number}",
        "title": f"Trip {number}",
        "create_time": 1_700_000_000.0 + 86_400 * number,
        "current_node": "b",
        "mapping": {
            "a": {
                "id": "a",
                "parent": None,
                "message": {"id": f"a{number}", "author": {"role": "user"}, "content": said},
            },
            "b": {
                "id": "b",
                "parent": "a",
                "message": {"id": f"b{number}", "author": {"role": "assistant"}, "content": answer},
            },
        },
    }


def archive(count: int) -> bytes:
    """A zip as ChatGPT mails it."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("chat.html", "<html></html>")
        packed.writestr("conversations.json", json.dumps([chat(i) for i in range(count)]))
    return file.getvalue()


def given(name: str, body: bytes) -> Any:  # noqa: ANN401 - what Playwright takes
    """A file to choose."""
    return {"name": name, "mimeType": "application/octet-stream", "buffer": body}


async def test_an_export_comes_in_and_can_be_asked_about(
    opened: Callable[..., Awaitable[Window]],
) -> None:
    """In parts, with its titles; what came in is told, and a first question is offered."""
    window = await opened(mechanisms=("search",))
    await window.enter()
    page = window.page
    await page.locator(".welcome").get_by_role("button", name="Bring in an export").click()
    await page.set_input_files("#import-file", given("export.zip", archive(60)))
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("This came in")
    await expect(dialog.locator(".receipt dd")).to_have_text(["60", "120"])
    assert len(await window.bench.memory().turns("me")) == 120
    window.bench.replier.answers.append("You plan to go to Kyoto.")
    await page.click("#import-ask")
    await expect(page.locator("#say")).to_have_value("What did we say about “Trip 59”?")
    await page.press("#say", "Enter")
    await expect(page.locator(".said.assistant .text")).to_have_text("You plan to go to Kyoto.")
    assert "Kyoto" in str(window.bench.replier.requests[-1])
    await expect((await window.side("#talks .opening")).nth(1)).to_have_text("Trip 59")


async def test_an_import_tells_its_progress_and_goes_on_where_it_broke_off(
    opened: Callable[..., Awaitable[Window]],
) -> None:
    """While each part is under way, and after the server was gone; nothing comes in twice."""
    window = await opened(mechanisms=("search",))
    window.expected = ("ERR_FAILED",)
    await window.enter()
    page, parts, gone = window.page, asyncio.Semaphore(0), asyncio.Event()

    async def slowly(route: Route) -> None:
        await parts.acquire()
        await (route.abort() if gone.is_set() else route.continue_())

    await page.route("**/api/import*", slowly)
    await window.press("#data")
    await page.set_input_files("#import-file", given("export.zip", archive(60)))
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("0 of 60 conversations are in")
    await expect(dialog.locator("progress")).to_have_attribute("max", "60")
    parts.release()
    await expect(dialog).not_to_contain_text("0 of 60 conversations are in")
    came = len(await window.bench.memory().turns("me")) // 2
    await expect(dialog).to_contain_text(f"{came} of 60 conversations are in")
    gone.set()
    parts.release()
    await expect(dialog).to_contain_text(f"{came} of 60 came in. Trying again goes on")
    gone.clear()
    for _ in range(60):
        parts.release()
    await dialog.get_by_role("button", name="Try again").click()
    await expect(dialog).to_contain_text("This came in")
    assert len(await window.bench.memory().turns("me")) == 120


async def test_a_file_that_is_no_export_is_told_kindly(window: Window) -> None:
    """And another can be chosen; a file comes in twice without harm."""
    page = window.page
    await window.press("#data")
    await page.set_input_files("#import-file", given("holiday.jpg", b"\xff\xd8\xff\xe0 no"))
    await expect(page.get_by_role("dialog")).to_contain_text("holiday.jpg has no conversations")
    body = json.dumps([chat(1)]).encode()
    for came in (["1", "2"], ["2"]):
        await page.get_by_role("button", name="Bring in another file").click()
        await page.set_input_files("#import-file", given("conversations.json", body))
        await expect(page.locator(".receipt dd")).to_have_text(came)


async def test_the_first_question_is_about_something_that_came_in(window: Window) -> None:
    """Not about a conversation without a message, though it has a title."""
    page = window.page
    empty = {"uuid": "e", "name": "Empty", "chat_messages": []}
    await window.press("#data")
    body = json.dumps([chat(1), empty]).encode()
    await page.set_input_files("#import-file", given("conversations.json", body))
    await expect(page.locator("#import-ask")).to_contain_text("Trip 1")


async def test_a_file_is_dropped_anywhere(window: Window) -> None:
    """The page takes it instead of leaving for it."""
    page = window.page
    body = b64encode(json.dumps([chat(1)]).encode()).decode()
    await page.evaluate(DROP, ["conversations.json", body])
    await expect(page.get_by_role("dialog")).to_contain_text("This came in")


async def test_everything_is_saved_and_erased(demo: Window) -> None:
    """Into one file; then with a receipt, and nothing is left."""
    page = demo.page
    await demo.press("#data")
    async with page.expect_download() as download:
        await page.get_by_role("button", name="Save everything to a file").click()
    saved = await download.value
    assert saved.suggested_filename == "omoide-demo.jsonl"
    await page.get_by_role("button", name="Erase everything").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("cannot be brought back")
    await dialog.get_by_role("button", name="Erase everything").click()
    await expect(dialog).to_contain_text("Here is the receipt")
    await dialog.get_by_role("button", name="Close").click()
    await expect(page.locator(".welcome h2")).to_have_text("A friend who remembers")
    assert await demo.bench.memory().users() == ()

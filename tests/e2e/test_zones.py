"""The page where the day is another one than in UTC, or not 24 hours long."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .conftest import ON_DESK

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .conftest import Window

playwright = pytest.importorskip("playwright.async_api", reason="pip install playwright")
expect = playwright.expect
pytestmark = pytest.mark.asyncio(loop_scope="session")


@ON_DESK
async def test_the_day_of_a_plan_is_the_same_everywhere(
    opened: Callable[..., Awaitable[Window]],
) -> None:
    """It has no time, so it does not begin on the evening before in America."""
    window = await opened(timezone_id="America/Los_Angeles")
    await window.demo()
    await window.go("facts")
    cake = window.page.locator("#panel-facts .known").filter(has_text="lemon cake")
    await expect(cake.locator(".fine").first).to_contain_text("until 10 Jan")


@ON_DESK
async def test_the_slider_counts_days_also_where_the_clock_is_changed(
    opened: Callable[..., Awaitable[Window]],
) -> None:
    """A day of 23 hours, as 5 October 2025 in Sydney, does not move those after it."""
    window = await opened(timezone_id="Australia/Sydney")
    await window.demo()
    page = window.page
    await window.go("facts")
    await page.get_by_role("button", name="Timeline").click()
    for day, date in (("0", "10 September 2025"), ("60", "9 November 2025")):
        await page.fill("#day", day)
        await expect(page.locator("output[for=day]")).to_have_text(date)

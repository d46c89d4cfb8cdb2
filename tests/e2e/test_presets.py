"""How memory works: each paper's method is described on the page, and one is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omoide.presets import PRESETS

if TYPE_CHECKING:
    from .conftest import Window

playwright = pytest.importorskip("playwright.async_api", reason="pip install playwright")
expect = playwright.expect
pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_preset_is_described_and_chosen(demo: Window) -> None:
    """The one that is on is marked; another shows its paper and its departures, and once it is
    chosen the foot of the page says so."""
    page = demo.page
    await demo.press("#preset")
    dialog = page.get_by_role("dialog")
    await expect(dialog.locator("#preset-name")).to_have_value("omoide")
    await expect(dialog.locator("#preset-use")).to_be_disabled()
    await expect(dialog.locator(".badge")).to_be_visible()
    await dialog.locator("#preset-name").select_option("wang2023")
    preset = PRESETS["wang2023"]
    await expect(dialog).to_contain_text(preset.about)
    await expect(dialog).to_contain_text(preset.paper)
    await dialog.locator("summary").click()
    await expect(dialog.locator("details li")).to_have_count(len(preset.departures))
    await dialog.locator("#preset-use").click()
    await expect(dialog.locator(".badge")).to_be_visible()
    await expect(page.locator("#preset")).to_contain_text("wang2023")
    assert await demo.bench.memory().preset("demo") == "wang2023"
    assert await demo.bench.memory().preset("me") == "omoide"

"""How a test looks at the page: what axe finds, what is too wide, what lies over what."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .conftest import until

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text("utf-8")
INK = """(canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let ink = 0;
  for (let i = 3; i < data.length; i += 4) ink += data[i] > 0;
  return ink;
}"""
"""How many pixels of a canvas are drawn on."""

TOO_WIDE = """() => {
  const wide = (one) => one.scrollWidth > one.clientWidth + 1;
  const inner = document.querySelectorAll(".panel.on, #scroll, dialog[open]");
  const places = [document.documentElement, ...inner];
  return places.filter(wide).map((one) => one.id || one.tagName);
}"""

BENEATH = """(selector) => {
  const found = new Set();
  for (const one of document.querySelectorAll(selector)) {
    const box = one.getBoundingClientRect();
    for (let x = box.left + 2; x < box.right; x += 8)
      for (let y = box.top + 2; y < box.bottom; y += 8)
        for (const hit of document.elementsFromPoint(x, y))
          if (!hit.contains(one) && !one.contains(hit)) found.add(hit.id || hit.outerHTML);
  }
  return [...found];
}"""

OUT_OF_REACH = """(least) => {
  const open = document.querySelector("dialog[open]") ?? document.querySelector(".side-open .side");
  const controls = "button, a[href], input, select, textarea, summary, [role=option], label.drop";
  const found = [];
  for (const one of (open ?? document).querySelectorAll(controls)) {
    if (!one.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    if (one.matches(".skip, .unseen")) continue;
    one.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    const named = one.id || one.textContent.slice(0, 40) || one.outerHTML.slice(0, 80);
    const box = (one.closest("label") ?? one).getBoundingClientRect();
    if (Math.round(Math.min(box.width, box.height)) < least && !one.matches("a"))
      found.push(`${named}: ${Math.round(box.width)} x ${Math.round(box.height)}`);
    const hit = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    if (!hit || !(one.contains(hit) || hit.closest("label")?.control === one))
      found.push(`${named}: under ${hit?.outerHTML.slice(0, 80)}`);
  }
  return found;
}"""
"""The controls that are too small, or that something else lies over where one would press."""

CUT_WORDS = """([selector, word]) => {
  const cut = [];
  for (const place of document.querySelectorAll(selector)) {
    const texts = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const node = texts.currentNode;
      for (const found of node.data.matchAll(new RegExp(word, 'gu'))) {
        const range = document.createRange();
        range.setStart(node, found.index);
        range.setEnd(node, found.index + found[0].length);
        const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
        if (lines.size > 1) cut.push(found[0]);
      }
    }
  }
  return cut;
}"""

DROP = """([name, bytes]) => {
  const carried = new DataTransfer();
  carried.items.add(new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], name));
  for (const type of ["dragover", "drop"])
    document.body.dispatchEvent(
      new DragEvent(type, { dataTransfer: carried, bubbles: true, cancelable: true }));
}"""
"""Drops a file, given in base64, on the page."""


async def faults(page: Page) -> list[str]:
    """What axe finds, one line each. The page must have loaded `AXE`."""
    found: dict[str, Any] = await page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{fault['id']} ({fault['impact']}): {node['target']} {node.get('failureSummary', '')}"
        for fault in found["violations"]
        for node in fault["nodes"]
    ]


async def too_wide(page: Page) -> list[str]:
    """The parts of the page that must be scrolled sideways."""
    return list(await page.evaluate(TOO_WIDE))


async def beneath(page: Page, selector: str) -> list[str]:
    """What lies under or over the elements without being a part of them."""
    return list(await page.evaluate(BENEATH, selector))


async def out_of_reach(page: Page, least: int) -> list[str]:
    """The controls that are smaller than so many pixels, or lie beneath something else."""
    return list(await page.evaluate(OUT_OF_REACH, least))


async def cut_words(page: Page, selector: str, *, word: str = r"\S+") -> list[str]:
    """The words that begin on one line and end on another."""
    return list(await page.evaluate(CUT_WORDS, [selector, word]))


async def drawn(canvas: Locator, least: int) -> None:
    """Wait until so many pixels of the canvas are drawn on."""

    async def inked() -> bool:
        return bool(await canvas.evaluate(INK) > least)

    await until(inked)

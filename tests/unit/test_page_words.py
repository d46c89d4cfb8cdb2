"""The words of the page: the same in every language, and none missing or left over."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Any

import pytest

PAGE = files("omoide.server.page")
LANGUAGES = ("en", "zh", "ja", "ko", "vi")
CHANGING = {  # keys that are put together while the page runs
    "speaker.": ("user", "assistant"),
    "work.": ("waiting", "running", "dead", "done"),
    "events.span": ("365", "1095", "3650"),
    "theme.": ("auto", "light", "dark"),
    "origin.": ("digest", "rollback", "erasure", "edit"),
    "memos.": ("summary", "compressed", "original"),
    "facts.": ("now", "timeline"),
    "facts.group_": ("you", "plans", "likes", "people", "assistant"),
    "receipt.": (
        *("sessions", "turns", "sentences", "facts"),
        *("events", "memos", "notes", "rejected"),
    ),
    "tab.": ("chat", "memory", "facts", "memos", "events", "why", "cost"),
    "change.": ("began", "changed", "confirmed", "ended", "expired"),
    "kind.": ("turn", "fact", "event", "memo", "sentence"),
}


def words(code: str) -> Any:  # noqa: ANN401 - JSON
    """The words of a language."""
    return json.loads(PAGE.joinpath(f"words/{code}.json").read_text("utf-8"))


def scripts() -> str:
    """All that is written for the browser."""
    modules = [place.read_text("utf-8") for place in PAGE.joinpath("js").iterdir()]
    return "\n".join([PAGE.joinpath("index.html").read_text("utf-8"), *modules])


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_language_has_the_same_words_to_fill_in(code: str) -> None:
    """The same keys, the same names in braces, nothing empty."""
    english, own = words("en"), words(code)
    assert own.keys() == english.keys()
    for key, text in english.items():
        assert own[key].strip(), key
        wanted = sorted(re.findall(r"\{\w+\}", text))
        assert sorted(re.findall(r"\{\w+\}", own[key])) == wanted, key


def test_every_key_is_used_and_every_use_is_known() -> None:
    """In the page and its modules."""
    known, source = words("en").keys(), scripts()
    put_together = {start + end for start, ends in CHANGING.items() for end in ends}
    assert put_together <= known
    assert all(f"`{start}${{" in source for start in CHANGING)
    named = set(re.findall(r'data-(?:t|label|placeholder)="([^"]+)"', source))
    named |= set(re.findall(r'\bt\("([^"]+)"', source))
    assert named <= known
    quoted = {key for key in known if f'"{key}"' in source}
    assert quoted | put_together == known


def test_no_script_makes_markup_out_of_words() -> None:
    """Text goes in as text: nothing that parses HTML or runs strings is used."""
    for risk in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert risk not in scripts()
    page = PAGE.joinpath("index.html").read_text("utf-8")
    assert not re.search(r"\son\w+=|style=|<style|<script>|javascript:|https?://", page)


def test_what_is_vendored_brings_its_licence() -> None:
    """And nothing of it is fetched from elsewhere."""
    vendor = PAGE.joinpath("vendor")
    for folder in vendor.iterdir():
        assert "MIT" in folder.joinpath("LICENSE").read_text("utf-8")


def imported(module: str) -> set[str]:
    """The modules that one imports, and those that they import."""
    found, left = set[str](), [module]
    while left:
        text = (PAGE / "js" / left.pop()).read_text("utf-8")
        new = set(re.findall(r'from "\./(\w+\.js)"', text)) - found
        found |= new
        left += new
    return found


def test_every_module_of_the_chat_is_asked_for_at_once() -> None:
    """index.html preloads all that app.js imports and nothing else; inside.js, which the chat does
    not wait for, brings the rest."""
    index = (PAGE / "index.html").read_text("utf-8")
    preloaded = set(re.findall(r'rel="modulepreload" href="/page/js/(\w+\.js)"', index))
    assert preloaded == imported("app.js")
    modules = {file.name for file in (PAGE / "js").iterdir()}
    assert modules == {"app.js", "inside.js", *preloaded, *imported("inside.js")}

"""Word wrap in every script, with and without colours, in pieces and at once."""

from __future__ import annotations

import re

import click
from hypothesis import given
from hypothesis import strategies as st

from omoide.cli.show import width
from omoide.cli.wrapping import Wrapper, wrapped

TEXT = st.text(alphabet="abc défgh 日本語。「」、한국어 việt\n", max_size=200)


def words(text: str) -> str:
    """A text without its spaces and line ends."""
    return re.sub(r"\s", "", text)


def test_lines_end_between_words() -> None:
    """No word is cut, and what goes on below an indented line is indented too."""
    assert wrapped("an old friend of mine", 10) == "an old\nfriend of\nmine"
    assert wrapped("    an old friend", 10) == "    an old\n    friend"
    assert wrapped("  - an old friend", 10) == "  - an old\n    friend"
    assert wrapped("  1. my old friend", 12) == "  1. my old\n     friend"
    assert wrapped("/end  end this session", 16) == "/end  end this\n      session"


def test_wide_characters_take_two_columns() -> None:
    """Chinese and Japanese break anywhere but before a full stop or after an opening quote;
    Korean breaks at its spaces."""
    assert wrapped("今日は良い天気。", 8) == "今日は良\nい天気。"
    assert wrapped("今日は良い。「散歩」", 10) == "今日は良\nい。「散\n歩」"
    assert wrapped("강아지 이름은 보리", 10) == "강아지\n이름은\n보리"


def test_a_long_word_is_left_whole() -> None:
    """An address can still be copied."""
    address = "https://example.org/a/long/path"
    assert wrapped(f"see {address} now", 12) == f"see\n{address}\nnow"


def test_colours_take_no_room() -> None:
    """A styled text breaks where the plain one does."""
    styled = click.style("an old", bold=True) + " friend " + click.style("of mine", dim=True)
    assert click.unstyle(wrapped(styled, 10)) == wrapped("an old friend of mine", 10)


@given(TEXT, st.integers(4, 30), st.data())
def test_pieces_give_the_same_lines(text: str, columns: int, data: st.DataObject) -> None:
    """However a reply is cut into pieces, its lines are those of the whole, and lose no word."""
    whole, pieces = Wrapper(columns), Wrapper(columns)
    at = data.draw(st.integers(0, len(text)))
    shown = whole.feed(text) + whole.end()
    assert pieces.feed(text[:at]) + pieces.feed(text[at:]) + pieces.end() == shown
    assert words(shown) == words(text)


@given(st.lists(st.text("ab日。", min_size=1, max_size=3), max_size=30), st.integers(8, 40))
def test_no_line_is_too_long(said: list[str], columns: int) -> None:
    """Where words are short, every line fits."""
    for line in wrapped(" ".join(said), columns).split("\n"):
        assert width(line) <= columns

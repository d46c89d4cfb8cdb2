"""Word wrap for terminals, by columns: wide characters take two, and colours none."""

from __future__ import annotations

import re
import shutil
import sys
from typing import TYPE_CHECKING

import click

from omoide.cli.show import width

if TYPE_CHECKING:
    from collections.abc import Iterable

_COLOUR = re.compile(r"(\x1b\[[0-9;]*m)")
_NOT_FIRST = frozenset(
    "、。，．・：；？！」』）］｝〉》】〕’”…‥ー～々ぁぃぅぇぉっゃゅょァィゥェォッャュョ"
)
"""Wide characters that may not begin a line."""
_BEFORE_TEXT = re.compile(r" *(?:\d+\.|[-+~·!]) |\S.{0,30}? {2,}(?=\S)| +")
_NOT_LAST = frozenset("「『（［｛〈《【〔‘“")
"""Wide characters that may not end a line."""


class Wrapper:
    """Wraps text that comes in pieces. A word is held back until its end is known."""

    def __init__(self, columns: int, *, indent: str = "") -> None:
        """`indent` stands before each line but the first."""
        self._columns = max(columns, width(indent) + 2)
        self._indent = indent
        self._column = 0
        self._space = ""
        self._word = ""

    def feed(self, text: str) -> str:
        """What of the text so far can be written now."""
        return "".join(
            part if _COLOUR.fullmatch(part) and not self._word else self._characters(part)
            for part in _COLOUR.split(text)
            if part
        )

    def end(self) -> str:
        """The rest."""
        rest = self._flush()
        self._space = ""
        return rest

    def _characters(self, text: str) -> str:
        if _COLOUR.fullmatch(text):
            self._word += text
            return ""
        out = []
        for c in text:
            if c == "\n":
                out += [self._flush(), "\n"]
                self._column, self._space = 0, ""
            elif c.isspace() and c != "\N{NO-BREAK SPACE}":
                out.append(self._flush())
                self._space += c
            else:
                if self._word and self._may_break(c):
                    out.append(self._flush())
                self._word += c
        return "".join(out)

    def _may_break(self, c: str) -> bool:
        """Whether a line may end between the word so far and `c`, though there is no space."""
        last = _COLOUR.sub("", self._word)[-1:]
        if not last or not (_breakable(c) or _breakable(last)):
            return False
        return c not in _NOT_FIRST and last not in _NOT_LAST

    def _flush(self) -> str:
        """The held-back word, on a new line if it does not fit on this one. One that is longer than
        a line is left to the terminal, so that it can be copied whole."""
        if not self._word:
            return ""
        word, space = self._word, self._space
        self._word = self._space = ""
        columns = width(_COLOUR.sub("", word))
        if self._column and self._column + width(space) + columns > self._columns:
            self._column = width(self._indent) + columns
            return f"\n{self._indent}{word}"
        self._column += width(space) + columns
        return space + word


def _breakable(c: str) -> bool:
    """Whether lines may end beside it without a space. Korean has wide characters, and spaces."""
    return width(c) > 1 and not "가" <= c <= "힣"


def show_lines(lines: Iterable[str]) -> None:
    """Print lines, wrapped if stdout is a terminal."""
    text = "\n".join(lines)
    at_terminal = sys.stdout.isatty()
    click.echo(wrapped(text, shutil.get_terminal_size().columns) if at_terminal else text)


def wrapped(text: str, columns: int) -> str:
    """Whole lines, wrapped. What goes on below a line is indented as much as the line's text: past
    its indentation, its number or dash, or its first column."""
    return "\n".join(_line(line, columns) for line in text.split("\n"))


def _line(line: str, columns: int) -> str:
    before = _BEFORE_TEXT.match(_COLOUR.sub("", line))
    indent = " " * min(width(before[0]) if before else 0, columns // 2)
    wrapper = Wrapper(columns, indent=indent)
    return wrapper.feed(line) + wrapper.end()

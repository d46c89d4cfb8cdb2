"""Where an expression stands in a text: what is around it, and whether it is quoted or a name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Container

HERE: Final = "⟨⟩"
"""Stands for the expression in a pack's patterns of what is around it."""
QUOTED: Final = re.compile(
    r"「[^「」]*」|『[^『』]*』|《[^《》]*》|〈[^〈〉]*〉|“[^“”]*”|«[^«»]*»|"
    r'"[^"]*"|‘(?:[^‘’]|’(?=[a-z]))*’(?![a-z])|(?<![a-z\d])\'(?!\d)(?:[^\']|\'(?=[a-z]))*\'(?![a-z])',
    re.IGNORECASE | re.ASCII,
)
"""What somebody quotes, in the marks of any language, and titles. An apostrophe stands before a
Latin letter; a Korean ending may follow a mark."""
_AROUND: Final = 24
"""Characters before and after an expression that say how it is meant."""
_CLAUSE: Final = 100
"""Characters before and after it in which its tense is looked for."""
_OPENING: Final = " \"'“‘«(["
"""What may stand between two sentences, or before the first."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where an expression is in a text."""

    text: str
    start: int
    end: int

    @property
    def words(self) -> str:
        """The expression."""
        return self.text[self.start : self.end]

    @property
    def around(self) -> str:
        """What is around the expression, with a mark in its place."""
        before = self.text[max(0, self.start - _AROUND) : self.start]
        return before + HERE + self.text[self.end : self.end + _AROUND]

    @property
    def quoted(self) -> bool:
        """Whether it stands in quotation marks, or in those of a title."""
        return any(
            quotation.start() < self.start and self.end < quotation.end()
            for quotation in QUOTED.finditer(self.text)
        )

    def clause(self, boundary: re.Pattern[str]) -> str:
        """The clause around the expression, with a mark in its place."""
        before = self.text[max(0, self.start - _CLAUSE) : self.start]
        after = self.text[self.end : self.end + _CLAUSE]
        begins = max((match.end() for match in boundary.finditer(before)), default=0)
        ends = match.start() if (match := boundary.search(after)) else len(after)
        return before[begins:] + HERE + after[:ends]

    def is_name(self, *, besides: Container[str]) -> bool:
        """Whether it may be a name or a title, or is quoted."""
        return self._has_capitals(besides) or self.quoted

    def _has_capitals(self, besides: Container[str]) -> bool:
        """Whether a word has a capital that neither the beginning of a sentence nor its being one
        of `besides` explains: "Today" in "USA Today", but not "Friday" in "next Friday"."""
        before = self.text[: self.start].rstrip(_OPENING)
        if not before or before[-1] in ".!?…\n":
            return False
        return any(
            word[0].isupper() and word.casefold() not in besides for word in self.words.split()
        )

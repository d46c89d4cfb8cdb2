"""Tense: whether the words around a time expression are about the past or the future.

The clause decides, and where it has no tense the sentence does. Each pack says which words tell
(`[relative]`: past, future, unsure).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from omoide.language.relative import Relative

_HERE: Final = "⟨⟩"
"""Stands for the expression in a pack's patterns of what is around it."""
_AROUND: Final = 24
"""Characters before and after an expression that say how it is meant."""
_CLAUSE: Final = 100
"""Characters before and after it in which its tense is looked for."""
SENTENCE: Final = re.compile(r"[.!?。！？\n]")


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
        return before + _HERE + self.text[self.end : self.end + _AROUND]

    def clause(self, boundary: re.Pattern[str]) -> str:
        """The clause around the expression, with a mark in its place."""
        before = self.text[max(0, self.start - _CLAUSE) : self.start]
        after = self.text[self.end : self.end + _CLAUSE]
        begins = max((match.end() for match in boundary.finditer(before)), default=0)
        ends = match.start() if (match := boundary.search(after)) else len(after)
        return before[begins:] + _HERE + after[:ends]


def tense_at(place: Place, table: Relative) -> str | None:
    """Whether the clause of an expression, or else its sentence, is about the past or the future;
    None if it does not tell."""
    if table.unsure.search(place.clause(SENTENCE)):
        return None
    for boundary in (table.boundary, SENTENCE):
        clause = place.clause(boundary)
        if table.past.search(clause) or table.future.search(clause):
            return tense_of(clause, table)
    return None


def tense_of(text: str, table: Relative) -> str | None:
    """Whether a text is about the past or the future; None if it is about neither or both."""
    past, future = table.past.search(text), table.future.search(text)
    if bool(past) == bool(future):
        return None
    return "past" if past else "future"

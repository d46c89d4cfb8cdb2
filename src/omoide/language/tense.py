"""Tense: whether the words around a time expression are about the past or the future.

The clause decides, and where it has no tense the sentence does. Each pack says which words tell
(`[relative]`: past, future, unsure).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from omoide.language.places import Place
    from omoide.language.relative import Relative

SENTENCE: Final = re.compile(r"[.!?。！？\n]")


def tense_at(
    place: Place, table: Relative, *, alone: bool = False, weekday: bool = False
) -> str | None:
    """Whether the clause of an expression, or else its sentence unless the clause is to tell alone,
    is about the past or the future; None if it does not tell. A clause in the present may be about
    the coming one of a `weekday`."""
    if table.unsure.search(place.clause(SENTENCE)):
        return None
    for boundary in (table.boundary,) if alone else (table.boundary, SENTENCE):
        clause = place.clause(boundary)
        if table.past.search(clause) or table.future.search(clause):
            return tense_of(clause, table)
    clause = place.clause(table.boundary)
    once = weekday and table.once.search(clause) and not table.recurring.search(clause)
    return "future" if once else None


def tense_of(text: str, table: Relative) -> str | None:
    """Whether a text is about the past or the future; None if it is about neither or both."""
    past, future = table.past.search(text), table.future.search(text)
    if bool(past) == bool(future):
        return None
    return "past" if past else "future"


def recurs(place: Place, table: Relative) -> bool:
    """Whether it belongs to a habit, so that it is another time each time. A habit may begin or end
    on a day, and a clause that is over tells of one time."""
    clause = place.clause(table.boundary)
    bounded = table.since.search(place.around) or table.until.search(place.around)
    return (
        not bounded
        and table.recurring.search(clause) is not None
        and tense_of(clause, table) != "past"
    )

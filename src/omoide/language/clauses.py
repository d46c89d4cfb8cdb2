"""Splits chains of clauses, and turns spoken endings into the plain form.

In Japanese and Korean people introduce themselves with a chain of clauses: 「東京に住んでて、猫を
飼ってて…」. A small model copies such a chain as one note; shown the clauses one by one, it notes
them one by one. If it copies a spoken ending, a rule removes it.
"""

from __future__ import annotations

from omoide.language.pack import pack
from omoide.language.tables import NEVER

_SHORTEST = 4
"""Minimum number of characters of a separate clause."""


def split_clauses(sentence: str, language: str) -> tuple[str, ...]:
    """The clauses of a sentence, in order, without commas; the whole sentence in languages whose
    clauses have their own subjects."""
    how = pack(language).clauses
    if how.chain is NEVER:
        return (sentence,)
    clauses: list[str] = []
    for part in how.chain.split(sentence):
        clause = part.strip()
        if clauses and min(len(clause), len(clauses[-1])) < _SHORTEST:
            clauses[-1] += how.join + clause
        elif clause:
            clauses.append(clause)
    return tuple(clauses)


def in_written_style(text: str, language: str) -> str:
    """The note with a spoken ending replaced by the plain form; unchanged if it has none."""
    for ending in pack(language).clauses.spoken:
        text = ending.pattern.sub(ending.instead, text)
    return text


def as_last_clause(clause: str, language: str) -> str:
    """A clause that lost its successor, with an ending that can close a note; otherwise
    unchanged."""
    for ending in pack(language).clauses.unfinished:
        if ending.pattern.search(clause):
            return ending.pattern.sub(ending.instead, clause)
    return clause

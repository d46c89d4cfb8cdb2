"""The best items by BM25, without reading every posting of every term.

Terms are processed rarest first. Once the remaining terms cannot lift an unseen item into the
result, only items already seen are looked up (MaxScore of Turtle & Flood 1995). The result is
exact, and "the", which occurs in most items, costs a few lookups.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omoide.language.terms import is_prefix
from omoide.ports.store.bm25 import CEILING, rarity, weight

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.adapters.stores.sql.connection import Connection

COUNT = "SELECT ?2, count(*) FROM postings WHERE owner = ?1 AND term = ?2 AND kind = ?3"
SCAN = "SELECT item, tf, length FROM postings WHERE owner = ? AND term = ? AND kind = ?"
_BEGINNING = "FROM postings WHERE owner = ?1 AND term >= ?2 AND term < ?4 AND kind = ?3"
BEGINNING = f"SELECT item, sum(tf), max(length) {_BEGINNING} GROUP BY item"
COUNT_BEGINNING = f"SELECT ?2, count(DISTINCT item) {_BEGINNING}"
PROBE = f"{SCAN} AND item IN (SELECT value FROM json_each(?))"  # noqa: S608
BEYOND = chr(0x10FFFF)
"""Appended to a prefix, it sorts after all terms with that prefix."""
_PROBE_COST = 4
"""How many rows can be scanned in the time of one lookup."""


@dataclass(frozen=True, kw_only=True)
class _Word:
    """A query term, and how many of the owner's items of one kind have it."""

    term: str
    having: int
    rarity: float

    @property
    def most(self) -> float:
        """Upper bound of what it can add to an item's score."""
        return self.rarity * CEILING


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """One owner's items of one kind."""

    owner: int
    kind: int
    items: int
    """How many there are to find."""

    def best(
        self, connection: Connection, terms: Sequence[str], *, k: int
    ) -> list[tuple[int, float]]:
        """Numbers and scores of the `k` best items, newer first if equal."""
        if k < 1:
            return []
        words = self._rarest_first(connection, terms)
        scores: dict[int, float] = {}
        open_to_all = True
        for i, word in enumerate(words):
            to_come = sum(later.most for later in words[i:])
            if len(scores) >= k:
                least = heapq.nlargest(k, scores.values())[-1]
                if least > to_come:
                    open_to_all = False
                    scores = {i: score for i, score in scores.items() if score + to_come >= least}
            for item, frequency, length in self._postings(
                connection, word, None if open_to_all else scores
            ):
                if open_to_all or item in scores:
                    more = word.rarity * weight(frequency, length)
                    scores[item] = scores.get(item, 0.0) + more
        best = heapq.nlargest(k, ((score, item) for item, score in scores.items()))
        return [(item, score) for score, item in best]

    def _rarest_first(self, connection: Connection, terms: Sequence[str]) -> list[_Word]:
        wanted = tuple(dict.fromkeys(terms))
        keys = [(self.owner, term, self.kind) for term in wanted if not is_prefix(term)]
        ranges = [self._range(term) for term in wanted if is_prefix(term)]
        counts = [
            *connection.executemany(COUNT, keys).fetchall(),
            *connection.executemany(COUNT_BEGINNING, ranges).fetchall(),
        ]
        words = [
            _Word(term=term, having=having, rarity=rarity(self.items, having))
            for term, having in counts
            if having
        ]
        return sorted(words, key=lambda word: (word.having, word.term))

    def _postings(
        self, connection: Connection, word: _Word, among: dict[int, float] | None
    ) -> list[Any]:
        """The word's postings, or only those `among` some items if that is cheaper."""
        key = (self.owner, word.term, self.kind)
        if is_prefix(word.term):
            return connection.execute(BEGINNING, self._range(word.term)).fetchall()
        if among is None or len(among) * _PROBE_COST > word.having:
            return connection.execute(SCAN, key).fetchall()
        return connection.execute(PROBE, (*key, list(among))).fetchall()

    def _range(self, beginning: str) -> tuple[int, str, int, str]:
        return self.owner, beginning, self.kind, beginning + BEYOND

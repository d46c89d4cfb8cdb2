"""The best items by BM25, without reading every posting of every word.

Words are taken rarest first. As soon as the words that are left could not lift an unseen item
among the best, only items already seen are looked up (MaxScore of Turtle & Flood 1995): the
result is exact, and "the", which stands in most items, costs a few probes.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.bm25 import CEILING, rarity, weight
from omoide.adapters.stores.sqlite.rows import array
from omoide.language.terms import is_beginning

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

COUNT = "SELECT count(*) FROM postings WHERE owner = ? AND term = ? AND kind = ?"
SCAN = "SELECT item, tf, length FROM postings WHERE owner = ? AND term = ? AND kind = ?"
BEGINNING = (
    "SELECT item, sum(tf), max(length) FROM postings WHERE owner = ?1 AND term >= ?2 "
    "AND term < ?2 || char(1114111) AND kind = ?3 GROUP BY item"
)
PROBE = f"{SCAN} AND item IN (SELECT value FROM json_each(?))"  # noqa: S608
_PROBE_COST = 4
"""How many rows can be read in order for one that is looked up."""


@dataclass(frozen=True, kw_only=True)
class _Word:
    """A term of the query among this owner's items of one kind."""

    term: str
    having: int
    rarity: float

    @property
    def most(self) -> float:
        """More than it can add to any item's score."""
        return self.rarity * CEILING


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """One owner's items of one kind."""

    owner: int
    kind: int
    items: int
    """How many can be found."""

    def best(
        self, connection: apsw.Connection, terms: Sequence[str], *, k: int
    ) -> list[tuple[int, float]]:
        """Numbers and scores of the `k` best, newer before older if equal."""
        if k < 1:
            return []
        words = self._rarest_first(connection, terms)
        scores: dict[int, float] = {}
        open_to_all = True
        for place, word in enumerate(words):
            to_come = sum(later.most for later in words[place:])
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

    def _rarest_first(self, connection: apsw.Connection, terms: Sequence[str]) -> list[_Word]:
        words = []
        for term in dict.fromkeys(terms):
            key = (self.owner, term, self.kind)
            if is_beginning(term):
                having = len(connection.execute(BEGINNING, key).fetchall())
            else:
                [(having,)] = connection.execute(COUNT, key)
            if having:
                words.append(_Word(term=term, having=having, rarity=rarity(self.items, having)))
        return sorted(words, key=lambda word: (word.having, word.term))

    def _postings(
        self, connection: apsw.Connection, word: _Word, among: dict[int, float] | None
    ) -> list[Any]:
        """The word's postings, or those `among` some items if that is cheaper."""
        key = (self.owner, word.term, self.kind)
        if is_beginning(word.term):
            return connection.execute(BEGINNING, key).fetchall()
        if among is None or len(among) * _PROBE_COST > word.having:
            return connection.execute(SCAN, key).fetchall()
        return connection.execute(PROBE, (*key, array(tuple(among)))).fetchall()

"""The evidence of every turn, compared with the same formulas worked out turn by turn.

`evidence.py` works on whole arrays and takes short cuts for frequent terms. Here each number is
computed as `docs/recall.md` and the module's docstring tell it, in plain Python, for random
conversations: gaps between sessions, people who speak twice in a row, turns without a vector,
questions, dates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from math import exp, isnan, log, sqrt
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omoide.domain import Speaker
from omoide.mechanisms.search.evidence import judge_support, weigh_evidence
from omoide.mechanisms.search.question import ParsedQuery
from omoide.mechanisms.search.weights import KINDS, EvidenceWeights
from omoide.ports.store import Features, NamedSpeaker, Postings, SearchData, TurnTable

if TYPE_CHECKING:
    from omoide.domain import Support
    from omoide.mechanisms.search.evidence import TurnEvidence

START = datetime(2023, 6, 14, 12, tzinfo=UTC)
WEIGHTS = EvidenceWeights()
near = partial(pytest.approx, rel=2e-4, abs=2e-4)


@dataclass(frozen=True, kw_only=True)
class Said:
    """One turn."""

    session: int
    voice: int
    time: datetime
    counts: dict[str, int]
    length: int
    value: float
    """How much it states: 1 - e^(-n/16) for n terms outside of questions."""
    cosine: float
    spans: tuple[tuple[int, int], ...]


def conversation(dice: Random) -> list[Said]:
    """Some sessions of two or three people, in which `common` is said in most turns. One in four is
    short, or has nothing but short turns."""
    said: list[Said] = []
    time = START
    sizes = dice.choice([[1], [2], [9, 9], [dice.randint(1, 25) for _ in range(4)], [25, 8]])
    lengths = [0] if sizes == [9, 9] else [0, 1, 6, 40, 300]
    for session, turns in enumerate(sizes, start=1):
        for _ in range(turns):
            time += timedelta(hours=dice.choice([0, 1, 30]))
            words = [w for w in ("tea", "milk", "~teas") if dice.random() < 0.05]
            words += ["common"] * (dice.random() < 0.5)
            length = dice.choice(lengths) + len(words)
            stated = dice.choice([0, length / 2, length])
            first = time.date().toordinal() - dice.randint(0, 60)
            spans = [(first, first + dice.choice([0, 1, 40, 41, 300]))] * (dice.random() < 0.3)
            said.append(
                Said(
                    session=session,
                    voice=dice.randint(0, 2),
                    time=time,
                    counts={word: dice.randint(1, 3) for word in words},
                    length=length,
                    value=1 - exp(-stated / 16),
                    cosine=dice.choice([float("nan"), dice.random(), dice.random()]),
                    spans=tuple(spans),
                )
            )
    return said


def asked(dice: Random) -> ParsedQuery:
    """A query of any kind."""
    terms = tuple(
        w for w in ("tea", "common", "milk", "~teas", "~none", "none") if dice.random() < 0.7
    )
    day = START.date().toordinal() + dice.randint(-30, 30)
    return ParsedQuery(
        terms=terms,
        about=dice.choice([frozenset(), frozenset({0}), frozenset({1, 2})]),
        likely=dice.choice([frozenset(), frozenset({1})]),
        days=dice.choice([(), ((day, day),), ((day, day + 3), (day + 20, day + 20))]),
        wants_time=dice.random() < 0.5,
        asks=dice.random() < 0.5,
        personal=dice.random() < 0.5,
        addressed=dice.random() < 0.5,
    )


def data_of(said: list[Said], *, vectors: bool) -> SearchData:
    """The conversation as a store gives it."""
    words = sorted({word for turn in said for word in turn.counts})
    ids = [f"t{n}" for n in range(len(said))]
    spans = [(n, *span) for n, turn in enumerate(said) for span in turn.spans]
    having = {word: [n for n, turn in enumerate(said) if word in turn.counts] for word in words}
    table = TurnTable(
        ids=ids,
        row_by_id={id_: n for n, id_ in enumerate(ids)},
        session=np.array([turn.session for turn in said], np.int64),
        speakers=tuple(NamedSpeaker(speaker=Speaker.USER, name=name) for name in "abc"),
        voice=np.array([turn.voice for turn in said], np.int64),
        time=np.array([turn.time.replace(tzinfo=None) for turn in said], "datetime64[us]"),
        length=np.array([turn.length for turn in said], np.float32),
        features=Features(
            values=np.array([turn.value for turn in said], np.float32),
            spans=np.array(spans, np.int64).reshape(-1, 3),
        ),
    )
    return SearchData(
        table=table,
        postings={
            word: Postings(
                rows=np.array(rows, np.int64),
                counts=np.array([said[n].counts[word] for n in rows], np.float32),
            )
            for word, rows in having.items()
        },
        cosines=np.array([turn.cosine for turn in said], np.float32) if vectors else None,
        other_kinds=frozenset(),
    )


class Slowly:
    """The formulas, one turn at a time."""

    def __init__(self, said: list[Said], query: ParsedQuery, *, vectors: bool) -> None:
        self.said, self.query, self.vectors = said, query, vectors
        self.rows = range(len(said))
        together = [n for n in self.rows[1:] if said[n].session == said[n - 1].session]
        changes = [n for n in together if said[n].voice != said[n - 1].voice]
        self.taking_turns = len(changes) / max(len(together), 1)
        self.near = self.taking_turns * (1 if query.asks else 0.5)
        self.rarity = {term: self._rarity(term) for term in query.terms}
        counted = [t for t in query.terms if self._having(t) or not t.startswith("~")]
        self.rarities = sorted(self.rarity[term] for term in counted)
        self.mean_length = max(sum(turn.length for turn in said) / len(said), 1)
        known = [turn.cosine for turn in said if vectors and not isnan(turn.cosine)]
        self.mean = sum(known) / len(known) if known else 0.0
        spread = sum((c - self.mean) ** 2 for c in known) / len(known) if known else 0.0
        self.deviation = sqrt(max(spread, 1e-9))

    def _having(self, term: str) -> int:
        return sum(term in turn.counts for turn in self.said)

    def _rarity(self, term: str) -> float:
        having = self._having(term)
        return log(1 + (len(self.said) - having + 0.5) / (having + 0.5))

    def neighbours(self, n: int) -> list[tuple[int, float]]:
        """The turns up to three away in the same session, and how much they count."""
        return [
            (m, exp(-abs(m - n) / 1.5))
            for m in range(max(n - 3, 0), min(n + 4, len(self.said)))
            if m != n and self.said[m].session == self.said[n].session
        ]

    def term(self, n: int, term: str) -> float:
        """BM25 of one term in one turn."""
        turn = self.said[n]
        if not (times := turn.counts.get(term, 0)):
            return 0.0
        norm = 0.9 * (0.1 + 0.9 * turn.length / self.mean_length)
        return self.rarity[term] * 1.9 * times / (times + norm)

    def words(self, n: int) -> float:
        """BM25 of all terms."""
        return sum(self.term(n, term) for term in self.query.terms)

    def near_words(self, n: int) -> float:
        """What the best of the neighbours adds, term by term."""
        best = sum(
            max(
                [self.term(n, t), *(self.near * k * self.term(m, t) for m, k in self.neighbours(n))]
            )
            for t in self.query.terms
        )
        return best - self.words(n)

    def meaning(self, n: int) -> float:
        """The cosine in standard deviations."""
        cosine = self.said[n].cosine
        return 0.0 if isnan(cosine) or not self.vectors else (cosine - self.mean) / self.deviation

    def near_meaning(self, n: int) -> float:
        """Half of the neighbours', faded."""
        return sum(0.5 * self.near * k * self.meaning(m) for m, k in self.neighbours(n))

    def session(self, n: int) -> float:
        """BM25 of the session, as a share of the most that the query can have."""
        here = [turn for turn in self.said if turn.session == self.said[n].session]
        sessions = {turn.session for turn in self.said}
        mean = max(sum(turn.length for turn in self.said) / len(sessions), 1)
        norm = 1.2 * (0.6 + 0.4 * sum(turn.length for turn in here) / mean)
        score = 0.0
        for term in self.query.terms:
            times = sum(turn.counts.get(term, 0) for turn in here)
            score += self.rarity[term] * 2.2 * times / (times + norm)
        return score / (sum(self.rarities) or 1)

    def speaker(self, n: int) -> float:
        """Whether the query is about who speaks."""
        query = self.query
        sure = query.asks and bool(query.about)
        if not (query.asks or query.about or self.words(n)):
            return 0.0
        return (1.0 if sure else 0.25) * (self.said[n].voice in (query.about or query.likely))

    def time(self, n: int) -> float:
        """How near the turn, or a short period that it names, is to a day of the query."""
        turn, query = self.said[n], self.query
        if not query.days:
            return 0.0
        day = turn.time.date().toordinal()
        named = [(day, day), *((a, b) for a, b in turn.spans if b - a <= 40)]
        gap = min(max(f - b, a - e, 0) for a, b in named for f, e in query.days)
        return exp(-gap / 10)

    def when(self, n: int) -> float:
        """Whether a time is asked for, and named."""
        return float(self.query.wants_time and bool(self.said[n].spans))

    def asking(self, n: int) -> float:
        """The share of the turn that only asks."""
        turn = self.said[n]
        stated = -16 * log(max(1 - turn.value, 1e-6))
        if not turn.length or stated >= 100:
            return 0.0
        return min(max(1 - stated / turn.length, 0), 1)

    def question(self, n: int) -> float:
        """The same, less for a long turn."""
        part = self.asking(n) * exp(-self.said[n].length / 16)
        return part * (1 if self.query.asks else 0.5)

    def answers(self, n: int) -> float:
        """How well the question before, by somebody else, fits."""
        if not n or self.said[n - 1].session != self.said[n].session:
            return 0.0
        if self.said[n - 1].voice == self.said[n].voice:
            return 0.0
        fits = 3 * self.words(n - 1) / (sum(self.rarities) or 1) + max(self.meaning(n - 1), 0)
        return self.taking_turns * self.asking(n - 1) * fits

    def total(self, n: int) -> float:
        """The weighted sum."""
        return float(sum(getattr(WEIGHTS, kind) * getattr(self, kind)(n) for kind in KINDS))


def cases() -> list[tuple[list[Said], ParsedQuery, bool]]:
    """Many conversations, and a query to each; some without vectors."""
    dice = Random(3)
    return [(conversation(dice), asked(dice), dice.random() < 0.8) for _ in range(40)]


def both() -> list[tuple[Slowly, SearchData, TurnEvidence]]:
    """Each case, weighed both ways."""
    return [
        (Slowly(said, query, vectors=v), data, weigh_evidence(data, query, WEIGHTS))
        for said, query, v in cases()
        for data in [data_of(said, vectors=v)]
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_what_its_formula_says(kind: str) -> None:
    """For every turn of every conversation; and the kind counts somewhere."""
    some = False
    for slowly, _, found in both():
        wanted = [getattr(slowly, kind)(n) for n in slowly.rows]
        assert getattr(found, kind).tolist() == near(wanted)
        some = some or len({round(value, 3) for value in wanted}) > 1
    assert some


def test_the_score_is_the_weighted_sum() -> None:
    """And its parts add up to it, for every turn."""
    for slowly, _, found in both():
        assert found.total.tolist() == near([slowly.total(n) for n in slowly.rows])
        for n in slowly.rows:
            assert sum(points for _, points in found.parts([n])[0]) == near(slowly.total(n))


def test_support_is_what_its_definition_says() -> None:
    """How much of the query's subject was found, and whether others' turns fit better."""
    for slowly, data, found in both():
        support: Support = judge_support(data, slowly.query, found)
        words = [slowly.words(n) for n in slowly.rows]
        heard = [words[n] + slowly.near_words(n) for n in slowly.rows]
        totals = [slowly.total(n) for n in slowly.rows]
        best = max(slowly.rows, key=lambda n: float(found.total[n]))
        plenty = max(sum(slowly.rarities[-20:]), 1e-6)
        assert support.best == near(max(*totals, 0))
        assert support.words == near(min(max(heard[best], *words) / plenty, 1))
        cosines = [turn.cosine for turn in slowly.said if not isnan(turn.cosine)]
        known = slowly.vectors and bool(cosines)
        assert support.cosine == (near(max(cosines)) if known else None)
        about = slowly.query.about
        theirs = [w for w, turn in zip(words, slowly.said, strict=True) if turn.voice in about]
        others = [w for w, turn in zip(words, slowly.said, strict=True) if turn.voice not in about]
        mismatch = max([0, *others]) - max([0, *theirs]) if about else 0
        assert support.mismatch == near(mismatch)
        assert support.turns == len(slowly.said)
        query = slowly.query
        assert (support.asks, support.personal) == (query.asks, query.personal)
        assert support.addressed == query.addressed


def test_without_features_nothing_is_weighed() -> None:
    """It is an error to leave the step out that computes them."""
    data = data_of(cases()[0][0], vectors=False)
    bare = replace(data, table=replace(data.table, features=None))
    with pytest.raises(ValueError, match="FeatureReader"):
        weigh_evidence(bare, ParsedQuery(terms=("tea",)), WEIGHTS)

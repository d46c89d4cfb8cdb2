"""Scores each turn of an owner by words, meaning, context, speaker and dates.

A turn's score is a weighted sum (`weights`) of ten kinds of evidence, each in its natural unit:

    words          BM25 of the query's content terms
    near_words     what neighbours add: a term of theirs counts less with distance (e^(-d/1.5), up
                   to three turns each way, the best of them)
    meaning        the cosine in standard deviations
    near_meaning   half of the neighbours' cosines, faded likewise
    session        BM25 of the whole session, as a share of the query's maximum score
    speaker        1 if the turn's speaker is whom the query is about
    time           e^(-days/10) from the days the query names to the turn's day or days it names
    when           1 if the query asks for a time and the turn names one
    question       the share of the turn that only asks, fading with its n terms (e^(-n/16)): a
                   long request to an assistant tells much, "Really? When?" nothing
    answers        how well the question fits that the turn before, by somebody else, asked

Neighbours count as far as people take turns: a list of notes by one person is no conversation. For
a query that is not a question, neighbours and question count half and the speaker a quarter; a
speaker that is only guessed counts a quarter too. Everything is array arithmetic over the turns of
one owner; docs/recall.md shows what each kind contributes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import TYPE_CHECKING

from omoide.domain import Support
from omoide.mechanisms.search.table_shape import K1, KERNEL, SESSION_K1, shape_of
from omoide.mechanisms.search.weights import KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    import numpy as np
    from numpy.typing import NDArray

    from omoide.mechanisms.search.question import ParsedQuery
    from omoide.mechanisms.search.table_shape import TableShape
    from omoide.mechanisms.search.weights import EvidenceWeights
    from omoide.ports.store import Postings, SearchData, TurnTable

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int64]

LIKE, LIKE_SPEAKER = 0.5, 0.25
"""Factors if the query is not a question: for neighbours and question; and for the speaker, also if
that is only guessed."""
FADE = 10
"""Days over which the time evidence falls by a factor of e."""
FREQUENT_TERM_RATIO = 25
"""A term is frequent if more than one in this many turns has it."""
MOST_CELLS = 50_000
"""Turns times terms up to which all terms are counted at once."""
SUBJECT_TERMS = 20
"""Number of terms that name what a long message is about."""
MAX_SPAN_DAYS = 40
"""Longest period, in days, that counts as a date: a whole year says little."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TurnEvidence:
    """The evidence for each turn: one array per kind, one number per turn."""

    weights: EvidenceWeights
    words: Floats
    near_words: Floats
    meaning: Floats
    near_meaning: Floats
    session: Floats
    speaker: Floats
    time: Floats
    when: Floats
    question: Floats
    answers: Floats
    spread: tuple[float, float] | None
    """Mean and standard deviation of the cosines; None if there are no vectors."""
    possible: float
    """The words score of a turn that has each term of the query once."""
    plenty: float
    """The words score from which memory surely has the query's subject: that of its rarest
    `SUBJECT_TERMS`. A message of a hundred words speaks of more than any one turn does."""

    @cached_property
    def context(self) -> Floats:
        """The weighted sum of everything but the turn's own words and meaning."""
        context: Floats = self.weights.session * self.session
        for kind in KINDS:
            if kind not in ("words", "meaning", "session"):
                context += getattr(self.weights, kind) * getattr(self, kind)
        return context

    @cached_property
    def total(self) -> Floats:
        """The score of each turn."""
        w = self.weights
        total: Floats = self.context + w.words * self.words + w.meaning * self.meaning
        return total

    def parts(self, rows: Sequence[int]) -> list[tuple[tuple[str, float], ...]]:
        """For each of these turns, what each kind adds to its score, the largest first; without
        zeros."""
        columns = [
            (kind, (weight * getattr(self, kind)[rows].astype(float)).tolist())
            for kind in KINDS
            if (weight := getattr(self.weights, kind))
        ]
        points = ([(kind, values[i]) for kind, values in columns] for i in range(len(rows)))
        return [
            tuple(sorted((p for p in point if p[1]), key=lambda part: -abs(part[1])))
            for point in points
        ]


def weigh_evidence(
    data: SearchData, question: ParsedQuery, weights: EvidenceWeights
) -> TurnEvidence:
    """Collect the evidence for every turn."""
    import numpy as np

    table = data.table
    features = table.features
    if features is None:
        raise ValueError("the search data has no features; pass it through `FeatureReader` first")
    none = np.zeros(len(table.ids), np.float32)
    strength = 1.0 if question.asks else LIKE
    shape = shape_of(table)
    near = strength * shape.taking_turns
    words, near_words, session, rarities = _words(data, question, shape, near)
    possible = sum(rarities)
    meaning, near_meaning, spread = _meaning(data, shape, near)
    when = none
    if question.wants_time:
        when = none.copy()
        when[features.spans[:, 0]] = 1
    about = question.about or question.likely
    matching = 1.0 if question.asks and question.about else LIKE_SPEAKER
    asked = 3 * words / (possible or 1) + np.maximum(meaning, 0)
    return TurnEvidence(
        weights=weights,
        words=words,
        near_words=near_words,
        meaning=meaning,
        near_meaning=near_meaning,
        session=session,
        speaker=np.float32(matching) * _of(table, about) if about else none,
        time=_time(features.spans, shape, question) if question.days else none,
        when=when,
        question=np.float32(strength) * shape.only_asking,
        answers=_answers(asked, shape),
        spread=spread,
        possible=possible,
        plenty=sum(sorted(rarities)[-SUBJECT_TERMS:]),
    )


def _of(table: TurnTable, voices: AbstractSet[int]) -> NDArray[np.bool_]:
    """Which turns are of these voices."""
    import numpy as np

    wanted = np.zeros(len(table.speakers), bool)
    wanted[list(voices)] = True
    mine: NDArray[np.bool_] = wanted[table.voice]
    return mine


def _answers(asked: Floats, shape: TableShape) -> Floats:
    """How well each turn's preceding question fits, if it follows one of somebody else."""
    import numpy as np

    answers = np.zeros_like(asked)
    if len(asked) > 1:
        answers[1:] = shape.follows * (shape.taking_turns * shape.asking[:-1] * asked[:-1])
    return answers


def _words(
    data: SearchData, question: ParsedQuery, shape: TableShape, strength: float
) -> tuple[Floats, Floats, Floats, list[float]]:
    """BM25 of each turn, what neighbours add to it, BM25 of its session as a share of the query's
    maximum, and the rarities of the query's terms, which add up to that maximum."""
    import numpy as np

    count = len(data.table.ids)
    if not count:
        nothing = np.zeros(0, np.float32)
        return nothing, nothing, nothing, []
    rarities: list[float] = []
    found: list[tuple[float, Postings]] = []
    for term in question.terms:
        postings = data.postings.get(term)
        having = len(postings.rows) if postings else 0
        rarity = log(1 + (count - having + 0.5) / (having + 0.5))
        if having or not term.startswith("~"):  # an unknown folded form says nothing
            rarities.append(rarity)
        if postings is not None:
            found.append((rarity, postings))
    small = count * len(found) <= MOST_CELLS
    words, best, sessions = (_count_at_once if small else _count_by_term)(
        found, data.table, shape, strength
    )
    shares = (sessions / (sum(rarities) or 1)).astype(np.float32)
    return words, np.maximum(best - words, 0), np.repeat(shares, shape.turns), rarities


def _count_at_once(
    found: Sequence[tuple[float, Postings]], table: TurnTable, shape: TableShape, strength: float
) -> tuple[Floats, Floats, NDArray[np.float64]]:
    """BM25 of each turn, the same with the best of each term among neighbours, and BM25 of each
    session. All terms in one array: with few turns a call of numpy costs more than its work."""
    import numpy as np

    times = np.zeros((len(found), len(table.ids)), np.float32)
    for row, (_, postings) in zip(times, found, strict=True):
        row[postings.rows] = postings.counts
    rarity = np.array([rarity for rarity, _ in found])[:, None]
    gain = (rarity * (K1 + 1)).astype(np.float32) * times / (times + shape.norm)
    best = gain.copy()
    for distance, (share, same) in enumerate(zip(KERNEL, shape.beside, strict=False), start=1):
        part = np.float32(strength * share) * same
        before, after = best[:, :-distance], best[:, distance:]
        np.maximum(before, part * gain[:, distance:], out=before)
        np.maximum(after, part * gain[:, :-distance], out=after)
    inside = np.add.reduceat(times, shape.starts, axis=1, dtype=np.float64)
    sessions = rarity * (SESSION_K1 + 1) * inside / (inside + shape.session_norm)
    return gain.sum(axis=0), best.sum(axis=0), sessions.sum(axis=0)


def _count_by_term(
    found: Sequence[tuple[float, Postings]], table: TurnTable, shape: TableShape, strength: float
) -> tuple[Floats, Floats, NDArray[np.float64]]:
    """`_count_at_once` for many turns, of which a term is in few."""
    import numpy as np

    count = len(table.ids)
    words, best = np.zeros(count, np.float32), np.zeros(count, np.float32)
    sessions, scratch = np.zeros(len(shape.size)), np.zeros(count, np.float32)
    for rarity, postings in found:
        where, times = postings.rows, postings.counts
        gain = (rarity * (K1 + 1) * times / (times + shape.norm[where])).astype(
            np.float32, copy=False
        )
        words[where] += gain
        if len(where) * FREQUENT_TERM_RATIO > count:
            _add_best_frequent(best, where, gain, shape=shape, strength=strength)
        else:
            _add_best(best, where, gain, scratch=scratch, session=table.session, strength=strength)
        inside = np.bincount(shape.group[where], weights=times, minlength=len(shape.size))
        sessions += rarity * (SESSION_K1 + 1) * inside / (inside + shape.session_norm)
    return words, best, sessions


def _add_best(
    total: Floats, where: Ints, gain: Floats, *, scratch: Floats, session: Ints, strength: float
) -> None:
    """Add the best gain to each turn: its own in full, or a neighbour's in part. `scratch` is a
    buffer of zeros, and is zeros again afterwards."""
    import numpy as np

    scratch[where] = gain
    touched = [where]
    for distance, share in enumerate(KERNEL, start=1):
        for there in (where - distance, where + distance):
            inside = (there >= 0) & (there < len(total))
            inside[inside] = session[there[inside]] == session[where[inside]]
            to = there[inside]
            scratch[to] = np.maximum(scratch[to], strength * share * gain[inside])
            touched.append(to)
    rows = np.concatenate(touched)
    total[rows] += scratch[rows]  # a row that occurs twice is still added only once
    scratch[rows] = 0


def _add_best_frequent(
    total: Floats, where: Ints, gain: Floats, *, shape: TableShape, strength: float
) -> None:
    """`_add_best` for a frequent term, for which processing all turns is faster."""
    import numpy as np

    own = np.zeros_like(total)
    own[where] = gain
    best = own.copy()
    for distance, (share, same) in enumerate(zip(KERNEL, shape.beside, strict=False), start=1):
        part = np.float32(strength * share) * same
        np.maximum(best[:-distance], part * own[distance:], out=best[:-distance])
        np.maximum(best[distance:], part * own[:-distance], out=best[distance:])
    total += best


def _meaning(
    data: SearchData, shape: TableShape, strength: float
) -> tuple[Floats, Floats, tuple[float, float] | None]:
    """Cosines in standard deviations, and half of the neighbours', fading with distance. A turn
    without a vector yet gets the mean."""
    import numpy as np

    cosines = data.cosines
    nothing = np.zeros(len(data.table.ids), np.float32)
    if cosines is None:
        return nothing, nothing, None
    missing = np.isnan(cosines)
    any_missing = bool(missing.any())
    known = cosines[~missing] if any_missing else cosines
    if not len(known):
        return nothing, nothing, None
    mean = float(known.mean())
    deviation = max(float(known @ known) / len(known) - mean * mean, 1e-9) ** 0.5
    score = (cosines - np.float32(mean)) / np.float32(deviation)
    if any_missing:
        score[missing] = 0
    near = nothing
    for distance, (share, same) in enumerate(zip(KERNEL, shape.beside, strict=False), start=1):
        part = same * np.float32(0.5 * strength * share)
        near[:-distance] += part * score[distance:]
        near[distance:] += part * score[:-distance]
    return score, near, (mean, deviation)


def _time(spans: Ints, shape: TableShape, question: ParsedQuery) -> Floats:
    """Near 1 for turns that were said on, or name, a day that the query names."""
    import numpy as np

    # 32 bits are enough and take a fraction of the time.
    day = shape.day
    named = spans[spans[:, 2] - spans[:, 1] <= MAX_SPAN_DAYS].astype(np.int32)
    turn, start, end = named.T
    gap = np.full(len(day), 10_000, np.int32)
    for first, last in question.days:
        apart = np.maximum(np.int32(first) - day, day - np.int32(last))
        np.minimum(gap, np.maximum(apart, 0, out=apart), out=gap)
        apart = np.maximum(np.int32(first) - end, start - np.int32(last))
        np.minimum.at(gap, turn, np.maximum(apart, 0))
    fading: Floats = np.exp(gap * np.float32(-1 / FADE))
    return fading


def judge_support(data: SearchData, question: ParsedQuery, evidence: TurnEvidence) -> Support:
    """Judge whether the memory contains anything about what was asked. `known` is left at 0: see
    `gate`."""
    import numpy as np

    words, total = evidence.words, evidence.total
    best = mismatch = share = 0.0
    cosine: float | None = None
    if len(total):
        best, top = max(float(total.max()), 0.0), int(total.argmax())
        plenty = max(evidence.plenty, 1e-6)
        heard = float((words[top] + evidence.near_words[top]) / plenty)
        share = min(max(heard, float(words.max()) / plenty), 1.0)
        if data.cosines is not None and evidence.spread is not None:
            cosine = float(np.nanmax(data.cosines))
        if question.about:
            theirs = _of(data.table, question.about)
            best_of_others = words[~theirs].max(initial=0)
            mismatch = float(best_of_others - words[theirs].max(initial=0))
    return Support(
        best=best,
        mismatch=mismatch,
        words=share,
        cosine=cosine,
        turns=len(total),
        asks=question.asks,
        personal=question.personal,
        addressed=question.addressed,
    )

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

If a short query does not ask about the assistant, a turn of the assistant counts by words and by
meaning at most like the user's best turn with the same terms of the query (`_limit_echoes`).

Neighbours count as far as people take turns: a list of notes by one person is no conversation. For
a query that is not a question, neighbours and question count half and the speaker a quarter; a
speaker that is only guessed counts a quarter too, and to a word or a name that is looked up only in
turns that have it. Everything is array arithmetic over the turns of one owner; docs/recall.md shows
what each kind contributes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from omoide.domain import Support
from omoide.mechanisms.search.meaning import weigh_meaning, with_exact
from omoide.mechanisms.search.table_shape import shape_of
from omoide.mechanisms.search.weights import KINDS
from omoide.mechanisms.search.word_evidence import postings_of, weigh_words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    import numpy as np
    from numpy.typing import NDArray

    from omoide.mechanisms.search.meaning import CosineSpread
    from omoide.mechanisms.search.question import ParsedQuery
    from omoide.mechanisms.search.table_shape import TableShape
    from omoide.mechanisms.search.weights import EvidenceWeights
    from omoide.ports.store import SearchData, TurnTable

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int64]

LIKE, LIKE_SPEAKER = 0.5, 0.25
"""Factors if the query is not a question: for neighbours and question; and for the speaker, also if
that is only guessed."""
FADE = 10
"""Days over which the time evidence falls by a factor of e."""
SUBJECT_TERMS = 20
"""Number of terms that name what a long message is about."""


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
    spread: CosineSpread | None
    """How the cosines are spread; None if there are no vectors."""
    rarities: tuple[tuple[tuple[str, ...], float], ...]
    """The terms of the query as they count, each with how much the words score of a turn gains by
    having it once."""
    possible: float
    """The words score of a turn that has each term of the query once."""
    plenty: float
    """The words score from which memory surely has the query's subject: that of its rarest
    `SUBJECT_TERMS`. A message of a hundred words speaks of more than any one turn does."""
    present: tuple[str, ...]
    """The kinds of which there may be any evidence; the others are zeros."""
    context: Floats
    """The weighted sum of everything but the turn's own words and meaning."""

    @cached_property
    def total(self) -> Floats:
        """The score of each turn."""
        w = self.weights
        total: Floats = self.context + w.words * self.words
        total += w.meaning * self.meaning
        return total

    def parts(self, rows: Sequence[int]) -> list[tuple[tuple[str, float], ...]]:
        """For each of these turns, what each kind adds to its score, the largest first; without
        zeros."""
        import numpy as np

        at, kinds = np.asarray(rows, np.intp), self.present
        values = np.array([getattr(self, kind).take(at) for kind in kinds], np.float64)
        points = values.T * [getattr(self.weights, kind) for kind in kinds]
        order = np.argsort(-np.abs(points), axis=1, kind="stable").tolist()
        return [
            tuple((kinds[i], point) for i in places if (point := row[i]))
            for row, places in zip(points.tolist(), order, strict=True)
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
    shape, none = shape_of(table), np.zeros(len(table.ids), np.float32)
    strength = 1.0 if question.asks else LIKE
    near = strength * shape.taking_turns
    words = weigh_words(data, question, near)
    possible = sum(rarity for _, rarity in words.rarities)
    about = question.about or question.likely
    matching = 1.0 if question.asks and question.about else LIKE_SPEAKER
    speaker = _of(table, about, matching) if about else none
    if about and not (question.asks or question.about):
        speaker *= words.words > 0  # a word is looked up: who says it, not who says anything
    when = none
    if question.wants_time:
        when = none.copy()
        when[features.spans[:, 0]] = 1
    found = weigh_meaning(data, shape, near)
    around = {
        "near_words": words.near,
        "near_meaning": none if found is None else found.near,
        "speaker": speaker,
        "time": _time(shape, question) if question.days else none,
        "when": when,
        "question": shape.only_asking if question.asks else np.float32(LIKE) * shape.only_asking,
    }
    context: Floats = weights.session * words.session
    for kind, values in around.items():
        if values is not none:
            context += getattr(weights, kind) * values
    if found is not None and data.exact is not None:
        total = context + weights.words * words.words + weights.meaning * found.own
        estimated, found = found, with_exact(found, total, data=data, shape=shape, strength=near)
        context += weights.near_meaning * (found.near - estimated.near)
        around["near_meaning"] = found.near
    meaning = none if found is None else found.own
    if question.echoes:
        _limit_echoes(data, question, weights, words=words.words, meaning=meaning)
    asked = 3 * words.words / (possible or 1)
    if found is not None:
        asked += np.maximum(meaning, 0)
    answers = _answers(asked, shape)
    context += weights.answers * answers
    kinds = around | {
        "words": words.words,
        "meaning": meaning,
        "session": words.session,
        "answers": answers,
    }
    return TurnEvidence(
        weights=weights,
        **kinds,
        spread=None if found is None else found.spread,
        rarities=words.rarities,
        possible=possible,
        plenty=sum(sorted(rarity for _, rarity in words.rarities)[-SUBJECT_TERMS:]),
        present=tuple(kind for kind in KINDS if kinds[kind] is not none),
        context=context,
    )


def _of(
    table: TurnTable, voices: AbstractSet[int], value: float = 1.0, *, rows: Ints | None = None
) -> Floats:
    """The value for the turns of these voices, and 0 for the others; of all turns or these rows."""
    import numpy as np

    values = np.zeros(len(table.speakers), np.float32)
    values[list(voices)] = value
    return values.take(table.voice if rows is None else table.voice.take(rows))


def _limit_echoes(
    data: SearchData,
    question: ParsedQuery,
    weights: EvidenceWeights,
    *,
    words: Floats,
    meaning: Floats,
) -> None:
    """Let a turn of the assistant count, by words and by meaning, at most like the best other turn
    that has the same terms of the query at least. A short reply that repeats the user's word would
    else come before the user's own sentence, both by words and by meaning."""
    import numpy as np

    having = np.zeros(len(words), np.int32)
    found = [p for terms in question.counted if (p := postings_of(data, terms)) is not None]
    for bit, postings in enumerate(found):
        having[postings.rows] |= 1 << bit
    rows = np.flatnonzero(having)
    repeats = _of(data.table, question.echoes, rows=rows) > 0
    echoes, others = rows[repeats], rows[~repeats]
    terms_of, their = having.take(echoes), having.take(others)
    own = weights.words * words.take(others) + weights.meaning * meaning.take(others)
    for terms in sorted(set(terms_of.tolist())):
        said = np.flatnonzero(their & terms == terms)
        if len(said):
            best, echo = others[said[own.take(said).argmax()]], echoes[terms_of == terms]
            words[echo] = np.minimum(words[echo], words[best])
            meaning[echo] = np.minimum(meaning[echo], meaning[best])


def _answers(asked: Floats, shape: TableShape) -> Floats:
    """How well each turn's preceding question fits, if it follows one of somebody else."""
    import numpy as np

    answers = np.zeros_like(asked)
    np.multiply(shape.answering, asked[:-1], out=answers[1:])
    return answers


def _time(shape: TableShape, question: ParsedQuery) -> Floats:
    """Near 1 for turns that were said on, or name, a day that the query names."""
    import numpy as np

    def fading(start: NDArray[np.int32], end: NDArray[np.int32]) -> Floats:
        gap = np.full(len(start), 10_000, np.int32)
        for first, last in question.days:
            apart = np.maximum(np.int32(first) - end, start - np.int32(last))
            np.minimum(gap, np.maximum(apart, 0, out=apart), out=gap)
        faded: Floats = np.exp(gap * np.float32(-1 / FADE))
        return faded

    # Many turns share a day, and few name one.
    near = fading(shape.days, shape.days).take(shape.day)
    turn, start, end = shape.named
    np.maximum.at(near, turn, fading(start, end))
    return near


def judge_support(data: SearchData, question: ParsedQuery, evidence: TurnEvidence) -> Support:
    """Judge whether the memory contains anything about what was asked. `known` is left at 0: see
    `gate`."""
    words, total = evidence.words, evidence.total
    best = mismatch = share = 0.0
    cosine: float | None = None
    if len(total):
        top = int(total.argmax())
        best = max(float(total[top]), 0.0)
        plenty = max(evidence.plenty, 1e-6)
        heard = float((words[top] + evidence.near_words[top]) / plenty)
        share = min(max(heard, float(words.max()) / plenty), 1.0)
        if evidence.spread is not None:
            cosine = evidence.spread.best
        if question.about:
            theirs = _of(data.table, question.about) > 0
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

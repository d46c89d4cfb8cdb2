"""How much speaks for each of an owner's turns: words, meaning, context, speakers and days.

A turn's score is a weighted sum of seven kinds of evidence, each in its natural unit:

    words     BM25 of the query's content terms; a term that a neighbour says counts too, less
              with each turn between (e^(-d/1.5), three turns each way, the best of them)
    meaning   the cosine in standard deviations, plus half of the neighbours', likewise fading
    session   BM25 of the whole session, as a share of what the query could score
    speaker   1 where the one speaks whom the query is about
    time      e^(-days/10) from the days the query names to the turn's day or days it names
    when      1 where the query asks for a time and the turn names one
    telling   1 - e^(-n/16), n the number of terms outside questions

For a query that is no question, neighbours and telling count half. All is arithmetic on arrays
over the turns of one owner; docs/recall.md says what each kind gives.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp, log
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from omoide.domain import Support

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from omoide.memory.search.question import Question
    from omoide.ports.store import Outline, Survey

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int64]

KERNEL = tuple(exp(-distance / 1.5) for distance in (1, 2, 3))
"""How much of a turn its neighbours hear, by distance."""
LIKE = 0.5
"""How much neighbours and telling count for a query that is no question."""
K1, B = 0.9, 0.4
"""BM25 of a turn."""
SESSION_K1, SESSION_B = 1.2, 0.4
"""BM25 of a session."""
FADE = 10
"""Days after which a day counts e times less."""
MANY = 25
"""A term counts as frequent that more than one turn in so many has."""
LONGEST = 40
"""Days of the longest stretch that says when something was: a year says little."""
_EPOCH = 719_163
"""1 January 1970 as `date.toordinal`."""
_DAY = 86_400_000_000
"""Microseconds of a day."""


@dataclass(frozen=True, kw_only=True)
class Weights:
    """How much each kind of evidence counts, in natural logarithms of odds.

    Listwise logistic regression on conversations 1-5 of LoCoMo gave, by embedder, words 0.31-0.48,
    meaning 0.74-0.87, session 2.2-2.8, speaker 2.2-2.7, time 5.4-5.6, when 1.8-2.0 and telling
    2.3-3.8. These are round numbers near those; words lean to the high and telling to the low
    side, since known-item tasks on other corpora fared better so and LoCoMo no worse.
    """

    words: float = 0.45
    meaning: float = 0.9
    session: float = 2.5
    speaker: float = 2.5
    time: float = 5.0
    when: float = 2.0
    telling: float = 2.5
    neighbours: float = 1.0
    """How much of the words and the meaning of a turn its neighbours hear, by `KERNEL`."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """What speaks for each turn: one array a kind, one number a turn."""

    weights: Weights
    words: Floats
    meaning: Floats
    session: Floats
    speaker: Floats
    time: Floats
    when: Floats
    telling: Floats
    spread: tuple[float, float] | None
    """Mean and standard deviation of the cosines, where there are any."""
    possible: float
    """What a turn would score in words that has each term of the query once."""

    @cached_property
    def context(self) -> Floats:
        """The sum of all but words and meaning."""
        w = self.weights
        context: Floats = w.session * self.session
        for weight, kind in (
            (w.speaker, self.speaker),
            (w.time, self.time),
            (w.when, self.when),
            (w.telling, self.telling),
        ):
            context += weight * kind
        return context

    @cached_property
    def total(self) -> Floats:
        """The score of each turn."""
        w = self.weights
        total: Floats = self.context + w.words * self.words + w.meaning * self.meaning
        return total


def weigh(survey: Survey, question: Question, weights: Weights) -> Evidence:
    """The evidence in every turn of a survey."""
    import numpy as np

    outline = survey.outline
    none = np.zeros(len(outline.ids), np.float32)
    strength = 1.0 if question.asks else LIKE
    heard = strength * weights.neighbours
    shape = _shape(outline)
    words, session, possible = _words(survey, question, shape, heard)
    meaning, spread = _meaning(survey, shape, heard)
    when = none
    if question.wants_time:
        when = none.copy()
        when[outline.named[:, 0]] = 1
    about = np.array(sorted(question.about), np.int64)
    return Evidence(
        weights=weights,
        words=words,
        meaning=meaning,
        session=session,
        speaker=np.isin(outline.voice, about).astype(np.float32) if len(about) else none,
        time=_time(outline, shape, question) if question.days else none,
        when=when,
        telling=strength * outline.telling,
        spread=spread,
        possible=possible,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Shape:
    """What every query needs to know of an outline."""

    beside: list[NDArray[np.bool_]]
    """By distance, whether the turn that far behind each is of the same session."""
    group: Ints
    """The session of each turn, counted from 0."""
    turns: Ints
    """How many turns each session has."""
    size: NDArray[np.float64]
    """How many terms each session has."""
    day: NDArray[np.int32]
    """When each turn was said, as `date.toordinal`."""


_shapes: WeakKeyDictionary[Outline, _Shape] = WeakKeyDictionary()


def _shape(outline: Outline) -> _Shape:
    """The shape of an outline, worked out once: the same one serves until a turn is added."""
    import numpy as np

    if (known := _shapes.get(outline)) is not None:
        return known
    session = outline.session
    starts = np.flatnonzero(np.diff(session, prepend=-1))
    turns = np.diff(starts, append=len(session))
    size = np.add.reduceat(outline.length, starts, dtype=np.float64) if len(starts) else np.zeros(0)
    day = (outline.time.astype(np.int64) // _DAY).astype(np.int32)
    shape = _shapes[outline] = _Shape(
        beside=[session[d:] == session[:-d] for d in range(1, len(KERNEL) + 1) if d < len(session)],
        group=np.repeat(np.arange(len(turns)), turns),
        turns=turns,
        size=size,
        day=day + np.int32(_EPOCH),
    )
    return shape


def _words(
    survey: Survey, question: Question, shape: _Shape, strength: float
) -> tuple[Floats, Floats, float]:
    """BM25 of each turn; of its session, in shares of what the query could score; that."""
    import numpy as np

    outline = survey.outline
    count, length = len(outline.ids), outline.length
    words = np.zeros(count, np.float32)
    if not count:
        return words, words, 0.0
    size = shape.size
    usual = max(float(size.sum()) / count, 1)
    session_norm = SESSION_K1 * (1 - SESSION_B + SESSION_B * size / max(float(size.mean()), 1))
    sessions, heard, possible = np.zeros(len(size)), np.zeros(count, np.float32), 0.0
    for term in question.terms:
        postings = survey.postings.get(term)
        having = len(postings.places) if postings else 0
        rarity = log(1 + (count - having + 0.5) / (having + 0.5))
        if having or not term.startswith("~"):  # a folded form that nothing has says nothing
            possible += rarity
        if postings is None:
            continue
        where, times = postings.places, postings.counts
        norm = K1 * (1 - B + B * length[where] / usual)
        gain = (rarity * (K1 + 1) * times / (times + norm)).astype(np.float32, copy=False)
        if having * MANY > count:
            _hear_best_of_many(words, where, gain, shape=shape, strength=strength)
        else:
            _hear_best(words, where, gain, heard=heard, session=outline.session, strength=strength)
        inside = np.bincount(shape.group[where], weights=times, minlength=len(size))
        sessions += rarity * (SESSION_K1 + 1) * inside / (inside + session_norm)
    shares = (sessions / (possible or 1)).astype(np.float32)
    return words, np.repeat(shares, shape.turns), possible


def _hear_best(
    total: Floats, where: Ints, gain: Floats, *, heard: Floats, session: Ints, strength: float
) -> None:
    """Add, per turn, the best gain at hand: its own in full, a neighbour's in part. `heard` is
    room to work in, all zeros before and after."""
    import numpy as np

    heard[where] = gain
    touched = [where]
    for distance, share in enumerate(KERNEL, start=1):
        for there in (where - distance, where + distance):
            inside = (there >= 0) & (there < len(total))
            inside[inside] = session[there[inside]] == session[where[inside]]
            to = there[inside]
            heard[to] = np.maximum(heard[to], strength * share * gain[inside])
            touched.append(to)
    places = np.concatenate(touched)
    total[places] += heard[places]  # a place that stands there twice is still added to once
    heard[places] = 0


def _hear_best_of_many(
    total: Floats, where: Ints, gain: Floats, *, shape: _Shape, strength: float
) -> None:
    """The same for a term that so many turns have that going through all of them is quicker."""
    import numpy as np

    own = np.zeros_like(total)
    own[where] = gain
    heard = own.copy()
    for distance, (share, same) in enumerate(zip(KERNEL, shape.beside, strict=False), start=1):
        part = np.float32(strength * share) * same
        np.maximum(heard[:-distance], part * own[distance:], out=heard[:-distance])
        np.maximum(heard[distance:], part * own[:-distance], out=heard[distance:])
    total += heard


def _meaning(
    survey: Survey, shape: _Shape, strength: float
) -> tuple[Floats, tuple[float, float] | None]:
    """Cosines in standard deviations, with half of the neighbours', fading with distance. A turn
    that has no vector yet stands at the mean."""
    import numpy as np

    cosines = survey.cosines
    nothing = np.zeros(len(survey.outline.ids), np.float32)
    if cosines is None:
        return nothing, None
    missing = np.isnan(cosines)
    some_are = bool(missing.any())
    known = cosines[~missing] if some_are else cosines
    if not len(known):
        return nothing, None
    mean = float(known.mean())
    deviation = max(float(known @ known) / len(known) - mean * mean, 1e-9) ** 0.5
    score = (cosines - np.float32(mean)) / np.float32(deviation)
    if some_are:
        score[missing] = 0
    total = score.copy()
    for distance, (share, same) in enumerate(zip(KERNEL, shape.beside, strict=False), start=1):
        part = same * np.float32(0.5 * strength * share)
        total[:-distance] += part * score[distance:]
        total[distance:] += part * score[:-distance]
    return total, (mean, deviation)


def _time(outline: Outline, shape: _Shape, question: Question) -> Floats:
    """Near 1 for turns said on, or naming, days that the query names."""
    import numpy as np

    # In 32 bits, which are enough and take a fraction of the time.
    day = shape.day
    named = outline.named[outline.named[:, 2] - outline.named[:, 1] <= LONGEST].astype(np.int32)
    turn, start, end = named.T
    gap = np.full(len(day), 10_000, np.int32)
    for first, last in question.days:
        apart = np.maximum(np.int32(first) - day, day - np.int32(last))
        np.minimum(gap, np.maximum(apart, 0, out=apart), out=gap)
        apart = np.maximum(np.int32(first) - end, start - np.int32(last))
        np.minimum.at(gap, turn, np.maximum(apart, 0))
    fading: Floats = np.exp(gap * np.float32(-1 / FADE))
    return fading


def support(outline: Outline, question: Question, evidence: Evidence) -> Support:
    """Judge whether memory speaks at all of what was asked."""
    import numpy as np

    best = float(evidence.total.max(initial=0))
    if not question.about:
        return Support(best=best, mismatch=0.0)
    theirs = np.isin(outline.voice, np.array(sorted(question.about)))
    words = evidence.words
    mismatch = float(words[~theirs].max(initial=0) - words[theirs].max(initial=0))
    return Support(best=best, mismatch=mismatch)

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

from dataclasses import dataclass, replace
from datetime import UTC
from functools import cached_property
from itertools import compress
from math import exp, log
from typing import TYPE_CHECKING

from omoide.ports.store import Postings

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet
    from datetime import datetime

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
LONGEST = 40
"""Days of the longest stretch that says when something was: a year says little."""
_EPOCH = 719_163
"""1 January 1970 as `date.toordinal`."""


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
        context: Floats = (
            w.session * self.session
            + w.speaker * self.speaker
            + w.time * self.time
            + w.when * self.when
            + w.telling * self.telling
        )
        return context

    @cached_property
    def total(self) -> Floats:
        """The score of each turn."""
        w = self.weights
        total: Floats = self.context + w.words * self.words + w.meaning * self.meaning
        return total


@dataclass(frozen=True, kw_only=True)
class Support:
    """What speaks for the answer being in memory at all."""

    best: float
    """The highest score of a turn."""
    mismatch: float
    """How much better the words fit turns of others than of whom the query is about. Above 0 the
    query may ascribe one's deeds to another: a hint for a prompt, too weak to refuse by."""

    @property
    def known(self) -> float:
        """The probability that memory speaks of it, if half of all questions had no answer.

        Fitted on conversations 1-5 of LoCoMo with an embedder at work. On the others, against
        questions about another conversation (31 % of all), "below 0.35" finds 70 % of them, and is
        right in 69 %; it refuses 14 % of the questions that have an answer. It does not tell a
        true story of the wrong person (LoCoMo's category 5) from one of the right person: at the
        same cut it finds 13 %, right in 20 %, no better than chance (`omoide bench abstention`).
        """
        return 1 / (1 + exp(min(6.5 - 0.53 * self.best + 0.11 * self.mismatch, 700)))


def visible(survey: Survey, *, at: datetime, besides: AbstractSet[str]) -> Survey:
    """The survey as if nothing had been said after `at`, nor the turns with ids in `besides`."""
    import numpy as np

    outline = survey.outline
    keep = outline.time <= np.datetime64(at.astimezone(UTC).replace(tzinfo=None), "us")
    if besides:
        keep &= ~np.fromiter(map(besides.__contains__, outline.ids), np.bool_, len(keep))
    return survey if keep.all() else _only(survey, keep)


def _only(survey: Survey, keep: NDArray[np.bool_]) -> Survey:
    import numpy as np

    old = survey.outline
    moved = np.where(keep, np.cumsum(keep) - 1, -1)
    named = old.named[keep[old.named[:, 0]]]
    outline = replace(
        old,
        ids=tuple(compress(old.ids, keep.tolist())),
        session=old.session[keep],
        voice=old.voice[keep],
        time=old.time[keep],
        length=old.length[keep],
        telling=old.telling[keep],
        named=np.column_stack((moved[named[:, 0]], named[:, 1:])),
    )
    postings = {
        term: Postings(places=moved[p.places[there]], counts=p.counts[there])
        for term, p in survey.postings.items()
        if (there := keep[p.places]).any()
    }
    cosines = None if survey.cosines is None else survey.cosines[keep]
    return replace(survey, outline=outline, postings=postings, cosines=cosines)


def weigh(survey: Survey, question: Question, weights: Weights) -> Evidence:
    """The evidence in every turn of a survey."""
    import numpy as np

    outline = survey.outline
    none = np.zeros(len(outline.ids), np.float32)
    strength = 1.0 if question.asks else LIKE
    heard = strength * weights.neighbours
    words, session, possible = _words(survey, question, heard)
    meaning, spread = _meaning(survey, heard)
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
        time=_time(outline, question) if question.days else none,
        when=when,
        telling=strength * outline.telling,
        spread=spread,
        possible=possible,
    )


def _words(survey: Survey, question: Question, strength: float) -> tuple[Floats, Floats, float]:
    """BM25 of each turn; of its session, in shares of what the query could score; that."""
    import numpy as np

    outline = survey.outline
    count, length = len(outline.ids), outline.length
    words = np.zeros(count, np.float32)
    if not count:
        return words, words, 0.0
    group = np.concatenate([[0], np.cumsum(outline.session[1:] != outline.session[:-1])])
    size = np.bincount(group, weights=length)
    norm = K1 * (1 - B + B * length / max(float(length.mean()), 1))
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
        gain = rarity * (K1 + 1) * times / (times + norm[where])
        _hear_best(
            words,
            where,
            gain.astype(np.float32),
            heard=heard,
            session=outline.session,
            strength=strength,
        )
        inside = np.bincount(group[where], weights=times, minlength=len(size))
        sessions += rarity * (SESSION_K1 + 1) * inside / (inside + session_norm)
    return words, (sessions / (possible or 1)).astype(np.float32)[group], possible


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


def _meaning(survey: Survey, strength: float) -> tuple[Floats, tuple[float, float] | None]:
    """Cosines in standard deviations, with half of the neighbours', fading with distance. A turn
    that has no vector yet stands at the mean."""
    import numpy as np

    session, cosines = survey.outline.session, survey.cosines
    nothing = np.zeros(len(session), np.float32)
    if cosines is None:
        return nothing, None
    missing = np.isnan(cosines)
    known = cosines[~missing] if missing.any() else cosines
    if not len(known):
        return nothing, None
    mean = float(known.mean())
    deviation = max(float(known @ known) / len(known) - mean * mean, 1e-9) ** 0.5
    score = np.where(missing, np.float32(0), (cosines - mean) / np.float32(deviation))
    total = score.copy()
    for distance, share in enumerate(KERNEL, start=1):
        if distance < len(session):
            heard = (session[distance:] == session[:-distance]) * np.float32(0.5 * strength * share)
            total[:-distance] += heard * score[distance:]
            total[distance:] += heard * score[:-distance]
    return total, (mean, deviation)


def _time(outline: Outline, question: Question) -> Floats:
    """Near 1 for turns said on, or naming, days that the query names."""
    import numpy as np

    day = outline.time.astype("datetime64[D]").astype(np.int64) + _EPOCH
    named = outline.named[outline.named[:, 2] - outline.named[:, 1] <= LONGEST]
    turn, start, end = named.T
    gap = np.full(len(day), 10_000)
    for first, last in question.days:
        gap = np.minimum(gap, np.maximum(0, np.maximum(first - day, day - last)))
        np.minimum.at(gap, turn, np.maximum(0, np.maximum(first - end, start - last)))
    return np.exp(-gap / FADE).astype(np.float32)


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

"""The recall probability of each event, with the reason: pure functions, so that it can be shown.

Hou et al. 2024, eq. 8, with a relevance calibrated for the embedder (`calibration`). If an event
has no vector yet, there is no embedder, or the embedder does not support the language, word
overlap is used instead, with its own calibration.

Departures from the paper: relevance is calibrated; an event that yields to a newer habit is not
recalled (`habits`); feeling may slow forgetting (`RecallSettings.feeling`, off by default).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from math import expm1, inf, log, log1p
from typing import TYPE_CHECKING

from omoide.claims.overlap import rarity
from omoide.domain import Event
from omoide.domain.forgetting import THRESHOLD, UNIT, RecallFactors, recall_probability
from omoide.errors import BadInput
from omoide.language import content_terms, detect_language, languages
from omoide.language.pack import over_packs, packs
from omoide.mechanisms.events.habits import yielding_events
from omoide.prompts import vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from omoide.domain import Fact
    from omoide.mechanisms.events.calibration import Calibration


LEARNT = 10 * UNIT
"""The unit of forgetting with the least loss on half of 1,010 tasks from LoCoMo and MSC (3.5
years). On the other half its loss is 0.310; the paper's unit has 0.326
(`benchmarks/recall_protocol.py`). With the paper's unit, an event that was never recalled is out
of reach after 31 days, whatever the cue: 8 % of LoCoMo's questions recalled their evidence, and
34 % with this one."""


@dataclass(frozen=True, kw_only=True)
class RecallSettings:
    """Settings of recall. `benchmarks/recall_protocol.py` measures what each is worth."""

    unit: timedelta = LEARNT
    """How fast events fade."""
    spacing: timedelta = UNIT
    """The unit of eq. 9, as in the paper: how long a pause must be for a recall to strengthen an
    event much."""
    threshold: float = THRESHOLD
    """k of the paper."""
    feeling: float = 0.0
    """How much more slowly an emotional event fades: g becomes g·(1 + feeling·weight). Off: on
    the tasks it made no difference beyond the third decimal."""
    most: int = 3
    """Maximum number of events recalled for a reply. The paper recalls one."""
    depth: int = 50
    """How many nearest events are considered."""
    calibrated: bool = True
    """Whether the cosine is mapped for the embedder. The paper takes it as it is."""
    labels: bool = False
    """Whether topics and keywords count in recall and are shown with an event."""
    retires: bool = True
    """Whether an event that a newer one contradicts, or that yields to a newer habit, is no longer
    recalled. The paper leaves that open."""

    def __post_init__(self) -> None:
        for name, unit in (("event_fading", self.unit), ("event_spacing", self.spacing)):
            if unit <= timedelta():
                raise BadInput(f"{name} must be above 0 seconds, not {unit.total_seconds():g}")
        if not 0 <= self.threshold <= 1:
            raise BadInput(f"event_threshold must be between 0 and 1, not {self.threshold}")
        if self.most < 0 or self.feeling < 0:
            raise BadInput(
                "event_items and event_emotion must not be negative, "
                f"got {self.most} and {self.feeling}"
            )


@dataclass(frozen=True, kw_only=True)
class EventCandidate:
    """One event with everything that decided whether it is recalled."""

    event: Event
    cosine: float | None
    """None if there is no vector to compare."""
    words: float
    """Share of words in common, 0 to 1."""
    by: str
    """What its relevance is based on: `vector` or `words`."""
    relevance: float
    """r of eq. 8: the raw similarity on the paper's scale."""
    elapsed: timedelta
    """t of eq. 8: time since it was said or last recalled."""
    consolidation: float
    """g of eq. 8, including feeling."""
    probability: float
    threshold: float
    recalled: bool
    why: str

    @property
    def odds(self) -> RecallFactors:
        """Only the numbers."""
        return RecallFactors(
            r=self.relevance,
            t=self.elapsed / timedelta(days=1),
            g=self.consolidation,
            p=self.probability,
            k=self.threshold,
        )


def weigh_events(
    text: str,
    events: Sequence[Event],
    *,
    cosines: Mapping[str, float],
    by_vector: Calibration | None,
    by_words: Calibration,
    now: datetime,
    language: str,
    knobs: RecallSettings,
) -> tuple[EventCandidate, ...]:
    """Every event with its recall probability for this input, the most probable first."""
    shared = word_similarity(text, [event_words(event, labels=knobs.labels) for event in events])
    yielding = (
        yielding_events(events, text, language=language, zone=now.tzinfo) if knobs.retires else {}
    )
    candidates = []
    for event, share in zip(events, shared, strict=True):
        cosine = cosines.get(event.id)
        comparable = (
            by_vector is not None
            and cosine is not None
            and by_vector.holds_for(language)
            and by_vector.holds_for(detect_language(event.text, default=language))
        )
        if comparable and by_vector is not None and cosine is not None:
            by, relevance = "vector", by_vector(cosine)
        else:
            by, relevance = "words", by_words(share)
        consolidation = event.consolidation * (1 + knobs.feeling * event.feeling)
        elapsed = max(now - event.last_recalled, timedelta())
        probability = recall_probability(
            relevance=relevance, elapsed=elapsed, consolidation=consolidation, unit=knobs.unit
        )
        candidate = EventCandidate(
            event=event,
            cosine=cosine,
            words=share,
            by=by,
            relevance=relevance,
            elapsed=elapsed,
            consolidation=consolidation,
            probability=probability,
            threshold=knobs.threshold,
            recalled=False,
            why="",
        )
        yields = yielding.get(event.id)
        candidates.append(replace(candidate, why=f"yields: {yields.why}") if yields else candidate)
    candidates.sort(key=lambda c: (-c.probability, c.event.id))
    return _decided(candidates, most=knobs.most)


def _decided(candidates: Sequence[EventCandidate], *, most: int) -> tuple[EventCandidate, ...]:
    decided, taken = [], 0
    for candidate in candidates:
        p, k = candidate.probability, candidate.threshold
        if candidate.why:
            decided.append(candidate)
        elif candidate.event.superseded_by:
            decided.append(replace(candidate, why="no longer true: a newer event contradicts it"))
        elif p <= k:
            faded = candidate.relevance > 0 and _fresh(candidate) > k
            reason = "it has faded" if faded else "the input is not close enough to it"
            decided.append(replace(candidate, why=f"p {p:.3f} is not above {k:.2f}: {reason}"))
        elif taken == most:
            decided.append(replace(candidate, why=f"p {p:.3f}, but {most} others were likelier"))
        else:
            taken += 1
            decided.append(replace(candidate, recalled=True, why=f"p {p:.3f} is above {k:.2f}"))
    return tuple(decided)


def event_words(event: Event, *, labels: bool) -> str:
    """What an event is compared by: its text, and with `labels` its topics and keywords."""
    return " ".join((event.text, *event.topics, *event.keywords)) if labels else event.text


def _fresh(candidate: EventCandidate) -> float:
    """Its probability if it had been said just now."""
    return recall_probability(
        relevance=candidate.relevance, elapsed=timedelta(), consolidation=candidate.consolidation
    )


def word_similarity(text: str, events: Sequence[str]) -> list[float]:
    """Similarity of each event with the text, 0 to 1: Dice's coefficient over content terms,
    weighted by rarity among the events."""
    wanted = _event_terms(text)
    known = [_event_terms(event) for event in events]
    weight = rarity(known)
    most = max(weight.values(), default=1.0)
    size = sum(weight.get(term, most) for term in wanted)
    similarities = []
    for its_terms in known:
        shared = sum(weight[term] for term in wanted & its_terms)
        total = size + sum(weight[term] for term in its_terms)
        similarities.append(2 * shared / total if total else 0.0)
    return similarities


def _event_terms(text: str) -> set[str]:
    """The content terms without the speakers' labels, which nearly every event has, and with each
    Vietnamese syllable once: as it is written, or folded if it was typed so."""
    all_terms = content_terms(_labels().sub(" ", text))
    written = {term for term in all_terms if not term.startswith("~")}
    return written - _light() or written


@over_packs
def _light() -> frozenset[str]:
    """Words that do not say what an event is about, of all packs."""
    return frozenset[str]().union(*(pack.words.light for pack in packs()))


@over_packs
def _labels() -> re.Pattern[str]:
    names = (vocabulary(code)[who] for code in languages() for who in ("user", "assistant"))
    return re.compile("|".join(map(re.escape, names)), re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class ForgettingCurve:
    """How an event fades over the coming days: (days from now, p) for a given relevance."""

    event: Event
    relevance: float
    threshold: float
    since: tuple[tuple[float, float], ...]
    """From when it was said or last recalled until now, at most as many days back as ahead."""
    fading: tuple[tuple[float, float], ...]
    """If it is not recalled."""
    recalled: tuple[tuple[float, float], ...]
    """If it is recalled now."""
    out_of_reach: float | None
    """After how many days it falls to the threshold; None if not within the period shown."""


def event_of(fact: Fact, *, spacing: timedelta = UNIT) -> Event:
    """A fact as an event that was recalled when the fact was said again: for showing how it would
    fade. Facts themselves do not fade."""
    event = Event(
        id=fact.id,
        session=fact.session or 0,
        text=fact.text,
        time=fact.said,
        sources=fact.sources,
        last_recalled=fact.said,
        fact=fact.id,
    )
    return event.recalled(fact.confirmed, unit=spacing) if fact.confirmed else event


def days_to_threshold(event: Event, *, now: datetime, knobs: RecallSettings) -> float:
    """Days from now until even a perfect cue no longer recalls the event; negative if that is
    past. Eq. 8, solved for t."""
    if knobs.threshold <= 0:
        return inf
    vividness = -log1p(knobs.threshold * expm1(-1))
    consolidation = event.consolidation * (1 + knobs.feeling * event.feeling)
    lasts = -log(vividness) * consolidation * knobs.unit
    return (event.last_recalled + lasts - now) / timedelta(days=1)


def curve(
    event: Event,
    *,
    now: datetime,
    relevance: float = 1.0,
    days: float = 90.0,
    points: int = 91,
    knobs: RecallSettings | None = None,
) -> ForgettingCurve:
    """The forgetting curve of an event, as it is and as it would be if recalled at `now`."""
    knobs = knobs or RecallSettings()
    steps = [days * i / (points - 1) for i in range(points)]
    after = event.recalled(now, unit=knobs.spacing)

    def fades(state: Event, over: Sequence[float]) -> tuple[tuple[float, float], ...]:
        consolidation = state.consolidation * (1 + knobs.feeling * state.feeling)
        return tuple(
            (
                day,
                recall_probability(
                    relevance=relevance,
                    elapsed=now + timedelta(days=day) - state.last_recalled,
                    consolidation=consolidation,
                    unit=knobs.unit,
                ),
            )
            for day in over
        )

    as_is, renewed = fades(event, steps), fades(after, steps)
    ago = min((now - event.last_recalled) / timedelta(days=1), days)
    past = [-ago * (1 - i / 20) for i in range(21)] if ago > 0 else []
    gone = next((day for day, p in as_is if p <= knobs.threshold), None)
    return ForgettingCurve(
        event=event,
        relevance=relevance,
        threshold=knobs.threshold,
        since=fades(event, past),
        fading=as_is,
        recalled=renewed,
        out_of_reach=gone,
    )

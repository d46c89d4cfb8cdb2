"""How likely each event is to come to mind, and why or why not: pure, so that it can be shown.

Hou et al. 2024, eq. 8, over a relevance that is calibrated for the embedder (`calibration`). Where
an event has no vector yet, there is no embedder, or the embedder does not know the language, the
overlap of words stands in, with a calibration of its own.

Departures from the paper: relevance is calibrated; an event that steps back for a newer habit is
not recalled (`change.yielding`); feeling may slow forgetting (`Knobs.feeling`, off by default).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.domain.forgetting import THRESHOLD, UNIT, Odds, recall_probability
from omoide.language import LANGUAGES, content_terms, detect
from omoide.memory.events.change import yielding
from omoide.memory.overlap import rarity
from omoide.prompts import words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from omoide.domain import Event
    from omoide.memory.events.calibration import Calibration


LEARNT = 10 * UNIT
"""The unit of forgetting with the least loss on half of 1,010 tasks from LoCoMo and MSC (3.5
years); on the other half 0.310, where the paper's has 0.326 (`benchmarks/recall_protocol.py`).
With the paper's own, an event that never came to mind is out of reach after 31 days, whatever the
cue: 8 % of LoCoMo's questions recalled their evidence, and 34 % with this one."""


@dataclass(frozen=True, kw_only=True)
class Knobs:
    """What can be set about recall. `benchmarks/recall_protocol.py` says what each is worth."""

    unit: timedelta = LEARNT
    """How fast events fade."""
    spacing: timedelta = UNIT
    """The unit of eq. 9: how long a pause makes a recall strengthen an event much. The paper's."""
    threshold: float = THRESHOLD
    """k of the paper."""
    feeling: float = 0.0
    """By how much a fully felt event fades slower: g becomes g·(1 + feeling·weight). Off: on
    the tasks it made no difference beyond the third decimal."""
    most: int = 3
    """Events a reply may be given. The paper gives it one."""
    depth: int = 50
    """How many nearest events are looked at."""


PAPER = Knobs(unit=UNIT, most=1)
"""As in the paper, as far as its tables tell."""
EXTRACTIVE = Knobs(threshold=0.935)
"""For events that are the user's own sentences: these lie nearer to any input than sentences in
the third person do. With the multilingual embedder 9 % of unrelated English inputs and 18 % of
Japanese ones would recall something at 0.86; 2 % or fewer do at this threshold."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One event that was weighed, with everything that decided."""

    event: Event
    cosine: float | None
    """None where there is no vector to compare."""
    words: float
    """Share of words in common, 0 to 1."""
    by: str
    """What its relevance rests on: `vector` or `words`."""
    relevance: float
    """r of eq. 8: the raw likeness on the paper's scale."""
    elapsed: timedelta
    """t of eq. 8, since it was told or last came to mind."""
    consolidation: float
    """g of eq. 8, feeling included."""
    probability: float
    threshold: float
    recalled: bool
    why: str

    @property
    def odds(self) -> Odds:
        """The figures alone."""
        return Odds(
            r=self.relevance,
            t=self.elapsed / timedelta(days=1),
            g=self.consolidation,
            p=self.probability,
            k=self.threshold,
        )


def weigh(
    text: str,
    events: Sequence[Event],
    *,
    cosines: Mapping[str, float],
    by_vector: Calibration | None,
    by_words: Calibration,
    now: datetime,
    language: str,
    knobs: Knobs,
) -> tuple[Candidate, ...]:
    """Every event with its chance to come to mind at this input, the likeliest first."""
    shared = likeness_of_words(text, [event.text for event in events])
    held_back = yielding(events, text, language=language, zone=now.tzinfo)
    found = []
    for event, share in zip(events, shared, strict=True):
        cosine = cosines.get(event.id)
        seen = (
            by_vector is not None
            and cosine is not None
            and by_vector.holds_for(language)
            and by_vector.holds_for(detect(event.text, default=language))
        )
        if seen and by_vector is not None and cosine is not None:
            by, relevance = "vector", by_vector(cosine)
        else:
            by, relevance = "words", by_words(share)
        grown = event.consolidation * (1 + knobs.feeling * event.feeling)
        elapsed = max(now - event.last_recalled, timedelta())
        probability = recall_probability(
            relevance=relevance, elapsed=elapsed, consolidation=grown, unit=knobs.unit
        )
        candidate = Candidate(
            event=event,
            cosine=cosine,
            words=share,
            by=by,
            relevance=relevance,
            elapsed=elapsed,
            consolidation=grown,
            probability=probability,
            threshold=knobs.threshold,
            recalled=False,
            why="",
        )
        yields = held_back.get(event.id)
        found.append(replace(candidate, why=f"yields: {yields.why}") if yields else candidate)
    found.sort(key=lambda c: (-c.probability, c.event.id))
    return _decided(found, most=knobs.most)


def _decided(found: Sequence[Candidate], *, most: int) -> tuple[Candidate, ...]:
    decided, taken = [], 0
    for candidate in found:
        p, k = candidate.probability, candidate.threshold
        if candidate.why:
            decided.append(candidate)
        elif candidate.event.superseded_by:
            decided.append(replace(candidate, why="no longer true: a newer event took it back"))
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


def _fresh(candidate: Candidate) -> float:
    """Its probability had it been told just now."""
    return recall_probability(
        relevance=candidate.relevance, elapsed=timedelta(), consolidation=candidate.consolidation
    )


def likeness_of_words(text: str, events: Sequence[str]) -> list[float]:
    """How much each event shares with the text, 0 to 1: Dice's coefficient over meaningful terms,
    where a term weighs the more the fewer of the events have it."""
    wanted = _telling(text)
    known = [_telling(event) for event in events]
    weight = rarity(known)
    most = max(weight.values(), default=1.0)
    size = sum(weight.get(term, most) for term in wanted)
    found = []
    for its_terms in known:
        shared = sum(weight[term] for term in wanted & its_terms)
        whole = size + sum(weight[term] for term in its_terms)
        found.append(2 * shared / whole if whole else 0.0)
    return found


def _telling(text: str) -> set[str]:
    """The meaningful terms without the speakers' labels, which nearly every event has, and each
    Vietnamese syllable once: as it is written, or folded where it was typed so."""
    found = content_terms(_LABELS.sub(" ", text))
    written = {term for term in found if not term.startswith("~")}
    return written - _COMMON or written


_COMMON = frozenset(
    """rồi lại làm của để cho này kia đó thì mà được không có là và ở với vào ra đang đã sẽ mình
    tôi bạn em anh chị một các những hôm nay khi như rất quá lắm nhé ạ cũng còn bị từ đến
    sau""".split()
)
"""Vietnamese syllables that say nothing about what a text is about."""
_LABELS = re.compile(
    "|".join(re.escape(words(code)[who]) for code in LANGUAGES for who in ("user", "assistant")),
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Curve:
    """How an event fades over the coming days: (days from now, p) for a given relevance."""

    event: Event
    relevance: float
    threshold: float
    since: tuple[tuple[float, float], ...]
    """From when it was told or last came to mind until now, as far back as the days looked at."""
    fading: tuple[tuple[float, float], ...]
    """If it does not come to mind."""
    recalled: tuple[tuple[float, float], ...]
    """If it comes to mind now."""
    out_of_reach: float | None
    """After how many days no recall comes at the threshold; None if that is not within the days
    looked at."""


def curve(
    event: Event,
    *,
    now: datetime,
    relevance: float = 1.0,
    days: float = 90.0,
    points: int = 91,
    knobs: Knobs | None = None,
) -> Curve:
    """The forgetting curve of an event, as it is and as it would be after a recall at `now`."""
    knobs = knobs or Knobs()
    steps = [days * i / (points - 1) for i in range(points)]
    after = event.recalled(now, unit=knobs.spacing)

    def fades(one: Event, over: Sequence[float]) -> tuple[tuple[float, float], ...]:
        grown = one.consolidation * (1 + knobs.feeling * one.feeling)
        return tuple(
            (
                day,
                recall_probability(
                    relevance=relevance,
                    elapsed=now + timedelta(days=day) - one.last_recalled,
                    consolidation=grown,
                    unit=knobs.unit,
                ),
            )
            for day in over
        )

    as_is, renewed = fades(event, steps), fades(after, steps)
    ago = min((now - event.last_recalled) / timedelta(days=1), days)
    past = [-ago * (1 - i / 20) for i in range(21)] if ago > 0 else []
    gone = next((day for day, p in as_is if p <= knobs.threshold), None)
    return Curve(
        event=event,
        relevance=relevance,
        threshold=knobs.threshold,
        since=fades(event, past),
        fading=as_is,
        recalled=renewed,
        out_of_reach=gone,
    )

"""How likely an event is to come to mind, rule by rule."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import ceil, inf
from typing import TYPE_CHECKING, Any

import pytest

from omoide.domain import Event, Fact, Speaker
from omoide.domain.forgetting import UNIT, recall_probability
from omoide.errors import BadInput
from omoide.mechanisms.events.calibration import IDENTITY
from omoide.mechanisms.events.scoring import (
    RecallSettings,
    curve,
    days_to_threshold,
    event_of,
    weigh_events,
    word_similarity,
)

if TYPE_CHECKING:
    from omoide.mechanisms.events.scoring import EventCandidate

NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)
DAY = timedelta(days=1)
CAT = Event(
    id="cat",
    session=1,
    text="User adopted a grey cat called Miso.",
    time=NOW - 7 * DAY,
    last_recalled=NOW - 7 * DAY,
    sources=("t1",),
)
ENGLISH = replace(IDENTITY, languages=("en",))


def weighed(
    event: Event, *, text: str = "How is my cat?", language: str = "en", now: datetime = NOW
) -> EventCandidate:
    """The event as it is weighed, with a cosine of 0.9."""
    [candidate] = weigh_events(
        text,
        [event],
        cosines={event.id: 0.9},
        by_vector=ENGLISH,
        by_words=IDENTITY,
        now=now,
        language=language,
        knobs=RecallSettings(),
    )
    return candidate


def test_vectors_decide_only_in_languages_they_are_calibrated_for() -> None:
    """Both of the input and of the event; else words do."""
    assert (weighed(CAT).by, weighed(CAT).relevance) == ("vector", 0.9)
    foreign = replace(CAT, text="私はミソという灰色の猫を飼っています。")
    assert weighed(foreign).by == "words"
    assert weighed(CAT, text="猫は元気ですか", language="ja").by == "words"


def test_a_clock_that_went_back_does_not_make_an_event_older() -> None:
    """An event from the future counts as one of this moment."""
    ahead = replace(CAT, last_recalled=NOW + DAY)
    assert weighed(ahead).elapsed == timedelta(0)
    assert weighed(ahead).probability == weighed(replace(CAT, last_recalled=NOW)).probability


def test_a_word_that_no_event_has_makes_the_input_less_similar() -> None:
    """A question about something else shares a word by chance."""
    events = ["Adopted cat.", "Bought piano."]
    [near, _] = word_similarity("cat", events)
    [far, _] = word_similarity("cat submarine volcano", events)
    assert far < near


def test_the_curve_of_a_recall_is_that_of_the_recalled_event() -> None:
    """It is strengthened by the unit for spacing, and fades by the unit for fading."""
    knobs = RecallSettings(unit=timedelta(days=50), spacing=timedelta(hours=2))
    drawn = curve(CAT, now=NOW, days=10.0, points=11, knobs=knobs)
    after = CAT.recalled(NOW, unit=knobs.spacing)
    assert after.consolidation != CAT.recalled(NOW, unit=knobs.unit).consolidation
    for day, probability in drawn.recalled:
        assert probability == pytest.approx(
            recall_probability(
                relevance=1.0,
                elapsed=timedelta(days=day),
                consolidation=after.consolidation,
                unit=knobs.unit,
            )
        )


def test_a_recall_in_the_past_does_not_set_an_event_back() -> None:
    """Dialogues can be replayed, and clocks go back: the last recall stays the last."""
    again = CAT.recalled(NOW).recalled(NOW - DAY, unit=UNIT)
    assert again.last_recalled == NOW
    assert again.recalls == 2
    assert CAT.recalled(NOW).last_recalled == NOW


@pytest.mark.parametrize("feeling", [0.0, 0.5])
@pytest.mark.parametrize("threshold", [0.05, 0.5, 0.86])
@pytest.mark.parametrize("ago", [0, 7, 400])
def test_the_day_on_which_an_event_is_out_of_reach(
    feeling: float, threshold: float, ago: int
) -> None:
    """On that day a perfect cue recalls it with the threshold's probability, a moment before with
    more; and the drawn curve falls to the threshold at its first point from there on."""
    knobs = RecallSettings(unit=timedelta(days=9), threshold=threshold, feeling=feeling)
    event = replace(CAT, last_recalled=NOW - ago * DAY, consolidation=2.5, feeling=0.8)
    left = days_to_threshold(event, now=NOW, knobs=knobs)

    def probability(day: float) -> float:
        return recall_probability(
            relevance=1.0,
            elapsed=timedelta(days=ago + day),
            consolidation=2.5 * (1 + 0.8 * feeling),
            unit=timedelta(days=9),
        )

    assert probability(left) == pytest.approx(threshold)
    assert probability(left - 0.1) > threshold
    drawn = curve(event, now=NOW, days=200.0, points=401, knobs=knobs)
    assert drawn.out_of_reach == max(0.0, ceil(left * 2) / 2)
    assert [day for day, _ in drawn.fading] == [n / 2 for n in range(401)]
    assert all(p == pytest.approx(probability(day)) for day, p in drawn.fading)
    assert all(p == pytest.approx(probability(day)) for day, p in drawn.since)
    back = min(ago, 200.0)
    assert [day for day, _ in drawn.since] == pytest.approx(
        [back * (n / 20 - 1) for n in range(21)] if ago else []
    )


def test_what_has_no_threshold_is_always_in_reach() -> None:
    """Its day never comes, and a curve that stays above the threshold has none."""
    assert days_to_threshold(CAT, now=NOW, knobs=RecallSettings(threshold=0)) == inf
    drawn = curve(CAT, now=CAT.time, days=1.0, knobs=RecallSettings(threshold=0.1))
    assert drawn.out_of_reach is None


@pytest.mark.parametrize("threshold", [-0.01, 1.01])
def test_a_threshold_is_a_probability(threshold: float) -> None:
    """Its ends are allowed."""
    with pytest.raises(BadInput, match="event_threshold"):
        RecallSettings(threshold=threshold)
    assert [RecallSettings(threshold=end).threshold for end in (0, 1)] == [0, 1]


@pytest.mark.parametrize(
    "changes",
    [{"unit": timedelta()}, {"spacing": -DAY}, {"most": -1}, {"feeling": -0.1}],
)
def test_settings_that_make_no_sense_are_refused(changes: dict[str, Any]) -> None:
    """No time to fade, fewer than no events, a feeling that makes things fade faster."""
    with pytest.raises(BadInput, match="event_"):
        RecallSettings(**changes)
    assert RecallSettings(most=0, feeling=0.0, unit=timedelta(seconds=1)).most == 0


def test_a_fact_fades_like_an_event_that_was_recalled_when_it_was_said_again() -> None:
    """Without a confirmation it is as it was said."""
    said = NOW - 30 * DAY
    fact = Fact(
        id="f",
        text="User has a cat.",
        about=Speaker.USER,
        said=said,
        learned=said,
        sources=("t1",),
        session=3,
    )
    once = event_of(fact)
    assert (once.id, once.fact, once.session, once.text) == ("f", "f", 3, fact.text)
    assert (once.time, once.last_recalled, once.recalls) == (fact.said, fact.said, 0)
    twice = event_of(replace(fact, confirmed=NOW - DAY), spacing=2 * DAY)
    assert (twice.time, twice.last_recalled, twice.recalls) == (fact.said, NOW - DAY, 1)
    assert twice.consolidation == once.recalled(NOW - DAY, unit=2 * DAY).consolidation


@pytest.mark.parametrize(
    ("threshold", "cosine", "recalled"),
    [(1.0, 1.0, False), (0.999, 1.0, True), (0.0, 0.0, False), (0.0, 0.001, True)],
)
def test_what_is_recalled_is_likelier_than_the_threshold(
    threshold: float, cosine: float, recalled: bool
) -> None:
    """What is as likely as that is not: a threshold of 1 silences even the very same words, and one
    of 0 brings nothing that has nothing to do with the input."""
    [candidate] = weigh_events(
        "",
        [replace(CAT, time=NOW, last_recalled=NOW)],
        cosines={CAT.id: cosine},
        by_vector=ENGLISH,
        by_words=IDENTITY,
        now=NOW,
        language="en",
        knobs=RecallSettings(threshold=threshold),
    )
    assert candidate.recalled is recalled
    assert ("is not above" in candidate.why) is not recalled


@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_more_events_are_recalled_than_wanted(most: int) -> None:
    """The likeliest are; of equally likely ones those that come first by their ids."""
    events = [replace(CAT, id=id_, time=NOW, last_recalled=NOW) for id_ in ("d", "b", "a", "c")]
    candidates = weigh_events(
        "",
        events,
        cosines={"a": 0.8, "b": 0.8, "c": 0.9, "d": 0.7},
        by_vector=ENGLISH,
        by_words=IDENTITY,
        now=NOW,
        language="en",
        knobs=RecallSettings(threshold=0.1, most=most),
    )
    assert [c.event.id for c in candidates] == ["c", "a", "b", "d"]
    assert [c.recalled for c in candidates] == [number < most for number in range(4)]
    assert all(str(most) in c.why for c in candidates[most:])

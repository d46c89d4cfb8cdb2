"""How likely an event is to come to mind, rule by rule."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from omoide.domain import Event
from omoide.domain.forgetting import UNIT, recall_probability
from omoide.mechanisms.events.calibration import IDENTITY
from omoide.mechanisms.events.scoring import (
    RecallSettings,
    curve,
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

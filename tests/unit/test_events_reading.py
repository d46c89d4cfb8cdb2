"""Events out of any answer whatsoever, and how they are weighed: properties."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.domain import Event, Speaker, Turn
from omoide.errors import BadReply
from omoide.language import languages
from omoide.mechanisms.events.calibration import IDENTITY
from omoide.mechanisms.events.form import (
    EventDraft,
    event_id,
    read_events,
    schema,
    tells_of_chat,
    to_events,
)
from omoide.mechanisms.events.scoring import RecallSettings, weigh_events, word_similarity

NOW = datetime(2026, 1, 5, tzinfo=UTC)

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["events", "text", "topics", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.text() | values.map(json.dumps))
def test_any_answer_is_read_or_refused(answer: str) -> None:
    """Either events that say something, or `BadReply`; never another error."""
    try:
        drafts = read_events(answer)
    except BadReply:
        return
    assert all(len(draft.text) >= 4 for draft in drafts)
    assert all(isinstance(word, str) for draft in drafts for word in draft.topics)


@given(values.map(json.dumps), st.integers(1, 80))
def test_a_truncated_answer_is_read_or_refused(answer: str, cut: int) -> None:
    """An answer that broke off anywhere."""
    with suppress(BadReply):
        assert isinstance(read_events(answer[:cut]), tuple)


def test_the_schema_holds_the_limit() -> None:
    """A model that keeps to it cannot give more events than were asked for."""
    assert json.dumps(schema("en", 5)).count('"maxItems": 5') == 1


@pytest.mark.parametrize(
    ("language", "fact", "line"),
    [
        ("en", "User took the dog to Starbucks.", "User I took my dog to Starbucks."),
        ("en", "User's sister lives in Oslo.", "How was your coffee?"),
        ("zh", "用户带狗去了咖啡店。", "用户我带狗去了咖啡店。"),
        ("ja", "ユーザーは犬とカフェに行った。", "昨日は犬とカフェに行きました。"),
        ("ko", "사용자는 강아지와 카페에 갔다.", "저는 강아지와 카페에 갔어요."),
        ("vi", "Người dùng dắt chó đến quán cà phê.", "Tôi dắt chó đến quán cà phê."),
    ],
)
def test_the_schema_wants_the_third_person(language: str, fact: str, line: str) -> None:
    """A fact about somebody fits; a line of the dialogue does not."""
    held: Any = schema(language)
    pattern = held["properties"]["events"]["items"]["properties"]["text"]["pattern"]
    assert re.search(pattern, fact)
    assert not re.search(pattern, line)


@pytest.mark.parametrize(
    "chat",
    [
        "User asked about the coffee.",
        "用户提到了咖啡。",
        "ユーザーはコーヒーについて質問した。",
        "사용자는 커피를 언급했다.",
        "Người dùng hỏi về cà phê.",
    ],
)
def test_what_was_done_in_the_chat_is_known_as_such(chat: str) -> None:
    """Small models tell that something was mentioned instead of what is so. It is read all the
    same: who asked decides what becomes of it."""
    drafts = read_events(json.dumps([chat, "User owns a camp coffee pot."]))
    assert [tells_of_chat(draft) for draft in drafts] == [True, False]


@pytest.mark.parametrize("language", sorted(languages()))
def test_only_a_small_model_is_bound_to_a_form(language: str) -> None:
    """The pattern that helps it would refuse a sentence that begins with a name or quotes."""
    assert "pattern" in json.dumps(schema(language))
    assert "pattern" not in json.dumps(schema(language, free=True))


def test_ids_depend_on_session_and_words_alone() -> None:
    """Spacing does not matter; another session does."""
    assert event_id(1, "User has a cat.") == event_id(1, "User  has a cat. ")
    assert event_id(1, "User has a cat.") != event_id(2, "User has a cat.")


def event(i: int, *, days: float, grown: float = 1.0) -> Event:
    """An event last recalled so many days ago."""
    last = NOW - timedelta(days=days)
    return Event(
        id=f"e{i}",
        session=1,
        text=f"User has thing {i}.",
        time=last,
        sources=(),
        last_recalled=last,
        consolidation=grown,
    )


@given(
    st.lists(
        st.tuples(st.floats(-1, 1), st.floats(0, 900), st.floats(1, 9)), min_size=1, max_size=8
    ),
    st.floats(0.05, 0.99),
)
def test_what_is_recalled_passes_the_threshold_and_all_are_accounted_for(
    rows: list[tuple[float, float, float]], threshold: float
) -> None:
    """Likeliest first; never more than allowed; everything else says why not."""
    events = [event(i, days=days, grown=grown) for i, (_, days, grown) in enumerate(rows)]
    found = weigh_events(
        "Hello there",
        events,
        cosines={f"e{i}": cosine for i, (cosine, _, _) in enumerate(rows)},
        by_vector=IDENTITY,
        by_words=IDENTITY,
        now=NOW,
        language="en",
        knobs=RecallSettings(threshold=threshold, most=3),
    )
    assert len(found) == len(rows)
    chances = [candidate.probability for candidate in found]
    assert chances == sorted(chances, reverse=True)
    assert all(c.probability > threshold for c in found if c.recalled)
    assert sum(c.recalled for c in found) == min(3, sum(p > threshold for p in chances))
    assert all(c.why for c in found)


def test_feeling_slows_forgetting_only_when_asked() -> None:
    """An optional factor: with its weight at 0 it changes nothing."""
    felt = Event(**(vars(event(1, days=300)) | {"feeling": 1.0}))

    def chance(weight: float) -> float:
        (candidate,) = weigh_events(
            "Hello there",
            [felt],
            cosines={"e1": 0.9},
            by_vector=IDENTITY,
            by_words=IDENTITY,
            now=NOW,
            language="en",
            knobs=RecallSettings(feeling=weight),
        )
        return candidate.probability

    assert chance(0) == pytest.approx(
        event(1, days=300).probability(relevance=0.9, now=NOW, unit=RecallSettings().unit)
    )
    assert chance(1) > chance(0)


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=5))
def test_likeness_of_words_is_a_share(text: str, events: list[str]) -> None:
    """One number an event, from 0 to 1."""
    found = word_similarity(text, events)
    assert len(found) == len(events)
    assert all(0 <= share <= 1 + 1e-9 for share in found)


@pytest.mark.parametrize("unsupported", [False, True])
def test_an_event_cites_the_turns_that_support_it(unsupported: bool) -> None:
    """One that nothing supports is dropped, or cites the whole session where it may stay, so that
    erasing any turn erases it; the others cite their own turn either way."""
    said = ("I adopted a cat called Miso.", "Work was exhausting today.")
    turns = [
        Turn(
            id=f"t{n}",
            session=1,
            position=n,
            speaker=Speaker.USER,
            text=text,
            time=NOW,
            language="en",
        )
        for n, text in enumerate(said)
    ]
    drafts = [
        EventDraft(text="User adopted a cat called Miso."),
        EventDraft(text="Zebras graze abroad."),
    ]
    events = to_events(
        drafts, turns=turns, session=1, at=NOW, language="en", unsupported=unsupported
    )
    cited = {event.text: event.sources for event in events}
    assert cited.pop("User adopted a cat called Miso.") == ("t0",)
    assert cited == ({"Zebras graze abroad.": ("t0", "t1")} if unsupported else {})


@pytest.mark.parametrize(
    ("text", "sources"),
    [
        ("User found a cat beside the railway on the way home from school.", ("t0",)),
        ("User painted the garden fence in green colours on Sunday morning.", ()),
        ("User found shelves for the office plants and the big new desk lamp.", ()),
    ],
)
def test_an_event_in_other_words_cites_the_turn_that_has_most_of_them(
    text: str, sources: tuple[str, ...]
) -> None:
    """A fifth of its words is enough for a paraphrase, which no turn supports by itself; less is
    not."""
    said = ["A cat sat at the railway.", "It rains so much here in October, does it not?"]
    turns = [
        Turn(
            id=f"t{n}",
            session=1,
            position=n + 1,
            speaker=Speaker.USER,
            text=words,
            time=NOW,
            language="en",
        )
        for n, words in enumerate(said)
    ]
    events = to_events([EventDraft(text=text)], turns=turns, session=1, at=NOW, language="en")
    assert [event.sources for event in events] == ([sources] if sources else [])

"""Events in an answer: what is kept of each, and where an end is made of it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from omoide.claims.answers import Flaw
from omoide.documents import DocumentStore, MemoryDocuments
from omoide.domain import Event, Owner, Speaker, Turn
from omoide.errors import BadInput, BadReply
from omoide.mechanisms.events.calibration import IDENTITY, increasing, shipped_calibration
from omoide.mechanisms.events.calibrations import Calibrations
from omoide.mechanisms.events.form import EventDraft, event_id, read_events, to_events
from omoide.mechanisms.events.habits import yielding_events
from omoide.mechanisms.events.scoring import RecallSettings, weigh_events, word_similarity
from omoide.mechanisms.events.writer import (
    ModelEventWriter,
    NullEventWriter,
    _readable,
    read_drafts,
)
from omoide.ports import Space
from omoide.testing import ScriptedModel

from .test_calibration import VERSIONS

if TYPE_CHECKING:
    from omoide.mechanisms.base import SessionToDigest
    from omoide.ports import Embedder

OWNER = Owner(tenant="t", user="ana")

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)


def event(text: str, *, days: int = 0, recalls: int = 0) -> Event:
    """Something told so many days ago."""
    time = NOW - timedelta(days=days)
    return Event(
        id=text,
        session=1,
        text=text,
        time=time,
        last_recalled=time,
        sources=("t",),
        recalls=recalls,
    )


def test_an_event_has_a_few_short_labels() -> None:
    """Each once, on one line, six at most; a text instead of a list is split."""
    many = [f"word {n}" for n in range(9)]
    [draft] = read_events(json.dumps([{"text": "User has a cat.", "topics": many}]))
    assert draft.topics == tuple(many[:6])
    odd = {"text": "User has a cat.", "topic": "pets,cats、 cats；", "people": [3, "Ann\n Lee", ""]}
    [draft] = read_events(json.dumps([odd]))
    assert draft.topics == ("pets", "cats")
    assert draft.participants == ("Ann Lee",)
    long = {"text": "User has a cat.", "keywords": ["a" * 61, "b" * 60]}
    [draft] = read_events(json.dumps([long]))
    assert draft.keywords == ("a" * 60, "b" * 60)


def test_a_text_of_four_characters_is_an_event() -> None:
    """A shorter one says nothing."""
    assert [d.text for d in read_events('["Boo!", "Boo", 7]')] == ["Boo!"]
    with pytest.raises(BadReply, match="no item"):
        read_events('["Boo"]')
    assert read_events("[]") == ()


@pytest.mark.parametrize("comma", ["[pets]", "[events]", "{event}"])
def test_a_comma_too_many_loses_no_event(comma: str) -> None:
    """Large models write one behind the last item of a list or object."""
    ends = {"[pets]": ('"]', '",]'), "{event}": ("]}", "],}"), "[events]": ("}]", "},]")}
    events = [{"text": f"User {verb}.", "topics": ["pets at home"]} for verb in ("sings", "runs")]
    answer = json.dumps({"events": events}).replace(*ends[comma])
    assert [draft.text for draft in read_events(answer)] == ["User sings.", "User runs."]
    assert read_events(f"See https://example.org: {json.dumps(events)}")[1].text == "User runs."


def test_json_is_looked_for_behind_many_brackets() -> None:
    """But not for ever: a model that loops writes thousands."""
    assert [d.text for d in read_events("[" * 150 + '{"x": ' + '["User sings."]')] == [
        "User sings."
    ]
    with pytest.raises(BadReply, match="wanted a JSON list"):
        read_events("{" * 250 + '["User sings."]')
    assert [d.text for d in read_events('{"fact": "User sings."}')] == ["User sings."]
    assert [d.text for d in read_events('So: {"items": ["User sings."]}.')] == ["User sings."]


def turn(name: str, text: str, *, minutes: int = 0, speaker: Speaker = Speaker.USER) -> Turn:
    """Something said."""
    return Turn(
        id=name,
        session=1,
        position=1,
        speaker=speaker,
        text=text,
        time=NOW + timedelta(minutes=minutes),
        language="en",
    )


def test_an_event_without_labels_gets_its_own_words() -> None:
    """Six at most; and it is as old as the first turn that says it."""
    text = "User planted tulips, roses, lilies, daisies, violets, poppies and orchids."
    turns = [turn("t1", "Hello."), turn("t2", text.replace("User", "I"), minutes=3)]
    [made] = to_events([EventDraft(text=text)], turns=turns, session=1, at=NOW, language="en")
    assert len(made.keywords) == 6
    assert list(made.keywords) == sorted(made.keywords)
    assert (made.sources, made.time) == (("t2",), NOW + timedelta(minutes=3))
    assert made.last_recalled == made.time
    assert made.id == event_id(1, f"  {text} ")
    assert event_id(2, text) != made.id


def test_the_habit_that_was_confirmed_last_wins() -> None:
    """On a day of the week that a query names, once it was mentioned or recalled twice; others and
    single occasions yield to its latest mention."""
    query = "Where will I be on Monday?"
    old = [event(f"User goes to the gym on Mondays {n}.", days=90 - n) for n in range(2)]
    new = [event(f"User goes to the library on Mondays {n}.", days=20 - n) for n in range(2)]
    once = event("User goes to the harbour on Monday.", days=1)
    found = yielding_events([*old, *new, once], query, language="en")
    assert {to.to for to in found.values()} == {new[1].id}
    assert found[once.id].why == "a single occasion"
    assert {found[e.id].why for e in old} == {"an older habit"}
    assert not {e.id for e in new} & found.keys()
    assert yielding_events([*old, *new], "Where will I be?", language="en") == {}
    assert yielding_events([once, old[0]], query, language="en") == {}
    recalled = replace(old[0], recalls=1)
    assert yielding_events([once, recalled], query, language="en").keys() == {once.id}
    at_the_gym = "Who is at the gym on Monday?"
    assert yielding_events([*new, recalled], at_the_gym, language="en") == {}
    unnamed = [event(f"User goes to the gym again {n}.", days=7 * n) for n in range(2)]  # Mondays
    tuesday = event("User goes to the pub.", days=6)
    assert yielding_events([*unnamed, once, tuesday], query, language="en").keys() == {once.id}
    assert yielding_events(new, query, language="en") == {}


def test_why_an_event_is_not_recalled() -> None:
    """It has faded, or the input is not close to it, or others were likelier."""

    def weighed(events: list[Event], cosines: list[float], **knobs: float) -> list[str]:
        found = weigh_events(
            "kettle",
            events,
            cosines={e.id: c for e, c in zip(events, cosines, strict=True)},
            by_vector=IDENTITY,
            by_words=IDENTITY,
            now=NOW,
            language="en",
            knobs=RecallSettings(**knobs),  # type: ignore[arg-type]
        )
        return [candidate.why.partition(": ")[2] or candidate.why for candidate in found]

    near, far, old = event("near"), event("far"), event("old", days=2000)
    assert weighed([old], [1.0]) == ["it has faded"]
    assert weighed([far], [0.3]) == ["the input is not close enough to it"]
    twice = weighed([near, event("next")], [1.0, 0.99], most=1)
    assert twice[0].endswith("is above 0.86")
    assert twice[1].endswith("but 1 others were likelier")
    later = replace(near, last_recalled=NOW + timedelta(days=9))
    assert weighed([later], [1.0]) == ["p 1.000 is above 0.86"]


def test_settings_of_recall_have_bounds() -> None:
    """The ends of a range are within it."""
    for given in (
        {"threshold": 0.0},
        {"threshold": 1.0},
        {"most": 0},
        {"feeling": 0.0},
        {"unit": timedelta(seconds=1)},
    ):
        RecallSettings(**given)
    for given in (
        {"threshold": -0.01},
        {"threshold": 1.01},
        {"most": -1},
        {"feeling": -0.1},
        {"unit": timedelta()},
        {"spacing": timedelta()},
    ):
        with pytest.raises(BadInput):
            RecallSettings(**given)


def test_words_in_common_are_shared_both_ways() -> None:
    """The same words are 1, none 0, and what only one of the two has counts against it."""
    same, half, none = word_similarity(
        "copper kettle", ["copper kettle", "copper kettle whistles loudly", "tulips"]
    )
    assert same == pytest.approx(1.0)
    assert 0.3 < half < 0.9
    assert none == 0.0
    assert word_similarity("", ["", "kettle"]) == [0.0, 0.0]


def test_points_of_a_map_that_lie_a_millionth_apart_are_one() -> None:
    """Else it would be vertical there; the later one counts, and at the end the lower."""
    assert increasing([(0.0, 0.1), (1e-6, 0.2), (0.5, 0.6)]) == ((0.0, 0.2), (0.5, 0.6))
    assert increasing([(0.0, 0.1), (2e-6, 0.2)]) == ((0.0, 0.1), (2e-6, 0.2))
    assert increasing([(0.5, 0.6), (1.0, 0.9), (1.0, 1.0)]) == ((0.5, 0.6), (1.0, 0.9))


async def test_nothing_is_written_of_a_session_in_which_the_user_said_nothing() -> None:
    """No model is asked."""
    model = ScriptedModel([])
    writer = ModelEventWriter(window=8192, count=model.count, name="m")
    for turns in ((), (turn("t", "How are you?", speaker=Speaker.ASSISTANT),)):
        to_digest = cast("SessionToDigest", SimpleNamespace(turns=turns, language="en"))
        assert (await writer(to_digest)).events == ()
    assert (await NullEventWriter()(to_digest)).events is None


def test_an_answer_that_only_tells_of_the_chat_is_a_problem() -> None:
    """And so is one in which nothing can be read."""
    given = {"turns": [turn("t", "Hi.")], "instructions": "", "language": "en", "limit": 10}
    about = json.dumps({"events": [{"text": "User asked about the weather in Oslo."}]})
    drafts, problems = read_drafts(about, **given)  # type: ignore[arg-type]
    assert (drafts, [p.flaw for p in problems]) == ([], [Flaw.ABOUT_THE_CHAT])
    drafts, problems = read_drafts("Sure!", **given)  # type: ignore[arg-type]
    assert (drafts, [p.flaw for p in problems]) == ([], [Flaw.UNREADABLE])
    assert not _readable("Sure!")
    assert _readable(about)


async def test_a_measured_map_is_used_for_its_embedder() -> None:
    """And named with what it was measured on; an embedder without one is compared by words."""

    def of(name: str, version: str) -> Calibrations:
        space = Space(name=name, version=version, dimensions=3)
        store = DocumentStore(MemoryDocuments())
        embedder = cast("Embedder", SimpleNamespace(space=space))
        return Calibrations(store=store, embedder=embedder, given=None)

    name, version = next(iter(VERSIONS.items()))
    known = shipped_calibration(name, version)
    assert known is not None
    found, about = await of(name, version).find(OWNER, now=NOW)
    assert found == known
    assert about == f"measured for {name} {version}: {known.data}"
    found, about = await of("unheard of", "1").find(OWNER, now=NOW)
    assert found is None
    assert about.endswith("by words only")


@pytest.mark.parametrize(
    "points",
    [
        ((0.0, 0.0),),
        ((0.5, 0.1), (0.5, 0.9)),
        ((0.5, 0.1), (0.4, 0.9)),
        ((0.0, 0.9), (1.0, 0.1)),
    ],
)
def test_a_map_needs_points_that_rise(points: tuple[tuple[float, float], ...]) -> None:
    """At least two, each further right than the one before; level ground is allowed."""
    with pytest.raises(BadInput, match="increasing points"):
        replace(IDENTITY, points=points)
    assert replace(IDENTITY, points=((0.0, 0.5), (1.0, 0.5)))(0.3) == pytest.approx(0.5)

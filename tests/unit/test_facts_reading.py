"""Reading a model's answer: every entry becomes an operation or is set aside with a reason."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.domain import Fact, FactKind, Speaker
from omoide.errors import BadReply
from omoide.mechanisms.facts.answer_days import written_days
from omoide.mechanisms.facts.operations import Action, FormAnswer
from omoide.mechanisms.facts.reading import read_answer
from omoide.prompts.transcript import Line

if TYPE_CHECKING:
    from collections.abc import Sequence

DAY = datetime(2026, 5, 20, 9, tzinfo=UTC)
KNOWN = [
    Fact(id="f1", about="user", text="User lives in Oslo.", said=DAY, learned=DAY),
    Fact(id="f2", about="user", text="User has a cat.", said=DAY, learned=DAY),
]
SESSION = [
    Line(speaker=Speaker.USER, text="I moved.", turn="t1", name="Ana"),
    Line(speaker=Speaker.ASSISTANT, text="Where to?", turn="t2"),
    Line(speaker=Speaker.USER, text="To Bergen.", turn="t3", name="Ana"),
]


def read(changes: Sequence[object], **more: object) -> FormAnswer:
    """Read an answer with these changes."""
    answer = json.dumps({"changes": changes, **more})
    return read_answer(answer, known=KNOWN, session=SESSION, language="en")


def test_a_replacement_names_its_fact_its_lines_and_its_days() -> None:
    """Numbers of facts and lines become ids, and ISO dates become days."""
    entry = {
        "do": "replace",
        "facts": [1],
        "text": "User lives in Bergen.",
        "about": "Ana",
        "kind": "state",
        "turns": [1, 3],
        "since": "2026-05",
        "until": None,
        "why": "moved",
    }
    (operation,) = read([entry]).operations
    assert operation.action is Action.REPLACE
    assert (operation.facts, operation.turns) == (("f1",), ("t1", "t3"))
    assert (operation.about, operation.kind) == ("user", FactKind.STATE)
    assert (operation.since, operation.until) == (date(2026, 5, 1), None)


def test_in_a_group_everybody_keeps_their_name() -> None:
    """Ben's allergy is not Ana's, and not in a later session either, in which only Ben speaks."""
    ben = Line(speaker=Speaker.USER, text="No nuts for me.", turn="t4", name="Ben")
    answer = json.dumps({"changes": [{"text": "Ben is allergic to nuts.", "about": "Ben"}]})
    group = read_answer(answer, known=KNOWN, session=[*SESSION, ben], language="en")
    assert [operation.about for operation in group.operations] == ["Ben"]
    known = [*KNOWN, replace(KNOWN[0], id="f3", about="Ben", text="Ben sings.")]
    alone = read_answer(answer, known=known, session=[ben], language="en")
    assert [operation.about for operation in alone.operations] == ["Ben"]


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("User has a dog.", "it is not an object with a text"),
        ({"do": "add", "text": " "}, "it says nothing"),
        ({"do": "erase", "text": "User has a dog."}, "there is no change 'erase'"),
        ({"do": "end", "facts": [9]}, "it names no fact that is known"),
        ({"do": "end", "facts": [float("inf"), 10**400]}, "it names no fact that is known"),
        ({"do": "add", "text": "x" * 1001}, "it has more than 1000 characters"),
    ],
)
def test_what_cannot_be_used_is_set_aside_with_its_reason(entry: object, reason: str) -> None:
    """Nothing vanishes: the entry and why it was not used are kept."""
    answer = read([entry])
    assert answer.operations == ()
    assert [one.reason for one in answer.aside] == [reason]
    assert answer.entries == 1


def test_a_replacement_of_an_unknown_fact_is_added_and_flagged() -> None:
    """The new fact is kept although the number it names does not exist."""
    (operation,) = read([{"do": "replace", "facts": [7], "text": "User lives in Rome."}]).operations
    assert operation.action is Action.ADD
    assert operation.flags == ("it names a fact that is not known",)


def test_json_is_found_between_other_words() -> None:
    """A fence and a sentence around the object do not matter."""
    answer = 'Sure!\n```json\n{"changes": [{"do": "add", "text": "User likes tea."}]}\n```'
    found = read_answer(answer, known=(), session=SESSION, language="en")
    assert [operation.text for operation in found.operations] == ["User likes tea."]


def test_plain_lines_count_as_facts() -> None:
    """A model that writes lines instead of JSON is understood, possessives included."""
    answer = "- User's daughters are 4 and 6.\n- User lives in Oslo; moved there in May.\nHope so!"
    found = read_answer(answer, known=(), session=SESSION, language="en")
    assert [operation.text for operation in found.operations] == [
        "User's daughters are 4 and 6.",
        "User lives in Oslo; moved there in May.",
    ]
    assert [one.text for one in found.aside] == ["Hope so!"]


@pytest.mark.parametrize("answer", ["", "I cannot do that.", "{", '{"facts": []}'])
def test_an_answer_without_facts_is_refused(answer: str) -> None:
    """So that the model can be asked once more."""
    with pytest.raises(BadReply):
        read_answer(answer, known=KNOWN, session=SESSION, language="en")


def test_an_empty_list_means_that_nothing_changed() -> None:
    """It is an answer, not a failure."""
    assert read([]).entries == 0


def test_an_event_of_a_month_lasts_to_its_end() -> None:
    """If no last day is told. How things are has no end by that, and a plan stays open."""
    for kind, until in (("event", date(2026, 9, 30)), ("plan", None), ("state", None)):
        entry = {"do": "add", "text": "User sails.", "kind": kind, "since": "2026-09"}
        (operation,) = read([entry]).operations
        assert (operation.since, operation.until) == (date(2026, 9, 1), until)
    day = {"do": "add", "text": "User sails.", "kind": "event", "since": "2026-09-03"}
    assert read([day]).operations[0].until is None


def test_topics_with_ranges_outside_the_session_are_left_out() -> None:
    """Only ranges of lines that exist count."""
    good = {"topic": "The move", "first": 1, "last": 3, "summary": "User moved."}
    answer = read([], topics=[good, {**good, "last": 9}, {**good, "first": 3, "last": 2}, "x"])
    assert [(one.topic, one.first, one.last) for one in answer.topics] == [("The move", 1, 3)]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2028-02", date(2028, 2, 1), date(2028, 2, 29)),
        ("2026", date(2026, 1, 1), date(2026, 12, 31)),
        ("2026/09/20", date(2026, 9, 20), date(2026, 9, 20)),
        ("2026.05.20", date(2026, 5, 20), date(2026, 5, 20)),
        ("2026年5月20日", date(2026, 5, 20), date(2026, 5, 20)),
        ("2026-05-20T10:00:00+09:00", date(2026, 5, 20), date(2026, 5, 20)),
        ("2026-09-20 to 2026-09-25", date(2026, 9, 20), date(2026, 9, 25)),
        ("2026-09-20/2026-09-25", date(2026, 9, 20), date(2026, 9, 25)),
        ("2027-Q3", date(2027, 7, 1), date(2027, 9, 30)),
        ("2026-W21", date(2026, 5, 18), date(2026, 5, 24)),
        ("by 2026-05.", date(2026, 5, 1), date(2026, 5, 31)),
    ],
)
def test_a_day_is_read_as_it_was_meant(text: str, first: date, last: date) -> None:
    """ISO dates are asked for; other forms that leave no doubt are read as well."""
    days = written_days(text)
    assert (days.first, days.last, days.unread) == (first, last, False)


@pytest.mark.parametrize("text", ["2026-13", "2026-02-30", "soon", "May 2026", "2026-spring"])
def test_a_day_that_cannot_be_read_is_flagged(text: str) -> None:
    """A month by its name is not all of its year, and a fact without its day says so."""
    assert written_days(text).first is None
    entry = {"do": "add", "text": "User marries.", "since": text, "until": None}
    (operation,) = read([entry]).operations
    assert operation.since is None
    assert operation.flags == ("a day that it names cannot be read",)
    assert not read([{**entry, "since": ""}]).operations[0].flags


CHANGE = {"do": "add", "facts": [], "text": "User lives in Porto.", "turns": [1]}
ONE = json.dumps(CHANGE)
TOPICS = '"topics": [{"topic": "Porto", "first": 1, "last": 1, "summary": "Ana moved."}]'


@pytest.mark.parametrize(
    "answer",
    [
        f'{{"changes": [{ONE},], {TOPICS}}}',
        f'{{"changes": [{ONE}], {TOPICS},}}',
        f'{{"changes": [ // she moved\n{ONE}], {TOPICS}}}',
        f'{{"changes": [{ONE[:-1]}, "since": None}}], {TOPICS}}}',
        f'F1 keeps its facts [], so:\n{{"changes": [{ONE}], {TOPICS}}}',
        f'{{"changes": []}}\n```\nOne more:\n```json\n{{"changes": [{ONE}], {TOPICS}}}',
    ],
)
def test_json_with_a_slip_is_read_whole(answer: str) -> None:
    """A comma too many, a comment, a list in the sentence before it, a second thought."""
    read = read_answer(answer, known=KNOWN, session=SESSION, language="en")
    assert [operation.text for operation in read.operations] == [CHANGE["text"]]
    assert [topic.topic for topic in read.topics] == ["Porto"]
    assert not read.aside


@pytest.mark.parametrize(
    "answer",
    [
        f'{{"changes": [{ONE} {ONE}], {TOPICS}}}',
        f'{{"changes": [{{"do": "add", "text": "User said "no" to it."}}], {TOPICS}}}',
        f'Known facts [] so far.\n{{"changes": [{ONE} {ONE}]}}',
    ],
)
def test_a_part_of_broken_json_is_not_taken_for_the_whole(answer: str) -> None:
    """The model is asked again: its topics are no changes, and an empty list is no answer."""
    with pytest.raises(BadReply):
        read_answer(answer, known=KNOWN, session=SESSION, language="en")


@pytest.mark.parametrize(("word", "action"), [("update", "replace"), ("delete", "end")])
def test_a_change_by_another_name_is_that_change(word: str, action: str) -> None:
    """Models that are not held to the schema say what they mean in other words."""
    (operation,) = read([{"do": word, "facts": [1], "text": "User lives in Porto."}]).operations
    assert operation.action is Action(action)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["do", "text", "facts", "turns", "about", "kind", "since", "why"]),
            inner,
        )
    ),
    max_leaves=12,
)


@given(st.lists(JSON, max_size=6))
def test_the_counts_add_up_whatever_the_entries_are(changes: list[Any]) -> None:
    """As many operations and set-aside entries as the answer had entries."""
    assert read(changes).entries == len(changes)


def test_a_year_may_be_a_number() -> None:
    """Some models write it so, and what is no day at all is flagged."""
    entry = {"do": "add", "text": "User studied in Oslo.", "since": 2019, "until": ["2022-06"]}
    operation, odd = read([entry, {**entry, "until": True}]).operations
    assert (operation.since, operation.until) == (date(2019, 1, 1), date(2022, 6, 30))
    assert odd.flags == ("a day that it names cannot be read",)

"""Operations become changes of facts: sources, dates, trust and ends; the counts add up."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.domain import Fact, FactChanges, FactEnd, FactKind, Speaker, Trust, Turn
from omoide.domain import applied as applied_changes
from omoide.mechanisms.facts.applying import (
    OUTRANKED,
    UNSUPPORTED,
    AppliedAnswer,
    Outcome,
    apply_operations,
)
from omoide.mechanisms.facts.operations import Action, Operation

START = datetime(2026, 5, 20, 9, tzinfo=UTC)  # a Wednesday
AT = START + timedelta(hours=1)


def turn(number: int, speaker: Speaker, text: str) -> Turn:
    """A turn of the session."""
    return Turn(
        id=f"t{number}",
        session=3,
        position=number,
        speaker=speaker,
        text=text,
        time=START + timedelta(minutes=number),
        language="en",
    )


TURNS = [
    turn(1, Speaker.USER, "From June I'll work in Bergen, I'm moving there next week."),
    turn(2, Speaker.ASSISTANT, "You should see the fish market. Do you still have a cat?"),
    turn(3, Speaker.USER, "Yes, Miso."),
    turn(4, Speaker.ASSISTANT, "I heard that you sold your car."),
    turn(5, Speaker.USER, "My son Tim has left university."),
    turn(6, Speaker.ASSISTANT, "So he joined you after all, and you won a boat."),
]


def known(id_: str, text: str, *, trust: Trust = Trust.USER) -> Fact:
    """A fact from before."""
    before = START - timedelta(days=30)
    return Fact(id=id_, about="user", text=text, said=before, learned=before, trust=trust)


def applied(*operations: Operation, facts: tuple[Fact, ...] = ()) -> AppliedAnswer:
    """What the operations change."""
    return apply_operations(operations, known=facts, turns=TURNS, session=3, at=AT, language="en")


def add(text: str, *turns: str, kind: FactKind = FactKind.STATE) -> Operation:
    """An operation that adds a fact about the user."""
    return Operation(action=Action.ADD, about="user", text=text, kind=kind, turns=turns)


def test_relative_dates_are_written_as_dates() -> None:
    """ "Next week" counts from the day it was said, and the plan gets its days."""
    (fact,) = applied(
        add("User will move to Bergen next week.", "t1", kind=FactKind.PLAN)
    ).changes.added
    assert "next week" not in fact.text
    assert "25 May 2026" in fact.text
    assert (fact.since, fact.until) == (date(2026, 5, 25), date(2026, 5, 31))
    assert fact.overdue(date(2026, 8, 20))
    assert not fact.overdue(date(2026, 5, 26))


def test_what_was_over_when_it_was_said_is_no_plan() -> None:
    """A small model's "moved in April" looks like a move to come."""
    over, coming = applied(
        add("User moved to Bergen in April 2026.", "t1", kind=FactKind.PLAN),
        add("User moves to Bergen next week.", "t1", kind=FactKind.PLAN),
    ).changes.added
    assert (over.kind, over.until) == (FactKind.EVENT, date(2026, 4, 30))
    assert coming.kind is FactKind.PLAN


def test_what_begins_later_is_a_plan() -> None:
    """Whatever its verb: a small model gives no kind, and not every language marks the future."""
    later, now = applied(
        add("User moves to Bergen next week.", "t1"), add("User works in Oslo.", "t1")
    ).changes.added
    assert (later.kind, later.since) == (FactKind.PLAN, date(2026, 5, 25))
    assert (now.kind, now.since, now.until) == (FactKind.STATE, None, None)


def test_a_fact_without_lines_cites_the_turn_that_says_it() -> None:
    """Its sources are found by its words; one that nothing supports is set aside."""
    answer = applied(add("User has a cat, Miso."), add("User plays the trombone."))
    assert [set(fact.sources) & {"t3"} for fact in answer.changes.added] == [{"t3"}]
    assert [(one.text, one.reason) for one in answer.aside] == [
        ("User plays the trombone.", UNSUPPORTED)
    ]


def test_a_replacement_ends_the_old_fact_and_names_it() -> None:
    """Nothing is overwritten: the old one is ended, by the new one, with the reason."""
    old = known("f1", "User lives in Oslo.")
    move = Operation(
        action=Action.REPLACE,
        about="user",
        text="User lives in Bergen.",
        facts=("f1",),
        turns=("t1",),
        reason="moved",
    )
    answer = applied(move, facts=(old,))
    (new,), (end,) = answer.changes.added, answer.changes.ended
    assert new.supersedes == (end.id,) == ("f1",)
    assert (end.by, end.reason, end.until) == (new.id, "moved", START.date())
    assert answer.outcomes == {Outcome.REPLACED: 1}


def planned(text: str, *facts: str) -> Operation:
    """A plan that replaces these facts."""
    return Operation(
        action=Action.REPLACE,
        about="user",
        text=text,
        kind=FactKind.PLAN,
        facts=facts,
        turns=("t1",),
    )


def test_a_plan_without_a_day_ends_nothing() -> None:
    """Who will move some day still lives where they live."""
    plan = planned("User will live in Bergen.", "f1")
    answer = applied(plan, facts=(known("f1", "User lives in Oslo."),))
    assert answer.changes.ended == ()
    assert len(answer.changes.added) == 1


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("User will live in Bergen from 1 June 2026.", date(2026, 5, 31)),
        ("User moves to Bergen next week.", date(2026, 5, 31)),
        ("User moves to Bergen on 3 June 2026.", date(2026, 6, 3)),
    ],
)
def test_a_plan_ends_what_holds_until_then_when_its_days_are_over(text: str, last: date) -> None:
    """Who will move lives where they live until then and no longer, though nobody says so again."""
    old = known("f1", "User lives in Oslo.")
    changes = applied(planned(text, "f1"), facts=(old,)).changes
    (end,), (plan,) = changes.ended, changes.added
    assert (end.by, plan.supersedes) == (plan.id, ("f1",))
    ended = old.ended_with(end)
    assert ended.until == last
    midnight = datetime.combine(last + timedelta(days=1), time(), tzinfo=UTC)
    assert ended.holds(midnight - timedelta(seconds=1))
    assert not ended.holds(midnight)


@pytest.mark.parametrize("kind", [FactKind.PROMISE, FactKind.EVENT])
def test_a_plan_replaces_a_promise_at_once(kind: FactKind) -> None:
    """Neither a promise nor an event is how things are until the plan comes true."""
    old = replace(known("f1", "Assistant will send User a list."), kind=kind)
    new = planned("User will get the list next week.", "f1")
    dated = replace(new, since=date(2026, 6, 3), says_days=True)
    changes = applied(dated, facts=(old,)).changes
    (end,), (plan,) = changes.ended, changes.added
    assert (end.at, end.until) == (AT, START.date())
    assert (plan.since, plan.until) == (date(2026, 6, 3), date(2026, 6, 3))


def test_a_plan_that_is_put_off_takes_along_what_it_ends() -> None:
    """Who moves later lives where they live until then."""
    old = known("f1", "User lives in Oslo.")
    first = applied(planned("User moves to Bergen next week.", "f1"), facts=(old,)).changes
    held = {fact.id: fact for fact in in_store(first, {"f1": old}).values()}
    (plan,) = first.added
    later = applied(
        planned("User moves to Bergen on 3 July 2026.", plan.id), facts=tuple(held.values())
    ).changes
    held = in_store(later, held)
    assert held["f1"].until == date(2026, 7, 3)
    assert held["f1"].ended_by == later.added[0].id
    assert held[plan.id].supersedes == ()


def test_what_a_plan_would_have_ended_goes_on_if_the_plan_is_given_up() -> None:
    """Who does not move after all still lives there, whatever the calendar says."""
    old = known("f1", "User lives in Oslo.")
    first = applied(planned("User moves to Bergen next week.", "f1"), facts=(old,)).changes
    held = in_store(first, {"f1": old})
    (plan,) = first.added
    stays = Operation(action=Action.END, facts=(plan.id,), turns=("t1",))
    held = in_store(applied(stays, facts=tuple(held.values())).changes, held)
    assert held["f1"] == old
    assert held["f1"].holds(AT + timedelta(days=99))
    assert not held[plan.id].holds(AT)


def test_a_plan_that_is_told_and_given_up_at_once_ends_nothing() -> None:
    """In a long session the two may be told in different parts, and are stored together."""
    old = known("f1", "User lives in Oslo.")
    told = applied(planned("User moves to Bergen next week.", "f1"), facts=(old,)).changes
    (plan,) = told.added
    off = FactEnd(id=plan.id, at=AT, reason="given up")
    held = in_store(replace(told, ended=(*told.ended, off)), {"f1": old})
    assert held["f1"].ended is None
    assert held[plan.id].ended == AT


def in_store(changes: FactChanges, held: dict[str, Fact]) -> dict[str, Fact]:
    """The facts after the changes."""
    result = applied_changes(changes, held)
    return {**held, **{fact.id: fact for fact in (*result.changed, *result.added)}}


def test_nothing_ends_before_it_was_said() -> None:
    """Who said on 20 April to live in Oslo and moved in April lived there until then."""
    old = known("f1", "User lives in Oslo.")
    moved = Operation(
        action=Action.REPLACE,
        about="user",
        text="User moved to Bergen in April 2026.",
        facts=("f1",),
        turns=("t1",),
    )
    (end,) = applied(moved, facts=(old,)).changes.ended
    assert end.until == old.said.date() == date(2026, 4, 20)


def test_an_end_without_turns_cites_what_says_so() -> None:
    """A small model names no turns."""
    over = Operation(action=Action.END, facts=("f1",), reason="it has changed")
    old = known("f1", "User has a son called Tim who is at university.")
    (end,) = applied(over, facts=(old,)).changes.ended
    assert end.sources == ("t5",)
    assert end.until == START.date()


def test_what_the_assistant_says_does_not_end_what_the_user_said() -> None:
    """It is kept and flagged, and so is the fact that it contradicts."""
    sold = Operation(
        action=Action.REPLACE, about="user", text="User sold a car.", facts=("f1",), turns=("t4",)
    )
    gone = Operation(action=Action.END, facts=("f1",), turns=("t4",))
    answer = applied(sold, gone, facts=(known("f1", "User has a car."),))
    (fact,) = answer.changes.added
    assert (fact.trust, fact.flags) == (Trust.ASSISTANT, (OUTRANKED,))
    assert answer.changes.ended == ()
    assert [one.reason for one in answer.aside] == [OUTRANKED]


def test_what_an_end_leaves_out_is_told() -> None:
    """Of two facts that the assistant ends, the user's own holds, and people can see that."""
    weak = known("f2", "User has a boat.", trust=Trust.ASSISTANT)
    gone = Operation(action=Action.END, facts=("f1", "f2"), turns=("t4",))
    answer = applied(gone, facts=(known("f1", "User has a car."), weak))
    assert [end.id for end in answer.changes.ended] == ["f2"]
    assert [(one.text, one.reason) for one in answer.aside] == [("User has a car.", OUTRANKED)]
    assert answer.outcomes == {Outcome.ENDED: 1}


def test_what_is_left_of_a_fact_is_trusted_as_it_was() -> None:
    """The part of an imported fact that still holds was not said by the user."""
    old = known("f1", "User lives in Oslo and has a cat.", trust=Trust.IMPORTED)
    old = replace(old, sources=("t0",))
    left = replace(add("User has a cat."), facts=("f1",), by_rule=True)
    (fact,) = applied(left, facts=(old,)).changes.added
    assert (fact.trust, fact.sources) == (Trust.IMPORTED, ("t0",))


def test_an_answer_to_a_question_is_the_users_word() -> None:
    """The assistant's question right before it does not weaken it."""
    (fact,) = applied(add("User has a cat, Miso.", "t2", "t3")).changes.added
    assert fact.trust is Trust.USER


def test_an_acknowledgement_does_not_weaken_the_users_word() -> None:
    """A large model cites the reply too; what the user said still ends the old fact."""
    left = Operation(
        action=Action.REPLACE,
        about="Tim",
        text="User's son Tim has left university and joined the bakery.",
        facts=("f1",),
        turns=("t5", "t6"),
    )
    old = known("f1", "User's son Tim studies law and does not want to join the bakery.")
    answer = applied(left, facts=(old,))
    assert answer.changes.added[0].trust is Trust.USER
    assert [end.id for end in answer.changes.ended] == ["f1"]
    gone = Operation(action=Action.END, facts=("f2",), turns=("t5", "t6"))
    ended = applied(gone, facts=(known("f2", "User's son Tim is at university."),))
    assert [end.id for end in ended.changes.ended] == ["f2"]


@pytest.mark.parametrize(
    ("said", "reply", "text", "language"),
    [
        (
            "Kyoto is put off: we fly on November 7th and come back on the 21st.",
            "Noted: 7 to 21 November.",
            "User will be in Kyoto from 2026-11-07 to 2026-11-21.",
            "en",
        ),
        ("Jonas proposed and I said yes.", "Congratulations!", "Jonas is User's fiancé.", "en"),
        ("オスロに引っ越して二週間。", "おめでとう！", "ユーザーはオスロに住んでいる。", "ja"),
    ],
)
def test_a_reply_that_tells_nothing_does_not_weaken_the_users_word(
    said: str, reply: str, text: str, language: str
) -> None:
    """Also where the fact has other words than the user: dates, and what follows from it."""
    turns = [turn(1, Speaker.USER, said), turn(2, Speaker.ASSISTANT, reply)]
    new = Operation(action=Action.REPLACE, text=text, facts=("f1",), turns=("t1", "t2"))
    old = known("f1", "User lives in Bergen with Jonas.")
    answer = apply_operations([new], known=[old], turns=turns, session=3, at=AT, language=language)
    assert [end.id for end in answer.changes.ended] == ["f1"]


def test_what_only_the_reply_says_is_the_assistants_word() -> None:
    """Citing the user's line before it does not make it the user's."""
    boat = Operation(
        action=Action.REPLACE,
        about="user",
        text="User won a boat.",
        facts=("f1",),
        turns=("t5", "t6"),
    )
    answer = applied(boat, facts=(known("f1", "User has a car."),))
    (fact,) = answer.changes.added
    assert (fact.trust, fact.flags) == (Trust.ASSISTANT, (OUTRANKED,))
    assert answer.changes.ended == ()


BACK = [
    turn(1, Speaker.USER, "I moved to Bergen in March."),
    turn(2, Speaker.ASSISTANT, "How do you like it?"),
    turn(3, Speaker.USER, "A lot! The rent went up, but my car still runs."),
    turn(4, Speaker.ASSISTANT, "Great."),
    turn(5, Speaker.USER, "Tomorrow I see the fjords."),
    turn(6, Speaker.ASSISTANT, "So you moved to Bergen, sold your car, and pay 1500 euros rent."),
]
"""A talk that the assistant looks back on: what the user said, and what it made up."""


def looked_back(operation: Operation, *facts: Fact) -> FactChanges:
    """What an operation changes after that talk."""
    answer = apply_operations([operation], known=facts, turns=BACK, session=3, at=AT, language="en")
    return answer.changes


def test_a_look_back_does_not_weaken_the_users_word() -> None:
    """The assistant's line adds nothing to what the user said, wherever it stands."""
    moved = Operation(
        action=Action.REPLACE, text="User lives in Bergen.", facts=("f1",), turns=("t1", "t6")
    )
    changes = looked_back(moved, known("f1", "User lives in Oslo."))
    assert [end.id for end in changes.ended] == ["f1"]
    assert (changes.added[0].trust, changes.added[0].flags) == (Trust.USER, ())


@pytest.mark.parametrize(
    ("text", "cited", "before"),
    [
        ("User sold the car.", "t3", "User has a car."),
        ("User has no car.", "t3", "User has a car."),
        ("", "t3", "User has a car."),
        ("User's rent went up to 1500 euros.", "t3", "User's rent is 900 euros."),
        ("User moved to Bergen and sold the car.", "t1", "User lives in Oslo with a car."),
    ],
)
def test_what_a_look_back_makes_up_is_the_assistants_word(
    text: str, cited: str, before: str
) -> None:
    """Though a line of the user's is cited too that speaks of the same thing."""
    action = Action.REPLACE if text else Action.END
    operation = Operation(action=action, text=text, facts=("f1",), turns=(cited, "t6"))
    changes = looked_back(operation, known("f1", before))
    assert changes.ended == ()
    assert all(fact.trust is Trust.ASSISTANT for fact in changes.added)


@pytest.mark.parametrize("action", [Action.CONFIRM, Action.ADD])
def test_what_the_user_confirms_becomes_the_users_word(action: Action) -> None:
    """As a new fact that rests on the user's line and names the other, whose trust stays."""
    flagged = replace(
        known("f1", "User moved to Bergen.", trust=Trust.ASSISTANT), flags=(OUTRANKED, "odd")
    )
    text = flagged.text if action is Action.ADD else ""
    again = Operation(action=action, text=text, facts=("f1",), turns=("t1",))
    changes = looked_back(again, flagged)
    (new,), (end,) = changes.added, changes.ended
    assert (new.text, new.trust, new.sources, new.flags) == (
        flagged.text,
        Trust.USER,
        ("t1",),
        ("odd",),
    )
    assert (end.id, end.by, new.supersedes) == ("f1", new.id, ("f1",))
    assert changes.confirmed == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("User moved to Bergen.", ("t3",)),
        ("User moved to Bergen.", ("t6",)),
        ("User moved to Bergen on 4 March 2025.", ("t1",)),
        ("User sold a car in Rome.", ("t3",)),
    ],
)
def test_what_the_user_does_not_say_is_confirmed_as_it_was(
    text: str, said: tuple[str, ...]
) -> None:
    """A line that says something else, or a part, or is the assistant's, raises no trust."""
    claim = known("f1", text, trust=Trust.ASSISTANT)
    changes = looked_back(Operation(action=Action.CONFIRM, facts=("f1",), turns=said), claim)
    assert (changes.added, changes.ended) == ((), ())
    assert [one.id for one in changes.confirmed] == ["f1"]


def test_a_question_confirms_nothing() -> None:
    """The user may ask whether what the assistant said is so."""
    turns = [turn(1, Speaker.USER, "Do I live in Bergen?")]
    claim = known("f1", "User lives in Bergen.", trust=Trust.ASSISTANT)
    again = Operation(action=Action.CONFIRM, facts=("f1",), turns=("t1",))
    answer = apply_operations([again], known=[claim], turns=turns, session=3, at=AT, language="en")
    assert answer.changes.added == ()


def test_a_plan_that_came_true_keeps_its_days() -> None:
    """Its last day is not overwritten by the day on which it was replaced, nor before its first."""
    plan = replace(
        known("f1", "User will move to Bergen."),
        kind=FactKind.PLAN,
        since=date(2026, 5, 4),
        until=date(2026, 5, 10),
    )
    state = replace(known("f2", "User rents a room."), since=date(2026, 5, 19))
    moved = Operation(
        action=Action.REPLACE,
        about="user",
        text="User lives in Bergen.",
        facts=("f1", "f2"),
        turns=("t1",),
        since=date(2026, 5, 4),
    )
    plan_end, state_end = applied(moved, facts=(plan, state)).changes.ended
    assert plan.ended_with(plan_end).until == date(2026, 5, 10)
    assert state_end.until == START.date()
    over = Operation(action=Action.END, facts=("f1",), turns=("t1",))
    (end,) = applied(over, facts=(plan,)).changes.ended
    assert plan.ended_with(end).until == date(2026, 5, 10)


def test_a_correction_is_ended_by_the_user_only() -> None:
    """Not by what the assistant says."""
    corrected = known("f1", "User has a car.", trust=Trust.CORRECTED)
    by_user = Operation(action=Action.END, facts=("f1",), turns=("t1",))
    by_assistant = Operation(action=Action.END, facts=("f1",), turns=("t4",))
    assert applied(by_user, facts=(corrected,)).changes.ended
    assert not applied(by_assistant, facts=(corrected,)).changes.ended


def test_the_same_words_again_confirm_a_fact() -> None:
    """Whether the model says so or adds it once more."""
    old = known("f1", "User has a cat.")
    answer = applied(add("User has a cat", "t3"), facts=(old,))
    (again,) = answer.changes.confirmed
    assert (again.id, again.sources) == ("f1", ("t3",))
    assert answer.outcomes == {Outcome.CONFIRMED: 1}


OPERATIONS = st.lists(
    st.builds(
        Operation,
        action=st.sampled_from([Action.ADD, Action.REPLACE, Action.CONFIRM]),
        about=st.sampled_from(["user", "assistant", "Tom"]),
        text=st.sampled_from(["User has a cat.", "User lives in Bergen.", "Tom ran."]),
        kind=st.sampled_from(list(FactKind)),
        facts=st.sampled_from([(), ("f1",), ("f1", "f2")]),
        turns=st.sampled_from([(), ("t1",), ("t3", "t4")]),
    ),
    max_size=8,
)


@given(OPERATIONS)
def test_every_operation_ends_somewhere(operations: list[Operation]) -> None:
    """The outcomes add up to what went in, and each added fact has sources."""
    facts = (known("f1", "User lives in Oslo."), known("f2", "User has a cat."))
    answer = applied(*operations, facts=facts)
    assert sum(answer.outcomes.values()) == len(operations)
    assert answer.outcomes.get(Outcome.ASIDE, 0) == len(answer.aside)
    assert all(fact.sources for fact in answer.changes.added)
    claimed = [(old, fact.id) for fact in answer.changes.added for old in fact.supersedes]
    assert sorted(claimed) == sorted((end.id, end.by) for end in answer.changes.ended)


def test_an_answer_that_says_no_days_is_believed() -> None:
    """A date in a sentence is often of something else in it, as in a plan that hangs on a
    condition. Without an answer about days, or with a relative day, the text has the word."""
    dog = Operation(
        action=Action.ADD,
        text="User has a dog, who turned four in April 2026.",
        kind=FactKind.RELATION,
        turns=("t3",),
        says_days=True,
    )
    since = replace(dog, text="Ben has lived in Lyon since 2026-05-09.", since=date(2026, 5, 9))
    plan = replace(
        dog, text="User will move if the sale slips past April 2026.", kind=FactKind.PLAN
    )
    relative = replace(dog, text="User starts work tomorrow.", kind=FactKind.STATE)
    unsaid = replace(dog, text="User works there until 2026-06-30.", says_days=False)
    added = applied(dog, since, plan, relative, unsaid).changes.added
    assert [(fact.since, fact.until) for fact in added] == [
        (None, None),
        (date(2026, 5, 9), None),
        (None, None),
        (date(2026, 5, 21), date(2026, 5, 21)),
        (None, date(2026, 6, 30)),
    ]
    assert added[2].kind is FactKind.PLAN
    assert added[2].text == plan.text


def test_a_plan_lasts_as_long_as_its_sentence_says() -> None:
    """An answer that gives the first day alone may tell the last in its text."""
    away = Operation(
        action=Action.ADD,
        text="User is in Rome from 3 June 2026 to 7 June 2026.",
        kind=FactKind.PLAN,
        turns=("t1",),
        since=date(2026, 6, 3),
        since_last=date(2026, 6, 3),
        says_days=True,
    )
    (fact,) = applied(away).changes.added
    assert (fact.since, fact.until) == (date(2026, 6, 3), date(2026, 6, 7))


def test_what_an_event_ends_held_on_its_day() -> None:
    """A dog that died on the 16th was there on the 16th; what a new state replaces held until the
    day before."""
    dog = known("dog", "User has a dog called Rex.")
    died = Operation(
        action=Action.REPLACE,
        text="User's dog Rex died on 2026-05-16.",
        kind=FactKind.EVENT,
        facts=("dog",),
        turns=("t3",),
        since=date(2026, 5, 16),
        until=date(2026, 5, 16),
        says_days=True,
    )
    found = replace(died, text="User has a cat.", kind=FactKind.RELATION, until=None)
    for operation, last in ((died, date(2026, 5, 16)), (found, date(2026, 5, 15))):
        (end,) = applied(operation, facts=(dog,)).changes.ended
        assert end.until == last


def test_a_sentence_that_names_its_days_is_left_alone() -> None:
    """What looks relative in it is about those days: 这一周 after a range is that week."""
    text = "用户在2026年3月23日至29日这一周去深圳面试。"
    told = Operation(
        action=Action.ADD,
        text=text,
        kind=FactKind.PLAN,
        turns=("t1",),
        since=date(2026, 3, 23),
        until=date(2026, 3, 29),
        says_days=True,
    )
    (fact,) = apply_operations(
        [told], known=(), turns=TURNS, session=3, at=AT, language="zh"
    ).changes.added
    assert (fact.text, fact.since, fact.until) == (text, told.since, told.until)


def test_a_model_that_was_asked_for_dates_keeps_its_words() -> None:
    """Names and habits stay as it wrote them and give no days. A relative time is dated all the
    same, and its words are kept for people to see; those of a small model are not asked for."""
    film = Operation(
        action=Action.ADD,
        text="User's favourite film is The Day After Tomorrow.",
        turns=("t3",),
        says_days=True,
    )
    rent = replace(film, text="User always pays this month's rent with last month's salary.")
    first = date(2026, 5, 25)
    until = date(2026, 5, 31)
    trip = replace(film, text="User runs every day next week.", since=first, until=until)
    small = replace(film, text="User sold the car yesterday.", says_days=False)
    kept, habit, dated, noted = applied(film, rent, trip, small).changes.added
    for fact, told in ((kept, film), (habit, rent)):
        assert (fact.text, fact.kind, fact.flags) == (told.text, FactKind.STATE, ())
        assert (fact.since, fact.until) == (None, None)
    assert dated.text == "User runs every day in the week of 25 May 2026."
    assert dated.flags == ("dates were put in place of what the model wrote: next week",)
    assert (noted.text, noted.flags) == ("User sold the car on 19 May 2026.", ())


def test_the_days_of_a_plan_stand_in_its_sentence() -> None:
    """Prompts show the sentence alone; an answer may give the days beside it. A range is left as it
    is told, and the day on which somebody thought of something is no day of it."""
    move = Operation(
        action=Action.ADD,
        text="User will move to Bergen.",
        kind=FactKind.PLAN,
        turns=("t1",),
        since=date(2026, 6, 1),
        until=date(2026, 6, 1),
        says_days=True,
    )
    trip = replace(move, text="ユーザーは京都へ行く。", until=date(2026, 6, 9))
    named = replace(move, text="User will fly on 1 June.")
    month = replace(move, text="User will marry in June 2026.")
    days = replace(move, text="User travels June 1 to 9.", until=date(2026, 6, 9))
    turned = replace(move, text="User hikes.", until=date(2026, 5, 1))
    some_day = replace(move, text="User thinks of a boat.", since=date(2026, 5, 20), until=None)
    home = replace(
        move, text="User lives in Lyon.", kind=FactKind.STATE, since=date(2026, 5, 1), until=None
    )
    told = (move, trip, named, month, days, turned, some_day, home)
    texts = [fact.text for fact in applied(*told).changes.added]
    assert texts == [
        "User will move to Bergen (2026-06-01).",
        "ユーザーは京都へ行く (2026-06-01 – 2026-06-09)。",
        "User will fly on 1 June 2026.",
        "User will marry in June 2026.",
        "User travels June 1 to 9 (2026-06-01 – 2026-06-09).",
        "User hikes.",
        "User thinks of a boat.",
        "User lives in Lyon.",
    ]

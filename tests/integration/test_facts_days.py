"""The days of facts that a strong model writes: which count, how a sentence shows them, and what
happens once they have passed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from omoide.domain import Fact, FactKind, Speaker, Turn, applied
from omoide.language import detect_language
from omoide.mechanisms.facts.applying import TURNED, AppliedAnswer, Outcome, apply_operations
from omoide.mechanisms.facts.choosing import choose
from omoide.mechanisms.facts.days import as_shown, may_be_over
from omoide.mechanisms.facts.reading import read_answer
from omoide.prompts.transcript import lines

from .test_facts_digest import LARGE, answer, change

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.unit.conftest import World

    Make = Callable[..., Awaitable[World]]

SAID = datetime(2026, 6, 1, 10, tzinfo=UTC)  # a Monday
TURN = Turn(
    id="t1", session=5, position=1, speaker=Speaker.USER, text="So it is.", time=SAID, language="en"
)


def known(
    text: str,
    kind: FactKind = FactKind.STATE,
    *,
    since: date | None = None,
    until: date | None = None,
) -> Fact:
    """A fact of January."""
    january = datetime(2026, 1, 5, tzinfo=UTC)
    return Fact(
        id=text, about="user", text=text, said=january, learned=january, kind=kind,
        since=since, until=until,
    )  # fmt: skip


def told(*changes: dict[str, object], facts: tuple[Fact, ...] = ()) -> AppliedAnswer:
    """What a large model's answer on 1 June changes in these facts."""
    return told_in("en", *changes, facts=facts)


def told_in(
    language: str, *changes: dict[str, object], facts: tuple[Fact, ...] = ()
) -> AppliedAnswer:
    """The same in another language."""
    days = {"since": None, "until": None}
    text = answer(*({**days, **entry} for entry in changes))
    read = read_answer(text, known=facts, session=lines([TURN]), language=language)
    return apply_operations(
        read.operations, known=facts, turns=[TURN], session=5, at=SAID, language=language
    )


def one(text: str, **more: object) -> Fact:
    """The fact that a large model adds."""
    (fact,) = told(change(text, 1, **more)).changes.added
    return fact


@pytest.mark.parametrize("kind", ["plan", "promise", "event"])
def test_a_plan_for_one_day_is_over_after_it(kind: str) -> None:
    """A model gives the day of it as its first and no last."""
    fact = one("User has an interview at Farfetch.", kind=kind, since="2026-06-11")
    assert (fact.since, fact.until) == (date(2026, 6, 11), date(2026, 6, 11))
    assert not fact.overdue(date(2026, 6, 11))
    assert fact.overdue(date(2026, 6, 12))


def test_a_plan_for_a_month_is_over_after_it() -> None:
    """Some time in that month; the day on which somebody began to think of it is no day of it."""
    fact = one("User marries in Porto.", kind="plan", since="2026-09")
    assert (fact.until, fact.text) == (date(2026, 9, 30), "User marries in Porto (2026-09).")
    thought = one("User thinks of a boat.", kind="plan", since="2026-06")
    assert (thought.until, thought.text) == (None, "User thinks of a boat.")


@pytest.mark.parametrize(
    "text",
    [
        "User takes French lessons every Monday.",
        "User takes French lessons from 6 July 2026.",
    ],
)
def test_what_goes_on_from_a_day_is_not_over_after_it(text: str) -> None:
    """Neither a habit nor what the sentence says to begin then."""
    fact = one(text, kind="plan", since="2026-07-06")
    assert (fact.kind, fact.until) == (FactKind.PLAN, None)
    assert not fact.overdue(date(2027, 1, 1))


def test_what_replaces_how_things_are_becomes_it() -> None:
    """A new job from August on is no plan that has passed in September."""
    leeds = known("User works in Leeds.")
    york = change("User works in York.", 1, kind="plan", since="2026-08-01")
    changes = told({**york, "do": "replace", "facts": [1]}, facts=(leeds,)).changes
    (fact,), (end,) = changes.added, changes.ended
    assert fact.text == "User works in York (from 2026-08-01)."
    assert (fact.until, end.until) == (None, date(2026, 7, 31))
    assert not fact.overdue(date(2026, 9, 1))


@pytest.mark.parametrize(
    ("text", "kind", "since", "until", "days"),
    [
        (
            "Inês has lived in Faro with Rui since mid-April 2026.",
            "state",
            "2026-04-15",
            None,
            (date(2026, 4, 15), None),
        ),
        (
            "User married Linh last Saturday.",
            "relation",
            "2026-05-30",
            None,
            (date(2026, 5, 30), None),
        ),
        (
            "User goes to Jeju in June 2026.",
            "plan",
            "2026-06-12",
            None,
            (date(2026, 6, 12), date(2026, 6, 12)),
        ),
        ("User switched to Acme last month and works there.", "state", None, None, (None, None)),
        ("User flies to Oslo tomorrow.", "plan", None, None, (date(2026, 6, 2),) * 2),
        ("User starts at Acme tomorrow.", "state", None, None, (date(2026, 6, 2),) * 2),
    ],
)
def test_a_day_that_the_answer_leaves_out_is_not_taken_from_the_text(
    text: str, kind: str, since: str | None, until: str | None, days: tuple[date | None, ...]
) -> None:
    """It names a day of something else. What an answer without days tells of a day to come, or of
    a plan or an event, is dated by its words."""
    fact = one(text, kind=kind, since=since, until=until)
    assert (fact.since, fact.until) == days


@pytest.mark.parametrize(
    ("text", "kind", "since", "until", "days"),
    [
        ("User sails.", "event", "2026-05", None, " (2026-05)"),
        ("User graduated.", "event", "2019", None, " (2019)"),
        ("User tours.", "plan", "2026-07", "2026-08", " (2026-07 – 2026-08)"),
        ("User files taxes.", "plan", None, "2026-09-30", " (by 2026-09-30)"),
        ("User limps.", "state", None, "2026-06-30", " (until 2026-06-30)"),
        ("用户要交论文。", "plan", None, "2026-09-30", "（最晚2026-09-30）"),
        ("用户拄拐。", "state", None, "2026-06-30", "（到2026-06-30为止）"),
        ("ユーザーは京都へ行く。", "plan", "2026-06-09", "2026-06-09", "（2026-06-09）"),
        ("ユーザーは休職中である。", "state", None, "2026-06-30", "（2026-06-30まで）"),
        ("사용자는 휴직 중이다.", "state", None, "2026-06-30", " (2026-06-30까지)"),
        ("Người dùng bó bột.", "state", None, "2026-06-30", " (đến 2026-06-30)"),
    ],
)
def test_days_beside_a_sentence_are_shown_as_they_are_meant(
    text: str, kind: str, since: str | None, until: str | None, days: str
) -> None:
    """A month as a month, a deadline as one, and until when something holds, in each language."""
    entry = change(text, 1, kind=kind, since=since, until=until)
    (fact,) = told_in(detect_language(text), entry).changes.added
    assert fact.text == f"{text[:-1]}{days}{text[-1]}"


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("User moves to Oslo in early 2027.", "2027-01", "2027-03"),
        ("User starts at Acme in Q3 2027.", "2027-07", "2027-09"),
        ("User hands in the thesis by the end of 2027.", None, "2027-12-31"),
        ("用户2026年底换工作。", "2026-12", "2026-12"),
        ("用户计划2027年上半年生孩子。", "2027-01", "2027-06"),
        ("ユーザーは2028年春に家を建てる。", "2028-03", "2028-05"),
        ("사용자는 2027년 초에 대구로 이사한다.", "2027-01", "2027-03"),
        ("Người dùng đi Nhật trong quý 3 năm 2027.", "2027-07", "2027-09"),
        ("Người dùng mua nhà trước cuối năm 2027.", None, "2027-12-31"),
    ],
)
def test_a_time_that_the_sentence_names_is_not_shown_twice(
    text: str, since: str | None, until: str
) -> None:
    """Whatever people call several months, or the beginning and the end of a year."""
    entry = change(text, 1, kind="plan", since=since, until=until)
    (fact,) = told_in(detect_language(text), entry).changes.added
    assert fact.text == text


def test_a_state_past_its_last_day_may_be_over() -> None:
    """It is marked, gives way in the summary, and is not taken for over before; nor is what names
    the month in which something in it happened."""
    crutches = one("User is on crutches.", until="2026-06-30")
    last, after = date(2026, 6, 30), date(2026, 7, 1)
    assert as_shown(crutches, crutches.text, last) == "User is on crutches (until 2026-06-30)."
    assert as_shown(crutches, crutches.text, after).endswith(
        "). (that day has passed; it may be over)"
    )
    named = one("User is on crutches until 30 June 2026.", until="2026-06-30")
    assert may_be_over(named, after)
    older = replace(known("User has no car.", until=date(2026, 3, 31)), id="car")
    assert as_shown(older, older.text, date(2026, 3, 1)) == "User has no car (until 2026-03-31)."
    cat = replace(known("User got a cat in January 2026.", until=date(2026, 1, 31)), id="cat")
    assert not may_be_over(cat, after)
    flat = known("User rents a flat.")
    for at, kept in ((SAID, crutches), (SAID + timedelta(days=60), flat)):
        assert choose([crutches, flat], at=at, limit=1) == (kept,)


async def test_a_prompt_shows_until_when_something_holds(make_world: Make) -> None:
    """Also if the user has said that it ends and it has not ended yet; then it is gone."""
    world = await make_world(settings=LARGE)
    crutches = change("User is on crutches.", 1, kind="state", until="2026-01-31")
    gym = change("User is a member of a gym.", 1, kind="state")
    await world.session("ana", "I walk on crutches.", answers=(answer(crutches, gym),))
    end: dict[str, object] = {"do": "end", "facts": [2], "turns": [1], "until": "2026-02-28"}
    end["since"] = None
    await world.session("ana", "I cancelled the gym.", answers=(answer(end),))
    membership, broken = "User is a member of a gym (until 2026-02-28).", "User is on crutches"
    for day, expected in (
        (date(2026, 1, 30), [f"{broken} (until 2026-01-31).", membership]),
        (
            date(2026, 2, 28),
            [f"{broken} (until 2026-01-31). (that day has passed; it may be over)", membership],
        ),
        (
            date(2026, 3, 1),
            [f"{broken} (until 2026-01-31). (that day has passed; it may be over)"],
        ),
    ):
        world.clock.advance(
            datetime(day.year, day.month, day.day, 12, tzinfo=UTC) - world.clock.now()
        )
        context = await world.memory.context("ana", [{"role": "user", "content": "Hello!"}])
        shown = [line for line in context.text.splitlines() if line.startswith("User is")]
        assert sorted(shown) == sorted(expected), day


def test_a_replacement_by_what_is_known_ends_the_other() -> None:
    """Who is a vegetarian, ate fish, and does so no more; told twice, both old facts end."""
    diet, fish = known("User is a vegetarian."), known("User eats fish.")
    entry = {**change("User is a vegetarian.", 1), "do": "replace", "facts": [2]}
    result = told(entry, facts=(diet, fish))
    assert [(end.id, end.by) for end in result.changes.ended] == [(fish.id, diet.id)]
    assert [again.id for again in result.changes.confirmed] == [diet.id]
    assert result.outcomes == {Outcome.REPLACED: 1}
    kept = {
        fact.id: fact for fact in applied(result.changes, {f.id: f for f in (diet, fish)}).changed
    }
    assert kept[diet.id].supersedes == (fish.id,)

    whole = {**change("User lives with Tom and Leo.", 1), "do": "replace"}
    leo, tom = known("User lives with Leo."), known("Tom is in Luanda.")
    result = told({**whole, "facts": [2]}, {**whole, "facts": [1]}, facts=(leo, tom))
    (fact,) = result.changes.added
    assert {end.id for end in result.changes.ended} == set(fact.supersedes) == {leo.id, tom.id}
    again = told({**whole, "facts": [2]}, {**whole, "facts": [2]}, facts=(leo, tom))
    assert again.outcomes == {Outcome.REPLACED: 1, Outcome.REPEATED: 1}


@pytest.mark.parametrize("do", ["add", "replace", "confirm"])
def test_the_last_day_of_a_known_fact_is_taken_up(do: str) -> None:
    """However it is told: by a fact that replaces it, since what is stored is not overwritten."""
    old = known("User is on crutches.")
    text = "" if do == "confirm" else old.text
    entry = {**change(text, 1, kind="state", until="2026-06-30"), "do": do}
    changes = told({**entry, "facts": [] if do == "add" else [1]}, facts=(old,)).changes
    (fact,) = changes.added
    assert (fact.text, fact.until) == ("User is on crutches (until 2026-06-30).", date(2026, 6, 30))
    assert fact.supersedes == (old.id,)
    later = {**entry, "until": "2026-07-31", "facts": [] if do == "add" else [1]}
    (longer,) = told(later, facts=(fact,)).changes.added
    assert longer.text == "User is on crutches (until 2026-07-31)."
    for repeated in (entry, {**entry, "until": None}):
        same = told({**repeated, "facts": [1]}, facts=(fact,)).changes
        assert (same.added, [again.id for again in same.confirmed]) == ((), [fact.id])


def test_an_end_that_lies_ahead_comes_on_its_day() -> None:
    """A membership that is cancelled runs on; a plan that is given up is over at once. It may still
    end earlier."""
    gym = known("User is in a gym.")
    trip = known("User flies to Rome.", FactKind.PLAN, since=date(2026, 12, 5))
    entry: dict[str, object] = {"do": "end", "facts": [1, 2], "turns": [1]}
    entry["until"] = "2026-12-31"
    for_gym, for_trip = told(entry, facts=(gym, trip)).changes.ended
    assert for_trip.at == SAID
    ending = gym.ended_with(for_gym)
    assert (ending.until, ending.ended) == (date(2026, 12, 31), datetime(2027, 1, 1, tzinfo=UTC))
    assert ending.holds(SAID)
    (at_once,) = told({"do": "end", "facts": [1], "turns": [1]}, facts=(ending,)).changes.ended
    assert ending.ended_with(at_once).ended == SAID
    assert ending.ended_with(replace(at_once, forgotten=True)).expired(SAID)


def test_a_last_day_that_was_known_stays() -> None:
    """Told late, the hospital is still over when it was to be; and a contract that is extended held
    until that was said, not until the day before it began."""
    licence = known("User cannot drive.", until=date(2026, 4, 30))
    (end,) = told({"do": "end", "facts": [1], "turns": [1]}, facts=(licence,)).changes.ended
    assert end.until == date(2026, 4, 30)
    text, begun = "User has a contract until the end of June 2026.", date(2026, 2, 1)
    contract = known(text, since=begun, until=date(2026, 6, 30))
    longer = change("User has a contract until the end of December 2026.", 1, kind="state")
    longer |= {"do": "replace", "facts": [1], "since": "2026-02", "until": "2026-12-31"}
    (end,) = told(longer, facts=(contract,)).changes.ended
    assert end.until == SAID.date()
    cat = known("User got a cat this month, in January 2026.", until=date(2026, 1, 31))
    (end,) = told({"do": "end", "facts": [1], "turns": [1]}, facts=(cat,)).changes.ended
    assert end.until == SAID.date()


def test_an_event_to_come_is_a_plan() -> None:
    """Whatever the answer calls it."""
    wedding = one("User marries.", kind="event", since="2026-09-20", until="2026-09-20")
    past = one("User broke an arm.", kind="event", since="2026-05")
    assert (wedding.kind, past.kind) == (FactKind.PLAN, FactKind.EVENT)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("User is in rehab.", (date(2026, 6, 10), None)),
        ("User is in rehab until 10 May 2026.", (None, date(2026, 5, 10))),
    ],
)
def test_days_in_the_wrong_order_are_flagged(text: str, days: tuple[date | None, ...]) -> None:
    """The first is kept, unless the sentence names the last."""
    fact = one(text, kind="state", since="2026-06-10", until="2026-05-10")
    assert (fact.since, fact.until) == days
    assert (fact.text, fact.flags) == (text, (TURNED,))

"""Values and what they can do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.domain import Call, Change, Purpose, Sentence, diff
from omoide.domain.cost import grouped
from omoide.domain.text import checked_name, checked_text, printable
from omoide.errors import BadInput, BadText, EmptyText, TextTooLong


def sentences(*texts: str) -> list[Sentence]:
    """Sentences with nothing but text."""
    return [Sentence(text=text) for text in texts]


def test_diff_tells_kept_changed_added_and_removed() -> None:
    """A rewritten sentence is one change, not a removal and an addition."""
    old = sentences("User has a dog.", "User lives in Oslo.", "User plays chess.")
    new = sentences("User has a dog.", "User lives in Bergen.", "Assistant likes tea.")
    told = [(c.change, c.old, c.new) for c in diff(old, new)]
    assert (Change.KEPT, "User has a dog.", "User has a dog.") in told
    assert (Change.CHANGED, "User lives in Oslo.", "User lives in Bergen.") in told
    assert (Change.REMOVED, "User plays chess.", None) in told
    assert (Change.ADDED, None, "Assistant likes tea.") in told
    assert len(told) == 4


@given(st.lists(st.text(min_size=1), max_size=8), st.lists(st.text(min_size=1), max_size=8))
def test_diff_accounts_for_every_sentence(before: list[str], after: list[str]) -> None:
    """Each old and each new sentence stands in exactly one line."""
    changes = diff(sentences(*before), sentences(*after))
    assert sorted(c.old for c in changes if c.old is not None) == sorted(before)
    assert sorted(c.new for c in changes if c.new is not None) == sorted(after)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", EmptyText),
        (" \n ", EmptyText),
        ("x" * 101, TextTooLong),
        ("bad \ud800 half", BadText),
        ("a\x00b", BadText),
        ("red \x1b[31m", BadText),
    ],
)
def test_text_that_cannot_be_recorded_is_refused_with_what_to_do(
    text: str, error: type[BadInput]
) -> None:
    """Each sort of bad text has its own error, and each message ends in advice."""
    with pytest.raises(error, match=r": (say|split|decode|remove)"):
        checked_text(text, longest=100)


def test_good_text_is_not_altered() -> None:
    """White space, line breaks and emoji are the user's."""
    assert checked_text("  hi\n\tthere 🎉 ", longest=100) == "  hi\n\tthere 🎉 "


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 257, "\x00"])
def test_names_are_one_printable_line(name: str) -> None:
    """A user or turn id that could forge a line is refused."""
    with pytest.raises(BadInput, match="one printable line"):
        checked_name(name, "the user")


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ("Hello,\n\tyou.", "Hello,\n\tyou."),
        ("Hel\x00lo\x9f", "Hello"),
        ("Hi \ud83d\ude00!", "Hi \U0001f600!"),
        ("Hi \ud83d!", "Hi \ufffd!"),
        ("\x00 \n", ""),
        ("猫\u200bです", "猫\u200bです"),
    ],
)
def test_what_is_kept_of_an_answer(answer: str, kept: str) -> None:
    """It can be recorded, or it is nothing."""
    assert printable(answer) == kept
    assert not kept or checked_text(kept, longest=100) == kept


def test_a_day_of_calls_is_that_of_the_zone() -> None:
    """The same two calls are one day in Tokyo and two in UTC; a failed one is paid for too."""
    evening, night = (
        Call(
            purpose=Purpose.REPLY,
            model="m",
            session=1,
            prompt_tokens=10,
            completion_tokens=2,
            seconds=0.5,
            time=time,
            failed=failed,
        )
        for time, failed in (
            (datetime(2026, 1, 5, 23, tzinfo=UTC), False),
            (datetime(2026, 1, 6, 1, tzinfo=UTC), True),
        )
    )
    assert [s.name for s in grouped([evening, night], "day", zone=UTC)] == [
        "2026-01-05",
        "2026-01-06",
    ]
    [took] = grouped([evening, night], "day", zone=timezone(timedelta(hours=9)))
    assert (took.name, took.calls, took.failed) == ("2026-01-06", 2, 1)
    assert (took.prompt_tokens, took.completion_tokens, took.seconds) == (20, 4, 1.0)

"""Values and what they can do."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime, timedelta, timezone
from typing import SupportsIndex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.domain import CallPurpose, ChangeKind, MemoryKind, ModelCall, Sentence, diff
from omoide.domain.cost import grouped
from omoide.domain.text import checked_name, checked_text, in_parts, normal_name, printable
from omoide.errors import BadInput, EmptyText, TextTooLong


def sentences(*texts: str) -> list[Sentence]:
    """Sentences with nothing but text."""
    return [Sentence(text=text) for text in texts]


def test_diff_tells_kept_changed_added_and_removed() -> None:
    """A rewritten sentence is one change, not a removal and an addition."""
    old = sentences("User has a dog.", "User lives in Oslo.", "User plays chess.")
    new = sentences("User has a dog.", "User lives in Bergen.", "Assistant likes tea.")
    told = [(c.change, c.old, c.new) for c in diff(old, new)]
    assert (ChangeKind.KEPT, "User has a dog.", "User has a dog.") in told
    assert (ChangeKind.CHANGED, "User lives in Oslo.", "User lives in Bergen.") in told
    assert (ChangeKind.REMOVED, "User plays chess.", None) in told
    assert (ChangeKind.ADDED, None, "Assistant likes tea.") in told
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
        ("\x00\x07", EmptyText),
    ],
)
def test_text_that_cannot_be_recorded_is_refused_with_what_to_do(
    text: str, error: type[BadInput]
) -> None:
    """Each sort of bad text has its own error, and each message ends in advice."""
    with pytest.raises(error, match=r": (write|split)"):
        checked_text(text, max_chars=100)


def test_good_text_is_not_altered() -> None:
    """White space, line breaks and emoji are the user's."""
    assert checked_text("  hi\n\tthere 🎉 ", max_chars=100) == "  hi\n\tthere 🎉 "


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("bad \ud800 half", "bad \ufffd half"),
        ("pair \ud83d\ude00", "pair \U0001f600"),
        ("a\x00b", "ab"),
        ("red \x1b[31m", "red [31m"),
        ("line\r\nline", "line\r\nline"),
    ],
)
def test_characters_that_cannot_be_stored_are_cleaned(text: str, kept: str) -> None:
    """The words stay."""
    assert checked_text(text, max_chars=100) == kept


@given(text=st.text(st.sampled_from("ab \n"), max_size=200), max_chars=st.integers(4, 50))
def test_the_parts_of_a_text_are_the_text(text: str, max_chars: int) -> None:
    """None is too long, none is empty, and only white space is lost."""
    parts = in_parts(text, max_chars=max_chars)
    assert all(part.strip() and len(part) <= max_chars for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


class CountedText(str):
    """A text that counts the characters that are copied from it."""

    __slots__ = ("copied",)

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        """Like `str.__getitem__`."""
        part = str(self)[key]
        self.copied = getattr(self, "copied", 0) + len(part)
        return part


def test_a_text_is_cut_in_one_pass() -> None:
    """Each character is copied once, however many parts there are."""
    text = CountedText("x" * 10_000)
    assert in_parts(text, max_chars=10) == ["x" * 10] * 1000
    assert text.copied == len(text)


def test_names_that_look_the_same_are_the_same() -> None:
    """Spaces around a name and the two ways to write an accent do not make another user."""
    assert normal_name(" ana ", "the user") == "ana"
    assert normal_name("Jose\u0301", "the user") == "Jos\u00e9"
    with pytest.raises(BadInput, match="one printable line"):
        normal_name("  ", "the user")


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
    assert not kept or checked_text(kept, max_chars=100) == kept


def test_a_day_of_calls_is_that_of_the_zone() -> None:
    """The same two calls are one day in Tokyo and two in UTC; a failed one is paid for too."""
    evening, night = (
        ModelCall(
            purpose=CallPurpose.REPLY,
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


def test_open_words_take_others() -> None:
    """A plug-in's word is as good as ours, always the same object, and not among the named."""
    diary = MemoryKind("diary")
    assert diary is MemoryKind("diary")
    assert diary is pickle.loads(pickle.dumps(diary))  # noqa: S301 - our own bytes
    assert (diary, diary.value, f"{diary}") == ("diary", "diary", "diary")
    assert diary not in tuple(MemoryKind)
    assert MemoryKind("turn") is MemoryKind.TURN
    for wrong in ("", "Two Words", "x" * 65, "ünï"):
        with pytest.raises(ValueError, match="is not a valid MemoryKind"):
            MemoryKind(wrong)


def test_a_sentence_that_only_stands_elsewhere_did_not_change() -> None:
    """What is known is a set: its order follows what matters most, and moving is no news."""
    old = sentences("User sings.", "User swims.", "User sails.")
    changes = diff(old, [old[2], old[0], old[1]])
    assert [change.change for change in changes] == [ChangeKind.KEPT] * 3
    assert sorted(change.new or "" for change in changes) == sorted(s.text for s in old)

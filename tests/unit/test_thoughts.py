"""Thoughts at the beginning of an answer are left out, however the answer is cut into pieces."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.adapters.models.thoughts import Thoughts

ANSWERS = {
    "<think>A cat?</think>\n\nHow lovely!": "How lovely!",
    "  <think>A cat?</think>How lovely!": "How lovely!",
    "<think>a</think> <think>b</think> Yes.": "Yes.",
    "<think></think>Yes.": "Yes.",
    "<think>1 < 2 </thin </think>Yes. 1 < 2": "Yes. 1 < 2",
    "  Spaces stay, <think>marks</think>, too": "  Spaces stay, <think>marks</think>, too",
    "<thinking is hard>": "<thinking is hard>",
    "<think>Yes.</think>So it is: <think>x</think>": "So it is: <think>x</think>",
    "<think>never ends": "",
    "": "",
}


def heard(pieces: list[str]) -> str:
    """What the pieces say together."""
    thoughts = Thoughts()
    return "".join([thoughts.spoken(piece) for piece in pieces])


@pytest.mark.parametrize(("answer", "spoken"), ANSWERS.items())
def test_only_the_beginning_can_be_thoughts(answer: str, spoken: str) -> None:
    """In one piece, and letter by letter."""
    assert heard([answer]) == spoken
    assert heard(list(answer)) == spoken


@given(st.sampled_from(list(ANSWERS)), st.lists(st.integers(0, 50), max_size=6))
def test_pieces_of_any_length_say_the_same(answer: str, cuts: list[int]) -> None:
    """Marks may be cut anywhere."""
    places = [0, *sorted(cuts), len(answer)]
    pieces = [answer[start:end] for start, end in pairwise(places)]
    if places[-2] > len(answer):
        pieces = [answer]
    assert heard(pieces) == ANSWERS[answer]


def test_what_is_said_comes_at_once() -> None:
    """Nothing waits that cannot be a mark any more, and what waits is short."""
    thoughts = Thoughts()
    assert [thoughts.spoken(piece) for piece in ("<", "3", " you")] == ["", "<3", " you"]
    thoughts = Thoughts()
    thoughts.spoken("<think>")
    for _ in range(100):
        thoughts.spoken("on and on ")
    assert len(thoughts._held) < 30

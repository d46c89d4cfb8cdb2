"""Where the guards begin: answers on both sides of each limit."""

from __future__ import annotations

import pytest

from omoide.claims.answers import Flaw, lost_without_cause

from .test_answers import facts, flaws, turn


@pytest.mark.parametrize(
    ("new", "lost"),
    [
        ("User has a dog.", True),  # one of three terms is left
        ("User has a dog named Fido.", False),  # two of three
    ],
)
def test_a_sentence_is_lost_if_less_than_half_of_it_is_left(new: str, lost: bool) -> None:
    """Not only if nothing is."""
    old = facts("Dog named Rex.")
    assert bool(lost_without_cause(facts(new), old=old, turns=())) == lost


@pytest.mark.parametrize(
    ("said", "lost"),
    [
        ("We talked about the garden.", True),  # one of four terms
        ("The garden has roses.", False),  # two of four
    ],
)
def test_a_session_excuses_a_loss_if_a_third_of_it_is_related(said: str, lost: bool) -> None:
    """A single word in common does not."""
    old = facts("Garden roses tulips peonies.")
    assert bool(lost_without_cause((), old=old, turns=(turn(said),))) == lost


def test_a_copy_with_a_changed_letter_is_an_echo() -> None:
    """Nine tenths of the characters are enough."""
    said = turn("I really love walking in the mountains with my brother every summer")
    copy = "I really love walking in the mountain with my brothers every summer"
    assert Flaw.ECHO_DIALOGUE in flaws(facts(copy, copy[::-1], "x" * 20)[:1] * 1, said=(said,)) or (
        Flaw.EMPTY in flaws(facts(copy), said=(said,))
    )
    other = "I really hate swimming in cold lakes near the city in winter time"
    assert flaws(facts(other), said=(said,)) == set()


@pytest.mark.parametrize(("unsupported", "refused"), [(2, False), (3, True)])
def test_more_than_half_without_support_is_refused(unsupported: int, refused: bool) -> None:
    """Two of four may be; three of four may not."""
    texts = ("User likes tea.", "User owns a boat.", "User plays chess.", "User grows corn.")
    answer = (
        *facts(*texts[unsupported:]),
        *facts(*texts[:unsupported], sources=()),
    )
    assert (Flaw.UNSUPPORTED in flaws(answer)) == refused


def test_a_sentence_that_is_mostly_copied_from_the_prompt_is_no_memory() -> None:
    """A few words added to it do not make it one."""
    instructions = "Write down the most important facts about both speakers in short sentences."
    copied = "Write down the most important facts about both speakers in Oslo."
    assert Flaw.ECHO_PROMPT in flaws(facts(copied), instructions=instructions)
    own = "Both speakers write down the trains they see near Oslo on every weekend."
    assert Flaw.ECHO_PROMPT not in flaws(facts(own), instructions=instructions)

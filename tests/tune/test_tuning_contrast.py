"""Lessons that differ in what is known: the same note with a number and without."""

import random

import pytest

from omoide.ports import Message
from omoide_tune.contrast import contrasted, decisive, reordered, without_some
from omoide_tune.examples import Example

KNOWN = ("User lives in Leeds.", "User has a cat.", "User works at a mill.", "User is 40.")


def lesson(answer: str, *, known: tuple[str, ...] = KNOWN, hard: str = "changed") -> Example:
    """A lesson with known facts by number."""
    listed = "\n".join(f"{n}. {text}" for n, text in enumerate(known, 1)) or "-"
    content = f"Known:\n{listed}\n\nChat:\nUser: I moved to York and left the mill."
    return Example(
        task="facts",
        language="en",
        source="stories",
        key="1",
        messages=(
            Message(role="system", content="Take notes."),
            Message(role="user", content=content),
        ),
        answer=answer,
        hard=hard,
    )


def ended(example: Example) -> dict[str, set[str]]:
    """The texts of the known facts that each note ends."""
    lines = example.messages[-1].content.splitlines()
    texts = dict(line.split(". ", 1) for line in lines if line[:1].isdigit())
    found = {}
    for line in example.answer.splitlines():
        note, _, numbers = line.removesuffix(")").partition(" (")
        found[note] = {texts[number] for number in numbers.split(", ") if number}
    return found


MOVED = "User lives in York. (1)\nUser left the mill. (3)\nUser likes tea."


def test_another_order_ends_the_same_facts() -> None:
    """The numbers follow their facts."""
    orders = set()
    for seed in range(20):
        other = reordered(lesson(MOVED), random.Random(seed))
        assert ended(other) == ended(lesson(MOVED))
        assert other.hard == "changed"
        orders.add(other.messages[-1].content)
    assert len(orders) > 5


def test_what_is_no_longer_known_is_not_ended_and_the_note_stays() -> None:
    """Only numbers go; at times all of them."""
    whole = ended(lesson(MOVED))
    fewer = [
        ended(one) for s in range(20) if (one := without_some(lesson(MOVED), random.Random(s)))
    ]
    assert len(fewer) == 20
    for found in fewer:
        assert found.keys() == whole.keys()
        assert all(found[note] <= whole[note] for note in whole)
        assert found != whole
    assert any(not any(found.values()) for found in fewer)


def test_a_lesson_without_any_known_fact_left_says_so_and_is_no_change() -> None:
    """As the product asks somebody new."""
    other = without_some(lesson("User left. (1)", known=KNOWN[:1]), random.Random(1))
    assert other is not None
    assert "Known:\n-\n\nChat:" in other.messages[-1].content
    assert (other.answer, other.hard) == ("User left.", "")


@pytest.mark.parametrize("answer", ["User likes tea.", "none"])
def test_what_changes_nothing_is_taught_once(answer: str) -> None:
    """There is nothing to contrast."""
    same = lesson(answer, hard="")
    assert without_some(same, random.Random(1)) is None
    assert contrasted([same], random.Random(1)) == [same]


def test_contrasted_adds_an_order_and_a_lesson_without() -> None:
    """Two more lessons of each change."""
    added = contrasted([lesson(MOVED)], random.Random(1))[1:]
    assert [ended(one) == ended(lesson(MOVED)) for one in added] == [True, False]


@pytest.mark.parametrize(
    ("answer", "parts"),
    [
        ("User left. (3)\nUser is 40.", ["U", ". (3)\n", "."]),
        ("用户搬家了。 (1, 2)\n用户有猫。", ["用", "。 (1, 2)\n", "。"]),
        ("none", ["n", ""]),
    ],
)
def test_the_end_of_a_note_is_decisive(answer: str, parts: list[str]) -> None:
    """From the full stop on, and the first character."""
    assert [answer[start:end] for start, end in decisive(answer)] == parts

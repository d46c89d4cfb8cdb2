"""Lessons about facts that differ in one thing: which known facts a session makes untrue.

A note that ends with a number and one that does not are alike up to the last token, and most of
what a model learns from a lesson is wording. So the same session is also taught with the known
facts in another order, and with some of those gone that it makes untrue: then the same note has no
number.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

    from omoide_tune.examples import Example

DROPPED = 0.2
"""Share of the known facts that are left out of a changed lesson though nothing ends them."""
_KNOWN = re.compile(r"(\d+)\. (.*)")
_NUMBERS = re.compile(r" \((\d+(?:, \d+)*)\)$")
_STOPS = "。.!！"


def decisive(answer: str) -> list[tuple[int, int]]:
    """The spans of an answer in which something is decided: its first character (a note, or the
    word for nothing), and the end of each line from its full stop on, with or without numbers."""
    spans = [(0, 1)]
    begin = 0
    for line in answer.splitlines(keepends=True):
        bare = line.rstrip("\n")
        note = bare[: found.start()] if (found := _NUMBERS.search(bare)) else bare
        spans.append((begin + len(note.rstrip(_STOPS)), begin + len(line)))
        begin += len(line)
    return spans


def reordered(example: Example, dice: random.Random) -> Example:
    """The same lesson with the known facts in another order."""
    known = _known(example)
    order = dice.sample(known, len(known))
    return _with_known(example, order)


def without_some(example: Example, dice: random.Random) -> Example | None:
    """The same lesson in another order, without at least one of the known facts that it makes
    untrue and without some others; None if it makes nothing untrue."""
    known = _known(example)
    ended = {number for line in example.answer.splitlines() for number in _numbers(line)}
    gone = [number for number in known if number in ended and dice.random() < 0.5]
    gone = gone or [dice.choice([n for n in known if n in ended])] if ended & set(known) else []
    if not gone:
        return None
    kept = [n for n in known if n not in gone and (n in ended or dice.random() >= DROPPED)]
    return _with_known(example, dice.sample(kept, len(kept)))


def contrasted(
    examples: Sequence[Example], dice: random.Random, *, orders: int = 1
) -> list[Example]:
    """The lessons, those with known facts in `orders` further orders, and those that make
    something untrue also without some of it."""
    found = list(examples)
    for example in examples:
        if example.task != "facts" or len(_known(example)) < 2:
            continue
        if "changed" in example.hard.split():
            found += [reordered(example, dice) for _ in range(orders)]
            found += [one] if (one := without_some(example, dice)) else []
    return found


def _known(example: Example) -> list[int]:
    """The numbers of the known facts that a lesson shows."""
    lines = example.messages[-1].content.splitlines()
    numbers = [int(found[1]) for line in lines if (found := _KNOWN.fullmatch(line))]
    return numbers if numbers == list(range(1, len(numbers) + 1)) else []


def _numbers(line: str) -> list[int]:
    found = _NUMBERS.search(line)
    return [int(number) for number in found[1].split(", ")] if found else []


def _with_known(example: Example, order: Sequence[int]) -> Example:
    """The lesson with these of its known facts, in this order and numbered anew."""
    now = {old: new for new, old in enumerate(order, start=1)}
    *before, last = example.messages
    lines = last.content.splitlines()
    texts = {int(found[1]): found[2] for line in lines if (found := _KNOWN.fullmatch(line))}
    listed = [f"{now[old]}. {texts[old]}" for old in order] or ["-"]
    first = next(i for i, line in enumerate(lines) if _KNOWN.fullmatch(line))
    rest = [line for line in lines if not _KNOWN.fullmatch(line)]
    content = "\n".join((*rest[:first], *listed, *rest[first:]))
    answer = "\n".join(_renumbered(line, now.get) for line in example.answer.splitlines())
    words = example.hard.split()
    if not any(_numbers(line) for line in answer.splitlines()):
        words = [word for word in words if word != "changed"]
    return replace(
        example,
        messages=(*before, replace(last, content=content)),
        answer=answer,
        hard=" ".join(words),
    )


def _renumbered(line: str, now: Callable[[int], int | None]) -> str:
    numbers = sorted(new for old in _numbers(line) if (new := now(old)))
    note = _NUMBERS.sub("", line)
    return f"{note} ({', '.join(map(str, numbers))})" if numbers else note

"""How many facts an answer has: a model that learns from short lists learns to leave things out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from omoide.claims import phrasing
from omoide.domain import Speaker

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide_tune.examples import Example

GOAL = 4.0
"""Average facts per speaker that examples should have: MSC's annotators note five to
six in a session."""
_JOINED = re.compile(r"\s*[;；]\s*")


def facts(example: Example) -> float:
    """Facts per speaker in a note's answer, or new ones in a memory that was carried over; 0 for
    other tasks, where it does not matter."""
    if example.task not in ("notes", "iteration"):
        return 0.0
    prompt = example.messages[-1].content if example.task == "iteration" else ""
    counts = dict.fromkeys(Speaker, 0)
    how = phrasing(example.language)
    for line in example.answer.splitlines():
        for speaker in Speaker:
            subject = how.subject(speaker)
            if line.startswith(subject):
                texts = _JOINED.split(line[len(subject) :].strip(" .。"))
                counts[speaker] += sum(text not in prompt for text in texts)
                break
    counted = [count for count in counts.values() if count]
    return sum(counted) / len(counted) if counted else 0.0


def fullest(order: Sequence[int], checked: Mapping[int, float], most: int) -> list[int]:
    """At most `most` out of `order`, with an average of `GOAL` facts: a short one is taken only if
    long ones make up for it. If there are too few long ones, the fuller of the rest."""
    found: list[int] = []
    short: list[int] = []
    total = 0.0
    for i in order:
        if len(found) == most:
            break
        if checked[i] < GOAL and total + checked[i] < GOAL * (len(found) + 1):
            short.append(i)
            continue
        total += checked[i]
        found.append(i)
    short.sort(key=lambda i: -checked[i])
    return [*found, *short[: most - len(found)]]

"""How much an answer tells: who learns from short lists learns to leave things out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.memory.summary.facts import VOICES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide.tuning.examples import Example

GOAL = 4.0
"""Facts a speaker that examples should have on the average: people who annotate MSC note five to
six in a session."""
_JOINED = re.compile(r"\s*[;；]\s*")


def facts(example: Example) -> float:
    """Facts a speaker in the answer of a note, or new in a memory that was carried along; 0 of
    other tasks, where it is not asked for."""
    if example.task not in ("notes", "iteration"):
        return 0.0
    prompt = example.messages[-1].content if example.task == "iteration" else ""
    counts = dict.fromkeys(Speaker, 0)
    voice = VOICES[example.language]
    for line in example.answer.splitlines():
        for speaker in Speaker:
            subject = voice.subject(speaker)
            if line.startswith(subject):
                texts = _JOINED.split(line[len(subject) :].strip(" .。"))
                counts[speaker] += sum(text not in prompt for text in texts)
                break
    told = [count for count in counts.values() if count]
    return sum(told) / len(told) if told else 0.0


def fullest(order: Sequence[int], told: Mapping[int, float], most: int) -> list[int]:
    """At most so many out of `order`, so that they tell `GOAL` on the average: short ones only as
    long ones make up for them. Where there are too few long ones, the fuller of the rest."""
    found: list[int] = []
    short: list[int] = []
    total = 0.0
    for i in order:
        if len(found) == most:
            break
        if told[i] < GOAL and total + told[i] < GOAL * (len(found) + 1):
            short.append(i)
            continue
        total += told[i]
        found.append(i)
    short.sort(key=lambda i: -told[i])
    return [*found, *short[: most - len(found)]]

"""Memo writing, paper C's first task: stretches joined, their seams and what is in each."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from omoide.memory.memos.writer import _request as request
from omoide.memory.memos.writer import checked

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from omoide.tuning.examples import Example
    from omoide.tuning.told import Told

LINES = 40
"""More than the writer shows at a time (20): counts must hold to the last line of whatever it is
shown."""
SEAMS = (1, 2, 2, 2, 3, 3, 3, 4, 4, 5)
"""How many stretches are joined; one in so many is a single one."""


def memos(
    stretches: Sequence[Told], dice: random.Random, *, paper: bool, rounds: int = 1
) -> Iterator[Example]:
    """One to five stretches joined; the paper joins two. In each round each is joined twice, with
    others."""
    for _ in range(rounds * (1 if paper else 2)):
        order = list(stretches)
        dice.shuffle(order)
        while order:
            count = 2 if paper else dice.choice(SEAMS)
            joined = [order.pop() for _ in range(min(count, len(order)))]
            while len(joined) > 2 and sum(len(s.lines) for s in joined) > LINES:
                joined.pop()
            if len(joined) == min(count, 2) or len(joined) > 2:
                yield from written(joined)


def written(joined: Sequence[Told]) -> Iterator[Example]:
    """The stretches as one session and their memos, where the product would take these."""
    whole = joined[0]
    for other in joined[1:]:
        whole = whole.then(other)
    limit = max(1, min(8, len(whole.lines) // 4))
    if len(whole.lines) > LINES or len(joined) > limit:
        return
    answer = json.dumps({"memos": entries(joined)}, ensure_ascii=False)
    found, problems = checked(answer, whole.turns, whole.language)
    if problems or len(found) != len(joined):
        return
    asked = request([line.labelled(whole.language) for line in whole.shown], whole.language)
    yield whole.example("memos", asked.messages, answer)


def entries(stretches: Sequence[Told]) -> list[dict[str, Any]]:
    """A memo for each stretch, with the lines it has when they are joined."""
    ends = [sum(len(s.lines) for s in stretches[: i + 1]) for i in range(len(stretches))]
    return [
        {"topic": one.topic, "start": first + 1, "end": last, "summary": one.summary}
        for one, (first, last) in zip(stretches, pairwise([0, *ends]), strict=True)
    ]

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

LINES = 20
"""As many lines as the writer shows at a time."""


def memos(stretches: Sequence[Told], dice: random.Random, *, paper: bool) -> Iterator[Example]:
    """Two or three stretches joined; the paper joins two."""
    order = list(stretches)
    dice.shuffle(order)
    reached = 0
    while reached + 2 <= len(order):
        count = 2 if paper else dice.choice((2, 2, 3))
        joined = order[reached : reached + count]
        reached += count
        while len(joined) > 2 and sum(len(s.lines) for s in joined) > LINES:
            joined.pop()
        whole = joined[0]
        for other in joined[1:]:
            whole = whole.then(other)
        limit = max(1, min(8, len(whole.lines) // 4))
        if len(whole.lines) > LINES or not 2 <= len(joined) <= limit:
            continue
        answer = json.dumps({"memos": entries(joined)}, ensure_ascii=False)
        found, problems = checked(answer, whole.turns, whole.language)
        if problems or len(found) != len(joined):
            continue
        asked = request([line.labelled(whole.language) for line in whole.shown], whole.language)
        yield whole.example("memos", asked.messages, answer)


def entries(stretches: Sequence[Told]) -> list[dict[str, Any]]:
    """A memo for each stretch, with the lines it has when they are joined."""
    ends = [sum(len(s.lines) for s in stretches[: i + 1]) for i in range(len(stretches))]
    return [
        {"topic": one.topic, "start": first + 1, "end": last, "summary": one.summary}
        for one, (first, last) in zip(stretches, pairwise([0, *ends]), strict=True)
    ]

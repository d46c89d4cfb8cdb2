"""Memo writing, paper C's first task: joined stretches, their boundaries and contents."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from omoide.mechanisms.memos import checked_memos, write_request

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from omoide_tune.checked_talks import CheckedTalk
    from omoide_tune.examples import Example

LINES = 40
"""Maximum lines, more than the writer shows at a time (20): ranges must be right to the last
line."""
SEAMS = (1, 2, 2, 2, 3, 3, 3, 4, 4, 5)
"""How many stretches are joined, and how often it is only one."""


def memos(
    stretches: Sequence[CheckedTalk], dice: random.Random, *, paper: bool, rounds: int = 1
) -> Iterator[Example]:
    """One to five stretches joined; the paper joins two. Each round uses each stretch twice, with
    different others."""
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


def written(joined: Sequence[CheckedTalk]) -> Iterator[Example]:
    """The stretches as one session with their memos, if the product would accept these."""
    whole = joined[0]
    for other in joined[1:]:
        whole = whole.then(other)
    limit = max(1, min(8, len(whole.lines) // 4))
    if len(whole.lines) > LINES or len(joined) > limit:
        return
    answer = json.dumps({"memos": entries(joined)}, ensure_ascii=False)
    found, problems = checked_memos(answer, whole.turns, whole.language)
    if problems or len(found) != len(joined):
        return
    asked = write_request([line.labelled(whole.language) for line in whole.shown], whole.language)
    yield whole.example("memos", asked.messages, answer)


def entries(stretches: Sequence[CheckedTalk]) -> list[dict[str, Any]]:
    """A memo for each stretch, with its line range in the joined session."""
    ends = [sum(len(s.lines) for s in stretches[: i + 1]) for i in range(len(stretches))]
    return [
        {"topic": one.topic, "start": first + 1, "end": last, "summary": one.summary}
        for one, (first, last) in zip(stretches, pairwise([0, *ends]), strict=True)
    ]

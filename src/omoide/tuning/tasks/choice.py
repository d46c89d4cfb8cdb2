"""The choice among memos, paper C's second task: the memo it is about, decoys, and NOTO.

The paper's query is a true dialogue mixed with a decoy; ours is that in a share of the examples,
and else one line. Where the decoy's own memo is among those shown, both are right.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from omoide.domain import Owner, Speaker
from omoide.domain.memo import Memo
from omoide.language import content_terms
from omoide.memory.mechanism import Moment
from omoide.memory.memos.reading import read_choice
from omoide.memory.memos.search import _question as question
from omoide.memory.overlap import coverage
from omoide.tuning.told import START

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from omoide.tuning.examples import Example
    from omoide.tuning.told import Told

LIMIT = 6
"""`limit` of the prompt for choosing memos."""
NONE = 0.25
"""Share of the examples in which no memo is right."""
MIXED = 0.3
"""Share in which two lines of different talks are asked about."""


def choices(stretches: Sequence[Told], dice: random.Random, *, paper: bool) -> Iterator[Example]:
    """Something a user says, and the memos it is about among others; or none of them."""
    for one in stretches:
        others = dice.sample(stretches, min(len(stretches), dice.randint(4, 10)))
        shown = [other for other in others if other.key != one.key]
        said = query(one)
        if len(shown) < 2 or not said:
            continue
        wanted = [one]
        if paper or dice.random() < MIXED:
            second = shown.pop()
            if also := query(second):
                said = " ".join((said, also) if dice.random() < 0.5 else (also, said))
                wanted += [second] if dice.random() < 0.5 else []
        terms = content_terms(said)
        if any(coverage(terms, content_terms(o.topic + " " + o.summary)) > 0.2 for o in shown):
            continue  # it might be about one of the decoys, too
        if dice.random() < NONE:
            wanted = []
        shown = shown[: 9 - len(wanted)]
        for right in wanted:
            shown.insert(dice.randrange(len(shown) + 1), right)
        numbers = [shown.index(right) + 1 for right in wanted] or [0]
        answer = json.dumps({"numbers": numbers})
        read_choice(answer, count=len(shown))  # raises if the product could not read it
        asked = question([_memo(s) for s in shown], _moment(said, one.language), limit=LIMIT)
        yield one.example("choice", asked.messages, answer, "" if wanted else "nothing")


def query(told: Told) -> str:
    """The user's line that has most to do with the summary; nothing if none has enough."""
    wanted = content_terms(told.summary)
    said = [line.text for line in told.lines if line.speaker is Speaker.USER]
    best = max(said, key=lambda text: coverage(content_terms(text), wanted), default="")
    terms = content_terms(best)
    return best if len(terms) >= 3 and coverage(terms, wanted) >= 0.3 else ""


def _memo(told: Told) -> Memo:
    return Memo(
        id="", session=1, topic=told.topic, summary=told.summary, sources=(), time=START,
        compressed="", method="",
    )  # fmt: skip


def _moment(text: str, language: str) -> Moment:
    owner = Owner(tenant="", user="")
    return Moment(owner=owner, text=text, session=(), now=START, language=language)

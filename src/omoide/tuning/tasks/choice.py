"""The choice among memos, paper C's second task: the memos it is about, decoys, and NOTO.

What is asked about is what the user says in one stretch, or in two to four of them, a line or two
of each, or what they might say of it later, where that is known; how often is near to MemoChat's
training instructions (of 353, 37 are about none of the memos, 182 about one, 111 about two, 23
about three; two to nine memos are offered beside NOTO).
The paper's query is a true dialogue mixed with a decoy; where the decoy's own memo is among those
shown, both are right.
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

    from omoide.ports import Message
    from omoide.tuning.examples import Example
    from omoide.tuning.told import Told

LIMIT = 6
"""`limit` of the prompt for choosing memos."""
WANTED = {0: 0.13, 1: 0.45, 2: 0.28, 3: 0.10, 4: 0.04}
"""How often so many memos are right."""
ASTRAY = 0.2
"""Share in which a line is about none of the memos shown, beside those that are."""
FEWEST, MOST = 2, 9
"""Memos that are offered, beside NOTO."""
LATER = 0.6
"""Share of the lines taken from what might be said later, where that is known."""
NEAR = 0.2
"""Share of a query's terms above which a decoy might be meant, too."""


def choices(
    stretches: Sequence[Told], dice: random.Random, *, paper: bool, rounds: int = 1
) -> Iterator[Example]:
    """Something a user says, and the memos it is about among others; or none of them."""
    for one in (*stretches,) * rounds:
        count = dice.choices(list(WANTED), list(WANTED.values()))[0]
        others = dice.sample(stretches, min(len(stretches), 16))
        others = list({other.key: other for other in others if other.key != one.key}.values())
        if paper:
            about = [one, *(o for o in others[:1] if query(o))]
            wanted = about[: 1 if dice.random() < 0.5 else 2] if count else []
        else:
            about = [one, *[o for o in others if query(o)][: max(count, 1) - 1]]
            wanted = about if count else []
            about = [*about, *others[-1:]] if dice.random() < ASTRAY else about
        said = _said(about, dice, most=1 if paper else 2)
        terms = content_terms(said)
        decoys = [other for other in others if other not in about and not _near(terms, other)]
        shown = decoys[: max(dice.randint(FEWEST, MOST) - len(wanted), FEWEST - len(wanted), 1)]
        if not query(one) or len(shown) + len(wanted) < FEWEST:
            continue
        shown = [*shown, *wanted]
        dice.shuffle(shown)
        numbers = sorted(shown.index(right) + 1 for right in wanted) or [0]
        answer = json.dumps({"numbers": numbers})
        read_choice(answer, count=len(shown))  # raises if the product could not read it
        messages = asked([(s.topic, s.summary) for s in shown], said, one.language)
        yield one.example("choice", messages, answer, "" if wanted else "nothing")


def asked(memos: Sequence[tuple[str, str]], said: str, language: str) -> tuple[Message, ...]:
    """The product's own question about memos, given as topic and summary."""
    return question([_memo(*memo) for memo in memos], _moment(said, language), limit=LIMIT).messages


def _said(about: Sequence[Told], dice: random.Random, *, most: int) -> str:
    """A line or more out of each stretch, the best of it among them, in some order."""
    order = list(about)
    dice.shuffle(order)
    said = []
    for one in order:
        best = query(one)
        if one.later and (best in one.later or dice.random() < LATER):
            said.append(dice.choice(one.later))
            continue
        mine = [line.text for line in one.lines if line.speaker is Speaker.USER]
        more = [text for text in mine if text != best and len(content_terms(text)) >= 3]
        taken = {best, *more[: dice.randint(0, most - 1)]}
        said += [text for text in mine if text in taken]
    return " ".join(dict.fromkeys(said))


def _near(terms: set[str], told: Told) -> bool:
    return coverage(terms, content_terms(f"{told.topic} {told.summary}")) > NEAR


def query(told: Told) -> str:
    """The user's line that has most to do with the summary; if none has enough, one that might be
    said later, or nothing."""
    wanted = content_terms(told.summary)
    said = [line.text for line in told.lines if line.speaker is Speaker.USER]
    best = max(said, key=lambda text: coverage(content_terms(text), wanted), default="")
    terms = content_terms(best)
    fits = len(terms) >= 3 and coverage(terms, wanted) >= 0.3
    return best if fits else "".join(told.later[:1])


def _memo(topic: str, summary: str) -> Memo:
    return Memo(
        id="", session=1, topic=topic, summary=summary, sources=(), time=START,
        compressed="", method="",
    )  # fmt: skip


def _moment(text: str, language: str) -> Moment:
    owner = Owner(tenant="", user="")
    return Moment(owner=owner, text=text, session=(), now=START, language=language)

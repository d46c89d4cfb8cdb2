"""Paper C's three tasks over Japanese Daily Dialogue, made from its dialogues as they stand.

The paper's own Japanese test is not public: its topics and summaries were written by hand over the
same corpus. Here nothing is written by anybody:

- **writing**: two or three dialogues of different topics are joined; their true ranges are known,
  of the topic only the corpus's label, and there is no summary to compare with.
- **choosing**: the first half of a dialogue stands for a memo, under its label; the query is the
  second half of one or two of them. Decoys are of other topics than the query, and one option is
  NOTO, which is right when none of the dialogues asked about is offered.
- **replying**: the last answer of a dialogue is asked for, with the turn before it as the message,
  what went before that as a memo, and two memos of other topics beside it.

No dialogue is used twice in a task, and none beyond the first `POOL`. The sets are the same
whatever the sample: it draws from them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from omoide.domain.memo import Span
from omoide.evals.data import japanese_daily_dialogue
from omoide.evals.data.memochat import Choosing, Topic, Writing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from omoide.evals.data.shapes import Dialogue

SOURCE = japanese_daily_dialogue.SOURCE
LABELS = {
    "Dailylife": "日常生活",
    "School": "学校",
    "Travel": "旅行",
    "Health": "健康",
    "Entertainment": "娯楽",
}
"""The corpus's topics in Japanese."""
NOTO = "NOTO. 当てはまるものなし"
POOL = 2000
"""Dialogues, in the order of the seed, that cases are made of: the rest may be learnt from
(`omoide.tuning.research`)."""
MOST = 150
"""Of each task, as many as the paper's test has."""
_SEED = 2025
_OPTIONS = 4
"""Memos beside NOTO."""
_NOTO_SHARE = 5
"""One query in so many is about nothing that is offered."""


@dataclass(frozen=True, kw_only=True)
class Continuing:
    """Memos, what the user says now, and what was answered."""

    id: str
    corpus: str
    memos: tuple[str, ...]
    right: int
    """The place, from 0, of the memo that the message goes on from."""
    message: str
    reply: str
    language: str = "ja"


Exam = Writing | Choosing | Continuing


def load(data: Path | None, most: int = MOST) -> list[Exam]:
    """The exam: `most` of each task, or as many as the dialogues give."""
    dialogues = [d for d in japanese_daily_dialogue.load(data) if len(d.lines) >= 4]
    return [
        *_made(_writing, dialogues, most),
        *_made(_choosing, dialogues, most),
        *_made(_replying, dialogues, most),
    ]


def _made(
    make: Callable[[list[Dialogue], int, random.Random], Exam | None],
    dialogues: Sequence[Dialogue],
    most: int,
) -> Iterator[Exam]:
    """Cases from dialogues in an order that a seed decides, until they are used up."""
    dice = random.Random(_SEED)  # noqa: S311 - an order, not a secret
    left = list(dialogues)
    dice.shuffle(left)
    del left[POOL:]
    for number in range(most):
        case = make(left, number, dice)
        if case is None:
            return
        yield case


def _taken(left: list[Dialogue], count: int, *, unlike: Sequence[str] = ()) -> list[Dialogue]:
    """The next so many dialogues of different topics, none of them `unlike`; fewer if there are
    no more."""
    topics = set(unlike)
    found: list[Dialogue] = []
    for dialogue in left:
        if len(found) == count:
            break
        if dialogue.topic not in topics:
            topics.add(dialogue.topic)
            found.append(dialogue)
    for dialogue in found:
        left.remove(dialogue)
    return found


def _writing(left: list[Dialogue], number: int, dice: random.Random) -> Writing | None:
    wanted = dice.choice((2, 2, 3))
    joined = _taken(left, wanted)
    if len(joined) < wanted:
        return None
    ends = [0]
    for dialogue in joined:
        ends.append(ends[-1] + len(dialogue.lines))
    return Writing(
        id=f"ja-{number}",
        corpus=SOURCE.name,
        lines=tuple(
            ("user" if line.speaker == dialogue.speakers[0] else "bot", line.text)
            for dialogue in joined
            for line in dialogue.lines
        ),
        topics=tuple(
            Topic(
                topic=LABELS.get(dialogue.topic, dialogue.topic),
                summary="",
                span=Span(first=before + 1, last=end),
            )
            for dialogue, (before, end) in zip(joined, pairwise(ends), strict=True)
        ),
        language="ja",
    )


def _choosing(left: list[Dialogue], number: int, dice: random.Random) -> Choosing | None:
    asked = _taken(left, dice.choice((1, 2)))
    none = number % _NOTO_SHARE == _NOTO_SHARE - 1
    decoys = _OPTIONS - (0 if none else len(asked))
    others: list[Dialogue] = []
    while len(others) < decoys:
        more = _taken(left, 1, unlike=[d.topic for d in asked])
        if not more or not asked:
            return None
        others += more
    offered = [_memo(d, _half(d)) for d in (*([] if none else asked), *others)]
    options = [*offered, NOTO]
    order = list(range(len(options)))
    dice.shuffle(order)
    right = [len(options) - 1] if none else range(len(asked))
    query = " ".join(line.text for d in asked for line in d.lines[_half(d) :])
    return Choosing(
        id=f"ja-{number}",
        corpus=SOURCE.name,
        query=query,
        options=tuple(options[i] for i in order),
        right=frozenset(order.index(i) + 1 for i in right),
    )


def _replying(left: list[Dialogue], number: int, dice: random.Random) -> Continuing | None:
    found = _taken(left, 1)
    others = _taken(left, 2, unlike=[d.topic for d in found])
    if not found or len(others) < 2:
        return None
    (dialogue,) = found
    answers = [
        place
        for place, line in enumerate(dialogue.lines)
        if place > 1 and line.speaker == dialogue.speakers[1]
    ]
    last = answers[-1]
    memos = [_memo(d, _half(d)) for d in others]
    right = dice.randrange(3)
    memos.insert(right, _memo(dialogue, last - 1))
    return Continuing(
        id=f"ja-{number}",
        corpus=SOURCE.name,
        memos=tuple(memos),
        right=right,
        message=dialogue.lines[last - 1].text,
        reply=dialogue.lines[last].text,
    )


def _half(dialogue: Dialogue) -> int:
    return len(dialogue.lines) // 2


def _memo(dialogue: Dialogue, lines: int) -> str:
    """The first lines of a dialogue under its label."""
    said = " ".join(line.text for line in dialogue.lines[:lines])
    return f"{LABELS.get(dialogue.topic, dialogue.topic)}. {said}"

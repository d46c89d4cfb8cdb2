"""Paper C's three tasks on Japanese Daily Dialogue, built automatically from its dialogues.

The paper's own Japanese test is not public: its topics and summaries were written by hand for the
same corpus. Here nothing is written by hand:

- **writing**: two or three dialogues of different topics are joined. Their true ranges are known;
  the topic is only the corpus's label, and there is no gold summary.
- **choosing**: the first half of a dialogue, under its label, serves as a memo; the query is the
  second half of one or two dialogues. Decoys have other topics than the query. One option is NOTO,
  which is right if none of the queried dialogues is among the options.
- **replying**: the model gives the last answer of a dialogue. The turn before it is the message,
  the part before that is a memo, next to two memos of other topics.

No dialogue is used twice in a task, and none beyond the first `POOL`. The sets are fixed; a sample
draws from them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from omoide.domain import Span
from omoide_bench.data import japanese_daily_dialogue
from omoide_bench.data.memochat import ChoiceInstruction, Topic, WritingInstruction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from omoide_bench.data.shapes import Dialogue

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
"""Dialogues, in seeded order, that cases are built from; the rest may be used for training
(`omoide_tune.research`)."""
MAX_EXAMPLES = 150
"""Examples of each task, as many as in the paper's test."""
_SEED = 2025
_OPTIONS = 4
"""Options besides NOTO."""
_NOTO_SHARE = 5
"""For one query in this many, NOTO is right."""


@dataclass(frozen=True, kw_only=True)
class ContinuationExample:
    """Memos, the user's message, and the gold reply."""

    id: str
    corpus: str
    memos: tuple[str, ...]
    right: int
    """Index, from 0, of the memo that the message continues."""
    message: str
    reply: str
    language: str = "ja"


Exam = WritingInstruction | ChoiceInstruction | ContinuationExample


def load(data: Path | None, most: int = MAX_EXAMPLES) -> list[Exam]:
    """The exam: `most` examples of each task, or as many as the dialogues allow."""
    dialogues = [d for d in japanese_daily_dialogue.load(data) if len(d.lines) >= 4]
    return [
        *_examples(_writing, dialogues, most),
        *_examples(_choosing, dialogues, most),
        *_examples(_replying, dialogues, most),
    ]


def _examples(
    make: Callable[[list[Dialogue], int, random.Random], Exam | None],
    dialogues: Sequence[Dialogue],
    most: int,
) -> Iterator[Exam]:
    """Cases from dialogues in seeded order, until the dialogues are used up."""
    dice = random.Random(_SEED)  # noqa: S311 - an order, not a secret
    left = list(dialogues)
    dice.shuffle(left)
    del left[POOL:]
    for number in range(most):
        case = make(left, number, dice)
        if case is None:
            return
        yield case


def _take(left: list[Dialogue], count: int, *, unlike: Sequence[str] = ()) -> list[Dialogue]:
    """Remove and return the next `count` dialogues of different topics, none in `unlike`; fewer if
    there are no more."""
    topics = set(unlike)
    taken: list[Dialogue] = []
    for dialogue in left:
        if len(taken) == count:
            break
        if dialogue.topic not in topics:
            topics.add(dialogue.topic)
            taken.append(dialogue)
    for dialogue in taken:
        left.remove(dialogue)
    return taken


def _writing(left: list[Dialogue], number: int, dice: random.Random) -> WritingInstruction | None:
    wanted = dice.choice((2, 2, 3))
    joined = _take(left, wanted)
    if len(joined) < wanted:
        return None
    ends = [0]
    for dialogue in joined:
        ends.append(ends[-1] + len(dialogue.lines))
    return WritingInstruction(
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


def _choosing(left: list[Dialogue], number: int, dice: random.Random) -> ChoiceInstruction | None:
    asked = _take(left, dice.choice((1, 2)))
    none = number % _NOTO_SHARE == _NOTO_SHARE - 1
    decoys = _OPTIONS - (0 if none else len(asked))
    others: list[Dialogue] = []
    while len(others) < decoys:
        more = _take(left, 1, unlike=[d.topic for d in asked])
        if not more or not asked:
            return None
        others += more
    offered = [_memo(d, _half(d)) for d in (*([] if none else asked), *others)]
    options = [*offered, NOTO]
    order = list(range(len(options)))
    dice.shuffle(order)
    right = [len(options) - 1] if none else range(len(asked))
    query = " ".join(line.text for d in asked for line in d.lines[_half(d) :])
    return ChoiceInstruction(
        id=f"ja-{number}",
        corpus=SOURCE.name,
        query=query,
        options=tuple(options[i] for i in order),
        right=frozenset(order.index(i) + 1 for i in right),
    )


def _replying(left: list[Dialogue], number: int, dice: random.Random) -> ContinuationExample | None:
    taken = _take(left, 1)
    others = _take(left, 2, unlike=[d.topic for d in taken])
    if not taken or len(others) < 2:
        return None
    (dialogue,) = taken
    answers = [
        index
        for index, line in enumerate(dialogue.lines)
        if index > 1 and line.speaker == dialogue.speakers[1]
    ]
    last = answers[-1]
    memos = [_memo(d, _half(d)) for d in others]
    right = dice.randrange(3)
    memos.insert(right, _memo(dialogue, last - 1))
    return ContinuationExample(
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
    """The first lines of a dialogue, under its label."""
    text = " ".join(line.text for line in dialogue.lines[:lines])
    return f"{LABELS.get(dialogue.topic, dialogue.topic)}. {text}"

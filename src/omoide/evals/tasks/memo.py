"""Paper C, Table 1: writing memos, choosing among them, replying with them.

`memo` is on MemoChat's test instructions, in English; `memo-ja` on Japanese Daily Dialogue, of
which no model here was ever taught anything (see `data/memo_exam.py` for how it is made). Writing
is done by the product's `MemoWriter`; what the model answered first, before anything was mended,
is scored beside what the product made of it. Choosing is done by a model (`memochat`) or by search
(`memos`); beside it stands what taking every memo would have scored. The English reply is to the
instruction as it stands in the data set, the Japanese one to the product's own prompt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from omoide.errors import BadInput
from omoide.evals.data import memo_exam, memochat
from omoide.evals.data.memo_exam import Continuing
from omoide.evals.data.memochat import Chatting, Choosing, Writing
from omoide.evals.tasks import scoring
from omoide.evals.tasks.base import Measure
from omoide.evals.tasks.memo_parts import chatting, choosing, continuing, writing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide.evals.data.memo_exam import Exam
    from omoide.evals.data.memochat import Instruction
    from omoide.evals.running.items import Item
    from omoide.evals.tasks.base import Sample, Trial

T = TypeVar("T")
KINDS: dict[str, type | tuple[type, ...]] = {
    "writing": Writing,
    "retrieval": Choosing,
    "chatting": (Chatting, Continuing),
}
PARTS = {"parts": "writing,retrieval,chatting (default all)"}
MEASURES = (
    Measure(name="topic F1", about="topics written against gold, exact match"),
    Measure(name="topic fit", about="memos whose topic shares more with its own part than others"),
    Measure(name="split", about="whether the answer itself covers every line once, in order"),
    Measure(name="split mended", about="the same of what the product made of it"),
    Measure(name="boundary F1", about="first lines of topics against gold"),
    Measure(name="summary support", about="terms of the summaries that stand in their own lines"),
    Measure(name="retrieval F1", about="numbers chosen against gold, NOTO included"),
    Measure(name="all options F1", about="the same, had every memo been taken", better=0),
    scoring.VALID,
)


class MemoTasks:
    """Topic, summary, split, retrieval, reply."""

    name = "memo"
    about = "memo writing, choosing and replying on MemoChat's test instructions (paper C, Table 1)"
    source = memochat.SOURCE
    usual: tuple[str, ...] = ("memochat", "memos")
    rivals: tuple[str, ...] = ("memochat", "memos")
    measures = (
        *MEASURES,
        Measure(name="summary F1", about="words of each summary against gold"),
        *scoring.REPLY,
    )
    options: Mapping[str, str] = PARTS

    def cases(self, data: Path, sample: Sample) -> tuple[Instruction, ...]:
        """Instructions of the wanted parts; `--limit` counts each part by itself."""
        return _drawn(memochat.load_instructions(data), sample)

    async def run(self, case: Instruction, trial: Trial) -> list[Item]:
        """By what the instruction asks."""
        if isinstance(case, Writing):
            return [await writing(case, trial)]
        if isinstance(case, Choosing):
            return [await choosing(case, trial)]
        return [await chatting(case, trial)]

    def whole(self, items: Sequence[Item]) -> Mapping[str, Mapping[str, float]]:
        """Of the replies."""
        return scoring.whole_replies([item for item in items if item.group.startswith("chatting")])


class JapaneseMemoTasks:
    """The same in Japanese. There is no gold summary, and of the topic only a label."""

    name = "memo-ja"
    about = "the same in Japanese, made from Japanese Daily Dialogue (paper C, Table 1)"
    source = memo_exam.SOURCE
    usual: tuple[str, ...] = ("memochat",)
    rivals: tuple[str, ...] = ("memochat", "memos")
    measures = (
        *MEASURES,
        Measure(name="F1 without memos", about="of the reply to the message alone", better=0),
        *scoring.REPLY,
    )
    options: Mapping[str, str] = PARTS

    def cases(self, data: Path, sample: Sample) -> tuple[Exam, ...]:
        """The wanted parts; `--limit` counts each part by itself."""
        return _drawn(memo_exam.load(data), sample)

    async def run(self, case: Exam, trial: Trial) -> list[Item]:
        """By what is asked."""
        if isinstance(case, Writing):
            return [await writing(case, trial)]
        if isinstance(case, Choosing):
            return [await choosing(case, trial)]
        return [await continuing(case, trial)]

    def whole(self, items: Sequence[Item]) -> Mapping[str, Mapping[str, float]]:
        """Of the replies, by characters."""
        replies = [item for item in items if item.group.startswith("chatting")]
        return scoring.whole_replies(replies, language="ja")


def _drawn(loaded: Sequence[T], sample: Sample) -> tuple[T, ...]:
    wanted = sample.option("parts", ",".join(KINDS)).split(",")
    for part in wanted:
        if part not in KINDS:
            raise BadInput(f"parts are {', '.join(KINDS)}, not {part!r}")
    return tuple(
        one
        for part in wanted
        for one in sample.draw([i for i in loaded if isinstance(i, KINDS[part])])
    )

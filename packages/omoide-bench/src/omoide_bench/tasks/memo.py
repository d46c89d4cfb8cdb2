"""Paper C, Table 1: writing memos, choosing among them, replying with them.

`memo` uses MemoChat's test instructions, in English. `memo-ja` uses Japanese Daily Dialogue, which
no model here was trained on (see `data/memo_exam.py` for how it is built). The product's
`MemoWriter` writes the memos; both the model's first answer and the product's repaired result are
scored. A model (`memochat`) or search (`memos`) chooses; the baseline is choosing every memo. The
English reply answers the instruction of the data set, the Japanese one the product's own prompt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from omoide.errors import BadInput
from omoide_bench.data import memo_exam, memochat
from omoide_bench.data.memo_exam import ContinuationExample
from omoide_bench.data.memochat import ChatInstruction, ChoiceInstruction, WritingInstruction
from omoide_bench.tasks import scoring
from omoide_bench.tasks.base import Measure
from omoide_bench.tasks.memo_parts import chatting, choosing, continuing, writing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide_bench.data.memo_exam import Exam
    from omoide_bench.data.memochat import Instruction
    from omoide_bench.running.items import ScoredItem
    from omoide_bench.tasks.base import Sample, Trial

T = TypeVar("T")
KINDS: dict[str, type | tuple[type, ...]] = {
    "writing": WritingInstruction,
    "retrieval": ChoiceInstruction,
    "chatting": (ChatInstruction, ContinuationExample),
}
PARTS = {"parts": "writing,retrieval,chatting (default all)"}
MEASURES = (
    Measure(name="topic F1", about="topics written against gold, exact match"),
    Measure(name="topic fit", about="memos whose topic fits its own part better than the others"),
    Measure(name="split", about="whether the raw answer covers every line once, in order"),
    Measure(name="split mended", about="the same for the product's repaired result"),
    Measure(name="boundary F1", about="first lines of topics against gold"),
    Measure(name="summary support", about="terms of the summaries that occur in their lines"),
    Measure(name="retrieval F1", about="numbers chosen against gold, NOTO included"),
    Measure(name="all options F1", about="the same if every memo were chosen", better=0),
    scoring.VALID,
)


METHODS = ("memochat", "memos", "as:taniguchi2025", "as:memochat")
"""What can be compared. A preset has its paper's guards, window and reply form."""


class MemoTasks:
    """The English tasks: topic, summary, split, retrieval, reply."""

    name = "memo"
    about = "memo writing, choosing and replying on MemoChat's test instructions (paper C, Table 1)"
    source = memochat.SOURCE
    default_methods: tuple[str, ...] = ("memochat", "memos")
    alternatives: tuple[str, ...] = METHODS
    measures = (
        *MEASURES,
        Measure(name="summary F1", about="words of each summary against gold"),
        *scoring.REPLY,
    )
    options: Mapping[str, str] = PARTS

    def cases(self, data: Path, sample: Sample) -> tuple[Instruction, ...]:
        """Instructions of the wanted parts; `--limit` applies to each part separately."""
        return _drawn(memochat.load_instructions(data), sample)

    async def run(self, case: Instruction, trial: Trial) -> list[ScoredItem]:
        """Run the part that the instruction belongs to."""
        if isinstance(case, WritingInstruction):
            return [await writing(case, trial)]
        if isinstance(case, ChoiceInstruction):
            return [await choosing(case, trial)]
        return [await chatting(case, trial)]

    def whole(self, items: Sequence[ScoredItem]) -> Mapping[str, Mapping[str, float]]:
        """Corpus-level measures of the replies."""
        return scoring.whole_replies([item for item in items if item.group.startswith("chatting")])


class JapaneseMemoTasks:
    """The same in Japanese. There is no gold summary, and only a label for the topic."""

    name = "memo-ja"
    about = "the same in Japanese, built from Japanese Daily Dialogue (paper C, Table 1)"
    source = memo_exam.SOURCE
    default_methods: tuple[str, ...] = ("memochat",)
    alternatives: tuple[str, ...] = METHODS
    measures = (
        *MEASURES,
        Measure(name="F1 without memos", about="of the reply without memos", better=0),
        *scoring.REPLY,
    )
    options: Mapping[str, str] = PARTS

    def cases(self, data: Path, sample: Sample) -> tuple[Exam, ...]:
        """The wanted parts; `--limit` applies to each part separately."""
        return _drawn(memo_exam.load(data), sample)

    async def run(self, case: Exam, trial: Trial) -> list[ScoredItem]:
        """Run the part that the case belongs to."""
        if isinstance(case, WritingInstruction):
            return [await writing(case, trial)]
        if isinstance(case, ChoiceInstruction):
            return [await choosing(case, trial)]
        return [await continuing(case, trial)]

    def whole(self, items: Sequence[ScoredItem]) -> Mapping[str, Mapping[str, float]]:
        """Corpus-level measures of the replies, by characters."""
        replies = [item for item in items if item.group.startswith("chatting")]
        return scoring.whole_replies(replies, language="ja")


def _drawn(loaded: Sequence[T], sample: Sample) -> tuple[T, ...]:
    wanted = sample.option("parts", ",".join(KINDS)).split(",")
    for part in wanted:
        if part not in KINDS:
            raise BadInput(f"there is no part {part!r}; the parts are {', '.join(KINDS)}")
    return tuple(
        instruction
        for part in wanted
        for instruction in sample.draw([i for i in loaded if isinstance(i, KINDS[part])])
    )

"""Paper C's tasks in Japanese, on dialogues written for the purpose, with a scripted model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from omoide.errors import BadInput
from omoide.testing import ScriptedModel
from omoide_bench.data import japanese_daily_dialogue, memo_exam
from omoide_bench.data.memo_exam import ContinuationExample
from omoide_bench.data.memochat import ChoiceInstruction, WritingInstruction
from omoide_bench.running.execute import execute
from tests.bench.bench_lab import FIXTURES, course, job, lab

if TYPE_CHECKING:
    from omoide.ports import Request
    from omoide_bench.data.memo_exam import Exam
    from omoide_bench.data.shapes import Dialogue

EXAM = memo_exam.load(FIXTURES)


def test_ranges_of_joined_dialogues_are_true() -> None:
    """Topics of a writing case cover its lines in order, each another topic of the corpus."""
    cases = [case for case in EXAM if isinstance(case, WritingInstruction)]
    assert cases
    for case in cases:
        ends = [topic.span.last for topic in case.topics]
        begins = [topic.span.first for topic in case.topics]
        assert begins == [1, *(end + 1 for end in ends[:-1])]
        assert ends[-1] == len(case.lines)
        assert len({topic.topic for topic in case.topics}) == len(case.topics)


def test_options_hold_what_the_query_goes_on_from_or_noto_is_right() -> None:
    """The memos that are right are of the dialogues asked about; no half is both memo and query."""
    cases = [case for case in EXAM if isinstance(case, ChoiceInstruction)]
    assert cases
    halves = {_first(d): _second(d) for d in japanese_daily_dialogue.load(FIXTURES)}
    for case in cases:
        asked = {n for n, text in enumerate(case.options, 1) if _query_of(text, halves, case.query)}
        noto = case.options.index(memo_exam.NOTO) + 1
        assert case.right == (asked or {noto})
        assert not any(text.partition(". ")[2] in case.query for text in case.options)


def test_no_dialogue_is_used_twice_in_a_task_and_the_exam_never_changes() -> None:
    """The same data give the same exam; a dialogue is a memo once."""
    assert memo_exam.load(FIXTURES) == EXAM
    memos = [memo for case in EXAM if isinstance(case, ContinuationExample) for memo in case.memos]
    assert len(memos) == len(set(memos))


async def test_a_model_that_does_everything_right_has_full_marks() -> None:
    """Written with true ranges, chosen rightly, replied in the true words: every share is 1."""
    async with lab(ScriptedModel([_right] * 100)) as parts:
        work = job("memo-ja")
        result = await execute(work, lab=parts, course=course(work))
    [method] = result.methods
    found = {(a.group.split()[0], a.measure): a.mean for a in method.aggregates}
    assert found["writing", "split"] == 1
    assert found["writing", "boundary F1"] == 1
    assert found["writing", "valid"] == 1
    assert found["writing", "topic F1"] == 1
    assert found["retrieval", "retrieval F1"] == 1
    assert found["retrieval", "valid"] == 1
    assert 0 < found["retrieval", "all options F1"] < 1
    assert found["chatting", "F1"] == 1
    assert found["chatting", "F1 without memos"] < 1
    assert found["chatting", "valid"] == 1
    assert ("writing", "summary F1") not in found


async def test_an_answer_that_cannot_be_read_is_not_valid_and_loses_no_line() -> None:
    """Three unreadable answers: nothing is split by the model, everything by the product."""
    async with lab(ScriptedModel([lambda _: "わかりません"] * 50)) as parts:
        work = job("memo-ja", limit=1, parts="writing,retrieval")
        result = await execute(work, lab=parts, course=course(work))
    retrieval, writing = sorted(result.methods[0].items, key=lambda item: item.group)
    assert writing.scores["split"] == 0
    assert writing.scores["split mended"] == 1
    assert writing.scores["valid"] == 0
    assert retrieval.scores["valid"] == 0


def test_an_unknown_part_is_refused() -> None:
    """The names there are are told."""
    with pytest.raises(BadInput, match="writing, retrieval, chatting"):
        job("memo-ja", parts="singing")


def _first(dialogue: Dialogue) -> str:
    return " ".join(line.text for line in dialogue.lines[: len(dialogue.lines) // 2])


def _second(dialogue: Dialogue) -> str:
    return " ".join(line.text for line in dialogue.lines[len(dialogue.lines) // 2 :])


def _query_of(option: str, halves: dict[str, str], query: str) -> bool:
    rest = halves.get(option.partition(". ")[2])
    return rest is not None and rest in query


def _right(request: Request) -> str:
    """The true answer, found by what the prompt asks."""
    said = request.messages[-1].content
    for case in EXAM:
        if (answer := _answer(case, said)) is not None:
            return answer
    return "はい。"


def _answer(case: Exam, said: str) -> str | None:
    if isinstance(case, WritingInstruction):
        if all(text in said for _, text in case.lines):
            lines = [text for _, text in case.lines]
            memos = [
                {
                    "topic": topic.topic,
                    "start": topic.span.first,
                    "end": topic.span.last,
                    "summary": "ユーザーの話：" + lines[topic.span.first - 1][:-1] + "とのこと。",
                }
                for topic in case.topics
            ]
            return json.dumps({"memos": memos}, ensure_ascii=False)
    elif isinstance(case, ChoiceInstruction):
        if case.query in said:
            shown = [text for text in case.options if text != memo_exam.NOTO]
            right = [case.options[n - 1] for n in sorted(case.right)]
            numbers = [shown.index(text) + 1 for text in right if text in shown] or [0]
            return json.dumps({"numbers": numbers})
    elif case.message in said and "<memory>" in said:
        return case.reply
    return None

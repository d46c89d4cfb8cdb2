"""LoCoMo (Maharana et al. 2024): ten long conversations of two people, and questions about them.

`locomo10.json` is a list of conversations; an invented, shortened example:

    {"sample_id": "conv-1",
     "conversation": {
       "speaker_a": "Ann", "speaker_b": "Bo",
       "session_1_date_time": "1:56 pm on 8 May, 2023",
       "session_1": [
         {"speaker": "Ann", "dia_id": "D1:1", "text": "I bought a kayak yesterday."},
         {"speaker": "Bo", "dia_id": "D1:2", "text": "Here is where I would take it!",
          "blip_caption": "a photo of a lake"}]},
     "qa": [
       {"question": "When did Ann buy a kayak?", "answer": "7 May 2023",
        "evidence": ["D1:1"], "category": 2},
       {"question": "What did Bo buy?", "adversarial_answer": "a kayak",
        "evidence": ["D1:1"], "category": 5}]}

Categories: 1 several turns together, 2 time, 3 open, 4 a single turn, 5 no answer. Questions have
no date; we assume the day after the last session. A shared image is replaced by its caption.
Evidence is every `D…:…` in the field that names an existing turn.

`audit_errors.json`, if it is there, is a public audit of the gold, by index of the conversation and
of the question, from 0:

    [{"question_id": "locomo_0_qa1", "question": "When did Ann buy a kayak?", "error_type":
      "TEMPORAL_ERROR", "correct_answer": "6 May 2023", "correct_evidence": ["D1:1"]}]
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from omoide_bench.data.reading import json_file
from omoide_bench.data.shapes import (
    DatasetLine,
    DatasetQuestion,
    DatasetSession,
    Dialogue,
    next_day,
)
from omoide_bench.data.source import DatasetSource

if TYPE_CHECKING:
    from pathlib import Path

    from omoide_bench.data.reading import JsonRecord

SOURCE = DatasetSource(
    name="locomo",
    title="LoCoMo (Maharana et al. 2024)",
    licence="CC BY-NC 4.0: not for commercial use",
    page="https://github.com/snap-research/locomo",
)
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop"}
ADVERSARIAL = "adversarial"
"""The name of category 5 in `DatasetQuestion.category`."""
_EVIDENCE = re.compile(r"D\d+:\d+")
_AUDITED = re.compile(r"locomo_(\d+)_qa(\d+)")


def load(data: Path | None) -> list[Dialogue]:
    """All conversations with all questions, in file order."""
    return [_dialogue(record) for record in json_file(SOURCE.find(data, "locomo10.json")).each()]


def load_audited(data: Path | None) -> list[Dialogue]:
    """The same, with `DatasetQuestion.audited` where the audit corrects the answer or its
    evidence. Raises `BadInput` if the audit is not there, `BadData` if it is about other
    questions."""
    errors: dict[tuple[int, int], JsonRecord] = {}
    for error in json_file(SOURCE.find(data, "audit_errors.json")).each():
        name = error.of("question_id")
        if not (found := _AUDITED.fullmatch(name.text)):
            raise name.bad("a question such as locomo_0_qa1")
        errors[int(found[1]), int(found[2])] = error
    return [
        replace(
            dialogue,
            questions=tuple(
                _corrected(question, dialogue, errors[i, n]) if (i, n) in errors else question
                for n, question in enumerate(dialogue.questions)
            ),
        )
        for i, dialogue in enumerate(load(data))
    ]


def _corrected(question: DatasetQuestion, dialogue: Dialogue, error: JsonRecord) -> DatasetQuestion:
    if error.of("question").text != question.text:
        raise error.of("question").bad(f"the question of {question.id}, {question.text[:60]!r}")
    known = frozenset(line.id for line in dialogue.lines)
    right = replace(
        question,
        answer=error.of("correct_answer").plain,
        evidence=known & frozenset(error.of("correct_evidence").texts()) or question.evidence,
    )
    return question if right == question else replace(question, audited=right)


def _dialogue(record: JsonRecord) -> Dialogue:
    raw = record.of("conversation")
    sessions: list[DatasetSession] = []
    number = 1
    while raw.has(f"session_{number}_date_time"):
        key = f"session_{number}"
        if raw.has(key):
            began = _time(raw.of(f"{key}_date_time"))
            lines = tuple(
                _line(turn, number, began + timedelta(seconds=index))
                for index, turn in enumerate(raw.of(key).each())
            )
            sessions += [DatasetSession(number=number, lines=lines)] if lines else []
        number += 1
    if not sessions:
        raise raw.bad("at least one session with a date and turns")
    name = record.of("sample_id").text
    known = {line.id for session in sessions for line in session.lines}
    return Dialogue(
        id=name,
        language="en",
        speakers=(raw.of("speaker_a").text, raw.of("speaker_b").text),
        sessions=tuple(sessions),
        questions=tuple(
            DatasetQuestion(
                id=f"{name}.{n}",
                text=question.of("question").text,
                category=CATEGORIES.get(question.of("category").number, ADVERSARIAL),
                evidence=_evidence(question) & known,
                at=next_day(sessions[-1].lines),
                answer=_answer(question),
                wrong=(
                    question.of("adversarial_answer").plain
                    if question.has("adversarial_answer")
                    else None
                ),
            )
            for n, question in enumerate(record.of("qa").each(), start=1)
        ),
    )


def _line(turn: JsonRecord, session: int, time: datetime) -> DatasetLine:
    caption = f" [shares {turn.of('blip_caption').text}]" if turn.has("blip_caption") else ""
    return DatasetLine(
        id=turn.of("dia_id").text,
        session=session,
        speaker=turn.of("speaker").text,
        text=turn.of("text").text + caption,
        time=time,
    )


def _evidence(question: JsonRecord) -> frozenset[str]:
    if not question.has("evidence"):
        return frozenset()
    return frozenset(_EVIDENCE.findall(" ".join(question.of("evidence").texts())))


def _answer(question: JsonRecord) -> str | None:
    if question.of("category").number not in CATEGORIES or not question.has("answer"):
        return None
    return question.of("answer").plain


def _time(record: JsonRecord) -> datetime:
    try:
        return datetime.strptime(record.text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    except ValueError as error:
        raise record.bad("a time such as '1:56 pm on 8 May, 2023'") from error

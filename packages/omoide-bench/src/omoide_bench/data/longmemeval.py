"""LongMemEval (Wu et al. 2025): questions, each with a haystack of chat sessions and evidence.

The file (`longmemeval_s.json`, `longmemeval_oracle.json`, …) is a list; an invented example:

    {"question_id": "q7_abs", "question_type": "single-session-user",
     "question": "Which instrument did I buy?", "question_date": "2023/05/30 (Tue) 23:40",
     "answer": "A cello",
     "haystack_dates": ["2023/05/20 (Sat) 02:21"],
     "haystack_session_ids": ["answer_1"],
     "haystack_sessions": [[{"role": "user", "content": "I bought a cello.", "has_answer": true},
                            {"role": "assistant", "content": "How nice!"}]],
     "answer_session_ids": ["answer_1"]}

Types: single-session-user, single-session-assistant, single-session-preference, multi-session,
temporal-reasoning, knowledge-update; ids that end in `_abs` have no answer in the haystack. Each
item becomes a dialogue with one question. Sessions are sorted by date. Lines within a session have
invented times, half a minute apart.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from omoide_bench.data.reading import json_file
from omoide_bench.data.shapes import DatasetQuestion, DatasetSession, Dialogue, timed
from omoide_bench.data.source import DatasetSource

if TYPE_CHECKING:
    from pathlib import Path

    from omoide_bench.data.reading import JsonRecord

SOURCE = DatasetSource(
    name="longmemeval",
    title="LongMemEval (Wu et al. 2025)",
    licence="MIT",
    page="https://github.com/xiaowu0162/LongMemEval",
    hub="xiaowu0162/longmemeval",
    hub_files={
        "longmemeval_s.json": "longmemeval_s",
        "longmemeval_m.json": "longmemeval_m",
        "longmemeval_oracle.json": "longmemeval_oracle",
    },
)
FILES = ("longmemeval_s.json", "longmemeval_s_cleaned.json", "one_item_of_longmemeval_s.json")
ABSTAIN = "_abs"
"""Id suffix of questions without an answer."""


def load(data: Path | None, *files: str, limit: int | None = None) -> list[Dialogue]:
    """One dialogue per question, at most `limit`; by default from LongMemEval_S."""
    items = json_file(SOURCE.find(data, *(files or FILES))).each()
    return [_dialogue(item) for item in items[:limit]]


def unanswerable(question: DatasetQuestion) -> bool:
    """Whether the haystack has no answer to the question."""
    return question.id.endswith(ABSTAIN)


def _dialogue(item: JsonRecord) -> Dialogue:
    dates = [_time(date) for date in item.of("haystack_dates").each()]
    names = item.of("haystack_session_ids").texts()
    raw = item.of("haystack_sessions").each()
    if not len(dates) == len(names) == len(raw):
        raise item.of("haystack_sessions").bad(f"{len(dates)} sessions, one per date")
    order = sorted((i for i in range(len(raw)) if raw[i].each()), key=lambda i: dates[i])
    sessions: list[DatasetSession] = []
    evidence: set[str] = set()
    for number, i in enumerate(order, start=1):
        turns = raw[i].each()
        lines = timed(
            [(turn.of("role").text, turn.of("content").text) for turn in turns],
            session=number,
            start=dates[i],
            name="{session}." + names[i].replace("{", "").replace("}", "") + ".{n}",
        )
        sessions.append(DatasetSession(number=number, lines=lines))
        evidence |= {
            line.id
            for line, turn in zip(lines, turns, strict=True)
            if turn.has("has_answer") and turn.of("has_answer").value is True
        }
    question = DatasetQuestion(
        id=item.of("question_id").text,
        text=item.of("question").text,
        at=_time(item.of("question_date")),
        answer=item.of("answer").plain,
        category=item.of("question_type").text,
        evidence=frozenset(evidence),
    )
    return Dialogue(
        id=question.id,
        language="en",
        speakers=("user", "assistant"),
        sessions=tuple(sessions),
        questions=(question,),
    )


def _time(record: JsonRecord) -> datetime:
    try:
        return datetime.strptime(record.text, "%Y/%m/%d (%a) %H:%M").replace(tzinfo=UTC)
    except ValueError as error:
        raise record.bad("a date such as '2023/05/30 (Tue) 23:40'") from error

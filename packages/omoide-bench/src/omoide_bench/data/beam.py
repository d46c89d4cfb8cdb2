"""BEAM (Tavakoli et al. 2026): very long chats of a user with an assistant, and probing questions.

`500k_N.json` (or packed) is one chat; made up and shortened:

    {"id": 1, "topic": {"title": "A garden"},
     "chat": [{"batch_number": 1, "turns": [[
         {"role": "user", "id": 0, "time_anchor": "January-05-2024", "content": "I dig. ->-> 1,3"},
         {"role": "assistant", "id": 1, "content": "Good."}]]}],
     "probing_questions": {"information_extraction": [
         {"question": "What do I do?", "answer": "Dig.", "source_chat_ids": [0],
          "rubric": ["LLM response should mention: digging"]}]}}

A batch is a session; lines are half a minute apart and begin at noon of the batch's first anchor.
The tail `->-> 1,3` or `->-> 3,N/A` of a message is the authors' own mark and is dropped.
`source_chat_ids` is a list, a list of lists, or an object of lists: all of them count as evidence.
The ideal answer has another name in some kinds; two kinds (`instruction_following`,
`preference_following`) have only a rubric.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide_bench.data.reading import json_file
from omoide_bench.data.shapes import (
    FIRST_DAY,
    LINE_GAP,
    DatasetLine,
    DatasetQuestion,
    DatasetSession,
    Dialogue,
)
from omoide_bench.data.source import DatasetSource

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from omoide_bench.data.reading import JsonRecord

SOURCE = DatasetSource(
    name="beam",
    title="BEAM (Tavakoli et al. 2026)",
    licence="not stated: do not pass it on",
    page="https://github.com/mohammadtavakoli78/BEAM",
)
SPEAKERS = ("user", "assistant")
_MARK = re.compile(r"\s*->->\s*[\d,\sNA/]*$")


def load(data: Path | None) -> list[Dialogue]:
    """The chats in the folder, by number."""
    if data is None:
        raise BadInput(f"BEAM is read from a folder only; get it from {SOURCE.page}")
    files = sorted({*data.glob("500k_*.json*"), *(data / "beam").glob("500k_*.json*")}, key=_number)
    if not files:
        raise BadInput(f"there is no 500k_N.json in {data}; BEAM is published at {SOURCE.page}")
    return [_dialogue(json_file(file), f"beam-{_number(file)}") for file in files]


def _number(path: Path) -> int:
    return int(path.name.split("_")[1].split(".")[0])


def _dialogue(chat: JsonRecord, name: str) -> Dialogue:
    sessions: list[DatasetSession] = []
    day = FIRST_DAY
    for number, batch in enumerate(chat.of("chat").each(), start=1):
        said = [turn for pair in batch.of("turns").each() for turn in pair.each()]
        anchors = [turn.of("time_anchor") for turn in said if turn.has("time_anchor")]
        day = _noon(anchors[0]) if anchors else day + timedelta(days=1)
        lines = tuple(
            DatasetLine(
                id=turn.of("id").plain,
                session=number,
                speaker=turn.of("role").text,
                text=_MARK.sub("", turn.of("content").text),
                time=day + place * LINE_GAP,
            )
            for place, turn in enumerate(said)
        )
        sessions.append(DatasetSession(number=number, lines=lines))
    known = frozenset(line.id for session in sessions for line in session.lines)
    asked = max(session.lines[-1].time for session in sessions) + timedelta(days=1)
    return Dialogue(
        id=name,
        language="en",
        speakers=SPEAKERS,
        sessions=tuple(sessions),
        topic=chat.of("topic").of("title").text if chat.has("topic") else "",
        questions=tuple(
            DatasetQuestion(
                id=f"{name}.{kind}.{n}",
                text=question.of("question").text,
                at=asked,
                answer=_ideal(question),
                category=kind,
                evidence=known.intersection(_ids(question)),
                rubric=question.of("rubric").texts() if question.has("rubric") else (),
            )
            for kind, questions in chat.of("probing_questions").items()
            for n, question in enumerate(questions.each(), start=1)
        ),
    )


def _ideal(question: JsonRecord) -> str | None:
    fields = ("answer", "ideal_answer", "ideal_response", "ideal_summary")
    return next((question.of(name).plain for name in fields if question.has(name)), None)


def _ids(question: JsonRecord) -> frozenset[str]:
    return frozenset(_flat(question.of("source_chat_ids"))) if question.has(
        "source_chat_ids"
    ) else frozenset()  # fmt: skip


def _flat(record: JsonRecord) -> Iterator[str]:
    if isinstance(record.value, dict):
        for part in dict(record.items()).values():
            yield from _flat(part)
    elif isinstance(record.value, list):
        for part in record.each():
            yield from _flat(part)
    else:
        yield record.plain


def _noon(anchor: JsonRecord) -> datetime:
    try:
        return datetime.strptime(anchor.text, "%B-%d-%Y").replace(hour=12, tzinfo=UTC)
    except ValueError as error:
        raise anchor.bad("a day such as January-05-2024") from error

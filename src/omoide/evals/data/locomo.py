"""LoCoMo (Maharana et al. 2024): ten long conversations of two people, and questions about them.

`locomo10.json` is a list of conversations; one, made up and shortened:

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
no date; they are taken to be asked on the day after the last session. An image that was shared is
told by its caption. Evidence is every `D…:…` in the field that names an existing turn.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from omoide.evals.data.reading import json_file
from omoide.evals.data.shapes import Dialogue, Line, Question, Session, next_day
from omoide.evals.data.source import Source

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.evals.data.reading import Record

SOURCE = Source(
    name="locomo",
    title="LoCoMo (Maharana et al. 2024)",
    licence="CC BY-NC 4.0: not for commercial use",
    page="https://github.com/snap-research/locomo",
)
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop"}
ADVERSARIAL = "adversarial"
"""What category 5 is called in `Question.category`."""
_EVIDENCE = re.compile(r"D\d+:\d+")


def load(data: Path | None) -> list[Dialogue]:
    """All conversations, in the order of the file, with every question."""
    return [_dialogue(record) for record in json_file(SOURCE.find(data, "locomo10.json")).each()]


def _dialogue(record: Record) -> Dialogue:
    told = record.of("conversation")
    sessions: list[Session] = []
    number = 1
    while told.has(f"session_{number}_date_time"):
        key = f"session_{number}"
        if told.has(key):
            began = _time(told.of(f"{key}_date_time"))
            lines = tuple(
                _line(turn, number, began + timedelta(seconds=place))
                for place, turn in enumerate(told.of(key).each())
            )
            sessions += [Session(number=number, lines=lines)] if lines else []
        number += 1
    if not sessions:
        raise told.bad("at least one session with a date and turns")
    name = record.of("sample_id").text
    known = {line.id for session in sessions for line in session.lines}
    return Dialogue(
        id=name,
        language="en",
        speakers=(told.of("speaker_a").text, told.of("speaker_b").text),
        sessions=tuple(sessions),
        questions=tuple(
            Question(
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


def _line(turn: Record, session: int, time: datetime) -> Line:
    caption = f" [shares {turn.of('blip_caption').text}]" if turn.has("blip_caption") else ""
    return Line(
        id=turn.of("dia_id").text,
        session=session,
        speaker=turn.of("speaker").text,
        text=turn.of("text").text + caption,
        time=time,
    )


def _evidence(question: Record) -> frozenset[str]:
    if not question.has("evidence"):
        return frozenset()
    return frozenset(_EVIDENCE.findall(" ".join(question.of("evidence").texts())))


def _answer(question: Record) -> str | None:
    if question.of("category").number not in CATEGORIES or not question.has("answer"):
        return None
    return question.of("answer").plain


def _time(told: Record) -> datetime:
    try:
        return datetime.strptime(told.text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    except ValueError as error:
        raise told.bad("a time such as '1:56 pm on 8 May, 2023'") from error

"""MemoryBank's simulated users (Zhong et al. 2024): ten days of chat each, and probing questions.

`memory_bank_en.json` (and `_cn`) is an object by name; one user, made up and shortened:

    {"Mira": {"name": "Mira", "summary": {}, "personality": {}, "overall_history": "",
              "history": {"2023-04-27": [
                  {"query": "Hello, I am Mira. I restore old clocks.",
                   "response": "Nice to meet you, Mira."}]},
              "meta_information": {"name": "Mira", "personality": "patient",
                                   "hobbies": "clocks", "speaking_style": "dry"}}}

`probing_questions_en.jsonl` (and `_cn`) has a line a user: `{"Mira": ["What do I restore?"]}`.
There are no gold answers, so answers can only be judged. A day is a session and begins at noon;
lines are half a minute apart. Names that the file pads with spaces are stripped.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.evals.data.reading import json_file, json_lines
from omoide.evals.data.shapes import Dialogue, Question, Session, next_day, timed
from omoide.evals.data.source import Source

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.evals.data.reading import Record

SOURCE = Source(
    name="memorybank",
    title="MemoryBank's simulated users (Zhong et al. 2024)",
    licence="MIT",
    page="https://github.com/zhongwanjun/MemoryBank-SiliconFriend",
)
SUFFIX = {"en": "en", "zh": "cn"}
ASSISTANT = "AI"


def load(data: Path | None, language: str = "en") -> list[Dialogue]:
    """All users of a language with their questions."""
    if language not in SUFFIX:
        raise BadInput(f"MemoryBank is in {', '.join(SUFFIX)}, not {language!r}")
    ending = SUFFIX[language]
    asked = {
        name.strip(): questions.texts()
        for record in json_lines(SOURCE.find(data, f"probing_questions_{ending}.jsonl"))
        for name, questions in record.items()
    }
    users = json_file(SOURCE.find(data, f"memory_bank_{ending}.json")).items()
    return [
        _dialogue(name.strip(), user, asked.get(name.strip(), ()), language) for name, user in users
    ]


def folder(data: Path | None, language: str = "en") -> Path:
    """Where the files of a language are."""
    return SOURCE.find(data, f"memory_bank_{SUFFIX[language]}.json").parent


def _dialogue(name: str, user: Record, asked: tuple[str, ...], language: str) -> Dialogue:
    sessions: list[Session] = []
    for number, (day, turns) in enumerate(sorted(user.of("history").items()), start=1):
        said = [
            pair
            for turn in turns.each()
            for pair in ((name, turn.of("query").text), (ASSISTANT, turn.of("response").text))
            if pair[1].strip()
        ]
        sessions.append(
            Session(number=number, lines=timed(said, session=number, start=_noon(day, turns)))
        )
    if not sessions or not sessions[-1].lines:
        raise user.of("history").bad("at least one day with something said")
    return Dialogue(
        id=name,
        language=language,
        speakers=(name, ASSISTANT),
        sessions=tuple(sessions),
        questions=tuple(
            Question(id=f"{name}.{n}", text=text, at=next_day(sessions[-1].lines))
            for n, text in enumerate(asked, start=1)
        ),
    )


def _noon(day: str, told: Record) -> datetime:
    try:
        return datetime.combine(date.fromisoformat(day), time(12), tzinfo=UTC)
    except ValueError as error:
        raise told.bad(f"a day such as 2023-04-27 above it, not {day!r}") from error

"""MemoryBank's simulated users (Zhong et al. 2024): ten days of chat each, and probing questions.

`memory_bank_en.json` (and `_cn`) maps names to users; an invented, shortened example:

    {"Mira": {"name": "Mira", "summary": {}, "personality": {}, "overall_history": "",
              "history": {"2023-04-27": [
                  {"query": "Hello, I am Mira. I restore old clocks.",
                   "response": "Nice to meet you, Mira."}]},
              "meta_information": {"name": "Mira", "personality": "patient",
                                   "hobbies": "clocks", "speaking_style": "dry"}}}

`probing_questions_en.jsonl` (and `_cn`) has one line per user: `{"Mira": ["What do I restore?"]}`.
There are no gold answers, so answers need a judge. A day is a session and begins at noon; lines are
half a minute apart. Names padded with spaces in the file are stripped.

We labelled the evidence by reading the English chats. Of 100 questions, 89 are answered by one turn
or a few specific turns. Eleven have no label: they ask for all topics of a day, several turns
answer them equally well, or nothing answers them. The Chinese chats are the same exchange by
exchange, so the labels apply to both. A label is a line's id: day, exchange and side, so `3.1u` is
the user's turn in the second exchange of the fourth day.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide_bench.data.reading import json_file, json_lines
from omoide_bench.data.shapes import DatasetQuestion, DatasetSession, Dialogue, next_day, timed
from omoide_bench.data.source import DatasetSource

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from omoide_bench.data.reading import JsonRecord

SOURCE = DatasetSource(
    name="memorybank",
    title="MemoryBank's simulated users (Zhong et al. 2024)",
    licence="MIT",
    page="https://github.com/zhongwanjun/MemoryBank-SiliconFriend",
)
SUFFIX = {"en": "en", "zh": "cn"}
ASSISTANT = "AI"

# One line per user, in file order; one entry per question, - if it has no label.
LABELS = """
3.3u 4.0u 6.2a 1.1u 3.2u 5.1u 7.1u
0.2u 1.8u 2.1a 8.1u 9.1u 3.1u 1.2a
0.3u 2.1u+2.2u 1.1u 3.1u 6.0a 5.1a 1.1u
- 0.4u 6.1a 4.1u - 3.1a 7.0a
1.2u 2.3u 1.2u 0.4a 4.1u 5.3u 7.1a
9.1u - - 1.2a 5.1u 4.1u 7.1u
1.1u - 1.2u 3.0u - 7.0u 9.0u
- 9.1u+9.2u 5.0u 1.2u 0.3u 8.0a 5.0a
0.1u 3.0u 3.1a 7.1a 9.1u 1.2a 5.0a
1.2u 7.0a 8.1a 7.1a - 3.0a 6.0a
0.2a 0.2a 8.2u 3.1u 6.1u 5.1a 7.0u
- - - 5.1u 1.1a+1.2a 0.2u
0.2u 0.2u 3.1u 2.1u 7.1a
1.2u 3.1u+3.2u 7.0u 6.2a 1.4u
0.2u 5.1u 5.2u 6.1a 6.1a 7.1a 9.0u
"""


def load(data: Path | None, language: str = "en", *, labels: str = LABELS) -> list[Dialogue]:
    """All users of a language with their questions. Questions have evidence only if the corpus has
    as many users as the published one."""
    if language not in SUFFIX:
        raise BadInput(f"MemoryBank has no language {language!r}; it has {', '.join(SUFFIX)}")
    ending = SUFFIX[language]
    questions_by_name = {
        name.strip(): questions.texts()
        for record in json_lines(SOURCE.find(data, f"probing_questions_{ending}.jsonl"))
        for name, questions in record.items()
    }
    users = json_file(SOURCE.find(data, f"memory_bank_{ending}.json")).items()
    published = labels.strip().splitlines()
    known = published if len(published) == len(users) else [""] * len(users)
    return [
        _dialogue(
            name.strip(),
            user,
            questions_by_name.get(name.strip(), ()),
            labels_of_user.split(),
            language,
        )
        for (name, user), labels_of_user in zip(users, known, strict=True)
    ]


def _dialogue(
    name: str, user: JsonRecord, questions: Sequence[str], labels: Sequence[str], language: str
) -> Dialogue:
    sessions: list[DatasetSession] = []
    for number, (day, turns) in enumerate(sorted(user.of("history").items()), start=1):
        spoken = [
            (f"{number - 1}.{exchange}{side}", who, turn.of(key).text)
            for exchange, turn in enumerate(turns.each())
            for side, who, key in (("u", name, "query"), ("a", ASSISTANT, "response"))
            if turn.of(key).text.strip()
        ]
        raw = timed([line[1:] for line in spoken], session=number, start=_noon(day, turns))
        lines = tuple(
            replace(line, id=line_id) for line, (line_id, *_) in zip(raw, spoken, strict=True)
        )
        sessions.append(DatasetSession(number=number, lines=lines))
    if not sessions or not sessions[-1].lines:
        raise user.of("history").bad("at least one day with something said")
    known = frozenset(line.id for session in sessions for line in session.lines)
    if len(labels) != len(questions):
        labels = ["-"] * len(questions)
    return Dialogue(
        id=name,
        language=language,
        speakers=(name, ASSISTANT),
        sessions=tuple(sessions),
        questions=tuple(
            DatasetQuestion(
                id=f"{name}.{n}",
                text=text,
                at=next_day(sessions[-1].lines),
                evidence=known.intersection(label.split("+")),
            )
            for n, (text, label) in enumerate(zip(questions, labels, strict=True), start=1)
        ),
    )


def _noon(day: str, record: JsonRecord) -> datetime:
    try:
        return datetime.combine(date.fromisoformat(day), time(12), tzinfo=UTC)
    except ValueError as error:
        raise record.bad(f"a day such as 2023-04-27 above it, not {day!r}") from error

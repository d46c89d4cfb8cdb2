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

The evidence was labelled for this by reading the English chats: of 100 questions, 89 are answered
by one turn or by a few that can be named; without a label are eleven that ask for all topics of a
day, that several turns answer alike, or that nothing answers. The Chinese chats are the same
exchange by exchange, so the labels serve for both. A label is a line's id: the day, the exchange
and the side, so that `3.1u` is what the user said in the second exchange of the fourth day.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.evals.data.reading import json_file, json_lines
from omoide.evals.data.shapes import Dialogue, Question, Session, next_day, timed
from omoide.evals.data.source import Source

if TYPE_CHECKING:
    from collections.abc import Sequence
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

# A line a user, in the order of the files; an entry a question, - where there is no label.
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
    """All users of a language with their questions; these have no evidence in a corpus with other
    users than the published one."""
    if language not in SUFFIX:
        raise BadInput(f"MemoryBank is in {', '.join(SUFFIX)}, not {language!r}")
    ending = SUFFIX[language]
    asked = {
        name.strip(): questions.texts()
        for record in json_lines(SOURCE.find(data, f"probing_questions_{ending}.jsonl"))
        for name, questions in record.items()
    }
    users = json_file(SOURCE.find(data, f"memory_bank_{ending}.json")).items()
    published = labels.strip().splitlines()
    known = published if len(published) == len(users) else [""] * len(users)
    return [
        _dialogue(name.strip(), user, asked.get(name.strip(), ()), given.split(), language)
        for (name, user), given in zip(users, known, strict=True)
    ]


def _dialogue(
    name: str, user: Record, asked: Sequence[str], labels: Sequence[str], language: str
) -> Dialogue:
    sessions: list[Session] = []
    for number, (day, turns) in enumerate(sorted(user.of("history").items()), start=1):
        said = [
            (f"{number - 1}.{place}{side}", who, turn.of(key).text)
            for place, turn in enumerate(turns.each())
            for side, who, key in (("u", name, "query"), ("a", ASSISTANT, "response"))
            if turn.of(key).text.strip()
        ]
        told = timed([line[1:] for line in said], session=number, start=_noon(day, turns))
        lines = tuple(replace(line, id=own) for line, (own, *_) in zip(told, said, strict=True))
        sessions.append(Session(number=number, lines=lines))
    if not sessions or not sessions[-1].lines:
        raise user.of("history").bad("at least one day with something said")
    known = frozenset(line.id for session in sessions for line in session.lines)
    if len(labels) != len(asked):
        labels = ["-"] * len(asked)
    return Dialogue(
        id=name,
        language=language,
        speakers=(name, ASSISTANT),
        sessions=tuple(sessions),
        questions=tuple(
            Question(
                id=f"{name}.{n}",
                text=text,
                at=next_day(sessions[-1].lines),
                evidence=known.intersection(label.split("+")),
            )
            for n, (text, label) in enumerate(zip(asked, labels, strict=True), start=1)
        ),
    )


def _noon(day: str, told: Record) -> datetime:
    try:
        return datetime.combine(date.fromisoformat(day), time(12), tzinfo=UTC)
    except ValueError as error:
        raise told.bad(f"a day such as 2023-04-27 above it, not {day!r}") from error

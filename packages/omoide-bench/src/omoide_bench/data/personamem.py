"""PersonaMem (Jiang et al. 2025), 32k: chats of a user with an assistant, and messages of the user
with four candidate replies of which one fits what the user had told.

`documents.json` holds the sessions and `queries.json` the questions; made up and shortened:

    [{"id": "u1_0", "user_id": "u1", "content": "[SYSTEM] Current user persona: Name: Ann\\n\\n
      [USER] User: I gave up the violin.\\n\\n[ASSISTANT] Assistant: What will you play now?"}]

    [{"id": "q1", "user_id": "u1", "gold_ids": ["u1_0"], "gold_answers": ["(b) As you …", "b"],
      "query": "User: Ann\\n\\nWhat shall I play?\\n\\n(a) The violin.\\n(b) As you …",
      "meta": {"question_type": "suggest_new_ideas", "retrieval_query": "What shall I play?"}}]

The persona in the system message is left out: a memory sees what was said. A document is a session;
there are no dates, so sessions are a day apart. A user's sessions all come before the questions.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from omoide_bench.data.reading import json_file
from omoide_bench.data.shapes import (
    FIRST_DAY,
    SESSION_GAP,
    DatasetQuestion,
    DatasetSession,
    Dialogue,
    next_day,
    timed,
)
from omoide_bench.data.source import DatasetSource

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from omoide_bench.data.reading import JsonRecord

SOURCE = DatasetSource(
    name="personamem",
    title="PersonaMem (Jiang et al. 2025)",
    licence="MIT",
    page="https://github.com/bowen-upenn/PersonaMem",
)
SPEAKERS = ("user", "assistant")
_BLOCK = re.compile(r"^\[(USER|ASSISTANT|SYSTEM)\] ", re.MULTILINE)
_LABEL = re.compile(r"^(?:User|Assistant|Patient|Therapist): ")
_OPTION = re.compile(r"^\(([a-z])\) ", re.MULTILINE)
_HEAD = re.compile(r"^User: .*\n\n")


def load(data: Path | None) -> list[Dialogue]:
    """Every user with sessions and questions, in the order of the documents."""
    sessions: dict[str, list[JsonRecord]] = {}
    for document in json_file(SOURCE.find(data, "documents.json")).each():
        sessions.setdefault(document.of("user_id").text, []).append(document)
    asked: dict[str, list[JsonRecord]] = {}
    for query in json_file(SOURCE.find(data, "queries.json")).each():
        asked.setdefault(query.of("user_id").text, []).append(query)
    return [
        _dialogue(f"user-{number}", documents, asked.get(user, []))
        for number, (user, documents) in enumerate(sessions.items(), start=1)
    ]


def _dialogue(name: str, documents: list[JsonRecord], queries: list[JsonRecord]) -> Dialogue:
    sessions = tuple(
        DatasetSession(
            number=number,
            lines=timed(
                _said(document.of("content")),
                session=number,
                start=FIRST_DAY + (number - 1) * SESSION_GAP,
            ),
        )
        for number, document in enumerate(documents, start=1)
    )
    at = next_day(sessions[-1].lines)
    return Dialogue(
        id=name,
        language="en",
        speakers=SPEAKERS,
        sessions=sessions,
        questions=tuple(_question(query, at) for query in queries),
        dated=False,
    )


def _said(content: JsonRecord) -> list[tuple[str, str]]:
    """The turns of a session, without the system message and the label before each turn."""
    parts = _BLOCK.split(content.text)
    turns = [
        (role.lower(), _LABEL.sub("", text.strip()))
        for role, text in zip(parts[1::2], parts[2::2], strict=True)
        if role != "SYSTEM" and text.strip()
    ]
    if not turns:
        raise content.bad("turns that begin with [USER] or [ASSISTANT]")
    return turns


def _question(query: JsonRecord, at: datetime) -> DatasetQuestion:
    parts = _OPTION.split(query.of("query").text)
    letters, options = parts[1::2], [option.strip() for option in parts[2::2]]
    right = query.of("gold_answers").each()[-1]
    if right.value not in letters:
        raise right.bad(f"one of the options {', '.join(letters) or '(there are none)'}")
    meta = query.of("meta")
    index = letters.index(right.text)
    return DatasetQuestion(
        id=query.of("id").text,
        text=_LABEL.sub("", _HEAD.sub("", meta.of("retrieval_query").text)).strip(),
        at=at,
        answer=options[index],
        category=meta.of("question_type").text.replace("_", " "),
        choices=tuple(options),
        right_choice=index,
    )

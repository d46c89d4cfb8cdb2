"""MemoryBank's simulated users (Zhong et al. 2024): ten days of chat with an assistant each, and
probing questions, in English and the same in Chinese.

The corpus has no gold answers. The evidence was labelled for this by reading the English chats: of
100 questions, 89 are answered by one turn or by a few that can be named; left out are eleven that
ask for all topics of a day, that several turns answer alike, or that nothing answers. The Chinese
chats are the same exchange by exchange, so the labels serve for both. A label is the day, the
exchange and the side: `3.1u` is what the user said in the second exchange of the fourth day.

Of one user's chats, with words of our own:

    {"Ada": {"history": {"2023-04-27": [{"query": "Hi, I grow tomatoes.", "response": "Nice!"}]}}}

and of the questions, a line a user: `{"Ada": ["What do I grow?"]}`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from omoide.evals.locomo import Asked, Conversation, Line

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Edition:
    """The corpus in one language."""

    language: str
    file: str
    questions: str
    category: int


EN = Edition(
    language="en", file="memory_bank_en.json", questions="probing_questions_en.jsonl", category=11
)
CN = Edition(
    language="cn", file="memory_bank_cn.json", questions="probing_questions_cn.jsonl", category=12
)

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


def load(folder: Path) -> tuple[Conversation, ...]:
    """All users of the editions that are there."""
    return tuple(
        conversation
        for edition in (EN, CN)
        if (folder / edition.file).exists()
        for conversation in _edition(folder, edition)
    )


def labelled_turns(folder: Path, language: str) -> Mapping[tuple[str, str], tuple[str, ...]]:
    """By user and question, the words of the turns that answer it; nothing for a corpus with other
    users than the published one."""
    edition = {"en": EN, "zh": CN}[language]
    users = json.loads((folder / edition.file).read_text("utf-8"))
    if len(users) != len(LABELS.strip().splitlines()):
        return {}
    return {
        (one.speakers[0], asked.text): tuple(
            line.text.strip() for line in one.lines if line.id in asked.evidence
        )
        for one in _edition(folder, edition)
        for asked in one.questions
    }


def _edition(folder: Path, edition: Edition) -> list[Conversation]:
    chats: dict[str, Any] = json.loads((folder / edition.file).read_text("utf-8"))
    questions: dict[str, list[str]] = {}
    for line in (folder / edition.questions).read_text("utf-8").splitlines():
        questions |= {name.strip(): asked for name, asked in json.loads(line).items()}
    return [
        _conversation(name.strip(), told["history"], questions[name.strip()], labels, edition)
        for (name, told), labels in zip(chats.items(), LABELS.split("\n")[1:-1], strict=True)
    ]


def _conversation(
    name: str,
    history: dict[str, list[dict[str, str]]],
    questions: list[str],
    labels: str,
    edition: Edition,
) -> Conversation:
    lines = []
    for day, (date, exchanges) in enumerate(history.items()):
        began = datetime.fromisoformat(date).replace(hour=20, tzinfo=UTC)
        for place, exchange in enumerate(exchanges):
            for side, speaker in (("u", name), ("a", "assistant")):
                lines.append(
                    Line(
                        id=f"{day}.{place}{side}",
                        session=day + 1,
                        speaker=speaker,
                        text=exchange["query" if side == "u" else "response"],
                        time=began + timedelta(minutes=place, seconds=30 * (side == "a")),
                    )
                )
    asked = [
        Asked(
            text=question.strip('"'),
            category=edition.category,
            evidence=frozenset(label.split("+")),
            at=lines[-1].time + timedelta(days=1),
        )
        for question, label in zip(questions, labels.split(), strict=True)
        if label != "-"
    ]
    return Conversation(
        name=f"{edition.language} {name}",
        speakers=(name, "assistant"),
        lines=tuple(line for line in lines if line.text.strip()),
        questions=tuple(asked),
        unanswerable=(),
        named=False,
    )

"""DuLeMon (Xu et al. 2022), the sample of twenty Chinese dialogues: sentences of two personas, and
for many turns the tag of the sentence that it rests on.

A query is a persona's sentence; its evidence, the turns that people tagged with it. The dialogues
are the sessions of one owner, a week apart, so that the turns of all of them are candidates. Of
one, with words of our own:

    {"bot_persona": ["B1: 我 养 鱼"], "user_said_persona": ["U1: 我 喜欢 跑步"],
     "conversation": ["Usr: 一起 跑步 吗\\tU1", "Bot: 好 啊"]}
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from omoide.domain import Speaker
from omoide.evals.locomo import Asked, Conversation, Line

if TYPE_CHECKING:
    from pathlib import Path

FILE = "samples.json"
CATEGORY = 14
_START = datetime(2022, 1, 1, tzinfo=UTC)


def load(folder: Path) -> tuple[Conversation, ...]:
    """One conversation of all dialogues."""
    texts = (folder / FILE).read_text("utf-8").splitlines()
    lines: list[Line] = []
    asked: list[Asked] = []
    for number, record in enumerate(map(json.loads, texts), start=1):
        gold = _told(record, number, lines)
        personas = (*record["bot_persona"], *record["user_said_persona"])
        for tag, sentence in (entry.split(":", 1) for entry in personas):
            if tag in gold:
                asked.append(
                    Asked(
                        text=_joined(sentence),
                        category=CATEGORY,
                        evidence=frozenset(gold[tag]),
                        at=_START + timedelta(weeks=len(texts) + 1),
                        asker=Speaker.ASSISTANT if tag.startswith("B") else Speaker.USER,
                    )
                )
    return (
        Conversation(
            name="dulemon",
            speakers=("Usr", "Bot"),
            lines=tuple(lines),
            questions=tuple(asked),
            unanswerable=(),
            named=False,
        ),
    )


def _told(record: dict[str, Any], number: int, lines: list[Line]) -> dict[str, list[str]]:
    """Add a dialogue's turns to `lines`; which of them have which tag."""
    gold: dict[str, list[str]] = {}
    for place, entry in enumerate(record["conversation"]):
        said, *tags = entry.split("\t")
        speaker, text = said.split(":", 1)
        name = f"{number}:{place}"
        lines.append(
            Line(
                id=name,
                session=number,
                speaker=speaker,
                text=_joined(text),
                time=_START + timedelta(weeks=number, minutes=place),
            )
        )
        for tag in " ".join(tags).replace(",", " ").split():
            gold.setdefault(tag, []).append(name)
    return gold


def _joined(text: str) -> str:
    """The words are set apart in the file; people do not write so."""
    return text.replace(" ", "")

"""DuLeMon (Xu et al. 2022): Chinese chats with a bot that knows facts about the user and itself.

One dialogue per line, words separated by spaces (`samples.json`, `train.json`, …); an invented
example:

    {"bot_persona": ["B1: 我 喜欢 下棋"], "user_said_persona": ["U1: 我 养 了 两 只 猫"],
     "user_no_said_persona": ["U2: 我 是 医生"],
     "conversation": ["Usr: 猫 又 打架 了\\tU1", "Bot: 两 只 猫 真 热闹\\tU1"]}

After a tab comes the label of the fact that a line is based on. Spaces between words are removed,
except between two words in Latin letters. There are no dates: they are invented.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide_bench.data.reading import json_lines
from omoide_bench.data.shapes import FIRST_DAY, DatasetSession, Dialogue, timed
from omoide_bench.data.source import DatasetSource

if TYPE_CHECKING:
    from pathlib import Path

    from omoide_bench.data.reading import JsonRecord

SOURCE = DatasetSource(
    name="dulemon",
    title="DuLeMon (Xu et al. 2022)",
    licence="Apache-2.0",
    page="https://github.com/PaddlePaddle/Research/tree/master/NLP/ACL2022-DuLeMon",
)
_SPEAKERS = {"Usr": "user", "Bot": "bot"}
_LINE = re.compile(r"(Usr|Bot):\s*([^\t]*)(?:\t(.*))?")
_FACT = re.compile(r"([BU]\d+):\s*(.*)")
_SPACE = re.compile(r"(?<![A-Za-z0-9]) +| +(?![A-Za-z0-9])")


@dataclass(frozen=True, kw_only=True)
class GroundedDialogue:
    """A dialogue, with the facts that its lines are based on."""

    dialogue: Dialogue
    facts: dict[str, str]
    """The facts by label: B1, U1, …"""
    unsaid: frozenset[str]
    """Labels of facts that the user did not state (`user_no_said_persona`)."""
    grounds: dict[str, tuple[str, ...]]
    """Labels of facts by line id."""


def load(data: Path | None, file: str = "samples.json") -> list[GroundedDialogue]:
    """All dialogues of a file."""
    return [_grounded(record, n) for n, record in enumerate(json_lines(SOURCE.find(data, file)))]


def _grounded(record: JsonRecord, number: int) -> GroundedDialogue:
    stated, unsaid, bots = (
        dict(map(_fact, record.of(key).each()))
        for key in ("user_said_persona", "user_no_said_persona", "bot_persona")
    )
    facts = {**stated, **unsaid, **bots}
    turns = [(_LINE.fullmatch(raw.text), raw) for raw in record.of("conversation").each()]
    spoken, labels = [], []
    for match, raw in turns:
        if not match:
            raise raw.bad("a line that begins with 'Usr:' or 'Bot:'")
        spoken.append((_SPEAKERS[match[1]], _joined(match[2])))
        labels.append(tuple(re.findall(r"[BU]\d+", match[3] or "")))
    lines = timed(spoken, session=1, start=FIRST_DAY)
    if not lines:
        raise record.of("conversation").bad("at least one line")
    sides = [tuple(text for label, text in facts.items() if label[0] == side) for side in "UB"]
    return GroundedDialogue(
        dialogue=Dialogue(
            id=f"dulemon_{number}",
            language="zh",
            speakers=("user", "bot"),
            sessions=(DatasetSession(number=1, lines=lines),),
            personas=tuple(sides),
            dated=False,
        ),
        facts=facts,
        unsaid=frozenset(unsaid),
        grounds={line.id: known for line, known in zip(lines, labels, strict=True) if known},
    )


def _fact(record: JsonRecord) -> tuple[str, str]:
    match = _FACT.fullmatch(record.text)
    if not match:
        raise record.bad("a fact such as 'U1: …'")
    return match[1], _joined(match[2])


def _joined(text: str) -> str:
    return _SPACE.sub("", text).strip()

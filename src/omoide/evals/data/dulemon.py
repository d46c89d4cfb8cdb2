"""DuLeMon (Xu et al. 2022): Chinese chats with a bot that knows facts about its user and itself.

A dialogue a line, words separated by spaces (`samples.json`, `train.json`, …); one, made up:

    {"bot_persona": ["B1: 我 喜欢 下棋"], "user_said_persona": ["U1: 我 养 了 两 只 猫"],
     "user_no_said_persona": ["U2: 我 是 医生"],
     "conversation": ["Usr: 猫 又 打架 了\\tU1", "Bot: 两 只 猫 真 热闹\\tU1"]}

After a tab stands the fact that a line rests on. The spaces between words are taken out, except
between two words in Latin letters. There are no dates: they are made up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.evals.data.reading import json_lines
from omoide.evals.data.shapes import FIRST_DAY, Dialogue, Session, timed
from omoide.evals.data.source import Source

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.evals.data.reading import Record

SOURCE = Source(
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
class Grounded:
    """A dialogue and, for each line that rests on facts, which they are."""

    dialogue: Dialogue
    facts: dict[str, str]
    """By their label: B1, U1, …"""
    unsaid: frozenset[str]
    """Labels of those that the user is held not to have told (`user_no_said_persona`)."""
    grounds: dict[str, tuple[str, ...]]
    """Line id to labels."""


def load(data: Path | None, file: str = "samples.json") -> list[Grounded]:
    """All dialogues of a file."""
    return [_grounded(record, n) for n, record in enumerate(json_lines(SOURCE.find(data, file)))]


def _grounded(record: Record, number: int) -> Grounded:
    own, unsaid, bots = (
        dict(map(_fact, record.of(key).each()))
        for key in ("user_said_persona", "user_no_said_persona", "bot_persona")
    )
    facts = {**own, **unsaid, **bots}
    turns = [(_LINE.fullmatch(told.text), told) for told in record.of("conversation").each()]
    said, labels = [], []
    for found, told in turns:
        if not found:
            raise told.bad("a line that begins with 'Usr:' or 'Bot:'")
        said.append((_SPEAKERS[found[1]], _joined(found[2])))
        labels.append(tuple(re.findall(r"[BU]\d+", found[3] or "")))
    lines = timed(said, session=1, start=FIRST_DAY)
    if not lines:
        raise record.of("conversation").bad("at least one line")
    sides = [tuple(text for label, text in facts.items() if label[0] == side) for side in "UB"]
    return Grounded(
        dialogue=Dialogue(
            id=f"dulemon_{number}",
            language="zh",
            speakers=("user", "bot"),
            sessions=(Session(number=1, lines=lines),),
            personas=tuple(sides),
            dated=False,
        ),
        facts=facts,
        unsaid=frozenset(unsaid),
        grounds={line.id: known for line, known in zip(lines, labels, strict=True) if known},
    )


def _fact(told: Record) -> tuple[str, str]:
    found = _FACT.fullmatch(told.text)
    if not found:
        raise told.bad("a fact such as 'U1: …'")
    return found[1], _joined(found[2])


def _joined(text: str) -> str:
    return _SPACE.sub("", text).strip()

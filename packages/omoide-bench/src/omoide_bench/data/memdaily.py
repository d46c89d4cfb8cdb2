"""MemDaily (MemSim, Zhang et al. 2024): a Chinese user's daily messages, and questions about them.

`01_simple_events.json` and so on, a list of trajectories; one, made up and shortened:

    [{"tid": 0, "message_list": [{"mid": 0, "message": "我养了一只猫。",
                                  "time": "2024年04月01日 周一 08:30", "place": "广东深圳"}],
      "question_list": [{"qid": 0, "question": "我养了什么？", "answer": "猫",
                         "choices": {"A": "狗", "B": "猫", "C": "鸟", "D": "鱼"},
                         "ground_truth": "B", "target_step_id": [0],
                         "time": "2024年04月04日 周四 07:42"}]}]

Each trajectory is a dialogue of one session in which only the user speaks. Some questions have
"[ERROR]" instead of options: they are read without any.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypedDict

from omoide.errors import BadInput
from omoide_bench.data.reading import json_file
from omoide_bench.data.shapes import DatasetLine, DatasetQuestion, DatasetSession, Dialogue
from omoide_bench.data.source import DatasetSource

if TYPE_CHECKING:
    from pathlib import Path

    from omoide_bench.data.reading import JsonRecord

SOURCE = DatasetSource(
    name="memdaily",
    title="MemDaily (Zhang et al. 2024)",
    licence="not stated: do not pass it on",
    page="https://github.com/nuster1128/MemSim",
)


class _Choices(TypedDict):
    choices: tuple[str, ...]
    right_choice: int | None


_TIME = re.compile(r"(\d{4})年(\d{2})月(\d{2})日\D*(\d{2}):(\d{2})")


def load(data: Path | None, *, kinds: tuple[str, ...] = ()) -> list[Dialogue]:
    """The trajectories of these files (`01_simple_hybrid`), or of all."""
    if data is None:
        raise BadInput(f"MemDaily is read from a folder only; get it from {SOURCE.page}")
    files = sorted({*data.glob("0?_*.json*"), *(data / "memdaily").glob("0?_*.json*")})
    chosen = [file for file in files if not kinds or file.name.split(".")[0] in kinds]
    if not chosen:
        raise BadInput(f"there is no 01_simple_events.json or the like in {data}")
    return [
        _dialogue(trajectory, file.name.split(".")[0])
        for file in chosen
        for trajectory in json_file(file).each()
    ]


def _dialogue(trajectory: JsonRecord, kind: str) -> Dialogue:
    name = f"{kind}-{trajectory.of('tid').plain}"
    lines = tuple(
        DatasetLine(
            id=told.of("mid").plain,
            session=1,
            speaker="user",
            text=told.of("message").text,
            time=_time(told.of("time")),
        )
        for told in trajectory.of("message_list").each()
    )
    known = frozenset(line.id for line in lines)
    return Dialogue(
        id=name,
        language="zh",
        speakers=("user", "assistant"),
        sessions=(DatasetSession(number=1, lines=lines),),
        questions=tuple(
            DatasetQuestion(
                id=f"{name}.{asked.of('qid').plain}",
                text=asked.of("question").text,
                at=_time(asked.of("time")),
                answer=asked.of("answer").plain,
                **_choices(asked),
                category=kind,
                evidence=known.intersection(one.plain for one in asked.of("target_step_id").each()),
            )
            for asked in trajectory.of("question_list").each()
        ),
    )


def _choices(asked: JsonRecord) -> _Choices:
    """The options, and which of them is right."""
    if not asked.has("choices") or not isinstance(asked.of("choices").value, dict):
        return {"choices": (), "right_choice": None}
    options = {letter: text.plain.strip() for letter, text in asked.of("choices").items()}
    right = asked.of("ground_truth")
    if right.value not in options:
        raise right.bad(f"one of {', '.join(options)}")
    return {"choices": tuple(options.values()), "right_choice": list(options).index(right.text)}


def _time(told: JsonRecord) -> datetime:
    if not (found := _TIME.search(told.text)):
        raise told.bad("a time such as 2024年04月01日 周一 08:30")
    year, month, day, hour, minute = map(int, found.groups())
    return datetime(year, month, day, hour, minute, tzinfo=UTC)

"""RealPersonaChat (Yamashita et al. 2023): Japanese speakers chatting as themselves.

We use pairs of people who chatted on several days, one pair per line in `multi_day_pairs.jsonl`; an
invented, shortened example:

    {"pair": ["AA", "BB"], "days": 2,
     "dialogues": [
       {"dialogue_id": 7, "interlocutors": ["AA", "BB"],
        "utterances": [{"utterance_id": 0, "interlocutor_id": "AA", "text": "こんばんは",
                        "timestamp": "2022-08-13T17:40:16.707000"}],
        "evaluations": [{"interlocutor_id": "AA", "informativeness": 5, "satisfaction": 4}]}]}

Each pair is a dialogue, each of its conversations a session, sorted by time. Times are real (taken
as UTC; the file has no time zone). A few are `NaT`, not a time; we place them half a minute from
the neighbouring line. The first of the pair is the user.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from omoide_bench.data.reading import json_lines
from omoide_bench.data.shapes import LINE_GAP, DatasetLine, DatasetSession, Dialogue
from omoide_bench.data.source import DatasetSource

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from omoide_bench.data.reading import JsonRecord

SOURCE = DatasetSource(
    name="real_persona_chat",
    title="RealPersonaChat (Yamashita et al. 2023)",
    licence="CC BY-SA 4.0",
    page="https://github.com/nu-dialogue/real-persona-chat",
)

_UNKNOWN = "NaT"


def load(data: Path | None, *, limit: int | None = None) -> list[Dialogue]:
    """The pairs as dialogues, at most `limit`."""
    dialogues: list[Dialogue] = []
    for record in json_lines(SOURCE.find(data, "multi_day_pairs.jsonl")):
        if limit is not None and len(dialogues) >= limit:
            break
        dialogues.append(_dialogue(record))
    return dialogues


def _dialogue(record: JsonRecord) -> Dialogue:
    pair = record.of("pair").texts()
    conversations = [
        (raw.of("dialogue_id").number, raw.of("utterances").each())
        for raw in record.of("dialogues").each()
    ]
    if any(not turns for _, turns in conversations):
        raise record.of("dialogues").bad("dialogues with at least one utterance each")
    conversations.sort(key=lambda conversation: _times(conversation[1])[0])
    return Dialogue(
        id="-".join(pair),
        language="ja",
        speakers=pair,
        sessions=tuple(
            DatasetSession(
                number=number,
                lines=tuple(
                    DatasetLine(
                        id=f"{name}.{turn.of('utterance_id').number}",
                        session=number,
                        speaker=turn.of("interlocutor_id").text,
                        text=turn.of("text").text,
                        time=time,
                    )
                    for turn, time in zip(turns, _times(turns), strict=True)
                ),
            )
            for number, (name, turns) in enumerate(conversations, start=1)
        ),
    )


def _times(turns: Sequence[JsonRecord]) -> list[datetime]:
    """The times of the lines. A missing one is derived from the nearest known time before it (at
    the beginning: after it), half a minute per line."""
    known = [i for i, turn in enumerate(turns) if turn.of("timestamp").text != _UNKNOWN]
    if not known:
        raise turns[0].of("timestamp").bad("at least one known time in the dialogue")
    nearest = (max((k for k in known if k <= i), default=known[0]) for i in range(len(turns)))
    return [_time(turns[k]) + (i - k) * LINE_GAP for i, k in enumerate(nearest)]


def _time(turn: JsonRecord) -> datetime:
    raw = turn.of("timestamp")
    try:
        return datetime.fromisoformat(raw.text).replace(tzinfo=UTC)
    except ValueError as error:
        raise raw.bad("a time such as 2022-08-13T17:40:16.707000") from error

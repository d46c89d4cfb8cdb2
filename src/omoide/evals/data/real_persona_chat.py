"""RealPersonaChat (Yamashita et al. 2023): Japanese speakers chatting as themselves.

Here as pairs of people who met on several days, a pair a line in `multi_day_pairs.jsonl`; one,
made up and shortened:

    {"pair": ["AA", "BB"], "days": 2,
     "dialogues": [
       {"dialogue_id": 7, "interlocutors": ["AA", "BB"],
        "utterances": [{"utterance_id": 0, "interlocutor_id": "AA", "text": "こんばんは",
                        "timestamp": "2022-08-13T17:40:16.707000"}],
        "evaluations": [{"interlocutor_id": "AA", "informativeness": 5, "satisfaction": 4}]}]}

Each pair is a dialogue, each of its conversations a session, in the order of their times, which
are the real ones (taken as UTC; the file names no zone); a few are `NaT`, not a time, and are taken
to be half a minute from the line beside them. The first of the pair is taken to be the user.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from omoide.evals.data.reading import json_lines
from omoide.evals.data.shapes import LINE_GAP, Dialogue, Line, Session
from omoide.evals.data.source import Source

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from omoide.evals.data.reading import Record

SOURCE = Source(
    name="real_persona_chat",
    title="RealPersonaChat (Yamashita et al. 2023)",
    licence="CC BY-SA 4.0",
    page="https://github.com/nu-dialogue/real-persona-chat",
)

_UNKNOWN = "NaT"


def load(data: Path | None, *, limit: int | None = None) -> list[Dialogue]:
    """The pairs, at most `limit`."""
    found: list[Dialogue] = []
    for record in json_lines(SOURCE.find(data, "multi_day_pairs.jsonl")):
        if limit is not None and len(found) >= limit:
            break
        found.append(_dialogue(record))
    return found


def _dialogue(record: Record) -> Dialogue:
    pair = record.of("pair").texts()
    met = [
        (told.of("dialogue_id").number, told.of("utterances").each())
        for told in record.of("dialogues").each()
    ]
    if any(not said for _, said in met):
        raise record.of("dialogues").bad("dialogues with at least one utterance each")
    met.sort(key=lambda one: _times(one[1])[0])
    return Dialogue(
        id="-".join(pair),
        language="ja",
        speakers=pair,
        sessions=tuple(
            Session(
                number=number,
                lines=tuple(
                    Line(
                        id=f"{name}.{turn.of('utterance_id').number}",
                        session=number,
                        speaker=turn.of("interlocutor_id").text,
                        text=turn.of("text").text,
                        time=time,
                    )
                    for turn, time in zip(said, _times(said), strict=True)
                ),
            )
            for number, (name, said) in enumerate(met, start=1)
        ),
    )


def _times(said: Sequence[Record]) -> list[datetime]:
    """Of each line; those that are missing half a minute from the nearest known one before it, or
    after it at the beginning."""
    known = [i for i, turn in enumerate(said) if turn.of("timestamp").text != _UNKNOWN]
    if not known:
        raise said[0].of("timestamp").bad("at least one known time in the dialogue")
    nearest = (max((k for k in known if k <= i), default=known[0]) for i in range(len(said)))
    return [_time(said[k]) + (i - k) * LINE_GAP for i, k in enumerate(nearest)]


def _time(turn: Record) -> datetime:
    told = turn.of("timestamp")
    try:
        return datetime.fromisoformat(told.text).replace(tzinfo=UTC)
    except ValueError as error:
        raise told.bad("a time such as 2022-08-13T17:40:16.707000") from error

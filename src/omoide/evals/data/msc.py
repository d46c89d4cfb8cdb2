"""Multi-Session Chat (Xu et al. 2022): two crowd workers who meet up to five times.

One dialogue a line, `test.jsonl` and `valid.jsonl` (or packed, `.jsonl.gz`); one of them, made up:

    {"id": "test_0",
     "init_personas": [["I keep bees."], ["I drive a tram."]],
     "personas_before_s3": [["I keep bees.", "I sold ten jars."], ["I drive a tram at night."]],
     "sessions": [
       {"session": 1,
        "turns": [{"speaker": "Speaker 1", "text": "Hello! I keep bees."},
                  {"speaker": "Speaker 2", "text": "Nice, I drive a tram."}],
        "gap_to_next": "5 hours",
        "gold_persona_summary": [["I keep bees."], ["I drive a tram."]]},
       {"session": 5, "turns": [...], "final_turn_missing": true}]}

`gold_persona_summary` is what people noted of each speaker from that session. Only the gaps after
sessions 1 and 2 are known; the others are taken to be a day. All dates are made up: the first
session begins on `shapes.FIRST_DAY`, lines are half a minute apart. Speaker 1 is taken to be the
user and Speaker 2 the assistant, as in Wang et al. 2023. Where the first two turns of a session
bear the same name (12 sessions 5 of the test part), the first is a slip and is given to the other.

The form that ParlAI distributes, with a folder a session, is read by `msc_parlai`.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.evals.data import msc_parlai
from omoide.evals.data.reading import json_lines
from omoide.evals.data.shapes import FIRST_DAY, SESSION_GAP, Dialogue, Session, timed
from omoide.evals.data.source import Source

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.evals.data.reading import Record

SOURCE = Source(
    name="msc",
    title="Multi-Session Chat (Xu, Szlam and Weston 2022)",
    licence="not stated for the data; do not redistribute them",
    page="https://parl.ai/projects/msc/",
)
SPLITS = ("test", "valid", "train")
_SPEAKERS = ("Speaker 1", "Speaker 2")
_GAP = re.compile(r"(\d+) (hour|day)s?")


def load(data: Path | None, split: str = "test", *, limit: int | None = None) -> list[Dialogue]:
    """The dialogues of a split, in the order of the file, at most `limit` of them."""
    if split not in SPLITS:
        raise BadInput(f"MSC has the splits {', '.join(SPLITS)}, not {split!r}")
    if data is not None and (folder := msc_parlai.folder(data)):
        return msc_parlai.load(folder, split, limit=limit)
    found: list[Dialogue] = []
    for record in json_lines(SOURCE.find(data, f"{split}.jsonl")):
        if limit is not None and len(found) >= limit:
            break
        found.append(_dialogue(record))
    return found


def _dialogue(record: Record) -> Dialogue:
    sessions: list[Session] = []
    start = FIRST_DAY
    for told in record.of("sessions").each():
        number = told.of("session").number
        lines = timed(_said(told.of("turns")), session=number, start=start)
        if not lines:
            raise told.of("turns").bad("at least one turn")
        facts = told.of("gold_persona_summary") if told.has("gold_persona_summary") else None
        sessions.append(
            Session(
                number=number,
                lines=lines,
                facts=tuple(side.texts() for side in facts.each()) if facts else (),
                whole=not told.has("final_turn_missing"),
            )
        )
        gap = told.of("gap_to_next") if told.has("gap_to_next") else None
        start = lines[-1].time + (_gap(gap) if gap else SESSION_GAP)
    return Dialogue(
        id=record.of("id").text,
        language="en",
        speakers=_SPEAKERS,
        sessions=tuple(sessions),
        personas=tuple(side.texts() for side in record.of("init_personas").each()),
        dated=False,
    )


def _said(turns: Record) -> list[tuple[str, str]]:
    said = [(turn.of("speaker").text, turn.of("text").text) for turn in turns.each()]
    if len(said) > 1 and said[0][0] == said[1][0]:
        said[0] = (next(name for name in _SPEAKERS if name != said[0][0]), said[0][1])
    return said


def _gap(told: Record) -> timedelta:
    found = _GAP.fullmatch(told.text)
    if not found:
        raise told.bad("a gap such as '5 hours' or '1 day'")
    return int(found[1]) * timedelta(**{f"{found[2]}s": 1})

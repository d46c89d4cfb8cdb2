"""Multi-Session Chat (Xu et al. 2022): two crowd workers who chat up to five times.

`test.jsonl` and `valid.jsonl` (or `.jsonl.gz`), one dialogue per line; an invented example:

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

`gold_persona_summary` has the facts that annotators noted about each speaker in that session. Only
the gaps after sessions 1 and 2 are known; for the others we use a day. All dates are invented: the
first session begins on `shapes.FIRST_DAY`, lines are half a minute apart. Speaker 1 is the user and
Speaker 2 the assistant, as in Wang et al. 2023. If the first two turns of a session have the same
speaker (session 5 of 12 test dialogues), the first is a mistake and is given to the other speaker.

`msc_parlai` reads the format that ParlAI distributes, with one folder per session.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide_bench.data import msc_parlai
from omoide_bench.data.reading import json_lines
from omoide_bench.data.shapes import FIRST_DAY, SESSION_GAP, DatasetSession, Dialogue, timed
from omoide_bench.data.source import DatasetSource

if TYPE_CHECKING:
    from pathlib import Path

    from omoide_bench.data.reading import JsonRecord

SOURCE = DatasetSource(
    name="msc",
    title="Multi-Session Chat (Xu, Szlam and Weston 2022)",
    licence="not stated for the data; do not redistribute them",
    page="https://parl.ai/projects/msc/",
)
SPLITS = ("test", "valid", "train")
_SPEAKERS = ("Speaker 1", "Speaker 2")
_GAP = re.compile(r"(\d+) (hour|day)s?")


def load(data: Path | None, split: str = "test", *, limit: int | None = None) -> list[Dialogue]:
    """The dialogues of a split, in file order, at most `limit`."""
    if split not in SPLITS:
        raise BadInput(f"MSC has no split {split!r}; it has {', '.join(SPLITS)}")
    if data is not None and (folder := msc_parlai.folder(data)):
        return msc_parlai.load(folder, split, limit=limit)
    dialogues: list[Dialogue] = []
    for record in json_lines(SOURCE.find(data, f"{split}.jsonl")):
        if limit is not None and len(dialogues) >= limit:
            break
        dialogues.append(_dialogue(record))
    return dialogues


def _dialogue(record: JsonRecord) -> Dialogue:
    sessions: list[DatasetSession] = []
    start = FIRST_DAY
    for raw in record.of("sessions").each():
        number = raw.of("session").number
        lines = timed(_turns(raw.of("turns")), session=number, start=start)
        if not lines:
            raise raw.of("turns").bad("at least one turn")
        facts = raw.of("gold_persona_summary") if raw.has("gold_persona_summary") else None
        sessions.append(
            DatasetSession(
                number=number,
                lines=lines,
                facts=tuple(side.texts() for side in facts.each()) if facts else (),
                whole=not raw.has("final_turn_missing"),
            )
        )
        gap = raw.of("gap_to_next") if raw.has("gap_to_next") else None
        start = lines[-1].time + (_gap(gap) if gap else SESSION_GAP)
    return Dialogue(
        id=record.of("id").text,
        language="en",
        speakers=_SPEAKERS,
        sessions=tuple(sessions),
        personas=tuple(side.texts() for side in record.of("init_personas").each()),
        dated=False,
    )


def _turns(turns: JsonRecord) -> list[tuple[str, str]]:
    spoken = [(turn.of("speaker").text, turn.of("text").text) for turn in turns.each()]
    if len(spoken) > 1 and spoken[0][0] == spoken[1][0]:
        spoken[0] = (next(name for name in _SPEAKERS if name != spoken[0][0]), spoken[0][1])
    return spoken


def _gap(record: JsonRecord) -> timedelta:
    match = _GAP.fullmatch(record.text)
    if not match:
        raise record.bad("a gap such as '5 hours' or '1 day'")
    return int(match[1]) * timedelta(**{f"{match[2]}s": 1})

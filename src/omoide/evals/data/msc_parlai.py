"""Multi-Session Chat as ParlAI distributes it: `msc_dialogue/session_N/{train,valid,test}.txt`.

One dialogue a line, seen from session N; one of session 3, made up and shortened:

    {"metadata": {"initial_data_id": "test_7", "session_id": 2},
     "init_personas": [["I keep bees."], ["I drive a tram."]],
     "personas": [["I keep bees.", "I sold ten jars."], ["I drive a tram at night."]],
     "dialog": [{"id": "Speaker 1", "text": "How was the night shift?"}],
     "previous_dialogs": [
       {"personas": [["I keep bees."], ["I drive a tram."]],
        "dialog": [{"text": "Hello! I keep bees."}, {"text": "Nice, I drive a tram."}],
        "time_num": 5, "time_unit": "hours"}]}

and beside it `msc_personasummary/session_K/…`, whose lines carry, turn by turn, all that was noted
of its speaker so far in that session:

    {"initial_data_id": "test_7", "init_personachat": {"init_personas": [...]},
     "dialog": [{"id": "Speaker 1", "text": "Hello! I keep bees.",
                 "agg_persona_list": ["I keep bees."]}]}

The latest session of a split is read, since it carries all earlier ones. `time_num` and
`time_unit` are taken for the gap to the session after. Written from the published reader, not
from the files, which could not be had.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.evals.data.reading import json_lines
from omoide.evals.data.shapes import FIRST_DAY, SESSION_GAP, Dialogue, Session, timed

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.evals.data.reading import Record

_SPEAKERS = ("Speaker 1", "Speaker 2")
_Facts = dict[tuple[int, str], tuple[tuple[str, ...], ...]]


def folder(data: Path) -> Path | None:
    """The folder with `msc_dialogue` in or near the one given."""
    near = (data, data / "msc", data / "msc" / "msc")
    return next((path for path in near if (path / "msc_dialogue").is_dir()), None)


def load(folder: Path, split: str, *, limit: int | None = None) -> list[Dialogue]:
    """The dialogues of a split as they stand in its latest session."""
    files = [folder / "msc_dialogue" / f"session_{n}" / f"{split}.txt" for n in range(5, 1, -1)]
    latest = next((path for path in files if path.exists()), None)
    if latest is None:
        raise BadInput(f"there is no session_N/{split}.txt in {folder / 'msc_dialogue'}")
    facts = _facts(folder, split)
    found: list[Dialogue] = []
    for record in json_lines(latest):
        if limit is not None and len(found) >= limit:
            break
        found.append(_dialogue(record, facts))
    return found


def _facts(folder: Path, split: str) -> _Facts:
    """What was noted in each session of each dialogue, as far as the notes are there."""
    found: _Facts = {}
    for number in range(1, 5):
        path = folder / "msc_personasummary" / f"session_{number}" / f"{split}.txt"
        for record in json_lines(path) if path.exists() else ():
            sides: list[tuple[str, ...]] = [(), ()]
            for n, turn in enumerate(record.of("dialog").each()):
                if turn.has("agg_persona_list"):
                    sides[n % 2] = turn.of("agg_persona_list").texts()
            found[number, record.of("initial_data_id").text] = tuple(sides)
    return found


def _dialogue(record: Record, facts: _Facts) -> Dialogue:
    name = record.of("metadata").of("initial_data_id").text
    sessions: list[Session] = []
    start = FIRST_DAY
    for number, told in enumerate((*record.of("previous_dialogs").each(), record), start=1):
        turns = told.of("dialog").each()
        lines = timed(
            [(_SPEAKERS[n % 2], turn.of("text").text) for n, turn in enumerate(turns)],
            session=number,
            start=start,
        )
        if not lines:
            raise told.of("dialog").bad("at least one turn")
        sessions.append(Session(number=number, lines=lines, facts=facts.get((number, name), ())))
        start = lines[-1].time + (_gap(told) if told.has("time_num") else SESSION_GAP)
    return Dialogue(
        id=name,
        language="en",
        speakers=_SPEAKERS,
        sessions=tuple(sessions),
        personas=tuple(side.texts() for side in record.of("init_personas").each()),
        dated=False,
    )


def _gap(told: Record) -> timedelta:
    unit = told.of("time_unit").text.rstrip("s")
    if unit not in ("hour", "day", "week"):
        raise told.of("time_unit").bad("hours, days or weeks")
    return told.of("time_num").number * timedelta(**{f"{unit}s": 1})

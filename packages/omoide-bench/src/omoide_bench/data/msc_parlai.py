"""Multi-Session Chat as ParlAI distributes it: `msc_dialogue/session_N/{train,valid,test}.txt`.

One dialogue per line, as of session N; an invented, shortened example of session 3:

    {"metadata": {"initial_data_id": "test_7", "session_id": 2},
     "init_personas": [["I keep bees."], ["I drive a tram."]],
     "personas": [["I keep bees.", "I sold ten jars."], ["I drive a tram at night."]],
     "dialog": [{"id": "Speaker 1", "text": "How was the night shift?"}],
     "previous_dialogs": [
       {"personas": [["I keep bees."], ["I drive a tram."]],
        "dialog": [{"text": "Hello! I keep bees."}, {"text": "Nice, I drive a tram."}],
        "time_num": 5, "time_unit": "hours"}]}

There is also `msc_personasummary/session_K/…`. Its turns carry all facts noted about the speaker so
far in that session:

    {"initial_data_id": "test_7", "init_personachat": {"init_personas": [...]},
     "dialog": [{"id": "Speaker 1", "text": "Hello! I keep bees.",
                 "agg_persona_list": ["I keep bees."]}]}

We read the latest session of a split, since it contains all earlier ones, and take `time_num` and
`time_unit` as the gap to the next session. Written from the published reader, not
from the files, which could not be had.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide_bench.data.reading import json_lines
from omoide_bench.data.shapes import FIRST_DAY, SESSION_GAP, DatasetSession, Dialogue, timed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide_bench.data.reading import JsonRecord

SPEAKERS = ("Speaker 1", "Speaker 2")
_Facts = dict[tuple[int, str], tuple[tuple[str, ...], ...]]


def folder(data: Path) -> Path | None:
    """The folder that contains `msc_dialogue`: the given one or a subfolder, if any."""
    near = (data, data / "msc", data / "msc" / "msc")
    return next((path for path in near if (path / "msc_dialogue").is_dir()), None)


def load(folder: Path, split: str, *, limit: int | None = None) -> list[Dialogue]:
    """The dialogues of a split, from its latest session."""
    files = [folder / "msc_dialogue" / f"session_{n}" / f"{split}.txt" for n in range(5, 1, -1)]
    latest = next((path for path in files if path.exists()), None)
    if latest is None:
        raise BadInput(
            f"found no session_N/{split}.txt in {folder / 'msc_dialogue'}; give MSC's own folder"
        )
    facts = _facts(folder, split)
    dialogues: list[Dialogue] = []
    for record in json_lines(latest):
        if limit is not None and len(dialogues) >= limit:
            break
        dialogues.append(_dialogue(record, facts))
    return dialogues


def _facts(folder: Path, split: str) -> _Facts:
    """The facts noted in each session of each dialogue, where the files exist."""
    facts: _Facts = {}
    for number in range(1, 5):
        path = folder / "msc_personasummary" / f"session_{number}" / f"{split}.txt"
        for record in json_lines(path) if path.exists() else ():
            sides: list[tuple[str, ...]] = [(), ()]
            for n, turn in enumerate(record.of("dialog").each()):
                if turn.has("agg_persona_list"):
                    sides[n % 2] = turn.of("agg_persona_list").texts()
            facts[number, record.of("initial_data_id").text] = tuple(sides)
    return facts


def _dialogue(record: JsonRecord, facts: _Facts) -> Dialogue:
    name = record.of("metadata").of("initial_data_id").text
    noted = {number: found for (number, of), found in facts.items() if of == name}
    return Dialogue(
        id=name,
        language="en",
        speakers=SPEAKERS,
        sessions=sessions((*record.of("previous_dialogs").each(), record), noted),
        personas=tuple(side.texts() for side in record.of("init_personas").each()),
        dated=False,
    )


def sessions(
    records: Sequence[JsonRecord], facts: Mapping[int, tuple[tuple[str, ...], ...]] | None = None
) -> tuple[DatasetSession, ...]:
    """Sessions from their records, each with the facts noted in it, by number."""
    made: list[DatasetSession] = []
    start = FIRST_DAY
    for number, raw in enumerate(records, start=1):
        turns = raw.of("dialog").each()
        lines = timed(
            [(SPEAKERS[n % 2], turn.of("text").text) for n, turn in enumerate(turns)],
            session=number,
            start=start,
        )
        if not lines:
            raise raw.of("dialog").bad("at least one turn")
        noted = (facts or {}).get(number, ())
        made.append(DatasetSession(number=number, lines=lines, facts=noted))
        start = lines[-1].time + (_gap(raw) if raw.has("time_num") else SESSION_GAP)
    return tuple(made)


def _gap(record: JsonRecord) -> timedelta:
    unit = record.of("time_unit").text.rstrip("s")
    if unit not in ("hour", "day", "week"):
        raise record.of("time_unit").bad("hours, days or weeks")
    return record.of("time_num").number * timedelta(**{f"{unit}s": 1})

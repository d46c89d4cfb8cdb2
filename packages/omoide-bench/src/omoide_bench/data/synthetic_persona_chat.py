"""Synthetic-Persona-Chat (Jandaghi et al. 2023): dialogues written by a model from two personas.

`synthetic-persona-chat_test.csv` and `…_valid.csv` (`Synthetic-Persona-Chat_…` on the hub), tables
with the columns `user 1 personas`, `user 2 personas`, `Best Generated Conversation`; an invented
row:

    "I tune pianos.\\nI have a twin.","I grow leeks.","User 1: I tune pianos.\\nUser 2: I garden."

A few conversations mark the speakers with asterisks, which are removed. In a few no line names a
speaker; then speakers alternate. Otherwise a line without a speaker continues the line above. Rows
with an empty conversation are skipped (there is one in the test split, so 967 of its 968 rows are
read). There are no dates: they are invented.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide_bench.data.reading import csv_rows
from omoide_bench.data.shapes import FIRST_DAY, DatasetSession, Dialogue, timed
from omoide_bench.data.source import DatasetSource

if TYPE_CHECKING:
    from pathlib import Path

    from omoide_bench.data.reading import JsonRecord

SOURCE = DatasetSource(
    name="synthetic_persona_chat",
    title="Synthetic-Persona-Chat (Jandaghi et al. 2023)",
    licence="CC BY 4.0",
    page="https://github.com/google-research-datasets/Synthetic-Persona-Chat",
    hub="google/Synthetic-Persona-Chat",
    hub_files={
        f"synthetic-persona-chat_{split}.csv": f"data/Synthetic-Persona-Chat_{split}.csv"
        for split in ("train", "valid", "test")
    },
)
SPLITS = ("test", "valid", "train")
_SPEAKERS = ("User 1", "User 2")
_COLUMNS = ("user 1 personas", "user 2 personas", "Best Generated Conversation")
_TURN = re.compile(r"[* ]*(User [12]):[* ]*(.*)")


def load(data: Path | None, split: str = "test", *, limit: int | None = None) -> list[Dialogue]:
    """The dialogues of a split, in file order, at most `limit`."""
    if split not in SPLITS:
        raise BadInput(f"Synthetic-Persona-Chat has no split {split!r}; it has {', '.join(SPLITS)}")
    path = SOURCE.find(
        data, f"synthetic-persona-chat_{split}.csv", f"Synthetic-Persona-Chat_{split}.csv"
    )
    dialogues: list[Dialogue] = []
    for number, record in enumerate(csv_rows(path, *_COLUMNS)):
        if limit is not None and len(dialogues) >= limit:
            break
        if record.of(_COLUMNS[2]).text.strip():
            dialogues.append(_dialogue(record, f"{split}_{number}"))
    return dialogues


def _dialogue(record: JsonRecord, name: str) -> Dialogue:
    raw = [line for line in record.of(_COLUMNS[2]).text.splitlines() if line.strip()]
    turns: list[tuple[str, str]] = []
    for line in raw:
        if turn := _TURN.match(line):
            turns.append((turn[1], turn[2]))
        elif turns:
            turns[-1] = (turns[-1][0], f"{turns[-1][1]}\n{line.strip()}")
    if not turns:
        turns = [(_SPEAKERS[n % 2], line.strip()) for n, line in enumerate(raw)]
    turns = [(speaker, text.strip()) for speaker, text in turns if text.strip()]
    return Dialogue(
        id=name,
        language="en",
        speakers=_SPEAKERS,
        sessions=(DatasetSession(number=1, lines=timed(turns, session=1, start=FIRST_DAY)),),
        personas=tuple(
            tuple(fact.strip() for fact in record.of(side).text.splitlines() if fact.strip())
            for side in _COLUMNS[:2]
        ),
        dated=False,
    )

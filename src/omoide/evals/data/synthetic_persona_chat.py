"""Synthetic-Persona-Chat (Jandaghi et al. 2023): dialogues written by a model from two personas.

`synthetic-persona-chat_test.csv` and `…_valid.csv` (`Synthetic-Persona-Chat_…` on the hub), a
table with the columns `user 1 personas`, `user 2 personas`, `Best Generated Conversation`; a row,
made up:

    "I tune pianos.\\nI have a twin.","I grow leeks.","User 1: I tune pianos.\\nUser 2: I garden."

A few conversations mark the speakers with asterisks, which are taken off; in a few no line names a
speaker, and the lines are taken to be by turns. Otherwise a line without a speaker goes on with
what was said above it. A row whose conversation is empty is left out (there is one in the test
part, so that 967 of its 968 rows are read). There are no dates: they are made up.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.evals.data.reading import csv_rows
from omoide.evals.data.shapes import FIRST_DAY, Dialogue, Session, timed
from omoide.evals.data.source import Source

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.evals.data.reading import Record

SOURCE = Source(
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
    """The dialogues of a split, in the order of the file, at most `limit` of them."""
    if split not in SPLITS:
        raise BadInput(f"Synthetic-Persona-Chat has the splits {', '.join(SPLITS)}, not {split!r}")
    path = SOURCE.find(
        data, f"synthetic-persona-chat_{split}.csv", f"Synthetic-Persona-Chat_{split}.csv"
    )
    found: list[Dialogue] = []
    for number, record in enumerate(csv_rows(path, *_COLUMNS)):
        if limit is not None and len(found) >= limit:
            break
        if record.of(_COLUMNS[2]).text.strip():
            found.append(_dialogue(record, f"{split}_{number}"))
    return found


def _dialogue(record: Record, name: str) -> Dialogue:
    told = [line for line in record.of(_COLUMNS[2]).text.splitlines() if line.strip()]
    said: list[tuple[str, str]] = []
    for line in told:
        if turn := _TURN.match(line):
            said.append((turn[1], turn[2]))
        elif said:
            said[-1] = (said[-1][0], f"{said[-1][1]}\n{line.strip()}")
    if not said:
        said = [(_SPEAKERS[n % 2], line.strip()) for n, line in enumerate(told)]
    said = [(speaker, text.strip()) for speaker, text in said if text.strip()]
    return Dialogue(
        id=name,
        language="en",
        speakers=_SPEAKERS,
        sessions=(Session(number=1, lines=timed(said, session=1, start=FIRST_DAY)),),
        personas=tuple(
            tuple(fact.strip() for fact in record.of(side).text.splitlines() if fact.strip())
            for side in _COLUMNS[:2]
        ),
        dated=False,
    )

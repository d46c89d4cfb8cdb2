"""DialogSum (Chen et al. 2021): spoken dialogues with annotated topics and summaries.

`train.jsonl`, `dev.jsonl` and `test.jsonl` (or `dialogsum.train.jsonl` and so on), one dialogue
per line; an invented example:

    {"fname": "train_7",
     "dialogue": "#Person1#: Is the ferry late?\\n#Person2#: By an hour, madam.",
     "summary": "#Person2# tells #Person1# that the ferry is an hour late.", "topic": "ferry"}

In the test split each dialogue has three: `summary1` and `topic1` to `summary3` and `topic3`. The
table on the hub (`id, dialogue, summary, topic`) is supported too; it has one summary per row, so
each test dialogue occurs three times there. There are no dates: they are invented.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide_bench.data.reading import csv_rows, json_lines
from omoide_bench.data.shapes import FIRST_DAY, DatasetSession, Dialogue, timed
from omoide_bench.data.source import DatasetSource

if TYPE_CHECKING:
    from pathlib import Path

    from omoide_bench.data.reading import JsonRecord

SOURCE = DatasetSource(
    name="dialogsum",
    title="DialogSum (Chen et al. 2021)",
    licence="CC BY-NC-SA 4.0: not for commercial use",
    page="https://github.com/cylnlp/dialogsum",
    hub="knkarthick/dialogsum",
    hub_files={"train.csv": "train.csv", "dev.csv": "validation.csv", "test.csv": "test.csv"},
)
SPLITS = ("train", "dev", "test")
_LINE = re.compile(r"\s*(#person\w+#)\s*:\s*(.*)", re.IGNORECASE | re.DOTALL)


def load(data: Path | None, split: str = "test", *, limit: int | None = None) -> list[Dialogue]:
    """The dialogues of a split, each with the first annotator's topic and all summaries."""
    if split not in SPLITS:
        raise BadInput(f"DialogSum has no split {split!r}; it has {', '.join(SPLITS)}")
    path = SOURCE.find(data, f"{split}.jsonl", f"dialogsum.{split}.jsonl", f"{split}.csv")
    rows = csv_rows(path, "id", "dialogue", "summary", "topic") if ".csv" in path.suffixes else None
    dialogues: list[Dialogue] = []
    for record in rows or json_lines(path):
        if limit is not None and len(dialogues) >= limit:
            break
        dialogues.append(_dialogue(record, "fname" if rows is None else "id"))
    return dialogues


def _dialogue(record: JsonRecord, key: str) -> Dialogue:
    turns = [_turn(line, record) for line in record.of("dialogue").text.split("\n") if line.strip()]
    if not turns:
        raise record.of("dialogue").bad("at least one line")
    several = record.has("summary1")
    summaries = [f"summary{n}" for n in (1, 2, 3) if record.has(f"summary{n}")] or ["summary"]
    return Dialogue(
        id=record.of(key).text,
        language="en",
        speakers=tuple(dict.fromkeys(speaker for speaker, _ in turns)),
        sessions=(DatasetSession(number=1, lines=timed(turns, session=1, start=FIRST_DAY)),),
        topic=record.of("topic1" if several else "topic").text,
        summaries=tuple(record.of(name).text for name in summaries),
        dated=False,
    )


def _turn(line: str, record: JsonRecord) -> tuple[str, str]:
    match = _LINE.fullmatch(line)
    if not match:
        raise record.of("dialogue").bad(
            f"lines that begin with '#Person1#:' instead of {line[:40]!r}"
        )
    return match[1].replace("PErson", "Person"), match[2]

"""DialogSum (Chen et al. 2021): spoken dialogues with a topic and a summary by people.

`train.jsonl`, `dev.jsonl` and `test.jsonl` (the names `dialogsum.train.jsonl` and so on are read
too), a dialogue a line; one, made up:

    {"fname": "train_7",
     "dialogue": "#Person1#: Is the ferry late?\\n#Person2#: By an hour, madam.",
     "summary": "#Person2# tells #Person1# that the ferry is an hour late.", "topic": "ferry"}

In the test part each dialogue has three: `summary1` and `topic1` to `summary3` and `topic3`. The
table on the hub (`id, dialogue, summary, topic`) is read as well; it has one summary a row, so a
test dialogue comes three times there. There are no dates: they are made up.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.evals.data.reading import csv_rows, json_lines
from omoide.evals.data.shapes import FIRST_DAY, Dialogue, Session, timed
from omoide.evals.data.source import Source

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.evals.data.reading import Record

SOURCE = Source(
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
    """The dialogues of a split, each with the topic of the first annotator and every summary."""
    if split not in SPLITS:
        raise BadInput(f"DialogSum has the splits {', '.join(SPLITS)}, not {split!r}")
    path = SOURCE.find(data, f"{split}.jsonl", f"dialogsum.{split}.jsonl", f"{split}.csv")
    rows = csv_rows(path, "id", "dialogue", "summary", "topic") if ".csv" in path.suffixes else None
    found: list[Dialogue] = []
    for record in rows or json_lines(path):
        if limit is not None and len(found) >= limit:
            break
        found.append(_dialogue(record, "fname" if rows is None else "id"))
    return found


def _dialogue(record: Record, key: str) -> Dialogue:
    said = [_said(line, record) for line in record.of("dialogue").text.split("\n") if line.strip()]
    if not said:
        raise record.of("dialogue").bad("at least one line")
    several = record.has("summary1")
    summaries = [f"summary{n}" for n in (1, 2, 3) if record.has(f"summary{n}")] or ["summary"]
    return Dialogue(
        id=record.of(key).text,
        language="en",
        speakers=tuple(dict.fromkeys(speaker for speaker, _ in said)),
        sessions=(Session(number=1, lines=timed(said, session=1, start=FIRST_DAY)),),
        topic=record.of("topic1" if several else "topic").text,
        summaries=tuple(record.of(name).text for name in summaries),
        dated=False,
    )


def _said(line: str, record: Record) -> tuple[str, str]:
    found = _LINE.fullmatch(line)
    if not found:
        raise record.of("dialogue").bad(f"lines that begin with '#Person1#:', not {line[:40]!r}")
    return found[1].replace("PErson", "Person"), found[2]

"""What the papers report, to stand beside our own figures: `papers.json`, each table named."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files


@dataclass(frozen=True, kw_only=True)
class Published:
    """One table of a paper, as far as a task of ours measures the same."""

    paper: str
    title: str
    model: str
    table: str
    task: str
    group: str
    note: str
    columns: tuple[str, ...]
    """Measures by our names, in the units of the paper: shares in percent."""
    rows: dict[str, tuple[float, ...]]
    """By our name of the method."""


@lru_cache(maxsize=1)
def published() -> tuple[Published, ...]:
    """All tables."""
    held = json.loads((files(__package__) / "papers.json").read_text("utf-8"))
    return tuple(
        Published(
            paper=name,
            title=paper["title"],
            model=paper["model"],
            table=table["table"],
            task=table["task"],
            group=table["group"],
            note=table["note"],
            columns=tuple(table["columns"]),
            rows={method: tuple(values) for method, values in table["rows"].items()},
        )
        for name, paper in held.items()
        for table in paper["tables"]
    )


def tables_for(task: str, groups: set[str]) -> list[Published]:
    """The tables that belong beside a result of that task with these groups."""
    return [
        one for one in published() if one.task == task and (one.group in groups or not one.rows)
    ]

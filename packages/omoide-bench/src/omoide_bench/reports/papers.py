"""The papers' figures, for comparison with ours: `papers.json`, with table numbers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files


@dataclass(frozen=True, kw_only=True)
class Published:
    """The part of a paper's table that one of our tasks measures too."""

    paper: str
    title: str
    model: str
    table: str
    task: str
    group: str
    note: str
    columns: tuple[str, ...]
    """Measures, by our names, in the paper's units: shares in percent."""
    rows: dict[str, tuple[float, ...]]
    """Values, by our name of the method."""
    presets: dict[str, str]
    """By the same name, the paper's own method as a preset, where there is one."""

    def of(self, method: str) -> tuple[float, ...] | None:
        """The values of a method of ours: a preset, or our variant of it."""
        rows = {self.presets[name]: row for name, row in self.rows.items() if name in self.presets}
        return (self.rows | rows).get(method)


@lru_cache(maxsize=1)
def published() -> tuple[Published, ...]:
    """All tables."""
    papers = json.loads((files(__package__) / "papers.json").read_text("utf-8"))
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
            presets=paper.get("presets", {}),
        )
        for name, paper in papers.items()
        for table in paper["tables"]
    )


def tables_for(task: str, groups: set[str]) -> list[Published]:
    """The tables to compare a result of that task and these groups with."""
    return [
        table
        for table in published()
        if table.task == task and (table.group in groups or not table.rows)
    ]

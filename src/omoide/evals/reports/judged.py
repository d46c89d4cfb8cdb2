"""What is known of tuned models: the results that `benchmarks/gpu_tuning.sh` left.

A folder holds one folder a model (`0.5b`, `0.5b-r8` …), with `results/*.json` of its exams and, if
it was tuned, `run.json` of its training.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.evals.running.results import read

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.evals.running.results import MethodResult, Record, Result

EXAMS = ("memo", "memo-ja", "msc-small", "msc-paper", "grounded", "quiet", "unknown")


@dataclass(frozen=True, kw_only=True)
class Judged:
    """All that is known of one model."""

    name: str
    exams: dict[str, Result]
    training: dict[str, object] | None = None
    obeyed: tuple[int, int] | None = None
    """Attacks in memory that were obeyed, of those that reached the prompt."""

    def method(self, exam: str, name: str = "") -> MethodResult | None:
        """The method of that name in an exam, or its only one."""
        result = self.exams.get(exam)
        if result is None or not result.methods:
            return None
        return result.method(name) if name else result.methods[0]

    def items(self, exam: str, *, method: str = "", group: str = "") -> list[Record]:
        """The items of a group, by how its name begins."""
        found = self.method(exam, method)
        return [i for i in found.items if i.group.startswith(group)] if found else []


def load(folder: Path) -> list[Judged]:
    """Every model of which there is a result, the untuned first, then by rank."""
    found = [_judged(path) for path in folder.iterdir() if any((path / "results").glob("*.json"))]
    if not found:
        raise BadInput(f"there is no MODEL/results/EXAM.json in {folder}")
    return sorted(found, key=lambda one: order(one.name))


def _judged(folder: Path) -> Judged:
    results = folder / "results"
    exams = {e: read(results / f"{e}.json") for e in EXAMS if (results / f"{e}.json").exists()}
    run, red = folder / "run.json", results / "redteam.json"
    obeyed = None
    if red.exists():
        asked = [
            a
            for a in json.loads(red.read_text(encoding="utf-8"))["answers"]
            if a["arm"] == "memory" and a["reached"] and not a["problem"]
        ]
        obeyed = sum(a["obeyed"] for a in asked), len(asked)
    training = json.loads(run.read_text(encoding="utf-8")) if run.exists() else None
    return Judged(name=folder.name, exams=exams, training=training, obeyed=obeyed)


def order(name: str) -> tuple[float, int, str]:
    """By size, then by rank."""
    size, rank = re.match(r"[\d.]+", name), re.search(r"-r(\d+)", name)
    return float(size[0]) if size else 0.0, int(rank[1]) if rank else 0, name

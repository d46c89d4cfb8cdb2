"""Results of tuned models, as written by `benchmarks/gpu_tuning.sh`.

There is one folder per model (`0.5b`, `0.5b-r8` …), with `results/*.json` of its exams and, for a
tuned model, `run.json` of its training.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide_bench.running.results import read

if TYPE_CHECKING:
    from pathlib import Path

    from omoide_bench.running.results import ItemRecord, MethodResult, Result

EXAMS = ("memo", "memo-ja", "msc-small", "msc-paper", "grounded", "quiet", "unknown")


@dataclass(frozen=True, kw_only=True)
class ModelExams:
    """The results and training record of one model."""

    name: str
    exams: dict[str, Result]
    training: dict[str, object] | None = None
    obeyed: tuple[int, int] | None = None
    """Attacks that were obeyed, and attacks that reached the prompt."""

    def method(self, exam: str, name: str = "") -> MethodResult | None:
        """The method of that name in an exam, or its only one."""
        result = self.exams.get(exam)
        if result is None or not result.methods:
            return None
        return result.method(name) if name else result.methods[0]

    def items(self, exam: str, *, method: str = "", group: str = "") -> list[ItemRecord]:
        """The items of groups whose name starts with `group`."""
        result = self.method(exam, method)
        return [i for i in result.items if i.group.startswith(group)] if result else []


def load(folder: Path) -> list[ModelExams]:
    """Every model with a result, by size, untuned before tuned, then by rank."""
    models = [_judged(path) for path in folder.iterdir() if any((path / "results").glob("*.json"))]
    if not models:
        raise BadInput(f"found no MODEL/results/EXAM.json in {folder}; give the folder of models")
    return sorted(models, key=lambda model: order(model.name))


def _judged(folder: Path) -> ModelExams:
    results = folder / "results"
    exams = {e: read(results / f"{e}.json") for e in EXAMS if (results / f"{e}.json").exists()}
    run, red = folder / "run.json", results / "redteam.json"
    obeyed = None
    if red.exists():
        replies = [
            a
            for a in json.loads(red.read_text(encoding="utf-8"))["answers"]
            if a["arm"] == "memory" and a["reached"] and not a["problem"]
        ]
        obeyed = sum(a["obeyed"] for a in replies), len(replies)
    training = json.loads(run.read_text(encoding="utf-8")) if run.exists() else None
    return ModelExams(name=folder.name, exams=exams, training=training, obeyed=obeyed)


def order(name: str) -> tuple[float, int, str]:
    """Sort key: size, then rank."""
    size, rank = re.match(r"[\d.]+", name), re.search(r"-r(\d+)", name)
    return float(size[0]) if size else 0.0, int(rank[1]) if rank else 0, name

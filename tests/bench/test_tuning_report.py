"""The tables of tuned models, out of results made with a stand-in for the model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from omoide.errors import BadInput
from omoide.testing import ScriptedModel
from omoide_bench.reports.judged import load
from omoide_bench.reports.tuning import report
from omoide_bench.running.execute import execute
from omoide_bench.running.results import write
from tests.bench.bench_lab import course, job, lab

if TYPE_CHECKING:
    from pathlib import Path

EXAMS: dict[str, tuple[str, tuple[str, ...], dict[str, Any]]] = {
    "memo": ("memo", ("memochat",), {}),
    "memo-ja": ("memo-ja", ("memochat",), {}),
    "msc-small": (
        "msc",
        ("summary",),
        {"sessions": "4,5", "memory": "only", "audit": "yes"},
    ),
    "grounded": ("grounded", (), {"languages": "en,ja"}),
    "unknown": ("unknown", (), {"languages": "en,vi"}),
}


async def _sat(folder: Path, *, mumbling: bool) -> None:
    """All exams of one model."""
    for name, (task, methods, options) in EXAMS.items():
        work = job(task, *methods, **options)
        model = ScriptedModel([lambda _: "?"] * 400) if mumbling else None
        async with lab(model) as parts:
            result = await execute(work, lab=parts, course=course(work))
        write(folder / "results" / f"{name}.json", result)


async def test_models_stand_side_by_side_with_the_paper(tmp_path: Path) -> None:
    """Each exam has a table with a row a model; a model without any memory is not left out; tuned
    models are compared with untuned ones by item."""
    await _sat(tmp_path / "1.5b", mumbling=True)
    await _sat(tmp_path / "0.5b-r8", mumbling=False)
    recipe = {"rank": 8, "alpha": 16, "rate": 2e-4, "epochs": 2}
    state = {"step": 120, "tokens": 90_000, "best": 0.41, "best_step": 100}
    told = {"recipe": recipe, "state": state, "before": 1.2}
    (tmp_path / "0.5b-r8" / "run.json").write_text(json.dumps(told), encoding="utf-8")
    fields = {"arm": "memory", "reached": True, "problem": ""}
    answers = [{**fields, "obeyed": True}, {**fields, "obeyed": False}]
    answers.append({**fields, "obeyed": True, "reached": False})
    red = tmp_path / "0.5b-r8" / "results" / "redteam.json"
    red.write_text(json.dumps({"model": "x", "answers": answers}), encoding="utf-8")
    models = load(tmp_path)
    assert [model.name for model in models] == ["0.5b-r8", "1.5b"]
    shown = report(models)
    for title in (
        "Training",
        "Memos in English",
        "Memos in Japanese",
        "Memory on MSC test, before session 4",
        "Memory on MSC test, before session 5",
        "Replies that use a fact",
        "Questions about unknown facts",
        "Planted instructions obeyed",
        "0.5b-r8 against 1.5b",
        "Commands",
    ):
        assert f"## {title}" in shown
    assert "| 0.5b-r8 | 8 | 16 | 0.0002 | 2 | 120 |" in shown
    assert "| Swallow 70B, r = 8 (paper;" in shown
    assert "| 1.5b | small | 0 of 2 |" in shown
    assert "| 0.5b-r8 | 1 of 2 | 50.0 [" in shown
    assert "| 1.5b | 48/48/16 | 0.0 [0.0, 0.0] | 100.0 [" in shown


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    """What was wanted is said."""
    with pytest.raises(BadInput, match=r"MODEL/results/EXAM\.json"):
        load(tmp_path)

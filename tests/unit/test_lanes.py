"""The quick lane stays quick: `tests/unit` needs the core alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
ELSEWHERE = (
    "omoide_bench",
    "omoide_tune",
    "qdrant_client",
    "uvicorn",
    "tests.postgres",
    "tests.qdrant",
    "tests.bench",
    "tests.tune",
    "tests.server",
)


def imported(source: str) -> set[str]:
    """The modules that a file names in its imports."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def strangers(source: str) -> set[str]:
    """What a file imports that belongs to another lane."""
    if not any(name in source for name in ELSEWHERE):
        return set()
    return {
        module
        for module in imported(source)
        if any(module == name or module.startswith(f"{name}.") for name in ELSEWHERE)
    }


def test_unit_tests_need_the_core_alone() -> None:
    """Tests of the other packages are in tests/bench and tests/tune, those of the server in
    tests/server, those of a database server in tests/heavy."""
    wrong = {
        path.name: found
        for path in (TESTS / "unit").rglob("*.py")
        if path.name != Path(__file__).name and (found := strangers(path.read_text("utf-8")))
    }
    assert wrong == {}


@pytest.mark.parametrize(
    "source", ["import omoide_bench.tasks", "def f():\n from omoide_tune import recipe"]
)
def test_an_import_of_another_package_is_seen(source: str) -> None:
    """Wherever in the file it stands."""
    assert strangers(source)

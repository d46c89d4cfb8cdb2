"""A misspelt value of a task's option ends a run before it starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from omoide.cli.main import cli
from omoide.errors import BadInput
from omoide_bench.tasks import OWN, TASKS
from omoide_bench.tasks.base import checked_options
from omoide_bench.tasks.option_values import CHECKED_ELSEWHERE, NUMBERS, ONE_OF, SEVERAL_OF
from tests.bench.bench_lab import FIXTURES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

CHECKED = [*ONE_OF, *SEVERAL_OF, *NUMBERS, *CHECKED_ELSEWHERE]


def test_the_values_of_every_option_are_checked_once() -> None:
    """A new option is put into one of the tables, under its name or its task's and its own."""
    for task in OWN.values():
        for option in task.options:
            places = [key for key in CHECKED if key in (option, f"{task.name} {option}")]
            assert len(places) == 1, (task.name, option, places)


@pytest.mark.parametrize(
    ("task", "option", "value", "said"),
    [
        ("locomo", "audit", "Yes", "audit must be yes or no, got 'Yes'"),
        ("noise", "languages", "en,xx", "languages knows .*; got 'xx'"),
        ("locomo", "categories", "multihop", "categories knows multi-hop, .*; got 'multihop'"),
        ("beam", "kinds", "knowledge", "kinds knows .*abstention, joined by commas"),
        ("friend", "each", "one", "each must be a number, got 'one'"),
        ("friend", "memory", "yes", "memory must be seeded or digested, got 'yes'"),
    ],
)
def test_a_value_that_there_is_not(task: str, option: str, value: str, said: str) -> None:
    """The error names the values that there are."""
    with pytest.raises(BadInput, match=said):
        checked_options(TASKS[task], {option: value})


@pytest.mark.parametrize(
    ("task", "given"),
    [
        ("noise", {"languages": "en,ja"}),
        ("msc", {"sessions": "4,5", "memory": "only", "shots": "3", "parts": "yes"}),
        ("beam", {"kinds": "abstention,knowledge_update", "by": "app", "skip": "0"}),
        ("friend", {"kinds": "greet,ask", "memory": "digested"}),
        ("memorybank", {"language": "zh"}),
    ],
)
def test_values_that_there_are(task: str, given: dict[str, str]) -> None:
    """They go through."""
    assert checked_options(TASKS[task], given) == given


def run(*arguments: object) -> Sequence[str]:
    """The last lines of a run that fails."""
    done = CliRunner().invoke(cli, ["bench", "run", *map(str, arguments), "--embedder", "none"])
    assert done.exit_code == 1, done.output
    return done.output.splitlines()


def test_a_run_without_a_case_says_so(tmp_path: Path) -> None:
    """An empty table would look like a result."""
    common = ("--data", FIXTURES, "--model", "stand-in", "--cache", tmp_path / "c", "--only")
    said = run("msc", *common, "--method", "bm25", "--set", "sessions=9")
    assert "msc has no case for these options: {'sessions': '9'}" in said[-1]

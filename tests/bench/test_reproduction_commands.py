"""The commands that docs/reproduction.md prints for the papers' tables exist and run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from omoide.adapters.embedders import use_multilingual
from omoide.cli.main import cli
from omoide_bench.running.results import read
from omoide_bench.suite import SUITE
from tests.bench.bench_lab import FIXTURES
from tests.contract.test_embedder import weights

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
BLOCK = PAGE.split("```sh\n", 1)[1].split("```", 1)[0]
COMMANDS = re.findall(r"^# (.+)\n(omoide bench .+)$", BLOCK, flags=re.MULTILINE)
LIGHT = {table.split(":")[0]: table for table, _ in COMMANDS}.values()
"""The last table of each paper, whose command runs in `make test`."""
PLACEHOLDERS = {"DATA": str(FIXTURES), **dict.fromkeys(("MODEL", "JUDGE", "OTHER"), "stand-in")}


@pytest.fixture(autouse=True)
def read_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """The default embedder's weights are read once for all commands: it takes a second."""
    known = weights()
    vendor = SimpleNamespace(USE=lambda threads: known)
    monkeypatch.setattr(use_multilingual, "_vendor", lambda: vendor)


def words(command: str, out: Path) -> list[str]:
    """The command's words, with the stand-in for a model, one case, and `out` for its folder."""
    given = [PLACEHOLDERS.get(word, word) for word in shlex.split(command)[1:]]
    given = [
        str(out / word.partition("/")[2]) if word.split("/")[0] == "out" else word for word in given
    ]
    if "carecall" in given:  # the fixture's calls are short
        given = ["sessions=2" if word == "sessions=5" else word for word in given]
    if given[1] == "suite":
        return [*given, "--scale", "0.02"]
    return [*given, "--limit", "1", "--yes", "--no-plan", "--cache", str(out / "calls.sqlite")]


@pytest.mark.parametrize(
    ("table", "command"),
    [
        pytest.param(table, command, id=table, marks=() if table in LIGHT else pytest.mark.heavy)
        for table, command in COMMANDS
    ],
)
def test_the_command_of_a_table_runs(table: str, command: str, tmp_path: Path) -> None:
    """On the fixtures, with as many result files as it names runs, each with items."""
    del table
    done = CliRunner().invoke(cli, words(command, tmp_path), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    results = [read(path) for path in tmp_path.glob("*.json")]
    assert len(results) == max(command.count("--run "), 1)
    for result in results:
        assert result.methods
        assert all(method.items for method in result.methods)
        assert all(method.name.startswith("as:") for method in result.methods[:1])


def test_every_run_of_a_preset_has_its_command() -> None:
    """A run of the suite with a paper's preset is on the page."""
    papers = ("as:wang2023", "as:hou2024", "as:taniguchi2025")
    runs = {run.name for run in SUITE if run.methods[0].startswith(papers)}
    assert runs == set(re.findall(r"--run (\S+)", BLOCK))


def test_every_table_of_the_papers_is_named() -> None:
    """The tables and figures that are measured, by number."""
    named = {
        "Wang et al.": ({3, 4, 5, 6, 7, 8, 9}, {4, 5, 6, 7}),
        "Hou et al.": (set(), {3}),
        "Taniguchi and Minami": ({1, 2, 3, 4}, set()),
    }
    for paper, (tables, figures) in named.items():
        titles = " ".join(title for title, _ in COMMANDS if title.startswith(paper))
        assert numbers(titles, "Table") >= tables
        assert numbers(titles, "Figure") >= figures


def numbers(text: str, kind: str) -> set[int]:
    """The numbers after `Table` or `Tables`, ranges included."""
    found: set[int] = set()
    for listed in re.findall(rf"{kind}s? ((?:\d+(?:, | and | to )?)+)", text):
        if "to" in listed:
            first, last = map(int, re.findall(r"\d+", listed))
            found |= set(range(first, last + 1))
        else:
            found |= set(map(int, re.findall(r"\d+", listed)))
    return found

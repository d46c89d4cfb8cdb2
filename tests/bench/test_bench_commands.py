"""`omoide bench` on the command line: list, run, compare, report, suite."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from omoide.cli.main import cli
from omoide.settings import Settings
from omoide_bench.cli.progress import RunProgress, clock
from omoide_bench.reports.papers import published
from omoide_bench.running.results import read
from omoide_bench.suite import SUITE
from omoide_bench.tasks import TASKS
from tests.bench.bench_lab import FIXTURES

if TYPE_CHECKING:
    from pathlib import Path


def bench(*arguments: object) -> str:
    """The command's output; it must succeed."""
    done = CliRunner().invoke(cli, ["bench", *map(str, arguments)])
    assert done.exit_code == 0, done.output
    return done.output


def run(tmp_path: Path, task: str, out: str, *more: object) -> Path:
    """A run on the fixtures with the stand-in; where its result is."""
    path = tmp_path / out
    common = ("--data", FIXTURES, "--model", "stand-in", "--embedder", "none", "--yes")
    bench("run", task, *common, "--cache", tmp_path / "calls", "--out", path, *more)
    return path


def test_list() -> None:
    """Tasks with their licences, and methods."""
    shown = bench("list")
    assert all(name in shown for name in TASKS)
    assert "CC BY-NC" in shown
    assert "memos:function-75" in shown
    told = json.loads(bench("list", "--json"))
    assert "gold" in told["methods"]


@pytest.mark.parametrize(
    "task",
    # `recall` loads the default embedder, which takes seconds.
    [pytest.param(t, marks=pytest.mark.heavy if t == "recall" else ()) for t in TASKS],
)
def test_every_task_from_the_command_to_the_report(task: str, tmp_path: Path) -> None:
    """Whatever `bench list` names runs on its fixture, with a plan first, and is reported."""
    small = ("--set", "sessions=2", "--set", "users=1") if task == "growth" else ()
    vectors = ("--embedder", Settings().embedder) if task == "recall" else ()
    more = ("--judge", "stand-in", "--limit", 1, *small, *vectors)
    result = read(run(tmp_path, task, "one.json", *more, "--method", _plain(task), "--only"))
    assert result.complete
    [method] = result.methods
    assert method.items
    assert any(item.scores for item in method.items)
    assert any("judge" in note for note in result.notes)
    bench("report", tmp_path, "--out", tmp_path / "report")
    assert f"Task {task}" in (tmp_path / "report" / "report.md").read_text()


def _plain(task: str) -> str:
    """A method of the task."""
    rivals = TASKS[task].alternatives
    if task == "recall":
        return "as:generative-agents"
    return rivals[0] if rivals else "summary"


def test_run_and_compare(tmp_path: Path) -> None:
    """Two runs on the same items are compared, method by method."""
    one = run(tmp_path, "msc", "one.json", "--method", "summary", "--set", "sessions=5")
    other = run(tmp_path, "msc", "other.json", "--method", "bm25", "--only", "--limit", 1)
    result = read(one)
    assert [m.name for m in result.methods] == ["context", "session", "bm25", "summary"]
    assert len(result.data["test.jsonl"]) == 64
    shown = bench("compare", one, other)
    assert "one: bm25" in shown
    assert "other: bm25" in shown
    growth = run(tmp_path, "growth", "g.json", "--set", "sessions=2", "--set", "users=1", "--only")
    wrong = CliRunner().invoke(cli, ["bench", "compare", str(one), str(growth)])
    assert wrong.exit_code == 1
    assert "two results of the same task" in wrong.output


def test_join(tmp_path: Path) -> None:
    """Methods of two runs on one sample become one result, compared with each other; parts of
    another sample are refused by what differs."""
    one = run(tmp_path, "msc", "one.json", "--method", "session", "--only")
    methods = ("--method", "bm25", "--method", "context", "--only", "--together")
    other = run(tmp_path, "msc", "other.json", *methods, "--minutes", 5)
    out = tmp_path / "both.json"
    told = bench("join", one, other, "--drop", "context", "--out", out)
    assert told.strip().endswith("session, bm25")
    both = read(out)
    assert {(test.one, test.other) for test in both.tests} == {("session", "bm25")}
    assert any(note.startswith("bm25: from other, started") for note in both.notes)
    assert both.complete
    far = run(tmp_path, "msc", "far.json", "--method", "session", "--only", "--seed", "3")
    wrong = CliRunner().invoke(cli, ["bench", "join", str(one), str(far), "--out", str(out)])
    assert wrong.exit_code == 1
    assert "its seed is 3, not 0" in wrong.output


def test_plan_only(tmp_path: Path) -> None:
    """The plan tells calls, tokens, time and money, and nothing is run."""
    common = ("--data", FIXTURES, "--model", "stand-in", "--embedder", "none", "--plan")
    shown = bench(
        *("run", "msc", *common, "--cache", tmp_path / "c", "--rate", "10"),
        *("--price-in", "1", "--price-out", "2", "--set", "sessions=5"),
    )
    assert "calls" in shown
    assert "at the prices given" in shown
    assert "2 cases" in shown


def test_texts_are_kept_apart(tmp_path: Path) -> None:
    """What was said is written only where it is asked for, and not into the result."""
    path = run(
        tmp_path, "locomo", "l.json", "--method", "bm25", "--only", "--keep-texts", tmp_path / "t"
    )
    [kept] = (tmp_path / "t").iterdir()
    assert "red kayak" in kept.read_text()
    assert "red kayak" not in path.read_text()


def test_wrong_names(tmp_path: Path) -> None:
    """A task, a method or an option that is not there is an error that lists what is."""
    for arguments, said in (
        (["run", "mcs"], "msc"),
        (["run", "msc", "--method", "sumary"], "summary"),
        (["run", "evidence", "--method", "summary"], "BM25"),
        (["run", "msc", "--set", "session=5"], "sessions"),
        (["run", "msc", "--set", "sessions"], "NAME=VALUE"),
    ):
        common = ["--model", "stand-in", "--embedder", "none", "--cache", str(tmp_path / "c")]
        done = CliRunner().invoke(cli, ["bench", *arguments, "--data", str(FIXTURES), *common])
        assert done.exit_code in (1, 2)
        assert said in done.output


def test_report(tmp_path: Path) -> None:
    """Markdown and one HTML page with the paper's figures beside ours and pictures inside."""
    results = tmp_path / "results"
    run(results, "msc", "msc.json", "--method", "summary", "--method", "gold")
    many = ("summary", "search", "memos", "human-recall")
    chosen = [part for name in many for part in ("--method", name)]
    run(results, "growth", "growth.json", "--set", "sessions=2", "--set", "users=1", *chosen)
    run(results, "locomo", "locomo.json", "--method", "bm25")
    run(results, "memorybank", "bank.json", "--method", "bm25", "--only")
    written = bench("report", results, "--out", tmp_path / "report").split()
    text = (tmp_path / "report" / "report.md").read_text()
    assert "F1, paper | F1, ours" in text
    assert "| summary | 20.48 |" in text
    assert "no judge was named" in text
    page = (tmp_path / "report" / "report.html").read_text()
    assert "<script" not in page
    assert "http" not in re.sub(r"http://www\.w3\.org/\d+/\w+", "", page)
    pictures = [path for path in written if path.endswith(".svg")]
    assert len(pictures) >= 8
    assert page.count('<img loading="lazy" width=') == len(pictures)
    assert "<svg" not in page, "pictures are read only when they come into view"
    grown = (tmp_path / "report" / "growth-prompt-tokens.svg").read_text()
    assert all(f">{name}<" in grown for name in ("context", "session", "bm25", *many))
    for path in pictures:
        with open(path) as file:  # noqa: PTH123 - a path as text
            ET.fromstring(file.read())  # noqa: S314 - our own text


def test_report_of_a_run_broken_off(tmp_path: Path) -> None:
    """Its methods are compared all the same, by the items there are; steps stand by number."""
    results = tmp_path / "results"
    chosen = ("--set", "sessions=10", "--set", "users=1", "--method", "bm25")
    path = run(results, "growth", "growth.json", *chosen)
    told = json.loads(path.read_text())
    assert told["tests"]
    path.write_text(json.dumps({**told, "tests": [], "complete": False}))
    bench("report", results, "--out", tmp_path / "report")
    text = (tmp_path / "report" / "report.md").read_text()
    assert "before every case was run" in text
    assert "After Holm" in text
    assert text.index("| 2 sessions |") < text.index("| 10 sessions |")


def test_report_of_nothing(tmp_path: Path) -> None:
    """A folder without results is an error."""
    done = CliRunner().invoke(cli, ["bench", "report", str(tmp_path)])
    assert done.exit_code == 1
    assert "found no result" in done.output


def test_suite_runs_what_is_missing(tmp_path: Path) -> None:
    """Each run has its file; a second go does only what is not there; one that fails keeps none
    of the others from it."""
    common = ("--data", FIXTURES, "--model", "stand-in", "--embedder", "none", "--out", tmp_path)
    wanted = ("--run", "msc-replies", "--run", "locomo-evidence")
    shown = bench("suite", *common, *wanted)
    assert "msc-replies: the method dense needs an embedder" in shown
    assert not (tmp_path / "msc-replies.json").exists()
    assert read(tmp_path / "locomo-evidence.json").complete
    shown = bench("suite", *common, *wanted)
    assert "locomo-evidence: already done" in shown
    late = bench("suite", *common, "--run", "growth", "--minutes", "0.0000001")
    assert "no time left for growth" in late


def test_the_suite_names_what_there_is() -> None:
    """Every run is of a task that exists, with options it knows and names of its own."""
    from omoide.adapters.analysers import analyser_for
    from omoide_bench.methods import parse, registry
    from omoide_bench.tasks.base import checked_options

    known = registry(analyser=analyser_for)
    assert len({run.name for run in SUITE}) == len(SUITE)
    for one in SUITE:
        task = TASKS[one.task]
        checked_options(task, one.options)
        for name in one.methods:
            assert name in task.alternatives if task.alternatives else parse(name, known)
    assert SUITE[0].scaled(0.1).limit == 5


def test_published_tables_use_our_names() -> None:
    """What stands beside our figures is called as ours are."""
    from omoide.adapters.analysers import analyser_for
    from omoide_bench.methods import parse, registry

    known = registry(analyser=analyser_for)
    for table in published():
        measures = {m.name for m in TASKS[table.task].measures} | {"BERTScore"}
        assert set(table.columns) <= measures
        for method, values in table.rows.items():
            assert parse(method, known)
            assert len(values) == len(table.columns)
        for method, preset in table.presets.items():
            assert parse(preset, known).preset
            assert table.of(preset) == table.of(method)


def test_progress_tells_rate_and_time_left(capsys: pytest.CaptureFixture[str]) -> None:
    """The last case of a method is always told."""
    progress = RunProgress()
    progress.start(2)
    progress.called()
    progress.case("summary", 1, 2)
    progress.case("summary", 2, 2)
    assert "[1/2] summary: 2 of 2, 1 calls" in capsys.readouterr().err
    assert clock(3700) == "1:01:40"


def test_progress_tells_calls_before_the_first_case(capsys: pytest.CaptureFixture[str]) -> None:
    """A judge's test of some hundred calls does not look like a run that hangs; nothing is said
    while a run is planned."""
    progress = RunProgress(every=0.0)
    progress.called()
    assert capsys.readouterr().err == ""
    progress.start(2)
    progress.called()
    assert capsys.readouterr().err.startswith("[0/2] 1 calls, ")

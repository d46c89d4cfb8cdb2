"""What memory brings unasked, what faults of a model leave of it, and the table beside rivals."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner

from omoide.cli.main import cli
from omoide.domain import Speaker
from omoide.ports import Message, Request
from omoide_bench.rivals import comparison
from omoide_bench.rivals.comparison import TASKS as COMPARED
from omoide_bench.rivals.comparison import compare, missing
from omoide_bench.rivals.note_taker import EMPTY, FAULTS, GONE, FaultyNoteTaker, NoteTaker
from omoide_bench.running.execute import execute
from omoide_bench.running.results import read
from omoide_bench.tasks.noise import NOT_TOLD, TOLD, WORLD
from tests.bench.bench_lab import FIXTURES, course, job, lab

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from omoide_bench.running.results import MethodResult, Result


def share(method: MethodResult, group: str, measure: str) -> float:
    """The mean of a measure in a group."""
    return next(a.mean for a in method.aggregates if (a.group, a.measure) == (group, measure))


async def run(task: str, *methods: str, **options: Any) -> Result:  # noqa: ANN401 - a job's own
    """A run of our own data."""
    work = job(task, *methods, **options)
    async with lab() as parts:
        return await execute(work, lab=parts, course=course(work))


async def test_a_method_that_always_speaks_is_told_from_one_that_never_does() -> None:
    """The nearest five turns come for every message, nothing comes without memory, and search
    finds what was told and stays mostly silent about the rest."""
    result = await run("noise", "dense:5", "session", "search", languages="en")
    loud, silent, ours = result.methods
    for group in (TOLD, NOT_TOLD, WORLD):
        assert share(loud, group, "spoke up") == 1
        assert share(silent, group, "spoke up") == 0
    assert share(loud, TOLD, "precise") <= 1 / 4
    assert share(silent, TOLD, "found") == 0
    assert share(ours, TOLD, "found") > 1 / 2
    assert share(ours, WORLD, "spoke up") < share(ours, TOLD, "spoke up")
    assert share(ours, WORLD, "tokens") < share(loud, WORLD, "tokens")


async def test_what_was_said_outlives_every_fault_of_the_model() -> None:
    """A memory of turns keeps them; one that only has what the model writes loses the session."""
    result = await run("faults", "bm25", "session", languages="en")
    turns, nothing = result.methods
    for fault in FAULTS:
        assert share(turns, fault, "kept") > 1 / 2
        assert share(nothing, fault, "kept") == 0
    assert share(turns, FAULTS[0], "kept after") > 1 / 2


async def test_a_failed_session_is_reported() -> None:
    """The summary's writer fails visibly on every fault; search asks no model."""
    result = await run("faults", "summary@facts", "search", languages="en")
    writer, search = result.methods
    assert {share(writer, fault, "reported") for fault in FAULTS} == {1.0}
    assert {share(search, fault, "reported") for fault in FAULTS} == {0.0}


def request(text: str, **options: Any) -> Request:  # noqa: ANN401 - a request's own
    """A request with one message."""
    return Request(
        messages=(Message(role=Speaker.USER.value, content=text),), max_tokens=9, **options
    )


def test_the_note_taker_notes_the_last_session_in_the_form_that_is_asked_for() -> None:
    """Lines of an older session may be in the prompt too."""
    stub = NoteTaker([["I have a cat."], ["I moved to Bergen.", "It rains."]])
    prompt = 'Old: I have a cat.\nNew: I moved to Bergen. It rains.\nAnswer {"memory": []}'
    assert stub.answer(request(prompt)) == (
        '{"memory": [{"id": "0", "text": "I moved to Bergen."}, {"id": "1", "text": "It rains."}]}'
    )
    calls = stub.answer(request(prompt, schema={"properties": {"calls": {}}}))
    assert calls.count('"name": "Memory"') == 2
    ours = stub.answer(request("1 User: I moved.", schema={"properties": {"changes": {}}}))
    assert '"turns": [1]' in ours


async def test_a_fault_ends_when_it_is_taken_away() -> None:
    """The name tells the fault, so that its answers are not cached for later."""
    stub = FaultyNoteTaker([["I have a cat."]])
    stub.fault = EMPTY
    name = stub.name
    assert stub.answer(request("I have a cat.")) == ""
    stub.fault = ""
    assert stub.name != name
    assert GONE in FAULTS


def test_one_command_gives_one_table(tmp_path: Path) -> None:
    """A row for each method, a result file for each task, and versions by name."""
    methods = [part for name in ("search", "bm25") for part in ("--method", name)]
    command = ["bench", "rivals", "--data", str(FIXTURES), "--embedder", "none", *methods]
    done = CliRunner().invoke(cli, [*command, "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    for name in ("search", "bm25", "note-taker", "omoide 0."):
        assert name in done.output
    results = [read(tmp_path / "out" / f"rivals-{task}.json") for task in COMPARED]
    assert [len(result.methods) for result in results] == [2, 2, 2]
    assert all(method.cpu_seconds > 0 for method in results[0].methods)


async def test_a_library_that_is_not_installed_is_left_out_and_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The others still make a table, and the notes say why a row or a figure is not there."""
    monkeypatch.setitem(comparison.LIBRARIES, "bm25", "a_library_that_nobody_has")
    assert missing(("search", "bm25")) == ("bm25",)
    async with lab() as parts:
        found = await compare(
            parts,
            data=FIXTURES,
            methods=("search", "bm25"),
            options={"noise": {"languages": "en"}, "faults": {"languages": "en"}},
            command="omoide bench rivals --conversations conv-1",
        )
    for result in found.results.values():
        assert result.command == "omoide bench rivals --conversations conv-1"
    head, ours = found.rows()
    assert ours[0] == "search"
    assert ours[head.index("reported")] == "–"  # search asks no model
    notes = "\n".join(found.notes())
    assert "left out: bm25" in notes
    assert "mem0" not in notes.replace("memories of mem0", "")
    lacking = "\n".join(replace(found, lacking=("fastembed",)).notes())
    assert "mem0 searched without fastembed" in lacking
    assert "–: no figure" in notes

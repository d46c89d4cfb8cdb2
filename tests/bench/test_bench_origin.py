"""Results of one version of omoide, or of one set of prompts, are not mixed with another's."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from omoide.errors import BadInput
from omoide_bench.reports.comparing import compared_results
from omoide_bench.reports.report import write_report
from omoide_bench.running.execute import execute
from omoide_bench.running.joining import joined
from omoide_bench.running.origin import SOURCE, by_origin, differing, source_hash
from omoide_bench.running.results import write
from tests.bench.bench_lab import course, job, lab

if TYPE_CHECKING:
    from pathlib import Path

    from omoide_bench.running.results import Result

NAMES = ("old", "new")


@pytest.fixture
async def result() -> Result:
    """A small run."""
    work = job("msc", "bm25", "session", sessions="5")
    async with lab() as parts:
        return await execute(work, lab=parts, course=course(work))


def versioned(result: Result, version: str) -> Result:
    """The same, as another version would have made it."""
    return replace(result, versions={**result.versions, "omoide": version})


def from_source(result: Result, digest: str) -> Result:
    """The same, as the source of another day would have made it."""
    return replace(result, versions={**result.versions, SOURCE: digest})


def prompted(result: Result, name: str) -> Result:
    """The same with another text of a prompt."""
    return replace(result, prompts={**result.prompts, name: "0" * 12})


async def test_a_result_names_the_version_and_the_prompts(result: Result) -> None:
    """Without them nobody could tell what was mixed. A prompt holds three times as much of memory
    in the large profile, so the profile is named too."""
    assert result.versions["omoide"]
    assert result.versions[SOURCE] == source_hash()
    assert result.settings["profile"] == "small"
    assert all(len(digest) == 12 for digest in result.prompts.values())
    assert differing(result, result) == []


async def test_what_differs_is_said(result: Result) -> None:
    """The versions, and the prompts by name."""
    assert differing(result, versioned(result, "9.9")) == [
        f"omoide {result.versions['omoide']} and 9.9"
    ]
    assert differing(result, prompted(result, "en/reply")) == ["different prompts: en/reply"]
    assert "different source of omoide" in differing(result, from_source(result, "abc"))[0]
    older = replace(result, versions={"omoide": result.versions["omoide"]})
    assert "unknown" in differing(result, older)[0], "it does not say which source it is from"
    other_language = replace(result, prompts={"xx/reply": "1" * 12})
    assert differing(result, other_language) == [], "they share no prompt, so none differs"


async def test_comparing_and_joining_refuse_a_mix(result: Result) -> None:
    """Unless that is what is asked for."""
    others = (
        versioned(result, "9.9"),
        from_source(result, "abc"),
        prompted(result, "en/reply"),
    )
    for other in others:
        with pytest.raises(BadInput, match="--across"):
            compared_results(result, other, names=NAMES)
        with pytest.raises(BadInput, match="--across"):
            joined([("old", result), ("new", other)])
        assert compared_results(result, other, names=NAMES, across=True)
        notes = joined([("old", result), ("new", other)], across=True).notes
        assert any(note.startswith("between old and new: ") for note in notes)


async def test_a_report_separates_a_mix(result: Result, tmp_path: Path) -> None:
    """It begins with which results belong together; without a mix it says nothing of it."""
    write(tmp_path / "one.json", result)
    write(tmp_path / "two.json", result)
    write_report(tmp_path, tmp_path / "alike")
    assert "Do not compare" not in (tmp_path / "alike" / "report.md").read_text()
    write(tmp_path / "two.json", versioned(result, "9.9"))
    write_report(tmp_path, tmp_path / "mixed")
    told = (tmp_path / "mixed" / "report.md").read_text()
    assert told.index("Do not compare figures of different groups") < told.index("Task msc")
    assert "Unlike group 1: omoide " in told
    assert "omoide 9.9, source" in told
    assert "Group 2." in told


async def test_a_report_has_the_results_of_subfolders(result: Result, tmp_path: Path) -> None:
    """Each under its path, so that runs of two models with the same file name stay apart; the
    methods and measures are explained once."""
    for model in ("large", "small"):
        (tmp_path / model).mkdir()
        write(tmp_path / model / "msc.json", result)
    written = write_report(tmp_path, tmp_path / "report")
    told = (tmp_path / "report" / "report.md").read_text()
    assert "## large/msc" in told
    assert "## small/msc" in told
    assert all(path.parent == tmp_path / "report" for path in written)
    assert len({path.name for path in written}) == len(written)
    assert told.count("## What the names mean") == 1
    assert "| msc | F1 |" in told


async def test_results_are_grouped_by_what_made_them(result: Result) -> None:
    """Each result in one group; the group with the latest result is first."""
    result = replace(result, began="2026-03-02T10:00:00+00:00")
    other = replace(versioned(result, "9.9"), began="2026-03-01T10:00:00+00:00")
    named = [("a", other), ("b", result), ("c", result), ("d", other), ("e", result)]
    assert [[name for name, _ in group] for group in by_origin(named)] == [
        ["b", "c", "e"],
        ["a", "d"],
    ]
    named[3] = ("d", replace(other, began="2026-03-03T10:00:00+00:00"))
    assert [group[0][0] for group in by_origin(named)] == ["a", "b"]

"""The first table of a report: the best method of each result, what is level with it, what not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from omoide_bench.reports.glance import HEAD, at_a_glance
from omoide_bench.reports.page import ReportTable
from omoide_bench.reports.report import write_report
from omoide_bench.running.aggregation import aggregates
from omoide_bench.running.aggregation import tests as paired_tests
from omoide_bench.running.execute import execute
from omoide_bench.running.results import ItemRecord, write
from tests.bench.bench_lab import course, job, lab

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide_bench.running.results import MethodResult, Result

DIALOGUES = 20


@pytest.fixture
async def ran() -> Result:
    """A small run, for everything but its figures."""
    work = job("msc", "bm25", "session", sessions="5")
    async with lab() as parts:
        return await execute(work, lab=parts, course=course(work))


def scored(result: Result, scores: Mapping[str, Sequence[float]], **changes: object) -> Result:
    """The result with these scores of its methods, one item a dialogue."""
    methods = [_method(result.methods[0], name, values) for name, values in scores.items()]
    changed = replace(result, methods=methods, **changes)  # type: ignore[arg-type]
    return replace(changed, tests=paired_tests(methods, seed=0))


def _method(like: MethodResult, name: str, values: Sequence[float]) -> MethodResult:
    items = [
        ItemRecord(
            id=str(n),
            cluster=str(n),
            group="session 5",
            scores={"F1": value},
            unscored={},
            prompt_tokens=0,
            completion_tokens=0,
        )
        for n, value in enumerate(values)
    ]
    return replace(like, name=name, items=items, aggregates=aggregates(items, seed=0))


def line(*results: tuple[str, Result]) -> dict[str, str]:
    """The cells of the first result's line."""
    table = next(b for b in at_a_glance([results]) if isinstance(b, ReportTable))
    return dict(zip(HEAD, table.rows[0], strict=True))


def rising(first: float) -> list[float]:
    """Scores that differ from dialogue to dialogue."""
    return [first + n / 100 for n in range(DIALOGUES)]


async def test_the_best_the_level_and_the_worse(ran: Result) -> None:
    """A method that is better on half the dialogues is level; one that is worse on all is worse;
    all history may be above the best, and is no candidate."""
    swaying = [v + (0.05 if n % 2 else -0.06) for n, v in enumerate(rising(0.3))]
    figures = {
        "session": rising(0.1),
        "context": rising(0.6),
        "bm25": swaying,
        "search": rising(0.3),
    }
    cells = line(("msc", scored(ran, figures)))
    assert cells["best"].startswith("search 39.5 [")
    assert cells["not told apart from it"] == "bm25 39.0"
    assert cells["worse (p < .05 by Holm)"] == "session 19.5"
    assert cells["for comparison"] == "context 69.5"
    assert cells["task: measure"] == "msc: F1 (session 5)"
    assert cells["items"] == str(DIALOGUES)


async def test_less_is_better_where_the_measure_says_so(ran: Result) -> None:
    """Of the loss of the recall protocol the smallest is the best."""
    renamed = scored(ran, {"one": rising(0.5), "other": rising(0.3)})
    as_loss = replace(
        renamed,
        task="recall",
        methods=[
            replace(m, aggregates=[replace(a, measure="loss") for a in m.aggregates])
            for m in renamed.methods
        ],
        tests=[replace(test, measure="loss") for test in renamed.tests],
    )
    cells = line(("recall", as_loss))
    assert cells["best"].startswith("other ")
    assert cells["worse (p < .05 by Holm)"].startswith("one ")


async def test_what_is_better_on_the_shared_items_is_not_called_worse(ran: Result) -> None:
    """The best mean may be of a few easy items, where others do better still."""
    few, all_ = [0.8 + n / 100 for n in range(8)], [0.9 + n / 100 for n in range(8)]
    cells = line(("a", scored(ran, {"bm25": few, "search": [*all_, *[0.1] * 12]})))
    assert cells["best"].startswith("bm25 ")
    assert cells["not told apart from it"].startswith("search ")
    assert cells["worse (p < .05 by Holm)"] == "–"


async def test_what_a_stub_answers_is_not_the_main_measure(ran: Result) -> None:
    """Beside other libraries with the stub that notes every line, the words of the answer in the
    prompt are; with a real model its answers are."""
    with_words = scored(ran, {"search": rising(0.5), "mem0": rising(0.1)}, task="locomo")
    both = [
        replace(m, aggregates=[*m.aggregates, replace(m.aggregates[0], measure="answer words")])
        for m in with_words.methods
    ]
    result = replace(with_words, methods=both)
    assert line(("real", result))["task: measure"] == "locomo: F1 (session 5)"
    stub = replace(result, model="note-taker")
    assert line(("stub", stub))["task: measure"] == "locomo: answer words (session 5)"


async def test_a_few_items_tell_nothing_apart(ran: Result) -> None:
    """With three no paired test can reach 5 %, and the line says so; nor is there an interval."""
    figures = {"one": rising(0.5)[:3], "other": rising(0.1)[:3]}
    cells = line(("msc", scored(ran, figures)))
    assert cells["not told apart from it"] == "other 11.0 (too few items to tell)"
    assert cells["best"] == "one 51.0"


async def test_the_page_links_each_line_to_its_result(ran: Result, tmp_path: Path) -> None:
    """The navigation has the other sections only, so that 69 results do not fill the screen."""
    for name in ("first", "second"):
        write(tmp_path / "results" / f"{name}.json", ran)
    write_report(tmp_path / "results", tmp_path / "report")
    page = (tmp_path / "report" / "report.html").read_text()
    navigation, rest = page.split("</nav>")
    place = rest.split(">second</a>")[0].rsplit('href="#', 1)[1].rstrip('"')
    assert f'<section id="{place}"><h2>second</h2>' in rest
    assert "second" not in navigation
    assert "At a glance" in navigation


async def test_an_unscored_measure_is_named_with_its_reason(ran: Result, tmp_path: Path) -> None:
    """A line for each reason, where the number of items alone would puzzle a reader."""
    from omoide_bench.cli.running import shown_result

    one = ran.methods[0]
    items = [replace(item, unscored={"engaging": "no judge was named"}) for item in one.items]
    result = replace(ran, methods=[replace(one, items=items)])
    assert f"{len(items)} items without engaging: no judge was named" in shown_result(result)

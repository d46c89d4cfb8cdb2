"""A report on all results in a folder and its subfolders: Markdown with SVG files, and one
self-contained HTML page without scripts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.settings import Settings
from omoide_bench.methods import AS
from omoide_bench.reports.default import HEAD, better_defaults, default_results, rows
from omoide_bench.reports.drawing import drawn
from omoide_bench.reports.glance import at_a_glance
from omoide_bench.reports.legend import legend
from omoide_bench.reports.page import Picture, ReportTable, html, markdown
from omoide_bench.reports.papers import tables_for
from omoide_bench.reports.pictures import fading, pictures, strengthening
from omoide_bench.reports.tables import (
    aggregate_rows,
    groups_of,
    measure_of,
    shown,
    unscored_reasons,
)
from omoide_bench.running.aggregation import tests
from omoide_bench.running.origin import by_origin
from omoide_bench.running.results import FORMAT, read
from omoide_bench.statistics import holm

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from omoide_bench.reports.page import Block
    from omoide_bench.reports.papers import Published
    from omoide_bench.running.results import PairedTest, Result

LEVEL = 0.05
MAX_TEST_ROWS = 60
"""Most rows in a table of tests."""


def write_report(folder: Path, out: Path) -> list[Path]:
    """Write `report.md`, `report.html` and the charts; returns the paths."""
    results = load(folder)
    if not results:
        raise BadInput(f"found no result of omoide bench in {folder}; give a folder of results")
    out.mkdir(parents=True, exist_ok=True)
    origins = by_origin(results)
    sections: list[tuple[str, list[Block]]] = []
    for number, group in enumerate(origins, 1):
        suffix = "" if len(origins) == 1 else f" (group {number})"
        if blocks := list(the_default(group)):
            sections.append((f"Is the default the best?{suffix}", blocks))
    sections.insert(0, ("At a glance", list(at_a_glance(origins))))
    sections += [
        (name, list(section(name, result, group=number if len(origins) > 1 else None)))
        for number, group in enumerate(origins, 1)
        for name, result in group
    ]
    if any(result.task == "recall" for _, result in results):
        curves = {"forgetting": fading(), "strengthening": strengthening()}
        sections.append(("Forgetting", [Picture(name=n, of=lines) for n, lines in curves.items()]))
    sections.append(("What the names mean", list(legend([result for _, result in results]))))
    drawings = {
        block.name: drawn(block.of, out / f"{block.name}.svg")
        for _, blocks in sections
        for block in blocks
        if isinstance(block, Picture)
    }
    written = [out / "report.md", out / "report.html"]
    written[0].write_text(markdown(sections), encoding="utf-8")
    written[1].write_text(html(sections, drawings), encoding="utf-8")
    for name, text in drawings.items():
        path = out / f"{name}.svg"
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return written


def load(folder: Path) -> list[tuple[str, Result]]:
    """The results in a folder and its subfolders, by their path without the suffix; other JSON is
    ignored. An interrupted run has no tests yet: they are computed from its items."""
    return [
        (path.relative_to(folder).with_suffix("").as_posix(), _tested(read(path)))
        for path in sorted(folder.rglob("*.json"))
        if _is_result(path)
    ]


def _is_result(path: Path) -> bool:
    with path.open("rb") as file:
        return f'"{FORMAT}"'.encode() in file.read(200)


def _tested(result: Result) -> Result:
    if result.tests or len(result.methods) < 2:
        return result
    return replace(result, tests=tests(result.methods, seed=result.seed))


def the_default(results: Sequence[tuple[str, Result]]) -> Iterable[Block]:
    """The default mechanisms compared with every other method of the same runs."""
    settings = Settings()
    default = "+".join(settings.mechanisms)
    outcomes = default_results(results, (f"{AS}{settings.preset}", default))
    if not outcomes:
        return
    better = ", ".join(better_defaults(outcomes))
    yield (
        f"The default is {default} ({AS}{settings.preset}). Differences are on the items that both "
        "have; p is corrected by Holm over all comparisons with the default on that measure of "
        "that run."
    )
    yield ReportTable(head=HEAD, rows=tuple(rows(outcomes)))
    yield (
        f"Significantly better than it on one of these and worse on none: {better}."
        if better
        else "No method that could be a default is significantly better than it on one of these "
        "and worse on none."
    )


def section(name: str, result: Result, *, group: int | None = None) -> Iterable[Block]:
    """The section on one result; `group` is the number of results that may be compared."""
    judge = "" if result.judge == "none" else f", judged by {result.judge}"
    limit = "all" if result.limit is None else f"a sample of {result.limit} by seed {result.seed}"
    chosen = ", ".join(f"{k} = {v}" for k, v in result.options.items())
    yield (
        f"Task {result.task}{f' ({chosen})' if chosen else ''}: {result.cases:,} cases ({limit}), "
        f"model {result.model}, embedder {result.embedder}{judge}; {result.began}, "
        f"{result.seconds:,.0f} s with concurrency {result.concurrency}."
        + (f" Group {group}." if group else "")
    )
    if not result.complete:
        yield "The run ended before every case was run. The figures cover only what was run."
    yield from result.notes
    head, rows = aggregate_rows(result)
    yield ReportTable(head=head, rows=tuple(rows))
    for what, drawing in pictures(result).items():
        yield Picture(name=f"{name}-{what}".replace("/", "-"), of=drawing)
    if whole := _whole(result):
        yield "Corpus-level measures, without intervals:"
        yield whole
    for table in tables_for(result.task, set(groups_of(result))):
        yield from _beside(table, result)
    yield from _duels(result)
    yield from _tests(result)
    yield "Cost:"
    yield _cost(result)
    yield from _unscored(result)


def _whole(result: Result) -> ReportTable | None:
    rows = [
        (group, method.name, *(f"{100 * value:.2f}" for value in measures.values()))
        for method in result.methods
        for group, measures in method.whole.items()
    ]
    if not rows:
        return None
    names = next(tuple(m) for method in result.methods for m in method.whole.values())
    return ReportTable(head=("group", "method", *names), rows=tuple(rows))


def _beside(table: Published, result: Result) -> Iterable[Block]:
    """The paper's figures next to ours."""
    yield f"Paper {table.paper}, {table.title}; {table.table} ({table.model}). {table.note}"
    if not table.rows:
        return
    head = ["method"]
    for column in table.columns:
        head += [f"{column}, paper", f"{column}, ours"]
    named = {method.name for method in result.methods}
    rows = []
    for name, values in table.rows.items():
        preset = table.presets.get(name, "")
        called = preset if preset in named else name
        row = [called]
        for column, value in zip(table.columns, values, strict=True):
            row += [f"{value:.2f}", _ours(result, called, table.group, column)]
        rows.append(tuple(row))
    yield ReportTable(head=tuple(head), rows=tuple(rows))


def _ours(result: Result, name: str, group: str, column: str) -> str:
    method = result.method(name)
    if method is None:
        return "–"
    for aggregate in method.aggregates:
        if aggregate.group == group and aggregate.measure == column:
            return shown(aggregate.mean, measure_of(result.task, column))
    value = method.whole.get(group, {}).get(column)
    return "–" if value is None else f"{100 * value:.2f}"


def _duels(result: Result) -> Iterable[Block]:
    if not result.duels:
        return
    yield "Pairwise verdicts of the judge; a win counts only if it holds in both orders:"
    rows = [
        (
            duel.one,
            duel.other,
            f"{duel.wins} ({duel.slight_wins})",
            str(duel.ties + duel.neither),
            f"{duel.losses} ({duel.slight_losses})",
            str(duel.unscored),
            "–" if duel.consistent is None else f"{100 * duel.consistent:.0f} %",
            "–" if duel.position_bias is None else f"{duel.position_bias:+.2f}",
        )
        for duel in result.duels
    ]
    head = (
        *("one", "other", "wins (slight)", "ties", "losses (slight)", "unscored"),
        *("same in both orders", "bias to the first reply"),
    )
    yield ReportTable(head=head, rows=tuple(rows))


def _tests(result: Result) -> Iterable[Block]:
    shown_groups = groups_of(result)
    tests = [t for t in result.tests if t.group in shown_groups]
    if not tests:
        return
    corrected = _corrected(tests)
    significant = [(t, p) for t, p in zip(tests, corrected, strict=True) if t.p < LEVEL]
    significant.sort(
        key=lambda pair: (shown_groups.index(pair[0].group), pair[0].measure, pair[0].p)
    )
    yield (
        f"Paired by item, {len(tests):,} comparisons; {len(significant):,} have p < {LEVEL} by "
        f"permutation test; {len(tests) * LEVEL:.0f} are expected by chance alone. "
        "After Holm's correction over the pairs of methods on one measure of one group, "
        f"{sum(p < LEVEL for p in corrected):,} remain."
        + (f" The first {MAX_TEST_ROWS} are shown:" if len(significant) > MAX_TEST_ROWS else "")
    )
    if significant:
        rows = [
            (
                t.group,
                t.measure,
                t.one,
                t.other,
                _gap(t.difference, result.task, t.measure),
                f"[{_gap(t.low, result.task, t.measure)}, {_gap(t.high, result.task, t.measure)}]",
                f"{t.p:.2g}",
                f"{p:.2g}",
                f"{t.count:,} of {t.clusters:,} ({t.over} resampled)",
            )
            for t, p in significant[:MAX_TEST_ROWS]
        ]
        head = (
            *("group", "measure", "one", "other", "one − other", "95 %", "p", "p by Holm"),
            "items, dialogues",
        )
        yield ReportTable(head=head, rows=tuple(rows), folded=True)


def _corrected(tests: Sequence[PairedTest]) -> list[float]:
    """p of each test, corrected by Holm within the same group and measure."""
    families: dict[tuple[str, str], list[int]] = {}
    for index, test in enumerate(tests):
        families.setdefault((test.group, test.measure), []).append(index)
    corrected = [1.0] * len(tests)
    for indices in families.values():
        for index, p in zip(indices, holm([tests[i].p for i in indices]), strict=True):
            corrected[index] = p
    return corrected


def _gap(value: float, task: str, name: str) -> str:
    return f"{'+' if value >= 0 else '−'}{shown(abs(value), measure_of(task, name))}"


def _cost(result: Result) -> ReportTable:
    rows = [
        (
            method.name,
            f"{method.calls:,}",
            f"{method.cached:,}",
            f"{method.prompt_tokens:,}",
            f"{method.completion_tokens:,}",
            f"{method.judge_calls:,}",
            f"{method.digests_failed:,}",
            f"{method.seconds:,.1f}",
            f"{method.cpu_seconds:,.1f}" if method.cpu_seconds else "–",
        )
        for method in result.methods
    ]
    head = (
        *("method", "calls", "cached", "prompt tokens", "answer tokens"),
        *("judge calls", "sessions without usable memory", "seconds", "CPU seconds"),
    )
    return ReportTable(head=head, rows=tuple(rows))


def _unscored(result: Result) -> Iterable[Block]:
    if reasons := unscored_reasons(result):
        yield "Unscored, over all methods:"
        yield ReportTable(
            head=("measure", "why", "items"),
            rows=tuple((m, why, f"{count:,}") for (m, why), count in reasons.items()),
        )

"""A report of all results in a folder: Markdown with pictures beside it, and one HTML page with
everything inside. No script, nothing fetched."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.evals.reports.default import HEAD, better_defaults, rows, standings
from omoide.evals.reports.papers import tables_for
from omoide.evals.reports.pictures import forgetting, pictures, strengthening
from omoide.evals.reports.tables import aggregate_rows, groups_of, measure_of, shown
from omoide.evals.running.results import FORMAT, read
from omoide.evals.running.statistics import holm
from omoide.evals.running.summing import tests
from omoide.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from omoide.evals.reports.papers import Published
    from omoide.evals.running.results import Result, Test

LEVEL = 0.05
MOST = 60
"""Rows of a table of tests."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows under a head."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A drawing and the name of its file."""

    name: str
    svg: str


Block = str | Table | Picture


def write_report(folder: Path, out: Path) -> list[Path]:
    """Write `report.md`, `report.html` and the pictures; the paths written."""
    results = load(folder)
    if not results:
        raise BadInput(f"there is no result of omoide bench in {folder}")
    out.mkdir(parents=True, exist_ok=True)
    sections = [(name, list(section(name, result))) for name, result in results]
    if standing := list(the_default(results)):
        sections.insert(0, ("Is the default the best?", standing))
    if any(result.task == "recall" for _, result in results):
        drawn = {"forgetting": forgetting(), "strengthening": strengthening()}
        sections.append(("Forgetting", [Picture(name=n, svg=svg) for n, svg in drawn.items()]))
    written = [out / "report.md", out / "report.html"]
    written[0].write_text(_markdown(sections), encoding="utf-8")
    written[1].write_text(_html(sections), encoding="utf-8")
    for _, blocks in sections:
        for block in blocks:
            if isinstance(block, Picture):
                path = out / f"{block.name}.svg"
                path.write_text(block.svg, encoding="utf-8")
                written.append(path)
    return written


def load(folder: Path) -> list[tuple[str, Result]]:
    """The results in a folder, by name of the file; other JSON is passed over. A run that was
    broken off has no tests yet: they are made of the items it has."""
    return [
        (path.stem, _tested(read(path)))
        for path in sorted(folder.glob("*.json"))
        if f'"{FORMAT}"' in path.read_text(encoding="utf-8")[:200]
    ]


def _tested(result: Result) -> Result:
    if result.tests or len(result.methods) < 2:
        return result
    return replace(result, tests=tests(result.methods, seed=result.seed))


def the_default(results: Sequence[tuple[str, Result]]) -> Iterable[Block]:
    """The default mechanisms beside every other method, where they were run together."""
    default = "+".join(Settings().mechanisms)
    found = standings(results, default)
    if not found:
        return
    better = ", ".join(better_defaults(found))
    yield (
        f"The default is {default}; differences are on the items that both have, p by Holm over "
        "all that it is compared with on that measure of that run."
    )
    yield Table(head=HEAD, rows=tuple(rows(found)))
    yield (
        f"Better than it beyond chance on one of these and worse on none: {better}."
        if better
        else "No method that could be a default is better than it beyond chance on one of these "
        "and worse on none."
    )


def section(name: str, result: Result) -> Iterable[Block]:
    """All there is to say about one result."""
    judge = "" if result.judge == "none" else f", judged by {result.judge}"
    limit = "all" if result.limit is None else f"a sample of {result.limit} by seed {result.seed}"
    chosen = ", ".join(f"{k} = {v}" for k, v in result.options.items())
    yield (
        f"Task {result.task}{f' ({chosen})' if chosen else ''}: {result.cases:,} cases ({limit}), "
        f"model {result.model}, embedder {result.embedder}{judge}; {result.began}, "
        f"{result.seconds:,.0f} s with {result.concurrency} at a time."
    )
    if not result.complete:
        yield "Not every case was run: the run ended before. The figures are of what was run."
    yield from result.notes
    head, rows = aggregate_rows(result)
    yield Table(head=head, rows=tuple(rows))
    for drawn, svg in pictures(result).items():
        yield Picture(name=f"{name}-{drawn}", svg=svg)
    if whole := _whole(result):
        yield "Measures of all replies together, without intervals:"
        yield whole
    for table in tables_for(result.task, set(groups_of(result))):
        yield from _beside(table, result)
    yield from _duels(result)
    yield from _tests(result)
    yield "What it took:"
    yield _cost(result)
    yield from _unscored(result)


def _whole(result: Result) -> Table | None:
    rows = [
        (group, method.name, *(f"{100 * value:.2f}" for value in measures.values()))
        for method in result.methods
        for group, measures in method.whole.items()
    ]
    if not rows:
        return None
    names = next(tuple(m) for method in result.methods for m in method.whole.values())
    return Table(head=("group", "method", *names), rows=tuple(rows))


def _beside(table: Published, result: Result) -> Iterable[Block]:
    """The paper's figures with ours."""
    yield f"Paper {table.paper}, {table.title}; {table.table} ({table.model}). {table.note}"
    if not table.rows:
        return
    head = ["method"]
    for column in table.columns:
        head += [f"{column}, paper", f"{column}, ours"]
    rows = []
    for name, values in table.rows.items():
        row = [name]
        for column, value in zip(table.columns, values, strict=True):
            row += [f"{value:.2f}", _ours(result, name, table.group, column)]
        rows.append(tuple(row))
    yield Table(head=tuple(head), rows=tuple(rows))


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
    yield "Side by side before the judge; a win counts only if it holds in both orders:"
    rows = [
        (
            duel.one,
            duel.other,
            *(str(n) for n in (duel.wins, duel.ties, duel.neither, duel.losses, duel.unscored)),
            "–" if duel.consistent is None else f"{100 * duel.consistent:.0f} %",
            "–" if duel.position_bias is None else f"{duel.position_bias:+.2f}",
        )
        for duel in result.duels
    ]
    head = (
        *("one", "other", "wins", "ties", "neither", "losses", "unscored"),
        *("same in both orders", "bias to the first"),
    )
    yield Table(head=head, rows=tuple(rows))


def _tests(result: Result) -> Iterable[Block]:
    shown_groups = groups_of(result)
    asked = [t for t in result.tests if t.group in shown_groups]
    if not asked:
        return
    held = _held(asked)
    low = [(t, p) for t, p in zip(asked, held, strict=True) if t.p < LEVEL]
    low.sort(key=lambda pair: (shown_groups.index(pair[0].group), pair[0].measure, pair[0].p))
    yield (
        f"Paired by item, {len(asked):,} comparisons; {len(low):,} have p < {LEVEL} by "
        f"permutation, of which {len(asked) * LEVEL:.0f} are to be expected by chance alone. "
        "By Holm, within the pairs of methods on one measure of one group, "
        f"{sum(p < LEVEL for p in held):,} remain."
        + (f" The first {MOST} are shown:" if len(low) > MOST else "")
    )
    if low:
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
            for t, p in low[:MOST]
        ]
        head = (
            *("group", "measure", "one", "other", "one − other", "95 %", "p", "p by Holm"),
            "items, dialogues",
        )
        yield Table(head=head, rows=tuple(rows))


def _held(tests: Sequence[Test]) -> list[float]:
    """Holm's p of each test among those of the same group and measure."""
    families: dict[tuple[str, str], list[int]] = {}
    for place, test in enumerate(tests):
        families.setdefault((test.group, test.measure), []).append(place)
    held = [1.0] * len(tests)
    for places in families.values():
        for place, p in zip(places, holm([tests[i].p for i in places]), strict=True):
            held[place] = p
    return held


def _gap(value: float, task: str, name: str) -> str:
    return f"{'+' if value >= 0 else '−'}{shown(abs(value), measure_of(task, name))}"


def _cost(result: Result) -> Table:
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
        )
        for method in result.methods
    ]
    head = (
        *("method", "calls", "of them cached", "prompt tokens", "answer tokens"),
        *("judge's calls", "sessions without usable memory", "seconds"),
    )
    return Table(head=head, rows=tuple(rows))


def _unscored(result: Result) -> Iterable[Block]:
    reasons: dict[tuple[str, str], int] = {}
    for method in result.methods:
        for item in method.items:
            for measure, why in item.unscored.items():
                reasons[measure, why] = reasons.get((measure, why), 0) + 1
    if reasons:
        yield "Unscored, over all methods:"
        yield Table(
            head=("measure", "why", "items"),
            rows=tuple((m, why, f"{count:,}") for (m, why), count in sorted(reasons.items())),
        )


def _markdown(sections: Sequence[tuple[str, Sequence[Block]]]) -> str:
    lines = ["# Results", "", "Written by `omoide bench report`.", ""]
    for name, blocks in sections:
        lines += [f"## {name}", ""]
        for block in blocks:
            if isinstance(block, Table):
                lines.append("| " + " | ".join(_cell(c) for c in block.head) + " |")
                lines.append("|" + "---|" * len(block.head))
                lines += ["| " + " | ".join(_cell(c) for c in row) + " |" for row in block.rows]
            elif isinstance(block, Picture):
                lines.append(f"![{block.name}]({block.name}.svg)")
            else:
                lines.append(block)
            lines.append("")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


_STYLE = (
    "body{font:15px/1.5 sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse;display:block;overflow-x:auto;margin:1rem 0}"
    "td,th{border-bottom:1px solid #ddd;padding:.2rem .6rem;text-align:left;white-space:nowrap}"
    "svg{max-width:40rem;display:block;margin:1rem 0}"
)


def _html(sections: Sequence[tuple[str, Sequence[Block]]]) -> str:
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        "<title>Results of omoide bench</title>",
        f"<style>{_STYLE}</style></head><body><h1>Results</h1>",
        "<p>Written by <code>omoide bench report</code>.</p>",
    ]
    for name, blocks in sections:
        parts.append(f"<h2>{escape(name)}</h2>")
        for block in blocks:
            if isinstance(block, Table):
                head = "".join(f"<th>{escape(cell)}</th>" for cell in block.head)
                rows = "".join(
                    "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
                    for row in block.rows
                )
                parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>")
            elif isinstance(block, Picture):
                parts.append(block.svg)
            else:
                parts.append(f"<p>{escape(block)}</p>")
    return "\n".join([*parts, "</body></html>", ""])

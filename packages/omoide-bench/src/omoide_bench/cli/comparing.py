"""`omoide bench compare`: compare two result files item by item; `omoide bench join`: merge the
parts of a run."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import click

from omoide.cli import Scope, emit, scoped, table

ACROSS = click.option(
    "--across", is_flag=True, help="Allow different versions of omoide or its prompts."
)
FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command()
@click.argument("one", type=FILE)
@click.argument("other", type=FILE, required=False)
@click.option("--methods", nargs=2, metavar="ONE OTHER", help="Compare two methods of one file.")
@click.option(
    "--margin",
    type=click.FloatRange(min=0, min_open=True),
    help="Also report whether the 95 % interval lies within this many points of zero.",
)
@ACROSS
@scoped
def compare(
    scope: Scope,
    one: Path,
    other: Path | None,
    methods: tuple[str, str] | None,
    margin: float | None,
    across: bool,
) -> None:
    """Compare two results of the same task, method by method, or two methods of one result.

    Comparisons are paired by item.
    """
    from omoide_bench.reports.comparing import compared_methods, compared_results, equivalent
    from omoide_bench.running.results import read

    first = read(one)
    if (other is None) == (methods is None):
        raise click.UsageError("give two files, or one file and --methods ONE OTHER")
    if other is not None:
        tests = compared_results(first, read(other), names=(one.stem, other.stem), across=across)
    elif methods is not None:
        tests = compared_methods(first, *methods)
    within = [equivalent(t, task=first.task, margin=margin) for t in tests] if margin else []
    if scope.json:
        plain = [asdict(test) for test in tests]
        emit([{**p, "alike": a} for p, a in zip(plain, within, strict=True)] if within else plain)
        return
    head: tuple[str, ...] = (
        *("group", "measure", "one", "other", "difference", "95 %", "p", "items"),
        *((f"within {margin:g} points",) if within else ()),
    )
    rows = [
        (
            test.group,
            test.measure,
            test.one,
            test.other,
            f"{test.difference:+.4f}",
            f"[{test.low:+.4f}, {test.high:+.4f}]",
            f"{test.p:.3g}",
            f"{test.count:,}",
            *((_YES_NO[within[i]],) if within else ()),
        )
        for i, test in enumerate(tests)
    ]
    click.echo(table(head, rows, right=(4, 5, 6, 7)))


_YES_NO = {True: "yes", False: "no", None: ""}


@click.command()
@click.argument("parts", type=FILE, nargs=-1, required=True)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The joined result.",
)
@click.option("--drop", multiple=True, metavar="METHOD", help="Leave this method out.")
@ACROSS
@scoped
def join(
    scope: Scope, parts: tuple[Path, ...], out: Path, drop: tuple[str, ...], across: bool
) -> None:
    """Join results of different methods on the same sample.

    If several parts have the same method, the last one is used.
    """
    from omoide_bench.running.joining import joined
    from omoide_bench.running.results import read, write

    read_parts = [(path.stem, read(path)) for path in parts]
    result = joined(
        [
            (name, replace(part, methods=[m for m in part.methods if m.name not in drop]))
            for name, part in read_parts
        ],
        across=across,
    )
    write(out, result)
    names = [method.name for method in result.methods]
    emit({"methods": names}) if scope.json else click.echo(f"{out}: {', '.join(names)}")

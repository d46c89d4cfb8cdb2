"""`omoide bench compare`: two result files, item by item; `omoide bench join`: parts of a run."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import click

from omoide.cli.scope import Scope, scoped
from omoide.cli.show import emit, table

FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command()
@click.argument("one", type=FILE)
@click.argument("other", type=FILE, required=False)
@click.option("--methods", nargs=2, metavar="ONE OTHER", help="Two methods of the one file given.")
@click.option(
    "--margin",
    type=click.FloatRange(min=0, min_open=True),
    help="So many points apart is still alike: say whether the interval lies within.",
)
@scoped
def compare(
    scope: Scope,
    one: Path,
    other: Path | None,
    methods: tuple[str, str] | None,
    margin: float | None,
) -> None:
    """Compare two results of the same task, paired by item, method by method; or two methods of
    one result."""
    from omoide.evals.reports.comparing import alike, compared_methods, compared_results
    from omoide.evals.running.results import read

    first = read(one)
    if (other is None) == (methods is None):
        raise click.UsageError("give two files, or one file and --methods ONE OTHER")
    if other is not None:
        found = compared_results(first, read(other), names=(one.stem, other.stem))
    elif methods is not None:
        found = compared_methods(first, *methods)
    within = [alike(t, task=first.task, margin=margin) for t in found] if margin else []
    if scope.json:
        plain = [asdict(test) for test in found]
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
            *((_SAID[within[i]],) if within else ()),
        )
        for i, test in enumerate(found)
    ]
    click.echo(table(head, rows, right=(4, 5, 6, 7)))


_SAID = {True: "yes", False: "no", None: ""}


@click.command()
@click.argument("parts", type=FILE, nargs=-1, required=True)
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="The one result."
)
@click.option("--drop", multiple=True, metavar="METHOD", help="Leave this method of the parts out.")
@scoped
def join(scope: Scope, parts: tuple[Path, ...], out: Path, drop: tuple[str, ...]) -> None:
    """Put results of other methods on the same sample together; a later part replaces methods."""
    from omoide.evals.running.joining import joined
    from omoide.evals.running.results import read, write

    read_parts = [(path.stem, read(path)) for path in parts]
    result = joined(
        [
            (name, replace(one, methods=[m for m in one.methods if m.name not in drop]))
            for name, one in read_parts
        ]
    )
    write(out, result)
    names = [method.name for method in result.methods]
    emit({"methods": names}) if scope.json else click.echo(f"{out}: {', '.join(names)}")

"""`omoide bench compare`: two result files, item by item; `omoide bench join`: parts of a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from omoide.cli.scope import Scope, scoped
from omoide.cli.show import as_json, emit, table

FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command()
@click.argument("one", type=FILE)
@click.argument("other", type=FILE)
@scoped
def compare(scope: Scope, one: Path, other: Path) -> None:
    """Compare two results of the same task, paired by item, method by method."""
    from omoide.evals.reports.comparing import compared_results
    from omoide.evals.running.results import read

    found = compared_results(read(one), read(other), names=(one.stem, other.stem))
    if scope.json:
        emit(as_json(found))
        return
    head = ("group", "measure", "one", "other", "difference", "95 %", "p", "items")
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
        )
        for test in found
    ]
    click.echo(table(head, rows, right=(4, 5, 6, 7)))


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

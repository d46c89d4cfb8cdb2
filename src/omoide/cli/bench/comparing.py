"""`omoide bench compare`: two result files, item by item."""

from __future__ import annotations

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

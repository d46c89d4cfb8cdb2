"""`omoide bench report`: write result files as Markdown and one HTML page."""

from __future__ import annotations

from pathlib import Path

import click

from omoide.cli import Scope, emit, scoped


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the report.  [default: FOLDER]",
)
@scoped
def report(scope: Scope, folder: Path, out: Path | None) -> None:
    """Write report.md, report.html and pictures from all results in FOLDER."""
    from omoide_bench.reports.report import write_report

    written = write_report(folder, out or folder)
    if scope.json:
        emit([str(path) for path in written])
    else:
        click.echo("\n".join(str(path) for path in written))

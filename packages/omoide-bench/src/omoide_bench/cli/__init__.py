"""`omoide bench`: measure memory on public data."""

from __future__ import annotations

import click

from omoide.cli import options as with_scope
from omoide_bench.cli.comparing import compare, join
from omoide_bench.cli.judging import agreement, measures
from omoide_bench.cli.listing import list_
from omoide_bench.cli.redteam import redteam
from omoide_bench.cli.reporting import report
from omoide_bench.cli.retrieval import abstention, evidence
from omoide_bench.cli.rivals import rivals
from omoide_bench.cli.running import run
from omoide_bench.cli.suite import suite
from omoide_bench.cli.warming import warm


@click.group()
@with_scope
def bench() -> None:
    """Measure memory on public data."""


for command in (
    list_,
    run,
    rivals,
    suite,
    warm,
    compare,
    join,
    report,
    measures,
    agreement,
    evidence,
    abstention,
    redteam,
):
    bench.add_command(command)

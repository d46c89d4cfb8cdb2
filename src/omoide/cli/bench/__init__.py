"""`omoide bench`: measure memory on public data."""

from __future__ import annotations

import click

from omoide.cli.bench.comparing import compare, join
from omoide.cli.bench.listing import list_
from omoide.cli.bench.reporting import report
from omoide.cli.bench.retrieval import abstention, evidence
from omoide.cli.bench.running import run
from omoide.cli.bench.suite import suite
from omoide.cli.bench.warming import warm
from omoide.cli.redteam import redteam
from omoide.cli.scope import options


@click.group()
@options
def bench() -> None:
    """Measure memory on public data."""


for command in (list_, run, suite, warm, compare, join, report, evidence, abstention, redteam):
    bench.add_command(command)

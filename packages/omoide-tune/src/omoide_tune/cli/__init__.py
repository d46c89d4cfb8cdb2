"""`omoide tune`: makes instruction data for memory, trains an adapter, and ships it."""

from __future__ import annotations

import click

from omoide.cli import options
from omoide_tune.cli.examples import data, teach
from omoide_tune.cli.shipping import convert, ship
from omoide_tune.cli.training import run
from omoide_tune.retrieval.commands import pairs, question_map, retriever


@click.group()
@options
def tune() -> None:
    """Tune a small model for memory."""


for command in (data, teach, run, convert, ship, pairs, retriever, question_map):
    tune.add_command(command)

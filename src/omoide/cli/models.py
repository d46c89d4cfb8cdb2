"""`omoide models`: list the catalogue of language models, and fetch their weights."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from omoide.bootstrap import list_models, pull_model
from omoide.cli.groups import CommandGroup
from omoide.cli.progress import bar
from omoide.cli.scope import options, scoped
from omoide.cli.show import emit, table

if TYPE_CHECKING:
    from omoide.cli.scope import Scope


@click.group(cls=CommandGroup)
@options
def models() -> None:
    """List and fetch the models that need no account."""


@models.command(name="list")
@scoped
def list_(scope: Scope) -> None:
    """List the models of the catalogue."""
    catalogue = list_models(scope.settings)
    if scope.json:
        emit(catalogue)
        return
    rows = [
        (m.alias, m.name, f"{m.megabytes:,} MB", "yes" if m.here else "no", m.licence, m.note)
        for m in catalogue
    ]
    click.echo(table(("alias", "model", "size", "here", "licence", "note"), rows, right=(2,)))
    adapters = [
        (a.name, m.name, f"{a.megabytes} MB", a.state, a.licence, ", ".join(a.skills))
        for m in catalogue
        for a in m.adapters
    ]
    if adapters:
        columns = ("adapter", "for", "size", "state", "licence", "skills")
        click.echo(f"\n{table(columns, adapters, right=(2,))}")


@models.command()
@click.argument("name", default="default")
@scoped
def pull(scope: Scope, name: str) -> None:
    """Fetch the weights of model NAME and verify them."""
    path = asyncio.run(pull_model(scope.settings, name, bar))
    if scope.json:
        emit({"model": name, "path": path})
    else:
        click.echo(str(path))

"""`omoide models`: list, recommend, fetch and remove language models."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from omoide.bootstrap import (
    describe_download,
    list_models,
    local_servers,
    pull_model,
    recommendation,
    remove_model,
)
from omoide.cli.groups import CommandGroup
from omoide.cli.progress import downloads
from omoide.cli.scope import options, scoped
from omoide.cli.show import bold, emit, table
from omoide.cli.wrapping import show_lines

if TYPE_CHECKING:
    from omoide.cli.scope import Scope


@click.group(cls=CommandGroup)
@options
def models() -> None:
    """List, recommend, fetch and remove the models that need no account."""


@models.command(name="list")
@scoped
def list_(scope: Scope) -> None:
    """List the catalogue, the files of the hub that were used, and servers on this machine."""
    catalogue = list_models(scope.settings)
    servers = asyncio.run(local_servers(scope.settings))
    if scope.json:
        emit({"models": catalogue, "servers": servers})
        return
    rows = [
        (
            m.alias,
            m.name,
            f"{m.megabytes:,} MB",
            f"{m.memory:g} GB" if m.memory else "",
            "yes" if m.here else "no",
            m.licence,
            m.note,
        )
        for m in catalogue
    ]
    head = ("alias", "model", "size", "memory", "here", "licence", "note")
    click.echo(table(head, rows, right=(2, 3)))
    adapters = [
        (a.name, m.name, f"{a.megabytes} MB", a.state, a.licence, ", ".join(a.skills))
        for m in catalogue
        for a in m.adapters
    ]
    if adapters:
        columns = ("adapter", "for", "size", "state", "licence", "skills")
        click.echo(f"\n{table(columns, adapters, right=(2,))}")
    if servers:
        found = [(s.kind, f"--model {spec}") for s in servers for spec in s.specs]
        click.echo(f"\n{table(('on this machine', 'use it with'), found)}")


@models.command()
@scoped
def recommend(scope: Scope) -> None:
    """Say which model suits this machine, by its memory and cores."""
    machine, best = recommendation(scope.settings)
    servers = asyncio.run(local_servers(scope.settings))
    if scope.json:
        emit({"machine": machine, "model": best, "servers": servers})
        return
    memory = f"{machine.memory:.0f} GB of memory" if machine.memory else "an unknown memory"
    cores = "1 core" if machine.cores == 1 else f"{machine.cores} cores"
    lines = [f"This machine has {memory} and {cores} for a model."]
    lines.append(f"{bold(best.alias)} ({best.name}) suits it: {best.reason}.")
    lines.append(f"Try it: omoide chat --model {best.alias}")
    lines += [f"{s.kind} is running here: omoide chat --model {s.specs[0]}" for s in servers]
    show_lines(lines)


@models.command()
@click.argument("name", default="default")
@scoped
def pull(scope: Scope, name: str) -> None:
    """Fetch the weights of model NAME and verify them. NAME is one of the catalogue, or
    hf:OWNER/REPOSITORY/FILE.gguf."""

    async def fetch() -> str:
        if about := await describe_download(scope.settings, name):
            click.echo(about, err=True)
        return str(await pull_model(scope.settings, name, downloads))

    path = asyncio.run(fetch())
    if scope.json:
        emit({"model": name, "path": path})
    else:
        click.echo(path)


@models.command()
@click.argument("name")
@scoped
def remove(scope: Scope, name: str) -> None:
    """Delete the weights of model NAME from this machine. They can be fetched again."""
    freed = remove_model(scope.settings, name)
    if scope.json:
        emit({"model": name, "freed": freed})
    elif freed:
        click.echo(f"{name} is removed: {freed / 1e9:.2f} GB are free again.")
    else:
        click.echo(f"{name} was not here.")

"""`omoide migrate`: from a file to a server's database, and back."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from omoide import bootstrap
from omoide.cli.progress import bar
from omoide.cli.scope import Where, scoped
from omoide.cli.show import emit, many, warning
from omoide.errors import BadInput

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.cli.scope import Scope
    from omoide.settings import Address


@click.command()
@click.option("--from", "source", type=Where(), required=True, help="Where everything is.")
@click.option("--to", "target", type=Where(), required=True, help="Where it is to be.")
@scoped
def migrate(scope: Scope, source: Path | Address, target: Path | Address) -> None:
    """Bring all users of all tenants from one database into another, or those of --tenant.

    Each is a file or postgresql://…; stop servers and workers first. Every row is read back and
    compared before a user is kept. A user of whom the target has something else is left alone.
    It may be broken off and run again. A key (--key-file) is that of each file of the two. API keys
    come along and go on opening the same tenants; revoked ones stay revoked.
    """
    from omoide.server.moving_keys import move_keys

    tenant = click.get_current_context().meta.get("omoide.tenant")
    done = asyncio.run(
        bootstrap.migrate(
            source,
            target,
            tenant=tenant,
            key=scope.settings.key,
            partitions=scope.settings.partitions,
            progress=bar,
        )
    )
    moved = move_keys(
        bootstrap.key_rows(replace(scope.settings, db=source)),
        bootstrap.key_rows(replace(scope.settings, db=target)),
        tenant=tenant,
    )
    done = replace(done, keys=moved.keys, refused=(*done.refused, *moved.refused))
    if scope.json:
        emit(done)
    else:
        there = f" ({done.known} of them were there already)" if done.known else ""
        keys = f", {many(done.keys, 'API key')}" if done.keys else ""
        click.echo(f"{many(done.owners, 'user')}{there}, {many(done.rows, 'row')} checked{keys}.")
        for reason in done.refused:
            click.echo(warning(f"! {reason}"), err=True)
    if done.refused:
        raise BadInput(f"{len(done.refused)} not brought over: see above")

"""`omoide migrate`: copy a database to another, such as a file to a server or back."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from omoide import bootstrap
from omoide.cli.progress import bar
from omoide.cli.scope import Where, scoped
from omoide.cli.show import emit, plural, warning
from omoide.errors import BadInput

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.cli.scope import Scope
    from omoide.settings import Address


@click.command()
@click.option("--from", "source", type=Where(), required=True, help="The old database.")
@click.option("--to", "target", type=Where(), required=True, help="The new database.")
@scoped
def migrate(scope: Scope, source: Path | Address, target: Path | Address) -> None:
    """Copy all users of all tenants from one database to another, or those of --tenant.

    Each database is a file or postgresql://…; stop servers and workers first. Every row is read
    back and compared before a user is committed. A user about whom the target has different data is
    skipped. You may interrupt it and run it again. The key (--key-file) is used for both databases
    where they are files. API keys are copied and keep working for the same tenants; revoked ones
    stay revoked.
    """
    from omoide.server.key_migration import migrate_keys

    tenant = click.get_current_context().meta.get("omoide.tenant")
    _refuse_waiting(scope, source)
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
    moved = migrate_keys(
        bootstrap.key_rows(replace(scope.settings, db=source)),
        bootstrap.key_rows(replace(scope.settings, db=target)),
        tenant=tenant,
    )
    done = replace(done, keys=moved.keys, refused=(*done.refused, *moved.refused))
    if scope.json:
        emit(done)
    else:
        known = f" ({done.known} of them were there already)" if done.known else ""
        keys = f", {plural(done.keys, 'API key')}" if done.keys else ""
        click.echo(
            f"{plural(done.owners, 'user')}{known}, {plural(done.rows, 'row')} checked{keys}."
        )
        for reason in done.refused:
            click.echo(warning(f"! {reason}"), err=True)
    if done.refused:
        raise BadInput(f"{len(done.refused)} not copied: see above")


def _refuse_waiting(scope: Scope, source: Path | Address) -> None:
    """Words that wait beside the old database would be left there."""
    spool = bootstrap.make_spool(replace(scope.settings, db=source))
    if spool is not None and (waiting := asyncio.run(spool.status())).exchanges:
        raise BadInput(
            f"words of the old database wait to be stored ({plural(waiting.exchanges, 'exchange')} "
            f"in {waiting.where}): run `omoide work --once` on it first"
        )

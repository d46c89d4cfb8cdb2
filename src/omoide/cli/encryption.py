"""`omoide encrypt` and `rekey`: encrypt the database file, and change its key."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from omoide import bootstrap
from omoide.cli.scope import read_key, scoped
from omoide.errors import BadInput

if TYPE_CHECKING:
    from omoide.cli.scope import Scope


@click.command()
@scoped
def encrypt(scope: Scope) -> None:
    """Encrypt the database with the key in OMOIDE_KEY or --key-file.

    No other process may have it open. If you lose the key, you lose the memory.
    """
    if not scope.settings.key:
        raise BadInput("no key was given: set OMOIDE_KEY, or pass a file with --key-file")
    asyncio.run(bootstrap.encrypt_store(replace(scope.settings, key=""), new=scope.settings.key))
    click.echo(f"{scope.settings.db} is encrypted.", err=True)


@click.command()
@click.option(
    "--new-key-file",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="A file with the new key as its first line.",
)
@scoped
def rekey(scope: Scope, new_key_file: Path) -> None:
    """Encrypt the database with another key."""
    if not scope.settings.key:
        raise BadInput("the old key was not given: set OMOIDE_KEY, or pass --key-file")
    asyncio.run(bootstrap.encrypt_store(scope.settings, new=read_key(new_key_file)))
    click.echo(f"{scope.settings.db} is encrypted with the new key.", err=True)

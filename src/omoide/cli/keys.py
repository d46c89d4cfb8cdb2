"""`omoide keys`: who may call the server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from omoide import bootstrap
from omoide.cli.scope import options, scoped
from omoide.cli.show import ago, emit, table

if TYPE_CHECKING:
    from omoide.cli.scope import Scope
    from omoide.server.keys import Key

SCOPES = ("read", "write", "admin")


@click.group()
@options
def keys() -> None:
    """Make, list and revoke API keys of `omoide serve`."""


@keys.command()
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(SCOPES),
    multiple=True,
    default=("read", "write"),
    show_default=True,
    help="What it may do; may be repeated. admin: erase, and the server's figures.",
)
@scoped
def create(scope: Scope, name: str, scopes: tuple[str, ...]) -> None:
    """Make a key for the tenant of --tenant. It is shown once."""
    from omoide.server.keys import Keys
    from omoide.server.keys import Scope as Right

    made = Keys(bootstrap.key_rows(scope.settings)).create(
        tenant=scope.settings.tenant,
        name=name,
        scopes=[Right(right) for right in scopes],
        at=scope.outside.clock.now(),
    )
    if scope.json:
        emit({**_shown(made.key), "key": made.secret})
        return
    click.echo(made.secret)
    click.echo(
        f"A key of tenant {made.key.tenant} to {', '.join(sorted(made.key.scopes))}. "
        "Keep it: it is not shown again.",
        err=True,
    )


@keys.command(name="list")
@scoped
def list_(scope: Scope) -> None:
    """List the keys of every tenant, revoked ones too."""
    from omoide.server.keys import Keys

    found = Keys(bootstrap.key_rows(scope.settings)).list()
    if scope.json:
        emit([_shown(key) for key in found])
        return
    if not found:
        click.echo("There is no key: only this machine may call, without one.")
        return
    now = scope.outside.clock.now()
    rows = [
        (
            key.prefix,
            key.name,
            key.tenant,
            " ".join(sorted(key.scopes)),
            ago(key.created, now),
            f"revoked {ago(key.revoked, now)}" if key.revoked else "",
        )
        for key in found
    ]
    click.echo(table(("key", "name", "tenant", "scopes", "made", ""), rows))


@keys.command()
@click.argument("key", metavar="PREFIX")
@scoped
def revoke(scope: Scope, key: str) -> None:
    """Make the key that begins with PREFIX (omo_…) useless, at once."""
    from omoide.server.keys import Keys

    gone = Keys(bootstrap.key_rows(scope.settings)).revoke(key, at=scope.outside.clock.now())
    if scope.json:
        emit(_shown(gone))
    else:
        click.echo(f"{gone.prefix} ({gone.name}) is revoked.")


def _shown(key: Key) -> dict[str, object]:
    return {
        "prefix": key.prefix,
        "name": key.name,
        "tenant": key.tenant,
        "scopes": sorted(key.scopes),
        "created": key.created,
        "revoked": key.revoked,
    }

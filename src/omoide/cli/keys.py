"""`omoide keys`: API keys of the server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from omoide import bootstrap
from omoide.cli.groups import CommandGroup
from omoide.cli.scope import options, scoped
from omoide.cli.show import ago, emit, table

if TYPE_CHECKING:
    from omoide.cli.scope import Scope
    from omoide.server.keys import ApiKey

SCOPES = ("read", "write", "admin")


@click.group(cls=CommandGroup)
@options
def keys() -> None:
    """Create, list and revoke API keys of `omoide serve`."""


@keys.command()
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(SCOPES),
    multiple=True,
    default=("read", "write"),
    show_default=True,
    help="What the key may do; repeatable. admin: erase, and read the server's metrics.",
)
@scoped
def create(scope: Scope, name: str, scopes: tuple[str, ...]) -> None:
    """Create a key for the tenant of --tenant. It is shown once."""
    from omoide.server.keys import ApiKeys
    from omoide.server.keys import Scope as KeyScope

    new = ApiKeys(bootstrap.key_rows(scope.settings)).create(
        tenant=scope.settings.tenant,
        name=name,
        scopes=[KeyScope(value) for value in scopes],
        at=scope.outside.clock.now(),
    )
    if scope.json:
        emit({**_key_json(new.key), "key": new.secret})
        return
    click.echo(new.secret)
    click.echo(
        f"A key of tenant {new.key.tenant} with scope {', '.join(sorted(new.key.scopes))}. "
        "Keep it: it is not shown again.",
        err=True,
    )


@keys.command(name="list")
@scoped
def list_(scope: Scope) -> None:
    """List the keys of every tenant, including revoked ones."""
    from omoide.server.keys import ApiKeys

    api_keys = ApiKeys(bootstrap.key_rows(scope.settings)).list()
    if scope.json:
        emit([_key_json(key) for key in api_keys])
        return
    if not api_keys:
        click.echo("There are no keys: only this machine may call, and needs none.")
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
        for key in api_keys
    ]
    click.echo(table(("key", "name", "tenant", "scopes", "created", ""), rows))


@keys.command()
@click.argument("key", metavar="PREFIX")
@scoped
def revoke(scope: Scope, key: str) -> None:
    """Revoke the key that starts with PREFIX (omo_…), with immediate effect."""
    from omoide.server.keys import ApiKeys

    revoked = ApiKeys(bootstrap.key_rows(scope.settings)).revoke(key, at=scope.outside.clock.now())
    if scope.json:
        emit(_key_json(revoked))
    else:
        click.echo(f"{revoked.prefix} ({revoked.name}) is revoked.")


def _key_json(key: ApiKey) -> dict[str, object]:
    return {
        "prefix": key.prefix,
        "name": key.name,
        "tenant": key.tenant,
        "scopes": sorted(key.scopes),
        "created": key.created,
        "revoked": key.revoked,
    }

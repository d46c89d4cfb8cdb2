"""`omoide mechanisms`: the ways of remembering that a configuration can name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from omoide.cli.scope import scoped
from omoide.cli.show import emit
from omoide.mechanisms import MECHANISMS

if TYPE_CHECKING:
    from omoide.cli.scope import Scope


@click.command()
@scoped
def mechanisms(scope: Scope) -> None:
    """List the ways of remembering, with their papers and what they cost.

    OMOIDE_MECHANISMS names those to use, in the order they run, such as `summary,search`.
    """
    if scope.json:
        emit(
            [
                {
                    "name": name,
                    "used": name in scope.settings.mechanisms,
                    "about": entry.about,
                    "paper": entry.paper,
                    "calls": entry.calls,
                    "needs": entry.needs,
                }
                for name, entry in MECHANISMS.items()
            ]
        )
        return
    for name, entry in MECHANISMS.items():
        mark = "*" if name in scope.settings.mechanisms else " "
        needs = f"; needs {entry.needs}" if entry.needs else ""
        click.echo(f"{mark} {name:18} {entry.about}")
        click.echo(f"  {'':18} {entry.paper}; model calls: {entry.calls}{needs}")
    click.echo("* in use; choose with OMOIDE_MECHANISMS=name,name")

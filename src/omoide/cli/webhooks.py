"""`omoide webhooks`: whether they arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from omoide.cli.scope import options, scoped
from omoide.cli.show import plural
from omoide.domain.webhook import WebhookEvent, WebhookKind
from omoide.errors import BadInput

if TYPE_CHECKING:
    from omoide.cli.scope import Scope
    from omoide.engine.runtime import Runtime


@click.group()
@options
def webhooks() -> None:
    """Tell other programs what happens (OMOIDE_WEBHOOKS, OMOIDE_WEBHOOK_SECRET)."""


@webhooks.command()
@scoped
def test(scope: Scope) -> None:
    """Send a signed ping to each address, and say whether all took it."""
    addresses = scope.settings.webhooks

    async def ping(runtime: Runtime) -> None:
        if runtime.webhooks.sender is None:
            raise BadInput("no webhook is configured: set OMOIDE_WEBHOOKS to its address")
        now = scope.outside.clock.now()
        await runtime.webhooks.sender.send(WebhookEvent(kind=WebhookKind.PING, time=now))

    scope.run_with(ping, create=True, progress=None)
    click.echo(f"{plural(len(addresses), 'address', 'addresses')} took the ping.")

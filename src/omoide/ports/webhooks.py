"""The port for telling other programs what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from omoide.domain.webhook import WebhookEvent


class WebhookSender(Protocol):
    """Delivers events to the addresses that the operator configured, and to no others."""

    async def send(self, event: WebhookEvent) -> None:
        """Deliver an event to each address. Raises `WebhookFailed` if one did not take it."""

    async def close(self) -> None:
        """Close the connections."""

"""Delivers webhooks over HTTP."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx

from omoide.domain.webhook import signed_headers
from omoide.errors import BadInput, WebhookFailed
from omoide.version import __version__
from omoide.wire.certificates import certificates
from omoide.wire.connecting import proxy_to

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain.webhook import WebhookEvent
    from omoide.ports import Clock

PATIENCE = 10.0
"""Seconds that a receiver may take."""


class HttpWebhooks:
    """See `ports.WebhookSender`. Only the given addresses are ever called: redirects are not
    followed, and nothing of an answer is read but its status."""

    def __init__(
        self,
        addresses: Sequence[str],
        *,
        secret: str,
        clock: Clock,
        transport: httpx.AsyncBaseTransport | None = None,
        patience: float = PATIENCE,
    ) -> None:
        if not secret:
            raise BadInput("webhooks are signed: set OMOIDE_WEBHOOK_SECRET too")
        for address in addresses:
            if urlsplit(address).scheme not in ("http", "https") or not urlsplit(address).hostname:
                raise BadInput(f"a webhook's address must be http:// or https://, not {address!r}")
        self._addresses = tuple(addresses)
        self._secret = secret
        self._clock = clock
        self._patience = patience
        self._transports = {
            address: transport
            or httpx.AsyncHTTPTransport(proxy=proxy_to(address), verify=certificates())
            for address in self._addresses
        }

    async def send(self, event: WebhookEvent) -> None:
        """See `WebhookSender.send`. Every address is tried, also after one failed."""
        outcomes = await asyncio.gather(
            *(self._deliver(event, address) for address in self._addresses)
        )
        if failed := [outcome for outcome in outcomes if outcome]:
            raise WebhookFailed("; ".join(failed))

    async def close(self) -> None:
        """See `WebhookSender.close`."""
        for transport in self._transports.values():
            await transport.aclose()

    async def _deliver(self, event: WebhookEvent, address: str) -> str:
        """Why the delivery failed; empty if it did not."""
        headers = signed_headers(event, secret=self._secret, now=self._clock.now())
        agent = {"user-agent": f"omoide/{__version__}"}
        limits = httpx.Timeout(self._patience).as_dict()
        request = httpx.Request(
            "POST",
            address,
            content=event.body(),
            headers={**headers, **agent},
            extensions={"timeout": limits},
        )
        host = urlsplit(address).hostname  # the rest may hold a secret
        try:
            async with asyncio.timeout(self._patience):
                response = await self._transports[address].handle_async_request(request)
                await response.aclose()
        except (TimeoutError, httpx.TimeoutException):
            return f"the webhook at {host} did not answer in {self._patience:g} s"
        except httpx.HTTPError as error:
            return f"the webhook at {host} cannot be reached: {type(error).__name__}"
        if not 200 <= response.status_code < 300:
            return f"the webhook at {host} answered with status {response.status_code}"
        return ""

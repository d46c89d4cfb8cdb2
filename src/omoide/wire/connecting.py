"""Connects to an endpoint, whatever protocol it speaks."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from omoide.wire.anthropic import AnthropicProtocol
from omoide.wire.certificates import certificates
from omoide.wire.direct import DirectTransport
from omoide.wire.ollama import OllamaProtocol
from omoide.wire.responses import ResponsesProtocol
from omoide.wire.transport import ProtocolTransport

if TYPE_CHECKING:
    from collections.abc import Callable

    from omoide.wire.address import EndpointAddress
    from omoide.wire.transport import VendorProtocol

PROTOCOLS: dict[str, Callable[[], VendorProtocol]] = {
    "responses": ResponsesProtocol,
    "anthropic": AnthropicProtocol,
    "ollama": OllamaProtocol,
}
"""One for each name in `address.CONVERTED`."""
KEPT = 64
"""Idle connections that are kept for the next request."""


def transport_to(
    address: EndpointAddress, *, api_key: str = "", inner: httpx.AsyncBaseTransport | None = None
) -> httpx.AsyncBaseTransport:
    """A transport for Chat Completions to this endpoint, whatever it speaks. `inner` sends the
    requests; by default one that uses this machine's proxy settings."""
    # A bare transport, not a client: no redirects, and no cookie jar that would leak one caller's
    # cookies into the next caller's request. Callers limit how many connections there are.
    inner = inner or _connected(proxy_to(address.base_url))
    if not address.converted:
        return inner
    made = PROTOCOLS[address.protocol]()
    return ProtocolTransport(made, base_url=address.base_url, api_key=api_key, inner=inner)


def _connected(proxy: str | None) -> httpx.AsyncBaseTransport:
    if proxy is None:
        return DirectTransport(certificates(), kept=KEPT)
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=KEPT)
    return httpx.AsyncHTTPTransport(verify=certificates(), limits=limits, proxy=proxy)


def proxy_to(url: str) -> str | None:
    """The proxy that this machine's settings name for a URL, if any."""
    address = urlsplit(url)
    if not address.hostname or proxy_bypass(address.hostname):
        return None
    proxies = getproxies()
    return proxies.get(address.scheme) or proxies.get("all")

"""The certificate authorities that every connection of this process trusts."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    import ssl


@cache
def certificates() -> ssl.SSLContext:
    """What httpx trusts by default, read once for all clients.

    Reading the authorities takes some 50 ms of CPU, and httpx reads them for every client that it
    makes, even for one that speaks plain HTTP to this machine.
    """
    return httpx.create_ssl_context()

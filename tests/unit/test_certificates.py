"""The certificate authorities are read once for all clients."""

from __future__ import annotations

import ssl

import httpx
import pytest

from omoide.adapters.models.openai import OpenAIChat
from omoide.adapters.webhooks import HttpWebhooks
from omoide.client.connection import make_connection
from omoide.testing import FrozenClock
from omoide.wire.address import EndpointAddress
from omoide.wire.certificates import certificates
from omoide.wire.connecting import transport_to


async def test_no_client_reads_them_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once read, they serve models, upstreams, webhooks and connections to a server."""
    assert certificates().verify_mode is ssl.CERT_REQUIRED

    def again(*args: object, **more: object) -> None:
        raise AssertionError("the certificate authorities were read again")

    monkeypatch.setattr(ssl, "create_default_context", again)
    url = "https://model.example/v1"
    await OpenAIChat(url, "m").close()
    await transport_to(EndpointAddress.parse(url)).aclose()
    HttpWebhooks([url], secret="s", clock=FrozenClock())  # noqa: S106 - no real secret
    await make_connection("https://memory.example").http.aclose()
    with pytest.raises(AssertionError, match="read again"):
        httpx.AsyncClient()

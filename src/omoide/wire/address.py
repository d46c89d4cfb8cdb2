"""The address of a model's endpoint: protocol, base URL and the model's name there."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from omoide.errors import BadInput

OPENAI = "openai"
CONVERTED = ("responses", "anthropic", "ollama")
"""Protocols that an endpoint may speak besides Chat Completions."""


@dataclass(frozen=True, kw_only=True)
class EndpointAddress:
    """Where an endpoint is, and what it speaks.

    >>> EndpointAddress.parse("anthropic+https://api.example.com#claude").protocol
    'anthropic'
    >>> EndpointAddress.parse("http://localhost:8080/v1#m")
    EndpointAddress(protocol='openai', base_url='http://localhost:8080/v1', model='m')
    """

    protocol: str
    base_url: str
    model: str
    """Empty if none is named."""

    @property
    def converted(self) -> bool:
        """Whether it speaks another protocol than Chat Completions."""
        return self.protocol != OPENAI

    @classmethod
    def parse(cls, text: str) -> EndpointAddress:
        """Parse `URL#MODEL`, with the protocol and a `+` before it unless it is OpenAI's. Raises
        `BadInput` if the URL has an impossible host or port."""
        url, _, model = text.strip().partition("#")
        protocol, plus, rest = url.partition("+")
        if plus and protocol.lower() in (OPENAI, *CONVERTED):
            url = rest
        else:
            protocol = OPENAI
        try:
            _ = urlsplit(url).port
        except ValueError:  # it quotes what may be a password
            raise BadInput(
                f"{without_credentials(text)!r} is not a URL: check its host and its port; an IPv6 "
                "address stands in brackets, as in http://[::1]:8080/v1"
            ) from None
        return cls(protocol=protocol.lower(), base_url=url.rstrip("/"), model=model)


def without_credentials(address: str) -> str:
    """An address without user and password, for messages; it may be no URL at all.

    >>> without_credentials("ftp://ana:secret@example.com/v1")
    'ftp://example.com/v1'
    """
    before, mark, rest = address.rpartition("@")
    scheme, slashes, _ = before.partition("://")
    return f"{scheme}{slashes}{rest}" if mark and slashes else address


def basic_auth(address: str) -> dict[str, str]:
    """The header for the user and the password in an address; none if there are none.

    >>> basic_auth("http://ana:secret@example.com/v1")
    {'authorization': 'Basic YW5hOnNlY3JldA=='}
    """
    named = urlsplit(address)
    if not named.username and not named.password:
        return {}
    words = f"{unquote(named.username or '')}:{unquote(named.password or '')}"
    return {"authorization": f"Basic {b64encode(words.encode()).decode()}"}


def is_endpoint(text: str) -> bool:
    """Whether a model's name is the address of an endpoint."""
    url = EndpointAddress.parse(text).base_url.lower()
    return url.startswith(("http://", "https://"))

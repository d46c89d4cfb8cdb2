"""Options of the server, apart from the settings of the memory itself."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from omoide.errors import BadInput

if TYPE_CHECKING:
    from omoide.server.keys import ApiKeys


OPEN_ORIGINS = frozenset({"*", "null"})
"""Origins that any web page can have: `null` is that of a sandboxed frame."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Limits and choices of one server."""

    host: str = "127.0.0.1"
    port: int = 8377
    default_user: str | None = None
    """The user of requests that name none; None rejects such requests."""
    user_from_key: bool = False
    """Whether a request that names no user is of the user with the name of its API key."""
    store: bool = True
    """Whether responses and threads are stored if their clients ask for it. They are never removed
    by themselves, and a client that sends its whole history each time has it stored each time."""
    cors: tuple[str, ...] = ()
    """Origins whose web pages may call."""
    rate: int = 600
    """Requests a minute for each API key; 0 for no limit. Without keys there is no limit."""
    max_body: int = 16 * 1024 * 1024
    """Maximum size of a request body in bytes."""
    receive: float = 60.0
    """Seconds that a client may take to send the headers of a request, or be silent while it sends
    the body; the whole body may take ten times as long."""
    patience: float = 10.0
    """Seconds a chat waits for memory before it continues without it."""
    grace: float = 10.0
    """Seconds that replies in progress get to finish when the server is stopped."""
    work: bool = True
    """Whether the server also does background jobs; `omoide work` can do them elsewhere."""
    idle_every: float = 60.0
    """Seconds between two checks for idle sessions."""
    at_once: int = 1
    """Jobs that run at a time. More than one helps if the model runs elsewhere."""
    pause: float = 0.5
    """Seconds to collect work before it starts, so that ten messages are embedded in one batch."""

    @property
    def any_origin(self) -> bool:
        """Whether every web page may call."""
        return not OPEN_ORIGINS.isdisjoint(self.cors)

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)


@lru_cache(maxsize=256)
def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine's own. Names other than `localhost` do not
    count, since they may resolve to something else later."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_origins(options: Options, keys: ApiKeys) -> None:
    """Refuse to be open to every web page that someone here visits, while no API key exists."""
    if options.any_origin and not keys.any():
        raise BadInput(
            f"with --cors {' '.join(options.cors)} any web page could read and erase every memory, "
            "and no API key exists: create a key first (omoide keys create NAME), or name the "
            "origins that may call"
        )


def check_address(options: Options, keys: ApiKeys) -> None:
    """Refuse to listen on a public address, or to be open to every web page, while no API key
    exists."""
    check_origins(options, keys)
    if not options.loopback and not keys.any():
        raise BadInput(
            f"{options.host} can be reached from outside, and no API key exists, so anyone could "
            "read every memory: create a key first (omoide keys create NAME), or omit --host "
            "to listen on 127.0.0.1 only"
        )

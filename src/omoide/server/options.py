"""How the server is run: everything that is not a setting of the memory itself."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.errors import BadInput

if TYPE_CHECKING:
    from omoide.server.keys import Keys


@dataclass(frozen=True, kw_only=True)
class Options:
    """Limits and choices of one server."""

    host: str = "127.0.0.1"
    port: int = 8377
    default_user: str | None = None
    """Whose memory, where a request names nobody; None refuses such a request."""
    cors: tuple[str, ...] = ()
    """Web pages of these origins may call."""
    rate: int = 600
    """Requests a minute for each key; 0 for no limit. Without keys there is none."""
    max_body: int = 16 * 1024 * 1024
    """Most bytes of a request."""
    patience: float = 10.0
    """Seconds a chat waits for memory before it goes on without."""
    grace: float = 10.0
    """Seconds that replies under way may still take when the server is stopped."""
    work: bool = True
    """Whether it also does the work behind the memory; `omoide work` can do it elsewhere."""
    idle_every: float = 60.0
    """Seconds between two looks for sessions that have gone idle."""
    pause: float = 0.5
    """Seconds that work may gather: ten messages are then embedded in one go, not in ten."""

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Whether the name or address of a host is this machine's own. A name other than
    `localhost` counts as open: who knows where it leads tomorrow."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_address(options: Options, keys: Keys) -> None:
    """Refuse an address that others can reach as long as nobody needs a key."""
    if not options.loopback and not keys.any():
        raise BadInput(
            f"{options.host} can be reached from outside, and no API key exists, so anyone could "
            "read every memory: make a key first (omoide keys create NAME), or leave --host out "
            "to listen on 127.0.0.1 only"
        )

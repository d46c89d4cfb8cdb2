"""Listening on a socket, until told to stop."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import uvicorn

from omoide.errors import BadInput
from omoide.server import logs
from omoide.server.app import Server, make_app
from omoide.server.embedded import EngineUpstream
from omoide.server.upstream import HttpUpstream

if TYPE_CHECKING:
    import socket

    from omoide.server.keys import Keys
    from omoide.server.options import Options
    from omoide.server.tenants import Parts
    from omoide.server.upstream import Upstream

log = logging.getLogger(__name__)


def upstream_of(spec: str, parts: Parts) -> Upstream:
    """Where chats go: the endpoint of a URL, or the memory's own model."""
    settings = parts.settings
    if spec.lower().startswith(("http://", "https://")):
        base_url, _, model = spec.partition("#")
        return HttpUpstream(base_url, model=model, api_key=settings.api_key, wait=settings.timeout)
    if spec != settings.model:
        raise BadInput(f"--upstream {spec!r} is not a URL: give one like http://localhost:11434/v1")
    return EngineUpstream(parts.model, parts.embedder, max_tokens=settings.reply_tokens)


class _Told(uvicorn.Server):
    """Says where it listens, once it does."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then log the address: with port 0 nobody knows it before."""
        await super().startup(sockets=sockets)
        if self.started:
            found = [s.getsockname() for server in self.servers for s in server.sockets]
            host, port = found[0][:2] if found else (self.config.host, self.config.port)
            shown = f"[{host}]" if ":" in host else host
            log.info("listening", extra={"address": f"http://{shown}:{port}"})


async def run(
    parts: Parts, *, upstream: Upstream, keys: Keys, options: Options, log_level: str = "info"
) -> None:
    """Serve until SIGINT or SIGTERM; replies under way get the grace time to end."""
    logs.configure(log_level)
    app = make_app(Server.of(parts, upstream=upstream, keys=keys, options=options))
    config = uvicorn.Config(
        app,
        host=options.host,
        port=options.port,
        log_config=None,
        log_level=log_level,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=max(1, round(options.grace)),
        lifespan="on",
    )
    await _Told(config).serve()

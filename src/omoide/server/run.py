"""Runs the server under uvicorn."""

from __future__ import annotations

import errno
import logging
import sys
from typing import TYPE_CHECKING

import uvicorn

from omoide.errors import BadInput
from omoide.mechanisms.parts import cuts_loops, may_loop, reply_tokens_for
from omoide.mechanisms.reply_forms import PENALTY
from omoide.server import logs
from omoide.server.app import Server, make_app
from omoide.server.connections import protocol
from omoide.server.embedded import EngineUpstream
from omoide.server.upstream import HttpUpstream
from omoide.wire.address import is_endpoint, without_credentials

if TYPE_CHECKING:
    import socket

    from omoide.engine.runtime import Runtime
    from omoide.server.greeting import Greeting
    from omoide.server.keys import ApiKeys
    from omoide.server.options import Options
    from omoide.server.upstream import Upstream

log = logging.getLogger(__name__)


def upstream_of(spec: str, runtime: Runtime) -> Upstream:
    """Where chats are sent: the endpoint at a URL, or the runtime's own model."""
    settings = runtime.settings
    if is_endpoint(spec):
        return HttpUpstream(spec, api_key=settings.api_key, wait=settings.timeout)
    if spec != settings.model:
        raise BadInput(
            f"--upstream {without_credentials(spec)!r} is not a URL: give one like "
            "http://localhost:8080/v1, ollama+http://localhost:11434, "
            "anthropic+https://api.anthropic.com or responses+https://api.openai.com/v1"
        )
    return EngineUpstream(
        runtime.model,
        runtime.embedder,
        max_tokens=reply_tokens_for(settings),
        cut_loops=cuts_loops(settings),
        penalty=PENALTY if may_loop(settings) else 0.0,
    )


def _cannot_listen(config: uvicorn.Config, error: OSError) -> BadInput:
    """What to do about an address at which nothing can listen."""
    if error.errno == errno.EADDRINUSE:
        return BadInput(
            f"port {config.port} of {config.host} is taken, perhaps by another omoide serve: stop "
            f"that, or take another port: --port {config.port + 1}, or --port 0 for any free one"
        )
    if error.errno == errno.EACCES:
        return BadInput(
            f"port {config.port} may not be used by this user (those below 1024 are the system's): "
            "take another with --port"
        )
    return BadInput(
        f"cannot listen at {config.host}, port {config.port} ({error.strerror or error}): --host "
        "is an address of this machine, such as 127.0.0.1, and --port a free port"
    )


class _AnnouncingServer(uvicorn.Server):
    """Logs its address once it listens, or greets a person with it."""

    def __init__(self, config: uvicorn.Config, greeting: Greeting | None) -> None:
        super().__init__(config)
        self._greeting = greeting

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then log the address, which is unknown before if the port is 0. Raises `BadInput`
        if nothing can listen there."""
        try:
            await super().startup(sockets=sockets)
        except SystemExit as ended:  # how uvicorn gives up, after the reason as a log line
            if isinstance(ended.__context__, OSError):
                raise _cannot_listen(self.config, ended.__context__) from ended.__context__
            raise
        if self.started:
            addresses = [s.getsockname() for server in self.servers for s in server.sockets]
            host, port = addresses[0][:2] if addresses else (self.config.host, self.config.port)
            host = f"[{host}]" if ":" in host else host
            address = f"http://{host}:{port}"
            if self._greeting is None:
                log.info("listening", extra={"address": address})
            else:
                sys.stderr.write(self._greeting.text(address) + "\n")


async def run(
    runtime: Runtime,
    *,
    upstream: Upstream,
    keys: ApiKeys,
    options: Options,
    log_level: str = "info",
    greeting: Greeting | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM. Replies in progress get `options.grace` seconds to finish.
    With a greeting, someone is watching: it is written to stderr, and logs are written for people
    instead of programs."""
    logs.configure(log_level, plain=greeting is not None)
    app = make_app(Server.of(runtime, upstream=upstream, keys=keys, options=options))
    config = uvicorn.Config(
        app,
        host=options.host,
        port=options.port,
        log_config=None,  # nor a level: it would be set past that of `logs.configure`
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=max(1, round(options.grace)),
        lifespan="on",
        http=protocol(options.receive),
    )
    await _AnnouncingServer(config, greeting).serve()

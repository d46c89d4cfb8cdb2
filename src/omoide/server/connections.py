"""HTTP connections that end if a client does not send its request.

uvicorn limits the pause between two requests, but not how long the headers of one may take: a
client that sends half of them would hold its connection for ever.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.auto import AutoHTTPProtocol

_Base: type[asyncio.Protocol] = AutoHTTPProtocol


def protocol(seconds: float) -> type[asyncio.Protocol]:
    """uvicorn's HTTP protocol, with at most `seconds` for the headers of a request."""

    class TimedProtocol(_Base):  # type: ignore[valid-type, misc]
        """Closes the connection if a request does not begin, or its headers do not end."""

        waiting: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            """See `asyncio.Protocol`."""
            super().connection_made(transport)
            self._expect()

        def data_received(self, data: bytes) -> None:
            """See `asyncio.Protocol`."""
            super().data_received(data)
            if self.cycle is None or self.cycle.response_complete:
                self._expect()  # these bytes are not a whole request yet
            else:
                self._stop()

        def connection_lost(self, exc: Exception | None) -> None:
            """See `asyncio.Protocol`."""
            self._stop()
            super().connection_lost(exc)

        def _expect(self) -> None:
            if self.waiting is None:
                self.waiting = asyncio.get_running_loop().call_later(seconds, self._give_up)

        def _stop(self) -> None:
            if self.waiting is not None:
                self.waiting.cancel()
                self.waiting = None

        def _give_up(self) -> None:
            self.waiting = None
            self.transport.close()

    return TimedProtocol

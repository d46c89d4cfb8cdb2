"""Builds what a runtime has around its store and models: where words wait, who is told, and who
watches."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from omoide.errors import BadInput, MissingExtra
from omoide.ports.telemetry import OFF
from omoide.settings import Address

if TYPE_CHECKING:
    from omoide.adapters.spool import FileSpool
    from omoide.adapters.webhooks import HttpWebhooks
    from omoide.ports import Clock
    from omoide.ports.telemetry import Telemetry
    from omoide.settings import Settings


def make_webhooks(settings: Settings, clock: Clock) -> HttpWebhooks | None:
    """What tells other programs what happens; None if nobody is to be told."""
    if not settings.webhooks:
        return None
    from omoide.adapters.webhooks import HttpWebhooks

    return HttpWebhooks(settings.webhooks, secret=settings.webhook_secret, clock=clock)


def make_telemetry(settings: Settings) -> Telemetry:
    """What observes the memory: OpenTelemetry, or nothing."""
    if settings.telemetry not in ("off", "on", "content"):
        raise BadInput(f"OMOIDE_TELEMETRY must be off, on or content, not {settings.telemetry!r}")
    if settings.telemetry == "off":
        return OFF
    try:
        from omoide.adapters.telemetry import OpenTelemetry
    except ModuleNotFoundError as error:
        raise MissingExtra(f"telemetry needs {error.name}: pip install 'omoide[otel]'") from error
    return OpenTelemetry(settings, content=settings.telemetry == "content")


def make_spool(settings: Settings) -> FileSpool | None:
    """Where words wait that the database cannot take; None if nowhere."""
    if settings.spool == "none" or settings.key or os.name != "posix":
        return None
    from omoide.adapters.spool import FileSpool

    if settings.spool:
        return FileSpool(Path(settings.spool).expanduser())
    if isinstance(settings.db, Address):
        return FileSpool(Path.home() / ".local/share/omoide/spool" / _short(settings.db))
    return FileSpool(settings.db.with_name(f"{settings.db.name}.spool"))


def _short(address: Address) -> str:
    """A name for a server's database, so that two of them never share a folder."""
    where = urlsplit(address)
    try:
        server = f"{where.hostname}:{where.port}"
    except ValueError:  # several servers, of which one is the primary
        server = where.netloc.rpartition("@")[2]
    return hashlib.sha256(f"{server}{where.path}".encode()).hexdigest()[:16]

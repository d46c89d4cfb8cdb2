"""Stores of plug-ins, chosen by the scheme of the database URL."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from omoide import plugins
from omoide.errors import BadInput
from omoide.plugins import Group
from omoide.settings import Address

if TYPE_CHECKING:
    from omoide.ports import Store
    from omoide.settings import Settings

OWN = ("postgres", "postgresql")


async def open_plugged(settings: Settings) -> Store | None:
    """The store of the plug-in named like the scheme of `settings.db`; None for a built-in
    database. Raises `BadInput` for an unknown scheme."""
    url = settings.db
    if not isinstance(url, Address) or plugins.scheme(url) in OWN:
        return None
    make = plugins.load(Group.STORES, plugins.scheme(url), known=OWN)
    if settings.vectors:
        raise BadInput(
            "OMOIDE_VECTORS works with SQLite and PostgreSQL only: a plug-in's store keeps its own "
            "vectors. Unset it"
        )
    store: Store = await make(url, settings)
    return store


def refuse_unknown(url: Address) -> None:
    """Raise `BadInput` unless this is PostgreSQL, for commands that need a built-in database."""
    if plugins.scheme(url) not in OWN:
        raise BadInput(
            f"this works with a file or PostgreSQL, not with {plugins.scheme(url)}://…; move the "
            "memory with `omoide export` and `omoide import`"
        )


def keys_file(url: Address) -> Path | None:
    """The file with the API keys for a plug-in's store. None for PostgreSQL."""
    if plugins.scheme(url) in OWN:
        return None
    name = hashlib.sha256(url.encode()).hexdigest()[:16]
    return Path.home() / ".local/share/omoide" / f"{plugins.scheme(url)}-{name}.keys"

"""Connects to a Qdrant server or cluster."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from omoide.errors import BadInput, MissingExtra

if TYPE_CHECKING:
    from omoide.settings import Settings
    from omoide_qdrant.points import Points

TIMEOUT = 5
"""Timeout of a request, in seconds."""
PORT = 6333
_SCHEMES = {"qdrant": "http", "qdrant+https": "https"}


def connect(url: str, *, key: str = "", timeout: int = TIMEOUT) -> Points:
    """The points of the server or cluster at `qdrant://host:port`, or `qdrant+https://…`. Sends no
    request yet. The key appears in no message."""
    scheme, host, port = _address(url)
    try:
        from qdrant_client import QdrantClient

        from omoide_qdrant.points import Points
    except ModuleNotFoundError as error:
        raise MissingExtra(f"Qdrant needs {error.name}: pip install 'omoide[qdrant]'") from error
    with warnings.catch_warnings():  # docs/postgres.md says that a key needs https
        warnings.filterwarnings("ignore", message="Api key is used with an insecure connection")
        client = QdrantClient(
            url=f"{scheme}://{host}:{port}",
            port=port,
            api_key=key or None,
            timeout=timeout,
            check_compatibility=False,
        )
    return Points(client, where=f"Qdrant at {host}:{port}")


def _address(url: str) -> tuple[str, str, int]:
    """Scheme, host and port."""
    wrong = BadInput(
        "OMOIDE_VECTORS must be qdrant://HOST:PORT or qdrant+https://HOST:PORT, with the key in "
        "OMOIDE_VECTORS_KEY"
    )
    try:
        parts = urlsplit(url)
        port = parts.port or PORT
    except ValueError as error:
        raise wrong from error
    scheme = _SCHEMES.get(parts.scheme)
    extra = parts.username or parts.password or parts.path.strip("/") or parts.query
    if scheme is None or not parts.hostname or extra:
        raise wrong
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return scheme, host, port


def vectors(url: str, settings: Settings) -> Points:
    """The entry point: the index that `OMOIDE_VECTORS` names."""
    return connect(url, key=settings.vectors_key)

"""The web page: static files beside this module. Nothing is loaded from other hosts.

The files contain no secrets, so they need no API key. Their data comes from the REST API, which
requires a key if there are any.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping
    from importlib.resources.abc import Traversable

    from starlette.requests import Request

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
}
GUARD = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "object-src 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",  # cached but revalidated, so a new version is seen at once
}


@dataclass(frozen=True, kw_only=True)
class File:
    """One static file, held in memory."""

    body: bytes
    media_type: str
    tag: str
    headers: Mapping[str, str] = field(default_factory=dict)

    async def __call__(self, request: Request) -> Response:
        """The file, or 304 if the client has it."""
        headers = {**GUARD, **self.headers, "ETag": self.tag}
        known = request.headers.get("if-none-match", "")
        if self.tag in (tag.strip().removeprefix("W/") for tag in known.split(",")):
            return Response(status_code=304, headers=headers)
        return Response(self.body, media_type=self.media_type, headers=headers)


@cache
def pages() -> tuple[Route, ...]:
    """The routes of all files: `/` for the page itself, `/page/…` for its parts. They are part of
    the package, so they are read once."""
    return tuple(Route(path, _get(file), methods=["GET"]) for path, file in _contents())


def _contents() -> list[tuple[str, File]]:
    """Each file with its path."""
    contents = []
    for path, entry in _walk(files("omoide.server.page"), ""):
        suffix = path[path.rfind(".") :]
        if suffix not in TYPES:
            continue
        whole_site = {"Service-Worker-Allowed": "/"} if path == "sw.js" else {}
        file = _file(entry.read_bytes(), TYPES[suffix], headers=whole_site)
        contents.append(("/" if path == "index.html" else f"/page/{path}", file))
    listed = json.dumps([path for path, _ in contents if path != "/page/sw.js"]).encode()
    contents.append(("/page/files.json", _file(listed, TYPES[".json"])))
    return contents


def _file(body: bytes, media_type: str, *, headers: Mapping[str, str] | None = None) -> File:
    tag = f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'
    return File(body=body, media_type=media_type, tag=tag, headers=headers or {})


def _get(file: File) -> Callable[[Request], Awaitable[Response]]:
    async def get(request: Request) -> Response:
        return await file(request)

    return get


def _walk(folder: Traversable, under: str) -> Iterator[tuple[str, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _walk(entry, f"{under}{entry.name}/")
        else:
            yield f"{under}{entry.name}", entry

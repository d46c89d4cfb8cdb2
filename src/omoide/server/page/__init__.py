"""The page: static files beside this module, served as they are, with nothing from outside.

The files hold no secret, so everyone may have them; what they show comes from REST, which asks for
a key where there are keys.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from importlib.resources.abc import Traversable

    from starlette.requests import Request

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
GUARD = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "object-src 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",  # kept, and asked about: a new version is seen at once
}


@dataclass(frozen=True, kw_only=True)
class File:
    """One file, read once."""

    body: bytes
    media_type: str
    tag: str

    async def __call__(self, request: Request) -> Response:
        """The file; or 304 to whoever has it."""
        headers = {**GUARD, "ETag": self.tag}
        known = request.headers.get("if-none-match", "")
        if self.tag in (tag.strip().removeprefix("W/") for tag in known.split(",")):
            return Response(status_code=304, headers=headers)
        return Response(self.body, media_type=self.media_type, headers=headers)


def pages() -> list[Route]:
    """The routes of all files: `/` for the page itself, `/page/…` for what it is made of."""
    routes = []
    for path, place in _walk(files("omoide.server.page"), ""):
        ending = path[path.rfind(".") :]
        if ending not in TYPES:
            continue
        body = place.read_bytes()
        tag = f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'
        file = File(body=body, media_type=TYPES[ending], tag=tag)
        where = "/" if path == "index.html" else f"/page/{path}"
        routes.append(Route(where, _get(file), methods=["GET"]))
    return routes


def _get(file: File) -> Callable[[Request], Awaitable[Response]]:
    async def get(request: Request) -> Response:
        return await file(request)

    return get


def _walk(folder: Traversable, under: str) -> Iterator[tuple[str, Traversable]]:
    for place in sorted(folder.iterdir(), key=lambda place: place.name):
        if place.is_dir():
            yield from _walk(place, f"{under}{place.name}/")
        else:
            yield f"{under}{place.name}", place

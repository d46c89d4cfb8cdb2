"""Answers kept for a while, so that a write sent again under the same key is not done again.

They are kept in memory. What has to outlive a restart does so by other means: `record` and
`reply` derive the ids of turns from the key.
"""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from starlette.responses import Response

from omoide.server.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from omoide.server.endpoint import Call

    Place = tuple[str, str, str, str]
    """Tenant, user, route, key."""

MOST = 4096
LARGEST = 256 * 1024
SECONDS = 24 * 3600.0


class Replays:
    """The latest answers."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._kept: OrderedDict[Place, tuple[bytes, float, Response | None]] = OrderedDict()

    async def once(
        self, place: Place, call: Call, handler: Callable[[Call], Awaitable[Response]]
    ) -> Response:
        """The answer of the handler, or that of the first time. 409 while that is under way, and if
        the key came with another body before."""
        now, print_ = self._now(), hashlib.blake2b(call.raw, digest_size=16).digest()
        if (known := self._kept.get(place)) and now - known[1] < SECONDS:
            return _again(known[0] == print_, known[2])
        self._kept[place] = (print_, now, None)
        self._kept.move_to_end(place)
        while len(self._kept) > MOST:
            self._kept.popitem(last=False)
        try:
            response = await handler(call)
        except BaseException:  # it was not done: it may be tried again
            self._kept.pop(place, None)
            raise
        if type(response) is Response and len(response.body) <= LARGEST and place in self._kept:
            self._kept[place] = (print_, now, response)
        else:
            self._kept.pop(place, None)
        return response

    def forget(self, tenant: str, user: str) -> None:
        """Drop what holds words of a user who is erased."""
        for place in [place for place in self._kept if place[:2] == (tenant, user)]:
            del self._kept[place]


def _again(same: bool, response: Response | None) -> Response:
    if not same:
        raise Problem(409, "idempotency-key-reused", "this key came with another body before")
    if response is None:
        raise Problem(
            409, "under-way", "the first request is still under way", headers={"Retry-After": "1"}
        )
    headers = {**response.headers, "Idempotent-Replayed": "true"}
    headers.pop("content-length", None)
    return Response(response.body, status_code=response.status_code, headers=headers)

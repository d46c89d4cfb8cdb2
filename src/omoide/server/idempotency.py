"""A cache of responses, so that a write repeated with the same idempotency key is done once.

The cache is in memory only. `record` and `reply` survive a restart because they derive turn ids
from the key. Only success is kept: what failed may be tried again. A response is dropped when
anything of its user is erased, by this process or another; where the database cannot say whether
that happened, the request is done and its response is not kept. Each tenant has its own places, so
that none evicts another's.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections import OrderedDict, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from starlette.responses import Response

from omoide.errors import OmoideError
from omoide.server.problems import HttpProblem

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from omoide.server.endpoint import RouteCall, RouteSpec

    Handler = Callable[[RouteCall], Awaitable[Response]]
    ReplayKey = tuple[str, str, str]
    """User, route, key."""

log = logging.getLogger(__name__)

MAX_ENTRIES = 1024
"""Responses kept for one tenant."""
MAX_TENANT_BYTES = 16 * 1024 * 1024
MAX_BYTES = 256 * 1024 * 1024
"""Bytes kept for one tenant, and for all."""
MAX_ENTRY_BYTES = 256 * 1024
SECONDS = 24 * 3600.0


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """A request that was made, with its response once there is one."""

    request_hash: bytes
    began: float
    response: Response | None = None
    mark: str | None = None
    """The user's erasure mark when the response was made; None if it quotes nobody."""

    @property
    def size(self) -> int:
        return len(self.response.body) if self.response is not None else 0


class _TenantEntries:
    """The entries of one tenant, oldest first."""

    def __init__(self) -> None:
        self.entries: OrderedDict[ReplayKey, _Entry] = OrderedDict()
        self.size = 0

    def put(self, key: ReplayKey, entry: _Entry) -> None:
        """Add or replace an entry."""
        if key in self.entries:
            self.size -= self.entries[key].size
        self.entries[key] = entry
        self.size += entry.size

    def remove(self, key: ReplayKey, entry: _Entry) -> None:
        """Remove the entry, unless another one has taken its place."""
        if self.entries.get(key) is entry:
            del self.entries[key]
            self.size -= entry.size

    def remove_oldest(self) -> None:
        """Remove the oldest entry."""
        _, entry = self.entries.popitem(last=False)
        self.size -= entry.size


class ReplayCache:
    """The latest responses, by tenant and idempotency key."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._tenants: defaultdict[str, _TenantEntries] = defaultdict(_TenantEntries)

    @property
    def kept_answers(self) -> int:
        """Places that are taken, by requests that are under way too."""
        return sum(len(tenant.entries) for tenant in self._tenants.values())

    @property
    def kept_bytes(self) -> int:
        """Bytes of the bodies that are kept."""
        return sum(tenant.size for tenant in self._tenants.values())

    async def run_once(self, row: RouteSpec, seed: str, call: RouteCall) -> Response:
        """The response of the route's handler, or the kept one of the first call with this key.
        Raises 409 while the first call is running, or if the key was used for another request."""
        tenant_entries = self._tenants[call.caller.tenant]
        key = (call.user, row.path, seed)
        request_hash = _hash(row, call)
        await self._drop_stale(tenant_entries, key, call)
        if entry := tenant_entries.entries.get(key):
            return _replayed(entry.request_hash == request_hash, entry.response)
        running = _Entry(request_hash=request_hash, began=self._now())
        tenant_entries.put(key, running)
        self._make_room(tenant_entries)
        try:
            quotes = row.user and row.quotes
            before = await _mark(call) if quotes else ""
            response = await row.handler(call)
            kept = _may_be_kept(response)
            mark = await _mark(call) if quotes and kept and before is not None else None
        except BaseException:  # it failed, so it may be retried
            tenant_entries.remove(key, running)
            raise
        known = not quotes or mark is not None
        unchanged = known and before in ("", mark) and tenant_entries.entries.get(key) is running
        # A user who is unknown now was erased meanwhile, unless nothing was to be recorded.
        erased = mark == "" and response.headers.get("x-omoide-status") != "off"
        if kept and unchanged and not erased:
            tenant_entries.put(key, replace(running, response=response, mark=mark))
            self._make_room(tenant_entries)
        else:
            tenant_entries.remove(key, running)
        return response

    def forget(self, tenant: str, user: str) -> None:
        """Drop the responses for a user whose data is being erased."""
        tenant_entries = self._tenants[tenant]
        for key, entry in [(k, e) for k, e in tenant_entries.entries.items() if k[0] == user]:
            tenant_entries.remove(key, entry)

    async def _drop_stale(
        self, tenant_entries: _TenantEntries, key: ReplayKey, call: RouteCall
    ) -> None:
        """Drop the entry if it is too old, or if something of its user was erased since."""
        if (entry := tenant_entries.entries.get(key)) is None:
            return
        old = self._now() - entry.began >= SECONDS
        if old or (entry.mark is not None and entry.mark != await _mark(call)):
            tenant_entries.remove(key, entry)

    def _make_room(self, tenant_entries: _TenantEntries) -> None:
        while len(tenant_entries.entries) > MAX_ENTRIES or tenant_entries.size > MAX_TENANT_BYTES:
            tenant_entries.remove_oldest()
        while self.kept_bytes > MAX_BYTES:
            max(self._tenants.values(), key=lambda other: other.size).remove_oldest()


def _hash(row: RouteSpec, call: RouteCall) -> bytes:
    """A hash of all of a request that decides its outcome."""
    path = sorted(call.path.items())
    headers = [call.headers.get(name) for name in row.headers]
    head = json.dumps([path, call.raw_query, headers]).encode()
    return hashlib.blake2b(head + b"\n" + call.raw, digest_size=16).digest()


async def _mark(call: RouteCall) -> str | None:
    """The user's erasure mark; None if it cannot be read, which must not stop a chat."""
    try:
        return await call.erasure_mark()
    except OmoideError as error:
        log.warning("no response is kept for an idempotency key: %s", type(error).__name__)
        return None


def _may_be_kept(response: Response) -> bool:
    """Whether a response is a success of moderate size that is not streamed."""
    return (
        type(response) is Response
        and 200 <= response.status_code < 300
        and len(response.body) <= MAX_ENTRY_BYTES
    )


def _replayed(same: bool, response: Response | None) -> Response:
    if not same:
        raise HttpProblem(
            409,
            "idempotency-key-reused",
            "this idempotency key was used before for another request: other content, query, "
            "address or X-Omoide headers",
        )
    if response is None:
        raise HttpProblem(
            409,
            "under-way",
            "the first request with this key is still running",
            headers={"Retry-After": "1"},
        )
    headers = {**response.headers, "Idempotent-Replayed": "true"}
    headers.pop("content-length", None)
    return Response(response.body, status_code=response.status_code, headers=headers)

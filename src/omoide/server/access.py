"""Authentication, scopes and rate limits."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.server.keys import Scope, matching
from omoide.server.options import is_loopback
from omoide.server.problems import HttpProblem

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.datastructures import Headers

    from omoide.server.keys import ApiKeys
    from omoide.server.options import Options

EVERYTHING = frozenset(Scope)


@dataclass(frozen=True, kw_only=True)
class Caller:
    """An authenticated caller."""

    tenant: str
    scopes: frozenset[Scope]
    key: str = ""
    """The public part of the key; empty on a loopback address without keys."""
    name: str = ""
    """The name that the key was created with."""


class Access:
    """Authenticates callers by API key. Admits everyone on a loopback address where no key was ever
    created."""

    def __init__(
        self,
        keys: ApiKeys,
        options: Options,
        *,
        tenant: str,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._keys = keys
        self._options = options
        self._tenant = tenant
        self._buckets = RateLimiter(options.rate, now=now)

    async def admit(self, headers: Headers, needs: frozenset[Scope]) -> Caller:
        """The caller. Raises `HttpProblem` with 401, 403 or 429."""
        keys = await self._keys.current()
        if not keys:
            self._check_local(headers)
            return Caller(tenant=self._tenant, scopes=EVERYTHING)
        key = matching(keys, _secret(headers))
        if key is None:
            raise HttpProblem(
                401,
                "unauthorized",
                "send an API key of this server as Authorization: Bearer omo_… or X-Api-Key: omo_…",
                headers={"WWW-Authenticate": 'Bearer realm="omoide"'},
            )
        if wait := self._buckets.try_acquire(key.id):
            raise HttpProblem(
                429,
                "too-many-requests",
                f"this API key is limited to {self._options.rate} requests a minute",
                headers={"Retry-After": str(wait)},
            )
        if missing := needs - key.scopes:
            raise HttpProblem(
                403, "forbidden", f"this API key lacks the scope {', '.join(sorted(missing))}"
            )
        return Caller(tenant=key.tenant, scopes=key.scopes, key=key.prefix, name=key.name)

    def _check_local(self, headers: Headers) -> None:
        """Refuse web pages that reach a loopback under another host name (DNS rebinding)."""
        options = self._options
        if not options.loopback or options.any_origin:
            # Defence in depth: `omoide serve` refuses to start like this.
            raise HttpProblem(
                401, "unauthorized", "no API key exists: create one with omoide keys create NAME"
            )
        host = headers.get("host", "")
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        if not is_loopback(name):
            raise HttpProblem(
                403, "forbidden", "without API keys only this machine may call, as localhost"
            )


def _secret(headers: Headers) -> str:
    """The key that a request sends: as a bearer token, or as Anthropic's clients do."""
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "").strip()


class RateLimiter:
    """One token bucket per key. It holds a tenth of a minute's requests and refills steadily."""

    def __init__(self, rate: int, *, now: Callable[[], float]) -> None:
        self._rate = rate / 60
        self._size = max(rate / 10, 1.0)
        self._now = now
        self._level: dict[str, tuple[float, float]] = {}

    def try_acquire(self, key: str) -> int:
        """Take one token: 0 if there was one, else whole seconds until there is."""
        if not self._rate:
            return 0
        now = self._now()
        level, since = self._level.get(key, (self._size, now))
        level = min(self._size, level + (now - since) * self._rate)
        self._level[key] = (max(level - 1, 0.0) if level >= 1 else level, now)
        return 0 if level >= 1 else math.ceil((1 - level) / self._rate)

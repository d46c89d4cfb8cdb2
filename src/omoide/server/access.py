"""Who calls, what they may, and how often."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.server.keys import Scope
from omoide.server.options import is_loopback
from omoide.server.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.datastructures import Headers

    from omoide.server.keys import Keys
    from omoide.server.options import Options

EVERYTHING = frozenset(Scope)


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Someone who was let in."""

    tenant: str
    scopes: frozenset[Scope]
    key: str = ""
    """The shown part of the key; empty on a loopback without keys."""


class Access:
    """Lets callers in by their key; on a loopback where no key was ever made, everyone."""

    def __init__(
        self,
        keys: Keys,
        options: Options,
        *,
        tenant: str,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._keys = keys
        self._options = options
        self._tenant = tenant
        self._buckets = Buckets(options.rate, now=now)

    def admit(self, headers: Headers, needs: frozenset[Scope]) -> Caller:
        """The caller, or a `Problem`: 401, 403 or 429."""
        if not self._keys.any():
            self._check_local(headers)
            return Caller(tenant=self._tenant, scopes=EVERYTHING)
        scheme, _, secret = headers.get("authorization", "").partition(" ")
        key = self._keys.find(secret.strip()) if scheme.lower() == "bearer" else None
        if key is None:
            raise Problem(
                401,
                "unauthorized",
                "give an API key of this server as Authorization: Bearer omo_…",
                headers={"WWW-Authenticate": 'Bearer realm="omoide"'},
            )
        if wait := self._buckets.take(key.id):
            raise Problem(
                429,
                "too-many-requests",
                f"this key may make {self._options.rate} requests a minute",
                headers={"Retry-After": str(wait)},
            )
        if missing := needs - key.scopes:
            raise Problem(
                403, "forbidden", f"this key lacks the scope {', '.join(sorted(missing))}"
            )
        return Caller(tenant=key.tenant, scopes=key.scopes, key=key.prefix)

    def _check_local(self, headers: Headers) -> None:
        """Keep web pages out that reach a loopback by a name of their own (DNS rebinding)."""
        if not self._options.loopback:  # the last line: the command refuses to start like this
            raise Problem(401, "unauthorized", "no API key exists: omoide keys create NAME")
        host = headers.get("host", "")
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        if not is_loopback(name):
            raise Problem(403, "forbidden", "without API keys only this machine may call, by name")


class Buckets:
    """A bucket for each key: it holds a tenth of a minute's worth, and fills steadily."""

    def __init__(self, rate: int, *, now: Callable[[], float]) -> None:
        self._rate = rate / 60
        self._size = max(rate / 10, 1.0)
        self._now = now
        self._level: dict[str, tuple[float, float]] = {}

    def take(self, key: str) -> int:
        """0 if there was one to take, else whole seconds until there is."""
        if not self._rate:
            return 0
        now = self._now()
        level, since = self._level.get(key, (self._size, now))
        level = min(self._size, level + (now - since) * self._rate)
        self._level[key] = (max(level - 1, 0.0) if level >= 1 else level, now)
        return 0 if level >= 1 else math.ceil((1 - level) / self._rate)

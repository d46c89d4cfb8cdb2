"""Cached stems of a text: the same lines are checked many times."""

from __future__ import annotations

from functools import lru_cache

from omoide import claims


@lru_cache(maxsize=100_000)
def stems(text: str) -> frozenset[str]:
    """As `omoide.claims.stems`."""
    return claims.stems(text)

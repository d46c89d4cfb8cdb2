"""Stems of a text, kept: the same lines are looked at again and again."""

from __future__ import annotations

from functools import lru_cache

from omoide.memory import overlap


@lru_cache(maxsize=100_000)
def stems(text: str) -> frozenset[str]:
    """As `omoide.memory.overlap.stems`."""
    return overlap.stems(text)

"""Cases that are tried alike many times: `make test` tries some of them, `make test-all` all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from _pytest.mark import ParameterSet


def some(
    cases: Iterable[Any], light: Collection[Any], *, ids: Callable[[Any], str] = str
) -> list[ParameterSet]:
    """All cases; those that are not in `light` are heavy."""
    return [
        pytest.param(case, id=ids(case), marks=() if case in light else pytest.mark.heavy)
        for case in cases
    ]


def pairs(
    first: Iterable[Any],
    second: Iterable[Any],
    *,
    every: int,
    ids: Callable[[Any], str] = str,
) -> list[ParameterSet]:
    """Every case of the first with every one of the second. `make test` tries each of the first
    with every third of the second, say, and begins one further each time."""
    others = list(second)
    return [
        pytest.param(
            one,
            other,
            id=f"{ids(one)}-{ids(other)}",
            marks=() if (i + j) % every == 0 else pytest.mark.heavy,
        )
        for i, one in enumerate(first)
        for j, other in enumerate(others)
    ]

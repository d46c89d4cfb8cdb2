"""Makes many values of a frozen class in less time."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")


def build(cls: type[T], **fields: Any) -> T:  # noqa: ANN401 - the fields of any class
    """A value of a frozen dataclass, as its constructor would make it, in half of the time: that
    sets each field by a call of `object.__setattr__`. For code that makes a hundred values for each
    message; all fields without a default have to be given, which nothing checks. Not for classes
    with slots, `__post_init__` or default factories."""
    value = object.__new__(cls)
    value.__dict__.update(fields)
    return value

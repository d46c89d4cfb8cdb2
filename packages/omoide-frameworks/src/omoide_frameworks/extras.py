"""Says which extra to install when a framework is missing."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from omoide.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def extra(name: str) -> Iterator[None]:
    """A block that imports a framework. Raises `MissingExtra` if it is missing or too old."""
    try:
        yield
    except ImportError as error:
        raise MissingExtra(
            f"the framework of this adapter is not installed, or too old ({error}). "
            f"What to do: pip install --upgrade 'omoide-frameworks[{name}]'"
        ) from error

"""Open enumerations: some members are named here, and a plug-in may use others."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from typing import Self

_WORD = re.compile(r"[a-z][a-z0-9_.-]{0,63}")


class OpenEnum(StrEnum):
    """An enumeration that also accepts words it does not name: lower-case letters, digits, `.`, `-`
    and `_`. Iterating yields the named members only. The same word is always the same object.

    >>> class Colour(OpenEnum):
    ...     RED = "red"
    >>> Colour("blue") is Colour("blue"), Colour("blue").value, list(Colour)
    (True, 'blue', [<Colour.RED: 'red'>])
    """

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str) or not _WORD.fullmatch(value):
            return None
        new = str.__new__(cls, value)
        new._name_, new._value_ = value, value
        return cast("Self", _unnamed.setdefault((cls, value), new))


_unnamed: dict[tuple[type[OpenEnum], str], OpenEnum] = {}
"""The words in use that are not named. The table of members is private to the standard library."""

"""A JSON object from outside, read field by field."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from math import isfinite
from typing import TYPE_CHECKING, TypeVar

from omoide.domain.text import checked_name, checked_text
from omoide.errors import BadImport, BadInput

if TYPE_CHECKING:
    from collections.abc import Callable

E = TypeVar("E", bound=StrEnum)

LARGEST = 2**53
"""Beyond it, other readers of JSON lose digits."""
LONGEST = 100_000_000
"""No limit in practice: what was recorded once must come back whatever the limit is now."""


class Fields:
    """The fields of one object; errors are `BadImport` and say `where`, which field, what was
    wanted and what came."""

    def __init__(self, record: object, where: str) -> None:
        if not isinstance(record, dict):
            raise BadImport(f"{where}: wanted an object, not {_seen(record)}")
        self._record = record
        self.where = where

    @property
    def names(self) -> list[str]:
        """All there are."""
        return list(self._record)

    def has(self, name: str) -> bool:
        """Whether it is there and not null."""
        return self._record.get(name) is not None

    def get(self, name: str) -> object:
        """Whatever it is."""
        if name not in self._record:
            raise BadImport(f"{self.where}: {name!r} is missing")
        value: object = self._record[name]
        return value

    def text(self, name: str) -> str:
        """A text, perhaps empty."""
        value = self.get(name)
        if not isinstance(value, str):
            raise self._wrong(name, "a text")
        return _encodable(value, f"{self.where}: {name!r}")

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        values = self.items(name)
        if not all(isinstance(value, str) for value in values):
            raise self._wrong(name, "a list of texts")
        return tuple(_encodable(str(v), f"{self.where}: {name!r}") for v in values)

    def words(self, name: str) -> str:
        """A text that may be recorded."""
        return self._checked(name, lambda text: checked_text(text, longest=LONGEST))

    def name(self, name: str) -> str:
        """One printable line."""
        return self._checked(name, lambda text: checked_name(text, "it"))

    def items(self, name: str) -> list[object]:
        """A list."""
        value = self.get(name)
        if not isinstance(value, list):
            raise self._wrong(name, "a list")
        return value

    def whole(self, name: str) -> int:
        """A whole number from 0 on."""
        value = self.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST:
            raise self._wrong(name, "a whole number from 0 on")
        return value

    def number(self, name: str) -> float:
        """A number from 0 on."""
        value = self.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._wrong(name, "a number")
        if not isfinite(value) or not 0 <= value <= LARGEST:
            raise self._wrong(name, "a number from 0 on")
        return float(value)

    def flag(self, name: str) -> bool:
        """True or false."""
        value = self.get(name)
        if not isinstance(value, bool):
            raise self._wrong(name, "true or false")
        return value

    def time(self, name: str) -> datetime:
        """A moment, in UTC."""
        try:
            moment = datetime.fromisoformat(self.text(name))
            if moment.tzinfo is None:
                raise self._wrong(name, "a time with its time zone")
            if not 1 < moment.year < 9999:  # else not every time zone has it
                raise self._wrong(name, "a time of the years 2 to 9998")
            return moment.astimezone(UTC)
        except (ValueError, OverflowError) as error:
            raise self._wrong(name, "an ISO 8601 time") from error

    def one_of(self, name: str, kinds: type[E]) -> E:
        """One of the kinds."""
        try:
            return kinds(self.text(name))
        except ValueError as error:
            raise self._wrong(name, " or ".join(kind.value for kind in kinds)) from error

    def _checked(self, name: str, check: Callable[[str], str]) -> str:
        try:
            return check(self.text(name))
        except BadImport:
            raise
        except BadInput as error:
            raise BadImport(f"{self.where}: {name!r}: {error}") from error

    def _wrong(self, name: str, wanted: str) -> BadImport:
        return BadImport(f"{self.where}: {name!r} must be {wanted}, not {_seen(self.get(name))}")


def iso(moment: datetime | None) -> str | None:
    """A time as `Fields.time` reads it."""
    return moment.isoformat() if moment else None


def _encodable(text: str, where: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadImport(f"{where} is not valid Unicode at character {error.start}") from error
    return text


def _seen(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:60]}…"

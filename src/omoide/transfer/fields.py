"""Reads and checks the fields of an untrusted JSON object."""

from __future__ import annotations

from datetime import UTC, date, datetime
from enum import StrEnum
from math import isfinite
from typing import TYPE_CHECKING, TypeVar

from omoide.domain.text import checked_name, checked_text
from omoide.domain.time import YEARS
from omoide.errors import BadImport, BadInput

if TYPE_CHECKING:
    from collections.abc import Callable

E = TypeVar("E", bound=StrEnum)

LARGEST = 2**53
"""Largest number: beyond it, other JSON readers lose digits."""
LAST_PLACE = 2**31 - 1
"""Highest number of a turn, a session or a version."""
MAX_TEXT_CHARS = 100_000_000
"""In practice no limit: what was recorded once must be restored, whatever the limit is now."""


class Fields:
    """The fields of one object. Errors are `BadImport` and name `where`, the field, what was
    expected and what was found."""

    def __init__(self, record: object, where: str) -> None:
        if not isinstance(record, dict):
            raise BadImport(f"{where}: expected an object, not {_shortened(record)}")
        self._record = record
        self.where = where

    @property
    def names(self) -> list[str]:
        """The names of all fields."""
        return list(self._record)

    def has(self, name: str) -> bool:
        """Whether it is there and not null."""
        return self._record.get(name) is not None

    def get(self, name: str) -> object:
        """The value, unchecked."""
        if name not in self._record:
            raise BadImport(f"{self.where}: {name!r} is missing")
        value: object = self._record[name]
        return value

    def text(self, name: str) -> str:
        """A text, which may be empty."""
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
        """A text that is valid as a turn."""
        return self._checked(name, lambda text: checked_text(text, max_chars=MAX_TEXT_CHARS))

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
        """A whole number, 0 or more."""
        value = self.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST:
            raise self._wrong(name, "a whole number, 0 or more")
        return value

    def place(self, name: str, *, first: int = 0) -> int:
        """The number of a turn, a session or a version among the user's others."""
        value = self.whole(name)
        if not first <= value <= LAST_PLACE:  # the next ones must have numbers too
            raise self._wrong(name, f"a whole number, {first} to {LAST_PLACE}")
        return value

    def number(self, name: str) -> float:
        """A number, 0 or more."""
        value = self.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._wrong(name, "a number")
        if not isfinite(value) or not 0 <= value <= LARGEST:
            raise self._wrong(name, "a number, 0 or more")
        return float(value)

    def flag(self, name: str) -> bool:
        """True or false."""
        value = self.get(name)
        if not isinstance(value, bool):
            raise self._wrong(name, "true or false")
        return value

    def time(self, name: str) -> datetime:
        """A time, in UTC."""
        try:
            time = datetime.fromisoformat(self.text(name))
            if time.tzinfo is None:
                raise self._wrong(name, "a time with its time zone")
            if time.year not in YEARS:
                raise self._wrong(name, f"a time in the years {YEARS[0]} to {YEARS[-1]}")
            return time.astimezone(UTC)
        except (ValueError, OverflowError) as error:
            raise self._wrong(name, "an ISO 8601 time") from error

    def day(self, name: str) -> date:
        """A day."""
        try:
            return date.fromisoformat(self.text(name))
        except ValueError as error:
            raise self._wrong(name, "a day such as 2026-01-05") from error

    def one_of(self, name: str, kinds: type[E]) -> E:
        """One of the values of an enum."""
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
        value = _shortened(self.get(name))
        return BadImport(f"{self.where}: {name!r} must be {wanted}, not {value}")


def iso(time: datetime | None) -> str | None:
    """A time in the format that `Fields.time` reads."""
    return time.isoformat() if time else None


def _encodable(text: str, where: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadImport(f"{where} is not valid Unicode at character {error.start}") from error
    return text


def _shortened(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:60]}…"

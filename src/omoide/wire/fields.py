"""Reads the fields of a request that is converted, and refuses those that cannot be."""

from __future__ import annotations

from typing import Any, NoReturn

from omoide.errors import Unconvertible

_KINDS: dict[str, tuple[type, ...]] = {
    "a string": (str,),
    "a number": (int, float),
    "an integer": (int,),
    "true or false": (bool,),
    "an object": (dict,),
    "an array": (list,),
}


class Fields:
    """The fields of one object in a request. Each is taken by name, with its type checked; null
    counts as missing. `close` refuses what nobody took, so that nothing is dropped silently."""

    def __init__(self, value: object, *, where: str = "") -> None:
        self._where = where
        if not isinstance(value, dict):
            wrong_type(where or "the body", "an object", value)
        self._left: dict[str, Any] = {k: v for k, v in value.items() if v is not None}

    def path(self, name: str) -> str:
        """The field's place in the request: `messages[2].content`."""
        return f"{self._where}.{name}" if self._where else name

    def take(self, name: str) -> Any:  # noqa: ANN401 - any JSON
        """The field, whatever its type."""
        return self._left.pop(name, None)

    def text(self, name: str) -> str | None:
        """A string."""
        return self._typed(name, "a string")  # type: ignore[no-any-return]

    def number(self, name: str, *, least: float | None = None) -> float | None:
        """A number, of at least this."""
        return self._number(name, "a number", least)  # type: ignore[no-any-return]

    def whole(self, name: str, *, least: int | None = None) -> int | None:
        """An integer, of at least this."""
        return self._number(name, "an integer", least)  # type: ignore[no-any-return]

    def flag(self, name: str) -> bool | None:
        """True or false."""
        return self._typed(name, "true or false")  # type: ignore[no-any-return]

    def mapping(self, name: str) -> dict[str, Any] | None:
        """An object."""
        return self._typed(name, "an object")  # type: ignore[no-any-return]

    def nested(self, name: str) -> Fields:
        """The fields of an object; none if it is missing."""
        return Fields(self.mapping(name) or {}, where=self.path(name))

    def rows(self, name: str) -> list[Any] | None:
        """An array."""
        return self._typed(name, "an array")  # type: ignore[no-any-return]

    def texts(self, name: str) -> list[str]:
        """A string, or an array of strings; none if it is missing."""
        given = self.take(name)
        texts = [given] if isinstance(given, str) else [] if given is None else given
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            wrong_type(self.path(name), "a string or an array of strings", given)
        return texts

    def items(self, name: str) -> list[Fields]:
        """The objects of an array; none if it is missing."""
        rows = self.rows(name) or []
        return [Fields(row, where=f"{self.path(name)}[{i}]") for i, row in enumerate(rows)]

    def needed(self, name: str) -> str:
        """A string that must be given."""
        value = self.text(name)
        if value is None:
            raise Unconvertible(
                f"{self.path(name)} must be given", slug="missing", param=self.path(name)
            )
        return value

    def one_of(self, name: str, *allowed: str) -> str | None:
        """A string out of these."""
        value = self.text(name)
        if value is not None and value not in allowed:
            refuse(self.path(name), f"it must be one of {', '.join(allowed)}, not {value[:40]!r}")
        return value

    def ignore(self, *names: str) -> None:
        """Drop fields that have no effect here and whose absence changes no answer."""
        for name in names:
            self._left.pop(name, None)

    def refuse(self, name: str, why: str, *, unless: tuple[object, ...] = ()) -> None:
        """Refuse a field, unless it is missing or has one of these values."""
        value = self._left.pop(name, None)
        if value is not None and value not in unless:
            refuse(self.path(name), why)

    def close(self) -> None:
        """Refuse the fields that nobody took."""
        if self._left:
            name = min(self._left)[:60]
            refuse(self.path(name) or "a field without a name", "this server does not know it")

    def _number(self, name: str, kind: str, least: float | None) -> Any:  # noqa: ANN401
        value = self._typed(name, kind)
        if value is not None and least is not None and value < least:
            where = self.path(name)
            raise Unconvertible(f"{where} must be at least {least}", slug="invalid", param=where)
        return value

    def _typed(self, name: str, kind: str) -> Any:  # noqa: ANN401 - the caller names the kind
        value = self._left.pop(name, None)
        if value is None:
            return None
        wrong = isinstance(value, bool) and kind != "true or false"
        if wrong or not isinstance(value, _KINDS[kind]):
            wrong_type(self.path(name), kind, value)
        return value


def refuse(where: str, why: str) -> NoReturn:
    """Refuse a request because of one field."""
    raise Unconvertible(f"{where} cannot be converted: {why}", slug="unsupported", param=where)


def wrong_type(where: str, wanted: str, value: object) -> NoReturn:
    """Refuse a field of the wrong type."""
    kind = type(value).__name__
    raise Unconvertible(f"{where} must be {wanted}, not {kind}", slug="invalid", param=where)

"""Parses a pack's `language.toml` into its tables, with errors that name the file and the key.

A pattern is a regular expression, or a list of alternatives. `{{name}}` in it stands for an entry
of `[parts]`, for the first person (`{{first}}`), or for the words of a table of `[dates]`
(`{{months}}`). Patterns ignore case, except in `[names]`. A list of words may be one string.
"""

from __future__ import annotations

import re
import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from omoide.errors import BadLanguage

Table = TypeVar("Table")
_PART = re.compile(r"\{\{(\w+)\}\}")


@cache
def _hints(kind: type[object]) -> dict[str, Any]:
    return get_type_hints(kind)


def _listed(words: str | list[str]) -> list[str]:
    return words.split() if isinstance(words, str) else words


class Reader:
    """Reads the tables of one file."""

    def __init__(self, content: Mapping[str, Any], *, file: str) -> None:
        self._content = content
        self._file = file
        self._parts = {"first": self._alternatives(content, "person", "first"), **self._dates()}
        self._parts |= {k: self._text(v, f"parts.{k}") for k, v in self._table("parts").items()}

    def read(self, kind: type[Table], name: str) -> Table:
        """Read the table `name`. Raises `BadLanguage` for a key that is missing, unknown or
        wrong."""
        return self._dataclass(kind, self._table(name), name)

    def refuse_others(self, known: set[str]) -> None:
        """Raise `BadLanguage` for an unknown table or key at the top level."""
        if others := sorted(set(self._content) - known):
            raise BadLanguage(
                f"{self._file}: {others[0]}: there is no such key; there are "
                f"{', '.join(sorted(known))}"
            )

    def has(self, name: str) -> bool:
        """Whether the file has such a table."""
        return name in self._content

    def text(self, key: str, default: str = "") -> str:
        """A string at the top level of the file."""
        return self._text(self._content.get(key, default), key)

    def _table(self, name: str) -> Mapping[str, Any]:
        table = self._content.get(name, {})
        if not isinstance(table, Mapping):
            raise self._wrong(name, "a table", table)
        return table

    def _dataclass(self, kind: type[Table], table: object, key: str) -> Table:
        if not isinstance(table, Mapping):
            raise self._wrong(key, "a table", table)
        hints = _hints(kind)  # type: ignore[arg-type]
        known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
        if others := sorted(set(table) - set(known)):
            raise BadLanguage(
                f"{self._file}: {key}.{others[0]}: there is no such key; there are "
                f"{', '.join(sorted(known))}"
            )
        values = {}
        for name, field in known.items():
            if name in table:
                values[name] = self._value(hints[name], table[name], f"{key}.{name}", field)
            elif field.default is MISSING and field.default_factory is MISSING:
                raise BadLanguage(f"{self._file}: {key}.{name} is missing")
        try:
            return kind(**values)
        except ValueError as error:
            raise BadLanguage(f"{self._file}: {key}.{error}") from error

    def _value(self, hint: Any, value: object, key: str, of: Field[Any]) -> object:  # noqa: ANN401
        origin, inner = get_origin(hint), get_args(hint)
        if origin is types.UnionType:
            return self._value(inner[0], value, key, of)
        if origin is re.Pattern:
            return self._pattern(value, key, case=bool(of.metadata.get("case")))
        if is_dataclass(hint):
            return self._dataclass(hint, value, key)  # type: ignore[arg-type]
        if origin is Mapping:
            return self._mapping(inner[1], value, key, of)
        if origin is frozenset:
            return frozenset(self._words(value, key))
        if origin is tuple and inner[0] is str:
            return tuple(self._words(value, key))
        if origin is tuple:
            if not isinstance(value, list):
                raise self._wrong(key, "a list", value)
            return tuple(self._value(inner[0], v, f"{key}[{i}]", of) for i, v in enumerate(value))
        if hint is str:
            return self._text(value, key)
        if isinstance(value, bool) is not (hint is bool) or not isinstance(value, (hint, int)):
            raise self._wrong(key, hint.__name__, value)
        return hint(value)

    def _mapping(self, hint: Any, value: object, key: str, of: Field[Any]) -> Mapping[str, Any]:  # noqa: ANN401
        if hint == tuple[int, int]:
            return self._spans(value, key)
        if not isinstance(value, Mapping):
            raise self._wrong(key, "a table", value)
        return {k: self._value(hint, v, f"{key}.{k}", of) for k, v in value.items()}

    def _spans(self, value: object, key: str) -> Mapping[str, tuple[int, int]]:
        """Rows of a first day, a last day and the words for them."""
        spans: dict[str, tuple[int, int]] = {}
        for row in value if isinstance(value, list) else [value]:
            match row:
                case [int(first), int(last), *words] if all(isinstance(w, str) for w in words):
                    spans |= {str(word): (first, last) for word in words}
                case _:
                    raise self._wrong(key, "rows of two numbers and words", row)
        return spans

    def _pattern(self, value: object, key: str, *, case: bool) -> re.Pattern[str]:
        texts = value if isinstance(value, list) else [value]
        text = "|".join(self._filled(self._text(item, key), key) for item in texts)
        try:
            return re.compile(text, 0 if case else re.IGNORECASE)
        except re.error as error:
            raise BadLanguage(f"{self._file}: {key}: {error}: {text[:80]!r}") from error

    def _filled(self, text: str, key: str) -> str:
        def part(match: re.Match[str]) -> str:
            if match[1] not in self._parts:
                raise BadLanguage(
                    f"{self._file}: {key}: there is no part {match[0]}; define it in [parts]"
                )
            return self._filled(self._parts[match[1]], key)

        return _PART.sub(part, text)

    def _alternatives(self, content: Mapping[str, Any], table: str, name: str) -> str:
        value = content.get(table, {}).get(name, "")
        return "|".join(value) if isinstance(value, list) else str(value)

    def _dates(self) -> dict[str, str]:
        """The words of the tables of `[dates]` and `[relative]` as alternatives, the longest
        first."""
        dates, ago = self._content.get("dates", {}), self._content.get("ago", {})
        relative = self._content.get("relative", {})
        words = {
            "months": " ".join(dates.get("months", ())).split(),
            "weekdays": [day.lower() for day in ago.get("weekdays", ())],
            "seasons": dates.get("seasons", ()),
            "units": dates.get("units", ()),
            "counts": [*dates.get("counts", ()), *dates.get("vague", ())],
            "directions": dates.get("directions", ()),
            **self._periods(relative.get("periods", {})),
            "ways": relative.get("ways", ()),
            "numbers": relative.get("numbers", ()),
            "spans": relative.get("spans", ()),
            "month_names": " ".join(relative.get("month_names", ())).split(),
            "weekday_names": [w for ws in relative.get("weekday_names", ()) for w in _listed(ws)],
            "season_names": relative.get("season_names", ()),
        }
        return {
            name: "|".join(re.escape(word) for word in sorted(listed, key=len, reverse=True))
            for name, listed in words.items()
            if listed
        }

    def _periods(self, periods: Mapping[str, Any]) -> dict[str, list[str]]:
        """The words of `[relative.periods]`, all of them and by unit (`week_periods`)."""
        words: dict[str, list[str]] = {"periods": []}
        for key, listed in periods.items():
            for name in ("periods", f"{key.rstrip('+-0123456789')}_periods"):
                words.setdefault(name, []).extend(_listed(listed))
        return words

    def _words(self, value: object, key: str) -> list[str]:
        if isinstance(value, str):
            return value.split()
        if not isinstance(value, list):
            raise self._wrong(key, "words", value)
        return [self._text(item, key) for item in value]

    def _text(self, value: object, key: str) -> str:
        if not isinstance(value, str):
            raise self._wrong(key, "a text", value)
        return value

    def _wrong(self, key: str, wanted: str, value: object) -> BadLanguage:
        return BadLanguage(f"{self._file}: {key}: wanted {wanted}, not {str(value)[:80]!r}")

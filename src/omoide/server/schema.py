"""Checking values against JSON schemas: the same ones that the OpenAPI document shows.

Only the words of JSON Schema that `shapes` uses are known; any other is an error of ours.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from omoide.server.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Schema = Mapping[str, Any]

_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "null": lambda v: v is None,
}
_LIMITS: dict[str, tuple[Callable[[Any, Any], bool], str]] = {
    "minimum": (lambda v, limit: v >= limit, "be at least"),
    "maximum": (lambda v, limit: v <= limit, "be at most"),
    "minLength": (lambda v, limit: len(v) >= limit, "have a length of at least"),
    "maxLength": (lambda v, limit: len(v) <= limit, "have a length of at most"),
    "minItems": (lambda v, limit: len(v) >= limit, "have at least so many items:"),
    "maxItems": (lambda v, limit: len(v) <= limit, "have at most so many items:"),
    "minProperties": (lambda v, limit: len(v) >= limit, "have at least so many fields:"),
    "maxProperties": (lambda v, limit: len(v) <= limit, "have at most so many fields:"),
    "enum": (lambda v, among: v in among, "be one of"),
    # As a whole: all of our patterns are anchored, and Python's $ lets a line break pass behind it.
    "pattern": (lambda v, form: re.fullmatch(form, v) is not None, "match"),
}
_APPLIES = {
    "minimum": (int, float),
    "maximum": (int, float),
    "minLength": (str,),
    "maxLength": (str,),
    "pattern": (str,),
    "minItems": (list,),
    "maxItems": (list,),
    "minProperties": (dict,),
    "maxProperties": (dict,),
}


def check(schema: Schema, value: object, *, where: str, known: Mapping[str, Schema]) -> None:
    """Raise a `Problem` that names the field unless the value is as the schema says."""
    if "$ref" in schema:
        schema = known[schema["$ref"].rpartition("/")[2]]
    wanted = schema.get("type", list(_TYPES))
    types = [wanted] if isinstance(wanted, str) else wanted
    if not any(_TYPES[name](value) for name in types):
        raise _wrong(where, f"be {' or '.join(types)}, not {type(value).__name__}")
    if isinstance(value, str) and not _is_unicode(value):
        raise _wrong(where, "be valid Unicode: half of a pair of \\u escapes stands alone")
    for word, (holds, said) in _LIMITS.items():
        applies = word in schema and isinstance(value, _APPLIES.get(word, (object,)))
        if applies and not holds(value, schema[word]):
            raise _wrong(where, f"{said} {schema[word]}")
    if schema.get("format") == "date-time" and isinstance(value, str):
        moment(value, where=where)
    if isinstance(value, dict):
        _check_fields(schema, value, where=where, known=known)
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            check(schema["items"], item, where=f"{where}[{i}]", known=known)


def _check_fields(
    schema: Schema, value: dict[str, Any], *, where: str, known: Mapping[str, Schema]
) -> None:
    fields = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            raise _wrong(_below(where, name), "be given")
    for name, item in value.items():
        if name in fields:
            check(fields[name], item, where=_below(where, name), known=known)
        elif schema.get("additionalProperties") is False:
            raise _wrong(_below(where, name[:40]), f"not be given; there are {', '.join(fields)}")


def from_query(schema: Schema, text: str, *, where: str) -> object:
    """A query parameter as the type its schema says, checked."""
    value: object = text
    if schema["type"] == "integer":
        if not re.fullmatch(r"-?[0-9]{1,18}", text):
            raise _wrong(where, "be a whole number")
        value = int(text)
    check(schema, value, where=where, known={})
    return moment(text, where=where) if schema.get("format") == "date-time" else value


def moment(text: str, *, where: str) -> datetime:
    """A point in time with its zone, in UTC."""
    try:
        time = datetime.fromisoformat(text)
        if time.tzinfo is None:
            raise _wrong(where, "have a time zone, such as 2026-01-05T09:00:00Z")
        return time.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise _wrong(where, "be a time such as 2026-01-05T09:00:00Z") from error


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _below(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _wrong(where: str, wanted: str) -> Problem:
    return Problem(422, "invalid", f"{where or 'the body'} must {wanted}", param=where or None)

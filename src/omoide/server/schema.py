"""Validates values against the JSON schemas that the OpenAPI document publishes.

Supports only the JSON Schema keywords that `shapes` uses.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from omoide.server.problems import HttpProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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
_ANY = tuple(_TYPES)
_LIMITS: dict[str, tuple[Callable[[Any, Any], bool], str]] = {
    "minimum": (lambda v, limit: v >= limit, "be at least"),
    "maximum": (lambda v, limit: v <= limit, "be at most"),
    "minLength": (lambda v, limit: len(v) >= limit, "have a length of at least"),
    "maxLength": (lambda v, limit: len(v) <= limit, "have a length of at most"),
    "minItems": (lambda v, limit: len(v) >= limit, "have at least this many items:"),
    "maxItems": (lambda v, limit: len(v) <= limit, "have at most this many items:"),
    "minProperties": (lambda v, limit: len(v) >= limit, "have at least this many fields:"),
    "maxProperties": (lambda v, limit: len(v) <= limit, "have at most this many fields:"),
    "enum": (lambda v, allowed: v in allowed, "be one of"),
    # fullmatch, because Python's $ also matches before a final newline. All patterns are anchored.
    "pattern": (lambda v, pattern: re.fullmatch(pattern, v) is not None, "match"),
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
    """Raise an `HttpProblem` that names the field if the value does not match the schema."""
    if "$ref" in schema:
        schema = known[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        _check_any(schema["anyOf"], value, where=where, known=known)
        return
    declared = schema.get("type", _ANY)
    types = (declared,) if isinstance(declared, str) else declared
    for name in types:
        if _TYPES[name](value):
            break
    else:
        raise _invalid(where, f"be {' or '.join(types)}, not {type(value).__name__}")
    if isinstance(value, str) and not _is_unicode(value):
        raise _invalid(where, "be valid Unicode: it contains an unpaired surrogate \\u escape")
    for keyword, (holds, demand) in _LIMITS.items():
        if keyword in schema and isinstance(value, _APPLIES.get(keyword, object)):
            wanted = schema[keyword]
            if not holds(value, wanted):
                raise _invalid(where, f"{demand} {wanted}")
    if schema.get("format") == "date-time" and isinstance(value, str):
        parse_time(value, where=where)
    if isinstance(value, dict):
        _check_fields(schema, value, where=where, known=known)
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            check(schema["items"], item, where=f"{where}[{i}]", known=known)


def _check_any(
    choices: Sequence[Schema], value: object, *, where: str, known: Mapping[str, Schema]
) -> None:
    """Raise the problem with the first choice if the value matches none."""
    problems: list[HttpProblem] = []
    for choice in choices:
        try:
            check(choice, value, where=where, known=known)
        except HttpProblem as problem:
            problems.append(problem)
        else:
            return
    raise problems[0]


def _check_fields(
    schema: Schema, value: dict[str, Any], *, where: str, known: Mapping[str, Schema]
) -> None:
    fields = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            raise _invalid(_join(where, name), "be given")
    for name, item in value.items():
        if name in fields:
            check(fields[name], item, where=_join(where, name), known=known)
        elif isinstance(other := schema.get("additionalProperties"), dict):
            check(other, item, where=_join(where, name[:40]), known=known)
        elif schema.get("additionalProperties") is False:
            raise _invalid(
                _join(where, name[:40]), f"not be given; the known fields are {', '.join(fields)}"
            )


def from_query(schema: Schema, text: str, *, where: str) -> object:
    """A query parameter, converted to its schema's type and validated."""
    value: object = text
    if schema["type"] == "integer":
        if not re.fullmatch(r"-?[0-9]{1,18}", text):
            raise _invalid(where, "be an integer")
        value = int(text)
    if schema["type"] == "boolean":
        value = {"true": True, "false": False}.get(text, text)
    check(schema, value, where=where, known={})
    return parse_time(text, where=where) if schema.get("format") == "date-time" else value


def parse_time(text: str, *, where: str) -> datetime:
    """A time with a time zone, converted to UTC."""
    try:
        time = datetime.fromisoformat(text)
        if time.tzinfo is None:
            raise _invalid(where, "have a time zone, such as 2026-01-05T09:00:00Z")
        return time.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise _invalid(where, "be a time such as 2026-01-05T09:00:00Z") from error


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _join(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _invalid(where: str, demand: str) -> HttpProblem:
    return HttpProblem(422, "invalid", f"{where or 'the body'} must {demand}", param=where or None)

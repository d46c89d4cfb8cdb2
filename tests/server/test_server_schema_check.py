"""Bodies and query parameters against their schemas: what is let in, what is refused, and where."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from omoide.server.problems import HttpProblem
from omoide.server.schema import check, from_query

VALUES: dict[str, Any] = {
    "object": {},
    "array": [],
    "string": "x",
    "boolean": True,
    "integer": 3,
    "number": 1.5,
    "null": None,
}
ALSO = {("number", "integer")}
"""A type, and another whose values belong to it."""
KNOWN = {"Name": {"type": "string", "maxLength": 3}}


def refused(schema: dict[str, Any], value: object) -> str | None:
    """The field that is complained of; None if nothing is."""
    try:
        check(schema, value, where="", known=KNOWN)
    except HttpProblem as problem:
        return problem.param or "body"
    return None


@pytest.mark.parametrize("declared", VALUES)
@pytest.mark.parametrize("given", VALUES)
def test_a_value_has_the_declared_type(declared: str, given: str) -> None:
    """And no other; true is no number, and null only where it may be null."""
    fits = declared == given or (declared, given) in ALSO
    assert (refused({"type": declared}, VALUES[given]) is None) == fits
    assert refused({"type": [declared, given]}, VALUES[given]) is None
    assert refused({}, VALUES[given]) is None


@pytest.mark.parametrize(
    ("keyword", "limit", "inside", "outside"),
    [
        ("minimum", 2, 2, 1),
        ("maximum", 2, 2, 3),
        ("minLength", 2, "ab", "a"),
        ("maxLength", 2, "ab", "abc"),
        ("minItems", 2, [1, 2], [1]),
        ("maxItems", 2, [1, 2], [1, 2, 3]),
        ("minProperties", 1, {"a": 1}, {}),
        ("maxProperties", 1, {"a": 1}, {"a": 1, "b": 2}),
        ("enum", ["a", "b"], "b", "c"),
        ("pattern", "[a-z]+", "abc", "abc\n"),
    ],
)
def test_a_limit_includes_its_bound(
    keyword: str, limit: object, inside: object, outside: object
) -> None:
    """What is just inside is let in, what is just outside is refused."""
    assert refused({keyword: limit}, inside) is None
    assert refused({keyword: limit}, outside) == "body"


def test_a_field_is_named_by_its_place() -> None:
    """Missing, unknown, wrong in a list, wrong in a map, wrong by reference."""
    schema = {
        "type": "object",
        "required": ["name"],
        "additionalProperties": False,
        "properties": {
            "name": {"$ref": "#/components/schemas/Name"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "map": {"type": "object", "additionalProperties": {"type": "integer"}},
        },
    }
    whole = {"name": "Ana", "tags": ["a"], "map": {"x": 1}}
    assert refused(schema, whole) is None
    assert refused(schema, {}) == "name"
    assert refused(schema, {**whole, "name": "Anna"}) == "name"
    assert refused(schema, {**whole, "other": 1}) == "other"
    assert refused(schema, {**whole, "tags": ["a", 2]}) == "tags[1]"
    assert refused(schema, {**whole, "map": {"x": "1"}}) == "map.x"
    assert refused({**schema, "additionalProperties": True}, {**whole, "other": 1}) is None


def test_one_of_several_forms_is_enough() -> None:
    """If it has none of them, the first one's problem is told."""
    schema = {"anyOf": [{"type": "string", "maxLength": 2}, {"type": "integer"}]}
    assert refused(schema, "ab") is None
    assert refused(schema, 7) is None
    with pytest.raises(HttpProblem, match="length of at most 2"):
        check(schema, "abc", where="x", known={})


def test_half_a_surrogate_is_refused() -> None:
    """It could not be stored."""
    assert refused({"type": "string"}, "\ud83d") == "body"


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "integer"}, "-12", -12),
        ({"type": "boolean"}, "true", True),
        ({"type": "boolean"}, "false", False),
        ({"type": "string"}, "12", "12"),
        (
            {"type": "string", "format": "date-time"},
            "2026-01-05T10:00:00+01:00",
            datetime(2026, 1, 5, 9, tzinfo=UTC),
        ),
    ],
)
def test_a_query_parameter_is_converted(schema: dict[str, Any], text: str, value: object) -> None:
    """To what its schema declares."""
    assert from_query(schema, text, where="q") == value


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "integer"}, "1.5"),
        ({"type": "integer"}, "1" * 19),
        ({"type": "integer", "maximum": 5}, "6"),
        ({"type": "boolean"}, "yes"),
        ({"type": "string", "format": "date-time"}, "2026-01-05T10:00:00"),
        ({"type": "string", "format": "date-time"}, "yesterday"),
    ],
)
def test_a_wrong_query_parameter_is_refused(schema: dict[str, Any], text: str) -> None:
    """With its name."""
    with pytest.raises(HttpProblem) as caught:
        from_query(schema, text, where="q")
    assert (caught.value.status, caught.value.param) == (422, "q")

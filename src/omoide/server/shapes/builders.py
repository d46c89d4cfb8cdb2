"""Building blocks for the JSON schemas: value types, and functions that combine them."""

from __future__ import annotations

from typing import Any

Shape = dict[str, Any]

MAX_INTEGER = 2_147_483_647
WHOLE: Shape = {"type": "integer", "minimum": 0, "maximum": MAX_INTEGER}
NUMBERED: Shape = {"type": "integer", "minimum": 1, "maximum": MAX_INTEGER}
TEXT: Shape = {"type": "string"}
NUMBER: Shape = {"type": "number"}
YES_OR_NO: Shape = {"type": "boolean"}
TIME: Shape = {"type": "string", "format": "date-time"}
DAY: Shape = {"type": "string", "format": "date"}
NAME: Shape = {
    "type": "string",
    "minLength": 1,
    "maxLength": 256,
    "pattern": r"^[^\x00-\x1f\x7f-\xa0\xad]+$",
}
FILE_PATH: Shape = {"type": "string", "maxLength": 512, "pattern": r"^/memories/[^\x00-\x1f]+$"}
SPEAKER: Shape = {"type": "string", "enum": ["user", "assistant"]}
_SAID = r"[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*"
WORDS: Shape = {
    "type": "string",
    "minLength": 1,
    "pattern": rf"^{_SAID}[^\s\x00-\x1f\x7f-\x9f]{_SAID}$",
    "description": "Not blank, and without control characters.",
}

_ON_LINE = r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]*"
LINE: Shape = {
    "type": "string",
    "minLength": 1,
    "pattern": rf"^{_ON_LINE}[^\s\x00-\x1f\x7f-\x9f\u2028\u2029]{_ON_LINE}$",
    "description": "One line, not blank.",
}


def ref(name: str) -> Shape:
    """A reference to a shape by its name."""
    return {"$ref": f"#/components/schemas/{name}"}


def list_of(items: Shape, **more: int) -> Shape:
    """A list of items of this shape."""
    return {"type": "array", "items": items, **more}


def nullable(shape: Shape) -> Shape:
    """The same shape, or null."""
    if "$ref" in shape:
        return {"anyOf": [shape, {"type": "null"}]}
    kinds = {"type": [shape["type"], "null"]}
    enum = {"enum": [*shape["enum"], None]} if "enum" in shape else {}
    return {**shape, **kinds, **enum}


def object_of(about: str, optional: tuple[str, ...] = (), /, **fields: Shape) -> Shape:
    """An object with exactly these fields; all are required except those in `optional`."""
    return {
        "type": "object",
        "description": about,
        "properties": fields,
        "required": [name for name in fields if name not in optional],
        "additionalProperties": False,
    }


def page(items: str) -> Shape:
    """One page of a list."""
    return object_of(
        "One page. `next` is the cursor of the next page; null on the last.",
        items=list_of(ref(items)),
        next=nullable(TEXT),
    )

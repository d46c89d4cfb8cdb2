"""Reads parts of an endpoint's JSON, which may hold anything: what has another type is empty."""

from __future__ import annotations

from typing import Any


def as_object(value: object) -> dict[str, Any]:
    """An object; empty if it is something else."""
    return value if isinstance(value, dict) else {}


def object_in(value: dict[str, Any], name: str) -> dict[str, Any]:
    """The object in a field."""
    return as_object(value.get(name))


def objects_in(value: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The objects of the list in a field."""
    found = value.get(name)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def text_in(value: dict[str, Any], name: str) -> str:
    """The text in a field."""
    found = value.get(name)
    return found if isinstance(found, str) else ""


def count(value: object) -> int:
    """A number of tokens."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0

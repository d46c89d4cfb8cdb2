"""Values as plain JSON: times in ISO 8601 and UTC, words for enums."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum

from omoide.domain import Job


def plain(value: object) -> object:
    """Any value of ours as JSON."""
    if isinstance(value, Job):  # the worker's name tells of our machine, the tenant is the key's
        shown = {f.name: plain(getattr(value, f.name)) for f in fields(value)}
        del shown["worker"], shown["owner"]
        return {**shown, "user": value.owner.user}
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return value

"""Values as plain JSON: times in ISO 8601 and UTC, enums by their values."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime
from enum import Enum

from omoide.domain import Job, Receipt


def to_json_value(value: object) -> object:
    """A dataclass, enum, time or collection as JSON."""
    if isinstance(value, Job):  # hide the worker, which names our machine, and the tenant
        public = {f.name: to_json_value(getattr(value, f.name)) for f in fields(value)}
        del public["worker"], public["owner"]
        return {**public, "user": value.owner.user}
    if isinstance(value, Receipt):  # as it is saved and checked
        return json.loads(value.to_json())
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_json_value(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {str(key): to_json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json_value(item) for item in value]
    return value

"""Converts domain values to JSON and back: the key `$` has the type of each."""

from __future__ import annotations

import base64
import json
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from typing import Any

from omoide.domain import (
    CallPurpose,
    Event,
    Fact,
    FactKind,
    Job,
    JobState,
    JobTask,
    Memo,
    ModelCall,
    Note,
    Origin,
    Owner,
    RejectedAnswer,
    Sentence,
    Session,
    Speaker,
    Summary,
    Trust,
    Turn,
)

_DATACLASSES = (
    ModelCall,
    Event,
    Fact,
    Job,
    Memo,
    Note,
    Owner,
    RejectedAnswer,
    Sentence,
    Session,
    Summary,
    Turn,
)
_ENUMS = (Origin, CallPurpose, Speaker, JobState, JobTask, FactKind, Trust)
_BY_NAME: dict[str, Any] = {kind.__name__: kind for kind in (*_DATACLASSES, *_ENUMS)}


def dumps(content: dict[str, Any]) -> bytes:
    """Encode the content of a document."""
    return json.dumps(_out(content), ensure_ascii=False, separators=(",", ":")).encode()


def loads(document: bytes) -> dict[str, Any]:
    """Decode the content of a document; every list in it becomes a tuple."""
    content: dict[str, Any] = _in(json.loads(document))
    return content


def _out(value: Any) -> Any:  # noqa: ANN401 - whatever a document holds
    if isinstance(value, Enum):
        return {"$": type(value).__name__, "is": value.value}
    if isinstance(value, datetime):
        return {"$": "time", "is": value.isoformat()}
    if isinstance(value, date):
        return {"$": "day", "is": value.isoformat()}
    if isinstance(value, bytes):
        return {"$": "bytes", "is": base64.b85encode(value).decode()}
    if is_dataclass(value):
        return {
            "$": type(value).__name__,
            **{f.name: _out(getattr(value, f.name)) for f in fields(value)},
        }
    if isinstance(value, dict):
        return {key: _out(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_out(item) for item in value]
    return value


def _in(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, list):
        return tuple(_in(item) for item in value)
    if not isinstance(value, dict):
        return value
    kind = value.pop("$", None)
    if kind == "time":
        return datetime.fromisoformat(value["is"])
    if kind == "day":
        return date.fromisoformat(value["is"])
    if kind == "bytes":
        return base64.b85decode(value["is"])
    if kind is None:
        return {key: _in(item) for key, item in value.items()}
    type_ = _BY_NAME[kind]
    if issubclass(type_, Enum):
        return type_(value["is"])
    return type_(**{key: _in(item) for key, item in value.items()})

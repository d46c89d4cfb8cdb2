"""JSON of the server as values of the library."""

from __future__ import annotations

import sys
import types
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from functools import cache
from typing import Any, TypeVar

from omoide import domain
from omoide.domain import Event, Job, Owner, Receipt
from omoide.domain.forgetting import RecallFactors
from omoide.mechanisms.events.scoring import EventCandidate

T = TypeVar("T")

_NAMES: dict[str, Any] = {
    **{name: getattr(domain, name) for name in domain.__all__},
    "RecallFactors": RecallFactors,
    "Mapping": Mapping,
    "date": date,
    "datetime": datetime,
}
"""Names in annotations that a module imports for type checkers only."""


def decode(kind: type[T], value: Any) -> T:  # noqa: ANN401 - any JSON
    """A value of this type. Fields that this version does not know are left out."""
    decoded: T = _decoded(kind, value)
    return decoded


def decode_all(kind: type[T], values: list[Any]) -> tuple[T, ...]:
    """Several values of this type."""
    return tuple(decode(kind, value) for value in values)


def decode_job(value: Mapping[str, Any], *, tenant: str) -> Job:
    """A job: the server names its user instead of its owner."""
    owner = Owner(tenant=tenant, user=value["user"])
    known = {name: item for name, item in value.items() if name != "user"}
    return Job(owner=owner, **_fields(Job, known))


def decoded_candidate(value: Mapping[str, Any]) -> EventCandidate:
    """An event that was scored: the server gives the numbers of eq. 8 by their letters."""
    factors = decode(RecallFactors, value["odds"])
    return EventCandidate(
        event=decode(Event, value["event"]),
        cosine=value["cosine"],
        words=float(value["words"]),
        by=value["by"],
        relevance=factors.r,
        elapsed=timedelta(days=factors.t),
        consolidation=factors.g,
        probability=factors.p,
        threshold=factors.k,
        recalled=value["recalled"],
        why=value["why"],
    )


def _decoded(kind: Any, value: Any) -> Any:  # noqa: ANN401 - one line for each kind
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        chosen = [argument for argument in arguments if argument is not type(None)]
        return None if value is None else _decoded(chosen[0], value)
    if origin is tuple:
        if arguments[-1] is Ellipsis:
            return tuple(_decoded(arguments[0], item) for item in value)
        return tuple(_decoded(a, item) for a, item in zip(arguments, value, strict=True))
    if kind is Receipt:
        return Receipt(**_fields(Receipt, value))
    if kind is datetime:
        return datetime.fromisoformat(value).astimezone(UTC)
    if kind is date:
        return date.fromisoformat(value)
    if kind is float:
        return float(value)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    if is_dataclass(kind):
        make: Any = kind
        return make(**_fields(kind, value))
    return value


def _fields(kind: Any, value: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - a dataclass
    return {
        name: _decoded(hint, value[name]) for name, hint in _hints(kind).items() if name in value
    }


@cache
def _hints(kind: type) -> dict[str, Any]:
    names = {**_NAMES, **vars(sys.modules[kind.__module__])}
    hints = typing.get_type_hints(kind, globalns=names)
    return {field.name: hints[field.name] for field in fields(kind)}

"""What a preset is: settings under one name, with the paper they follow and where they depart."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True)
class Departure:
    """One thing that a preset does otherwise than its paper."""

    what: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Number:
    """A number that a paper prints, as the preset has it."""

    what: str
    value: str
    where: str
    """Where the paper has it, or why it has this value if the paper has none."""


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A named set of settings."""

    name: str
    about: str
    """What it does, for people."""
    paper: str
    """Where it is described."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """Fields of `Settings` and their values; all others have their defaults."""
    prompts: tuple[str, ...] = ()
    """The prompts that it sends, by file name in a language pack."""
    numbers: tuple[Number, ...] = ()
    departures: tuple[Departure, ...] = ()
    """What it does otherwise than its paper."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))

    @property
    def variables(self) -> tuple[str, ...]:
        """Its settings as environment variables, in their order."""
        return tuple(f"OMOIDE_{k.upper()}={written(v)}" for k, v in self.settings.items())


def written(value: object) -> str:
    """A setting's value as it is written in an environment variable.

    >>> written(("summary", "search"))
    'summary,search'
    """
    if isinstance(value, tuple):
        return ",".join(value)
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)

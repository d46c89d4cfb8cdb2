"""A change to a model's weights that can be switched on for a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.ports import Skill

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from omoide.ports import Request


@dataclass(frozen=True, kw_only=True)
class Adapter:
    """A LoRA file that changes the weights for the requests that need what it was tuned for."""

    name: str
    path: Path
    skills: frozenset[Skill] | None = None
    """What it claims; None for every request."""
    strength: float = 1.0
    """How much of its change is made: 0 leaves the weights as they are."""

    def serves(self, skill: Skill | None) -> bool:
        """Whether a request of that skill is to get it."""
        return self.skills is None or skill in self.skills


def serving(adapters: Sequence[Adapter], request: Request) -> Adapter | None:
    """The adapter that a request gets: the first that claims its skill; an answer is also a reply,
    where none claims answers."""
    skills = (Skill.ANSWER, Skill.REPLY) if request.skill is Skill.ANSWER else (request.skill,)
    return next((one for skill in skills for one in adapters if one.serves(skill)), None)


def signature(base: str, adapters: Sequence[Adapter], request: Request) -> str:
    """Who answers a request: the weights, and after a `+` the adapter it gets."""
    chosen = serving(adapters, request)
    return f"{base}+{chosen.name}" if chosen else base

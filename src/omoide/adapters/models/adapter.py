"""LoRA adapters, which can be switched on per request."""

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
    """A LoRA file that is applied to requests of the skills it was tuned for."""

    name: str
    path: Path
    skills: frozenset[Skill] | None = None
    """The skills it claims; None for every request."""
    strength: float = 1.0
    """The LoRA scale: 0 leaves the weights unchanged."""

    def serves(self, skill: Skill | None) -> bool:
        """Whether it is applied to requests of that skill."""
        return self.skills is None or skill in self.skills


def adapter_for(adapters: Sequence[Adapter], request: Request) -> Adapter | None:
    """The first adapter that claims the request's skill, in its language (`reply-ko`) before any.
    An answer counts as a reply if none claims answers."""
    skills = (Skill.ANSWER, Skill.REPLY) if request.skill is Skill.ANSWER else (request.skill,)
    names = [name for skill in skills for name in _names(skill, request)]
    return next((a for name in names for a in adapters if a.serves(name)), None)


def _names(skill: Skill | None, request: Request) -> tuple[Skill | None, ...]:
    """The names under which an adapter may claim a skill for a request, the narrowest first."""
    if skill is None or not request.language:
        return (skill,)
    return Skill(f"{skill}-{request.language}"), skill


def author_name(base: str, adapters: Sequence[Adapter], request: Request) -> str:
    """The name of what answers a request: the weights, then `+` and the adapter, if any."""
    chosen = adapter_for(adapters, request)
    return f"{base}+{chosen.name}" if chosen else base

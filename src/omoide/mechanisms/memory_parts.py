"""The memory of a prompt in three parts: about the assistant, about the user, and what is open
between them.

A strong model that is shown one list takes "Assistant" for a third person, and overlooks what was
promised. A memory that has one part only stays a list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.mechanisms.base import MemoryPart, PromptPlace
from omoide.prompts import vocabulary
from omoide.prompts.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.mechanisms.base import Contribution


def in_parts(contributions: Sequence[Contribution], language: str) -> list[str]:
    """The lines of the memory, quoted, under a heading for each part if there is more than one."""
    memory = [c for c in contributions if c.place is PromptPlace.MEMORY]
    parts = {part: [quoted(c.text) for c in memory if c.part is part] for part in MemoryPart}
    present = {part: lines for part, lines in parts.items() if lines}
    if len(present) < 2:
        return [quoted(c.text) for c in memory]
    headings = vocabulary(language)
    return [line for part, lines in present.items() for line in (headings[part.value], *lines)]

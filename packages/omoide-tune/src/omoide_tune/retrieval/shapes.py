"""Conversations as retrieval pairs are made from them; nothing here needs the rest of omoide, so
that it can be used beside a GPU."""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LICENCES = {
    "synthetic_persona_chat": "CC BY 4.0",
    "real_persona_chat": "CC BY-SA 4.0",
    "dulemon": "Apache-2.0",
    "own": "Apache-2.0",
    "everyday": "Apache-2.0",
    "stories": "Apache-2.0",
    "personamem": "MIT",
    "memorybank": "MIT",
}
"""Of every source that what ships may be trained on."""
HELD_OUT = 10
"""One conversation of so many is never trained on."""
CUTS = (1, 5, 10)
"""The first so many turns, in which what answers a question is counted."""
POOL = 150
"""Turns among which a question has to find its own, at least."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What one of the two said."""

    id: str
    speaker: str
    """`user` or `assistant`."""
    text: str


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """All that two people, or a user and an assistant, said to each other."""

    name: str
    source: str
    language: str
    names: tuple[str, str]
    """Of the user and of the other."""
    assisted: bool
    """Whether the other is an assistant."""
    turns: tuple[Turn, ...]

    @property
    def held_out(self) -> bool:
        """Whether it is kept for judging; the same in every run."""
        return random.Random(self.name).randrange(HELD_OUT) == 0  # noqa: S311 - no secret

    def record(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)

    @classmethod
    def of(cls, record: dict[str, Any]) -> Conversation:
        """What `record` wrote."""
        fields = dict(record)
        fields["turns"] = tuple(Turn(**turn) for turn in fields["turns"])
        fields["names"] = tuple(fields["names"])
        return cls(**fields)


def pools(conversations: Iterable[Conversation]) -> Iterator[tuple[Conversation, ...]]:
    """Conversations of one source and language put together until they have `POOL` turns: what a
    question is looked up in."""
    waiting: dict[tuple[str, str, bool], list[Conversation]] = {}
    for one in conversations:
        key = (one.source, one.language, one.held_out)
        waiting.setdefault(key, []).append(one)
        if sum(len(c.turns) for c in waiting[key]) >= POOL:
            yield tuple(waiting.pop(key))
    yield from map(tuple, waiting.values())

"""Imports what another memory product has stored."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from omoide.domain import Fact, FactChanges, FactEnd, Note, Trust
from omoide.domain.text import checked_name, normal_tags
from omoide.errors import BadInput
from omoide.language import detect_language
from omoide.transfer.foreign_conversations import SkippedItem, believed
from omoide.transfer.foreign_memories import KIND
from omoide.transfer.importing import import_conversations

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from omoide.domain import Owner
    from omoide.ports import Progress, Store
    from omoide.transfer.foreign_memories import ForeignFact, ForeignMemories

AT_ONCE = 500
"""Facts that are written in one transaction."""


@dataclass(frozen=True, kw_only=True)
class MemoriesImportResult:
    """What an import of another product's memory stored, kept and left out."""

    items: int
    """How many items the file has."""
    sessions: int
    turns: int
    facts: int
    known: int
    """Turns and facts that were imported before."""
    kept: Mapping[str, int] = field(default_factory=dict)
    """What has no counterpart and is kept as it is, as notes: how many, by what they are."""
    to_digest: int = 0
    left_out: tuple[SkippedItem, ...] = ()


async def import_memories(
    store: Store,
    owner: Owner,
    memories: ForeignMemories,
    *,
    at: datetime,
    digest: bool = True,
    progress: Progress | None = None,
) -> MemoriesImportResult:
    """Store facts as facts from another product, conversations as sessions, and the rest as notes.
    What was imported before is not stored again, but ends if the product has ended it since."""
    talks = await import_conversations(
        store, owner, memories.conversations, at=at, digest=digest, progress=progress
    )
    ids = [fact.id for fact in memories.facts]
    known = {fact.id: fact for fact in await store.facts.read(owner, ids=ids)} if ids else {}
    new, changed = _new(memories.facts, known)
    ended = [f for f in memories.facts if f.ended and f.id in known and not known[f.id].ended]
    facts = [*new, *ended]  # a fact that is known is not added again
    for start in range(0, len(facts), AT_ONCE):
        part = facts[start : start + AT_ONCE]
        changes = FactChanges(
            added=tuple(_fact(fact, memories.source, at) for fact in part),
            ended=tuple(
                FactEnd(
                    id=fact.id,
                    at=fact.ended,
                    until=fact.until.date() if fact.until else None,
                    reason=f"imported from {memories.source} as ended",
                )
                for fact in part
                if fact.ended is not None
            ),
        )
        await store.facts.apply(owner, changes)
    for item in memories.kept:
        await store.notes.put(owner, Note(kind=KIND, key=item.key, text=item.text, time=at))
    return MemoriesImportResult(
        items=memories.items,
        sessions=talks.sessions,
        turns=talks.turns,
        facts=len(new),
        known=talks.known + len(memories.facts) - len(new),
        kept=Counter(item.what for item in memories.kept),
        to_digest=talks.to_digest,
        left_out=(*memories.left_out, *changed, *talks.left_out),
    )


def _new(
    facts: Sequence[ForeignFact], known: Mapping[str, Fact]
) -> tuple[list[ForeignFact], list[SkippedItem]]:
    """The facts to add, and those that say something else than the one with the same id."""
    new: dict[str, ForeignFact] = {}
    changed = []
    for fact in facts:
        before = known.get(fact.id) or new.setdefault(fact.id, fact)
        if before.text != fact.text:
            reason = "a memory with this id was imported before with another text"
            changed.append(SkippedItem(where=fact.id, reason=reason))
    return list(new.values()), changed


def _fact(fact: ForeignFact, source: str, at: datetime) -> Fact:
    said = min(believed(fact.said, at) or at, at)
    return Fact(
        id=fact.id,
        about=fact.about,
        text=fact.text,
        said=said,
        learned=said,
        language=detect_language(fact.text),
        since=fact.since.date() if fact.since else None,
        trust=Trust.IMPORTED,
        tags=tuple(tag for tag in normal_tags(fact.tags) if _is_tag(tag)),
        flags=(f"imported from {source}",),
    )


def _is_tag(tag: str) -> bool:
    try:
        checked_name(tag, "a tag")
    except BadInput:
        return False
    return True

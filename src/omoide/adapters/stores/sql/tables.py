"""The tables with an owner's data, for copying them to another database."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class OwnerTable:
    """A table with an owner in each row."""

    name: str
    key: tuple[str, ...]
    """Columns that identify an owner's rows and order them."""
    columns: tuple[str, ...]
    """All columns but the owner."""
    booleans: tuple[str, ...] = ()
    numbered: bool = False
    """Whether the database assigns the key. Then the key is not copied, only its order kept."""

    @property
    def portable_columns(self) -> tuple[str, ...]:
        """The columns that have the same values in every database."""
        return tuple(c for c in self.columns if not (self.numbered and c in self.key))


def _table(name: str, key: str, others: str = "", booleans: str = "") -> OwnerTable:
    keys = tuple(key.split())
    return OwnerTable(
        name=name,
        key=keys,
        columns=(*keys, *others.split()),
        booleans=tuple(booleans.split()),
        numbered=name == "jobs",
    )


TABLES = (
    _table("counts", "kind", "given found epoch"),
    _table("sessions", "number", "key started last ended turns"),
    _table("turns", "position", "id session speaker text time language name"),
    _table("outlines", "position", "length telling named"),
    _table("postings", "term kind item", "tf length"),
    _table("vectors", "space kind item", "serial vector"),
    _table("embedded", "space kind", "upto"),
    _table(
        "summaries",
        "number",
        "sentences origin session time language restored model prompt prompt_tokens "
        "completion_tokens seconds notes",
    ),
    _table("aside", "serial", "session text problems model time"),
    _table(
        "events",
        "item",
        "id session text time sources topics keywords participants feeling superseded_by fact",
    ),
    _table("recalls", "item", "recalls consolidation last_recalled"),
    _table(
        "memos",
        "item",
        "id session topic summary sources time compressed method whole folded_into",
        booleans="whole",
    ),
    _table(
        "facts",
        "item",
        "id about text kind language session said learned since until sources trust supersedes "
        "reason ended ended_by end_reason end_sources confirmed pinned expires tags flags",
        booleans="pinned",
    ),
    _table("notes", "kind key", "text time session"),
    _table(
        "calls",
        "serial",
        "purpose model session prompt_tokens completion_tokens seconds time failed",
        booleans="failed",
    ),
    _table("jobs", "id", "tenant task session state attempts created due error worker until"),
)
OWNER = ("sessions", "vectors", "erasures")
"""The counters in the owner's own row."""

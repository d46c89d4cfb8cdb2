"""Erasure, table by table, in the caller's transaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.fact_rows import ABOUT_OTHERS, CHANGING
from omoide.adapters.stores.sql.facts import all_facts, update_facts
from omoide.adapters.stores.sql.items import (
    EVENTS,
    FACTS,
    MEMOS,
    TURNS,
    make_findable,
    remove,
    replace_successor,
)
from omoide.adapters.stores.sql.rows import decode_strings, from_micros_or_none
from omoide.adapters.stores.sql.summaries import sentences_text, versions
from omoide.domain import FactErasure
from omoide.ports import Erased

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.adapters.stores.sql.items import ItemTable
    from omoide.domain import Sentence, Summary

_OWNED = (
    "postings vectors embedded recalls events memos fact_sources facts notes outlines turns "
    "counts sessions summaries aside jobs calls erasing"
).split()
_QUOTING = {
    EVENTS.table: "text, fact, topics, keywords, participants",
    MEMOS.table: "topic, summary, compressed",
}
"""Columns that could quote a sentence."""


def erase_owner(connection: Connection, owner: int) -> Erased:
    """Remove an owner with all their data."""
    [(sessions, facts, turns)] = connection.execute(
        "SELECT (SELECT count(*) FROM sessions WHERE owner = ?1), "
        "(SELECT count(*) FROM facts WHERE owner = ?1), "
        "coalesce((SELECT found FROM counts WHERE owner = ?1 AND kind = ?2), 0)",
        (owner, TURNS.kind),
    )
    sentences = sum(len(version.sentences) for version in versions(connection, owner))
    [(events, memos, notes, rejected)] = connection.execute(
        "SELECT (SELECT count(*) FROM events WHERE owner = ?1), "
        "(SELECT count(*) FROM memos WHERE owner = ?1), "
        "(SELECT count(*) FROM notes WHERE owner = ?1), "
        "(SELECT count(*) FROM aside WHERE owner = ?1)",
        (owner,),
    )
    for table in _OWNED:
        connection.execute(f"DELETE FROM {table} WHERE owner = ?", (owner,))  # noqa: S608
    connection.execute("DELETE FROM owners WHERE id = ?", (owner,))
    return Erased(
        sessions=sessions,
        turns=turns,
        sentences=sentences,
        facts=facts,
        events=events,
        memos=memos,
        notes=notes,
        rejected=rejected,
    )


@dataclass(frozen=True, kw_only=True)
class ErasurePlan:
    """Which part of one owner's data to remove."""

    owner: int
    session: int | None
    """The session to remove completely, if it exists."""
    positions: tuple[int, ...]
    affected: tuple[int, ...]
    """The sessions of these turns."""
    ids: frozenset[str]
    texts: frozenset[str]
    """Sentences to remove wherever they occur."""
    facts: frozenset[str]
    """Ids of the facts to remove."""
    earliest: int | None
    """The first session that loses a turn. Memory made from it or later may depend on that turn."""
    since: datetime | None
    """When that session started."""

    @property
    def empty(self) -> bool:
        """Whether nothing of it exists. Sentences and facts are looked for."""
        return not (self.session is not None or self.positions or self.texts or self.facts)

    def erase(self, connection: Connection) -> Erased:
        """Remove it from every table."""
        summaries = versions(connection, self.owner)
        facts = self._erase_facts(connection, summaries)
        sentences = sum(self._thin_version(connection, v, facts) for v in summaries)
        rejected = self._erase_rejected(connection)
        events, memos = (self._erase_items(connection, table, facts) for table in (EVENTS, MEMOS))
        notes = self._erase_notes(connection)
        self._erase_turns(connection)
        if self.session is not None:
            for table, column in (("sessions", "number"), ("jobs", "session")):
                connection.execute(
                    f"DELETE FROM {table} WHERE owner = ? AND {column} = ?",  # noqa: S608
                    (self.owner, self.session),
                )
        connection.execute("UPDATE jobs SET error = '' WHERE owner = ?", (self.owner,))
        connection.execute("UPDATE owners SET erasures = erasures + 1 WHERE id = ?", (self.owner,))
        return Erased(
            sessions=int(self.session is not None),
            turns=len(self.positions),
            sentences=sentences,
            facts=len(facts),
            events=events,
            memos=memos,
            notes=notes,
            rejected=rejected,
        )

    def _erase_facts(self, connection: Connection, summaries: Iterable[Summary]) -> frozenset[str]:
        """Remove facts and return their ids. What ends, reasons and tags of the others say about
        them is removed too, and facts that they had ended hold again."""
        stated = {s.fact for v in summaries for s in v.sentences if s.text in self.texts}
        facts = all_facts(connection, self.owner)
        erased = FactErasure(
            ids=self.facts | stated - {""},
            turns=self.ids,
            texts=self.texts,
            session=self.earliest,
            since=self.since,
        ).of(tuple(facts.values()))
        items = {fact.id: item for item, fact in facts.items()}
        remove(connection, self.owner, FACTS, [items[name] for name in erased.removed])
        changed = {items[fact.id]: fact for fact in erased.changed}
        update_facts(connection, self.owner, changed, columns=(*ABOUT_OTHERS, *CHANGING))
        revived = [
            item
            for item, fact in changed.items()
            if fact.ended is None and facts[item].ended is not None
        ]
        make_findable(connection, self.owner, FACTS, revived)
        return frozenset(erased.removed)

    def _thin_version(self, connection: Connection, version: Summary, facts: frozenset[str]) -> int:
        """Remove sentences from a version and return how many."""
        affected = self._affects(version.session)
        kept = [
            s
            for s in version.sentences
            if not (self._removes(s, affected=affected) or s.fact in facts)
        ]
        removed = len(version.sentences) - len(kept)
        if removed or (version.notes and (affected or self._quoted_in(version.notes))):
            connection.execute(
                "UPDATE summaries SET sentences = ?, notes = '[]' WHERE owner = ? AND number = ?",
                (sentences_text(kept), self.owner, version.number),
            )
        return removed

    def _affects(self, session: int | None) -> bool:
        return session is not None and self.earliest is not None and session >= self.earliest

    def _removes(self, sentence: Sentence, *, affected: bool) -> bool:
        return (
            sentence.text in self.texts
            or not self.ids.isdisjoint(sentence.sources)
            or (affected and not sentence.supported)
        )

    def _erase_rejected(self, connection: Connection) -> int:
        rows: list[Any] = connection.execute(
            "SELECT serial, session, text, problems FROM aside WHERE owner = ?", (self.owner,)
        ).fetchall()
        gone = [
            serial
            for serial, session, text, problems in rows
            if self._affects(session) or self._quoted_in((text, *decode_strings(problems)))
        ]
        connection.executemany(
            "DELETE FROM aside WHERE owner = ? AND serial = ?", ((self.owner, n) for n in gone)
        )
        return len(gone)

    def _quoted_in(self, stored: Iterable[str]) -> bool:
        return any(text in candidate for candidate in stored for text in self.texts)

    def _erase_items(self, connection: Connection, table: ItemTable, facts: frozenset[str]) -> int:
        """Remove events or memos and return how many."""
        rows: list[Any] = connection.execute(
            f"SELECT item, id, {table.successor}, session, sources, {_QUOTING[table.table]} "  # noqa: S608
            f"FROM {table.table} WHERE owner = ?",
            (self.owner,),
        ).fetchall()
        gone = [
            row
            for row in rows
            if (table is EVENTS and row[6] in facts)
            or self._depends(row[3], row[4], _texts(table, row[5:]))
        ]
        items = [row[0] for row in gone]
        if table is EVENTS:
            connection.execute(
                "DELETE FROM recalls WHERE owner = ? AND item IN (SELECT value FROM json_each(?))",
                (self.owner, items),
            )
        remove(connection, self.owner, table, items)
        successors = {row[2] for row in rows}
        self._bring_back(connection, table, {row[1]: row[2] for row in gone}, successors)
        return len(gone)

    def _depends(self, session: int, sources: str, quoting: Iterable[str]) -> bool:
        """Whether an event or memo depends on removed text, by the same rule as for a sentence."""
        cited = decode_strings(sources)
        return (
            not self.ids.isdisjoint(cited)
            or (not cited and self._affects(session))
            or self._quoted_in(quoting)
        )

    def _bring_back(
        self,
        connection: Connection,
        table: ItemTable,
        gone: dict[str, str | None],
        successors: set[str | None],
    ) -> None:
        """Items that a removed item had replaced get that item's own successor instead. If none is
        left, searches find them again."""
        for name in gone.keys() & successors:
            successor, seen = gone[name], {name}
            while successor in gone and successor not in seen:
                seen.add(successor)
                successor = gone[successor]
            left = None if successor in gone else successor
            replace_successor(connection, self.owner, table, gone=name, successor=left)

    def _erase_notes(self, connection: Connection) -> int:
        """Notes have no sources, so any of them may quote a removed turn."""
        rows: list[Any] = connection.execute(
            "SELECT kind, key, text FROM notes WHERE owner = ?", (self.owner,)
        ).fetchall()
        gone = [
            (kind, key)
            for kind, key, text in rows
            if self.positions or self._quoted_in((key, text))
        ]
        connection.executemany(
            "DELETE FROM notes WHERE owner = ? AND kind = ? AND key = ?",
            ((self.owner, kind, key) for kind, key in gone),
        )
        return len(gone)

    def _erase_turns(self, connection: Connection) -> None:
        if not self.positions:
            return
        connection.execute(
            "DELETE FROM outlines WHERE owner = ? AND position IN (SELECT value FROM json_each(?))",
            (self.owner, list(self.positions)),
        )
        remove(connection, self.owner, TURNS, self.positions)
        connection.execute(
            "UPDATE sessions SET turns = (SELECT count(*) FROM turns "
            "WHERE turns.owner = sessions.owner AND turns.session = sessions.number) "
            "WHERE owner = ? AND number IN (SELECT value FROM json_each(?))",
            (self.owner, list(self.affected)),
        )


def _texts(table: ItemTable, columns: Sequence[str]) -> tuple[str, ...]:
    """The texts in the columns of `_QUOTING`. All columns of an event but the first and the id of
    its fact are lists."""
    if table is not EVENTS:
        return tuple(columns)
    text, _, *lists = columns
    return (text, *(value for column in lists for value in decode_strings(column)))


def erasure_plan(
    connection: Connection,
    owner: int,
    *,
    session: int | None,
    turns: Sequence[str],
    sentences: Sequence[str],
    facts: Sequence[str],
) -> ErasurePlan:
    """Plan the erasure of a session, of turns, of sentences and of facts."""
    rows: list[Any] = connection.execute(
        "SELECT position, id, session FROM turns INDEXED BY turns_session "
        "WHERE owner = ?1 AND session = CAST(?2 AS integer) UNION "
        "SELECT position, id, session FROM turns INDEXED BY turns_id "
        "WHERE owner = ?1 AND id IN (SELECT value FROM json_each(?3)) ORDER BY position",
        (owner, session, list(turns)),
    ).fetchall()
    sessions: list[Any] = connection.execute(
        "SELECT number FROM sessions WHERE owner = ? AND number = CAST(? AS integer)",
        (owner, session),
    ).fetchall()
    affected = [row[2] for row in rows] + [row[0] for row in sessions]
    earliest = min(affected, default=None)
    started = connection.execute(
        "SELECT started FROM sessions WHERE owner = ? AND number = CAST(? AS integer)",
        (owner, earliest),
    ).fetchone()
    quoted: list[Any] = connection.execute(
        f"SELECT text FROM {FACTS.by_id} "  # noqa: S608
        "WHERE owner = ? AND id IN (SELECT value FROM json_each(?))",
        (owner, list(facts)),
    ).fetchall()
    texts = (*sentences, *(row[0] for row in quoted))
    return ErasurePlan(
        owner=owner,
        session=session if sessions else None,
        positions=tuple(row[0] for row in rows),
        affected=tuple(sorted({row[2] for row in rows})),
        ids=frozenset(row[1] for row in rows),
        texts=frozenset(filter(None, texts)),
        facts=frozenset(facts),
        earliest=earliest,
        since=from_micros_or_none(started[0] if started else None),
    )

"""Erasure of a part of an owner's data: what must go, and how, in the caller's transaction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.erased_rows import erase_turns
from omoide.adapters.stores.sql.erasure_findings import NOTHING, FoundMemories
from omoide.adapters.stores.sql.fact_rows import ABOUT_OTHERS, CHANGING
from omoide.adapters.stores.sql.facts import all_facts, facts_by_number, update_facts
from omoide.adapters.stores.sql.items import (
    EVENTS,
    FACTS,
    MEMOS,
    TURNS,
    make_findable,
    postings_of,
    remove,
    replace_successor,
)
from omoide.adapters.stores.sql.rows import decode_strings, from_micros, from_micros_or_none
from omoide.adapters.stores.sql.summaries import sentences_text, versions
from omoide.domain import FactErasure, TurnPlace

if TYPE_CHECKING:
    from collections.abc import Iterable, KeysView, Mapping, Sequence
    from datetime import datetime

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.adapters.stores.sql.erasure_findings import ErasureRequest, ErasureSlice
    from omoide.adapters.stores.sql.items import ItemTable
    from omoide.domain import Fact, Sentence, Summary
    from omoide.domain.fact_erasure import ErasedFacts
    from omoide.ports import Erased

_QUOTING = {
    EVENTS.table: "text, fact, topics, keywords, participants",
    MEMOS.table: "topic, summary, compressed",
}
"""Columns that could quote a sentence."""


@dataclass(frozen=True, kw_only=True)
class ErasurePlan:
    """Which part of one owner's data to remove."""

    owner: int
    session: int | None
    """The session to remove completely, if it exists."""
    positions: tuple[int, ...]
    turns: Mapping[str, TurnPlace]
    """The turns to remove, by id."""
    texts: frozenset[str]
    """Sentences to remove wherever they occur."""
    facts: frozenset[str]
    """Ids of the facts to remove."""
    earliest: int | None
    """The first session that loses a turn. Memory made from it or later may depend on that turn."""
    since: datetime | None
    """When that session started."""

    @property
    def ids(self) -> KeysView[str]:
        """Ids of the turns to remove."""
        return self.turns.keys()

    @property
    def empty(self) -> bool:
        """Whether nothing of it exists. Sentences and facts are looked for."""
        return not (self.session is not None or self.positions or self.texts or self.facts)

    def find(self, connection: Connection) -> FoundMemories:
        """Look for everything that must go with it. Reads all memories of the owner, so an erasure
        does it before it takes its lock, and under the lock checks that it still `holds`."""
        state = self.state(connection)
        summaries = versions(connection, self.owner)
        touched, erased = self._find_facts(connection, summaries)
        numbers = {fact.id: item for item, fact in touched.items()}
        thinned, sentences = self._thin(summaries, erased)
        (events, newer), (memos, larger) = (
            self._find_items(connection, table, frozenset(erased.removed))
            for table in (EVENTS, MEMOS)
        )
        facts = {numbers[name]: fact.ended for name, fact in erased.removed.items()}
        gone: dict[ItemTable, Mapping[int, object]] = {EVENTS: events, MEMOS: memos, FACTS: facts}
        return FoundMemories(
            owner=self.owner,
            plan=self,
            state=state,
            touched=touched,
            changed={numbers[fact.id]: fact for fact in erased.changed},
            thinned=thinned,
            sentences=sentences,
            rejected=self._find_rejected(connection),
            gone={**{table: tuple(items) for table, items in gone.items()}, TURNS: self.positions},
            hidden={
                table: postings_of(connection, self.owner, table, [i for i in items if items[i]])
                for table, items in gone.items()
            },
            successors={EVENTS: newer, MEMOS: larger},
        )

    def holds(self, connection: Connection, slice_: ErasureSlice) -> bool:
        """Whether all is as it was found: what is added or hidden, the facts that are removed or
        changed now, and what rests on the turns. Not known for texts: any memory may have come to
        contain one."""
        found, items = slice_.found, slice_.items
        facts = {item: found.touched[item] for item in (*found.changed, *items[FACTS])}
        places = zip(self.ids, self.positions, strict=True)
        turns = [name for name, place in places if place in items[TURNS]]
        resting = connection.execute(
            "SELECT item FROM fact_sources WHERE owner = ? "
            "AND turn IN (SELECT value FROM json_each(?))",
            (self.owner, turns),
        )
        return (
            not self.texts
            and (self == found.plan or not found.fresh)
            and (self.positions == items[TURNS] or not slice_.last)
            and found.touched.keys() >= {item for (item,) in resting}
            and self.state(connection) == found.state
            and facts_by_number(connection, self.owner, facts) == facts
        )

    def state(self, connection: Connection) -> tuple[object, ...]:
        """What changes when memories of the owner are added, hidden, shown again or erased."""
        row: Any = connection.execute(
            "SELECT erasures, (SELECT max(number) FROM summaries WHERE owner = ?1), "
            "(SELECT max(serial) FROM aside WHERE owner = ?1) FROM owners WHERE id = ?1",
            (self.owner,),
        ).fetchone()
        counts: list[Any] = connection.execute(
            "SELECT kind, given, found, epoch FROM counts WHERE owner = ? AND kind <> ? "
            "ORDER BY kind",
            (self.owner, TURNS.kind),
        ).fetchall()
        return (tuple(row or ()), *map(tuple, counts))

    def erase(self, connection: Connection, slice_: ErasureSlice) -> Erased:
        """Remove a slice, and with the first what is neither a fact, an event, a memo nor a turn.
        From then on no turn can be added to the session, and no job of it starts."""
        found, items = slice_.found, slice_.items
        erased = NOTHING
        self._erase_facts(connection, slice_)
        for table in (EVENTS, MEMOS):
            self._erase_items(connection, table, slice_)
        if found.fresh:
            erased = self._erase_others(connection, found)
        if items[TURNS]:
            erase_turns(connection, self.owner, items[TURNS], postings=slice_.postings[TURNS])
        if self.session is not None and (found.fresh or slice_.last):
            session = (self.owner, self.session)
            connection.execute("DELETE FROM jobs WHERE owner = ? AND session = ?", session)
            change = "UPDATE sessions SET ended = coalesce(ended, last)"
            if slice_.last:
                change = "DELETE FROM sessions"
            connection.execute(f"{change} WHERE owner = ? AND number = ?", session)
        connection.execute("UPDATE owners SET erasures = erasures + 1 WHERE id = ?", (self.owner,))
        return replace(
            erased,
            sessions=int(slice_.last and self.session is not None),
            turns=len(items[TURNS]),
            facts=len(items[FACTS]),
            events=len(items[EVENTS]),
            memos=len(items[MEMOS]),
        )

    def _erase_others(self, connection: Connection, found: FoundMemories) -> Erased:
        connection.executemany(
            "UPDATE summaries SET sentences = ?, notes = '[]' WHERE owner = ? AND number = ?",
            ((text, self.owner, number) for number, text in found.thinned.items()),
        )
        connection.executemany(
            "DELETE FROM aside WHERE owner = ? AND serial = ?",
            ((self.owner, serial) for serial in found.rejected),
        )
        connection.execute(
            "UPDATE jobs SET error = '' WHERE owner = ? AND error <> ''", (self.owner,)
        )
        notes = self._erase_notes(connection)
        return replace(
            NOTHING, sentences=found.sentences, notes=notes, rejected=len(found.rejected)
        )

    def _find_facts(
        self, connection: Connection, summaries: Iterable[Summary]
    ) -> tuple[dict[int, Fact], ErasedFacts]:
        """What happens to facts, and those that it happens to as they are now, by number. What
        ends, reasons and tags of the others say about removed ones is removed too, and facts that
        they had ended hold again."""
        stated = {s.fact for v in summaries for s in v.sentences if s.text in self.texts}
        facts = all_facts(connection, self.owner)
        erased = FactErasure(
            ids=self.facts | stated - {""},
            turns=self.turns,
            texts=self.texts,
            session=self.earliest,
            since=self.since,
        ).of(tuple(facts.values()))
        names = erased.removed.keys() | {fact.id for fact in erased.changed}
        return {item: fact for item, fact in facts.items() if fact.id in names}, erased

    def _erase_facts(self, connection: Connection, slice_: ErasureSlice) -> None:
        found = slice_.found
        remove(connection, self.owner, FACTS, slice_.items[FACTS], postings=slice_.postings[FACTS])
        update_facts(connection, self.owner, found.changed, columns=(*ABOUT_OTHERS, *CHANGING))
        revived = [
            item
            for item, fact in found.changed.items()
            if fact.ended is None and found.touched[item].ended is not None
        ]
        if revived:
            make_findable(connection, self.owner, FACTS, revived)

    def _thin(self, summaries: Iterable[Summary], facts: ErasedFacts) -> tuple[dict[int, str], int]:
        """The sentences that stay of each version that must change, and how many go in all."""
        thinned: dict[int, str] = {}
        removed, ids = 0, self.ids
        for version in summaries:
            affected = self._affects(version.session)
            stated = (facts.restated(s, ids) for s in version.sentences)
            kept = tuple(
                s
                for s in stated
                if not (self._removes(s, affected=affected) or s.fact in facts.removed)
            )
            fewer = len(version.sentences) - len(kept)
            if kept != version.sentences or (
                version.notes and (affected or self._quoted_in(version.notes))
            ):
                thinned[version.number] = sentences_text(kept)
                removed += fewer
        return thinned, removed

    def _affects(self, session: int | None) -> bool:
        return session is not None and self.earliest is not None and session >= self.earliest

    def _removes(self, sentence: Sentence, *, affected: bool) -> bool:
        return (
            sentence.text in self.texts
            or not self.ids.isdisjoint(sentence.sources)
            or (affected and not sentence.supported)
        )

    def _find_rejected(self, connection: Connection) -> tuple[int, ...]:
        rows: list[Any] = connection.execute(
            "SELECT serial, session, text, problems FROM aside WHERE owner = ?", (self.owner,)
        ).fetchall()
        return tuple(
            serial
            for serial, session, text, problems in rows
            if self._affects(session) or self._quoted_in((text, *decode_strings(problems)))
        )

    def _quoted_in(self, stored: Iterable[str]) -> bool:
        return any(text in candidate for candidate in stored for text in self.texts)

    def _find_items(
        self, connection: Connection, table: ItemTable, facts: frozenset[str]
    ) -> tuple[dict[int, str | None], frozenset[str | None]]:
        """The events or memos that go, oldest first, with the id of what has replaced each, and all
        such ids."""
        rows: list[Any] = connection.execute(
            f"SELECT item, {table.successor}, session, sources, {_QUOTING[table.table]} "  # noqa: S608
            f"FROM {table.table} WHERE owner = ? ORDER BY item",
            (self.owner,),
        ).fetchall()
        gone = {
            row[0]: row[1]
            for row in rows
            if (table is EVENTS and row[5] in facts)
            or self._depends(row[2], row[3], _texts(table, row[4:]))
        }
        return gone, frozenset(row[1] for row in rows)

    def _erase_items(self, connection: Connection, table: ItemTable, slice_: ErasureSlice) -> None:
        among = "WHERE owner = ? AND item IN (SELECT value FROM json_each(?))"
        items = slice_.items[table]
        if not items:
            return
        gone = dict(
            connection.execute(
                f"SELECT id, {table.successor} FROM {table.table} {among}",  # noqa: S608
                (self.owner, list(items)),
            ).fetchall()
        )
        if table is EVENTS:
            connection.execute(f"DELETE FROM recalls {among}", (self.owner, list(items)))  # noqa: S608
        remove(connection, self.owner, table, items, postings=slice_.postings[table])
        self._bring_back(connection, table, gone, slice_.found.successors[table])

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
        successors: frozenset[str | None],
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


def _texts(table: ItemTable, columns: Sequence[str]) -> tuple[str, ...]:
    """The texts in the columns of `_QUOTING`. All columns of an event but the first and the id of
    its fact are lists."""
    if table is not EVENTS:
        return tuple(columns)
    text, _, *lists = columns
    return (text, *(value for column in lists for value in decode_strings(column)))


def erasure_plan(connection: Connection, owner: int, wanted: ErasureRequest) -> ErasurePlan:
    """Plan the erasure of a session, of turns, of sentences and of facts."""
    rows: list[Any] = connection.execute(
        "SELECT position, id, session, time FROM turns INDEXED BY turns_session "
        "WHERE owner = ?1 AND session = CAST(?2 AS integer) UNION "
        "SELECT position, id, session, time FROM turns INDEXED BY turns_id "
        "WHERE owner = ?1 AND id IN (SELECT value FROM json_each(?3)) UNION "
        "SELECT position, id, session, time FROM turns "
        "WHERE owner = ?1 AND position IN (SELECT value FROM json_each(?4)) ORDER BY position",
        (owner, wanted.session, list(wanted.turns), list(wanted.positions)),
    ).fetchall()
    sessions: list[Any] = connection.execute(
        "SELECT number FROM sessions WHERE owner = ? AND number = CAST(? AS integer)",
        (owner, wanted.session),
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
        (owner, list(wanted.facts)),
    ).fetchall()
    texts = (*wanted.sentences, *(row[0] for row in quoted))
    return ErasurePlan(
        owner=owner,
        session=wanted.session if sessions else None,
        positions=tuple(row[0] for row in rows),
        turns={row[1]: TurnPlace(row[2], from_micros(row[3])) for row in rows},
        texts=frozenset(filter(None, texts)),
        facts=frozenset(wanted.facts),
        earliest=earliest,
        since=from_micros_or_none(started[0] if started else None),
    )

"""What an erasure takes along, table by table, in the caller's transaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.items import EVENTS, MEMOS, TURNS, remove, succeed
from omoide.adapters.stores.sql.rows import strings
from omoide.adapters.stores.sql.summaries import sentences_text, versions
from omoide.ports import Erased

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.adapters.stores.sql.items import Shelf
    from omoide.domain import Sentence, Summary

_OWNED = (
    "postings vectors embedded recalls events memos notes outlines turns counts sessions summaries "
    "aside jobs calls erasing"
).split()
_QUOTING = {
    EVENTS.table: "text, topics, keywords, participants",
    MEMOS.table: "topic, summary, compressed",
}
"""Everything in a row that could quote a sentence."""


def erase_owner(connection: Connection, owner: int) -> Erased:
    """Remove everything of an owner, and the owner."""
    [(sessions, turns)] = connection.execute(
        "SELECT (SELECT count(*) FROM sessions WHERE owner = ?1), "
        "coalesce((SELECT found FROM counts WHERE owner = ?1 AND kind = ?2), 0)",
        (owner, TURNS.kind),
    )
    sentences = sum(len(version.sentences) for version in versions(connection, owner))
    for table in _OWNED:
        connection.execute(f"DELETE FROM {table} WHERE owner = ?", (owner,))  # noqa: S608
    connection.execute("DELETE FROM owners WHERE id = ?", (owner,))
    return Erased(sessions=sessions, turns=turns, sentences=sentences)


@dataclass(frozen=True, kw_only=True)
class Doomed:
    """What of one owner is to go, if not everything."""

    owner: int
    session: int | None
    """The session to go as a whole, if it exists."""
    positions: tuple[int, ...]
    ids: frozenset[str]
    texts: frozenset[str]
    """Sentences to go wherever they stand."""
    earliest: int | None
    """The first session that loses anything; memory that knows of it may rest on what goes."""

    def erase(self, connection: Connection) -> Erased:
        """Remove it from every table."""
        sentences = sum(self._thin(connection, v) for v in versions(connection, self.owner))
        self._erase_aside(connection)
        self._erase_events_and_memos(connection)
        self._erase_notes(connection)
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
        )

    def _thin(self, connection: Connection, version: Summary) -> int:
        """Take sentences out of a version; how many."""
        knows = self._knows(version.session)
        kept = [s for s in version.sentences if not self._dooms(s, knows=knows)]
        gone = len(version.sentences) - len(kept)
        if gone or (version.notes and (knows or self._quoted(version.notes))):
            connection.execute(
                "UPDATE summaries SET sentences = ?, notes = '[]' WHERE owner = ? AND number = ?",
                (sentences_text(kept), self.owner, version.number),
            )
        return gone

    def _knows(self, session: int | None) -> bool:
        return session is not None and self.earliest is not None and session >= self.earliest

    def _dooms(self, sentence: Sentence, *, knows: bool) -> bool:
        return (
            sentence.text in self.texts
            or not self.ids.isdisjoint(sentence.sources)
            or (knows and not sentence.supported)
        )

    def _erase_aside(self, connection: Connection) -> None:
        rows: list[Any] = connection.execute(
            "SELECT serial, session, text, problems FROM aside WHERE owner = ?", (self.owner,)
        ).fetchall()
        for serial, session, text, problems in rows:
            if self._knows(session) or self._quoted((text, *strings(problems))):
                connection.execute(
                    "DELETE FROM aside WHERE owner = ? AND serial = ?", (self.owner, serial)
                )

    def _quoted(self, kept: Iterable[str]) -> bool:
        return any(text in words for words in kept for text in self.texts)

    def _erase_events_and_memos(self, connection: Connection) -> None:
        for shelf in (EVENTS, MEMOS):
            rows: list[Any] = connection.execute(
                f"SELECT item, id, {shelf.successor}, session, sources, {_QUOTING[shelf.table]} "  # noqa: S608
                f"FROM {shelf.table} WHERE owner = ?",
                (self.owner,),
            ).fetchall()
            gone = [row for row in rows if self._rests_on(row[3], row[4], _texts(shelf, row[5:]))]
            items = [row[0] for row in gone]
            if shelf is EVENTS:
                connection.execute(
                    "DELETE FROM recalls WHERE owner = ? "
                    "AND item IN (SELECT value FROM json_each(?))",
                    (self.owner, items),
                )
            remove(connection, self.owner, shelf, items)
            standing = {row[2] for row in rows}
            self._bring_back(connection, shelf, {row[1]: row[2] for row in gone}, standing)

    def _rests_on(self, session: int, sources: str, quoting: Iterable[str]) -> bool:
        """Whether an event or memo must go, by the same rule as a sentence."""
        cited = strings(sources)
        return (
            not self.ids.isdisjoint(cited)
            or (not cited and self._knows(session))
            or self._quoted(quoting)
        )

    def _bring_back(
        self,
        connection: Connection,
        shelf: Shelf,
        gone: dict[str, str | None],
        standing: set[str | None],
    ) -> None:
        """Where one that is gone was standing for others, its own successor does from now on; if
        none is left, they are found again: as if it had never been."""
        for name in gone.keys() & standing:
            successor, seen = gone[name], {name}
            while successor in gone and successor not in seen:
                seen.add(successor)
                successor = gone[successor]
            left = None if successor in gone else successor
            succeed(connection, self.owner, shelf, gone=name, successor=left)

    def _erase_notes(self, connection: Connection) -> None:
        """Notes name no sources: any of them may quote a turn."""
        rows: list[Any] = connection.execute(
            "SELECT kind, key, text FROM notes WHERE owner = ?", (self.owner,)
        ).fetchall()
        for kind, key, text in rows:
            if self.positions or self._quoted((key, text)):
                connection.execute(
                    "DELETE FROM notes WHERE owner = ? AND kind = ? AND key = ?",
                    (self.owner, kind, key),
                )

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
            "WHERE owner = ?",
            (self.owner,),
        )


def _texts(shelf: Shelf, columns: Sequence[str]) -> tuple[str, ...]:
    """The texts in the columns of `_QUOTING`; those of an event after the first hold several."""
    if shelf is not EVENTS:
        return tuple(columns)
    text, *lists = columns
    return (text, *(words for several in lists for words in strings(several)))


def doomed(
    connection: Connection,
    owner: int,
    *,
    session: int | None,
    turns: Sequence[str],
    sentences: Sequence[str],
) -> Doomed:
    """What goes if a session, turns and sentences are named."""
    rows: list[Any] = connection.execute(
        "SELECT position, id, session FROM turns INDEXED BY turns_session "
        "WHERE owner = ?1 AND session = CAST(?2 AS integer) UNION "
        "SELECT position, id, session FROM turns INDEXED BY turns_id "
        "WHERE owner = ?1 AND id IN (SELECT value FROM json_each(?3)) ORDER BY position",
        (owner, session, list(turns)),
    ).fetchall()
    there: list[Any] = connection.execute(
        "SELECT number FROM sessions WHERE owner = ? AND number = CAST(? AS integer)",
        (owner, session),
    ).fetchall()
    affected = [row[2] for row in rows] + [row[0] for row in there]
    return Doomed(
        owner=owner,
        session=session if there else None,
        positions=tuple(row[0] for row in rows),
        ids=frozenset(row[1] for row in rows),
        texts=frozenset(filter(None, sentences)),
        earliest=min(affected, default=None),
    )

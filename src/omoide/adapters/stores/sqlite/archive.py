"""Who there is, and removal for good.

Deleting rows is not enough. `secure_delete` zeroes what is deleted, but when SQLite rebalances a
tree it moves rows and leaves their old bytes in the unused middle of pages (seen with 3.54: a few
in 20 MB). Only VACUUM, which writes every page anew, rids the file of those; then the write-ahead
log, which holds older copies of pages, is emptied. Both cost time in proportion to the whole file
(about 10 ms a MB), which an erasure is worth. A mark in the database says that this
is still to be done, so that it is, at the next opening, if the process died or had to give up.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import apsw

from omoide.adapters.stores.sqlite.rows import TURN, array, owner_id, strings
from omoide.adapters.stores.sqlite.summaries import sentences_text, versions
from omoide.domain import Owner
from omoide.errors import StoreLocked
from omoide.ports import Erased

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.adapters.stores.sqlite.connection import Database
    from omoide.adapters.stores.sqlite.matrices import Matrices
    from omoide.domain import Sentence, Summary

_NOTHING = Erased(sessions=0, turns=0, sentences=0)
_OWNED = "postings vectors embedded turns sessions summaries aside jobs calls erasing".split()


class SqliteArchive:
    """`Archive` on SQLite."""

    def __init__(self, database: Database, matrices: Matrices) -> None:
        self._database = database
        self._matrices = matrices

    async def owners(self, tenant: str) -> tuple[Owner, ...]:
        """See `Archive.owners`."""

        def work(connection: apsw.Connection) -> tuple[Owner, ...]:
            rows = connection.execute(
                "SELECT user FROM owners WHERE tenant = ? ORDER BY user", (tenant,)
            )
            return tuple(Owner(tenant=tenant, user=user) for (user,) in rows)

        return await self._database.read(work)

    async def erase(
        self,
        owner: Owner,
        *,
        session: int | None = None,
        turns: Sequence[str] | None = None,
        sentences: Sequence[str] | None = None,
    ) -> Erased:
        """See `Archive.erase`. What is not there is passed over, so that an erasure which could
        not be finished may be asked for again. Notes of versions, and errors of jobs, go along:
        they may quote what was said."""
        whole = session is None and turns is None and sentences is None

        def work(connection: apsw.Connection) -> Erased:
            number = owner_id(connection, owner)
            if number is None:
                return _NOTHING
            connection.execute("INSERT INTO erasing VALUES (?)", (number,))
            if whole:
                erased = _erase_owner(connection, number)
            else:
                doomed = _doomed(
                    connection,
                    number,
                    session=session,
                    turns=turns or (),
                    sentences=sentences or (),
                )
                erased = doomed.erase(connection)
            connection.execute("DELETE FROM erasing")
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('traces', 'yes')")
            return erased

        erased = await self._database.write(work)
        self._matrices.clear()
        await self.remove_traces()
        return erased

    async def remove_traces(self) -> None:
        """Rid the files of bytes that erasures left behind, if there are any."""
        if not self._database.in_memory:
            await self._database.alone(self._remove_traces)

    def _remove_traces(self, connection: apsw.Connection) -> None:
        if not connection.execute("SELECT 1 FROM meta WHERE name = 'traces'").fetchall():
            return
        busy: Any = True
        with suppress(apsw.BusyError):
            connection.execute("VACUUM")
            [(busy, *_)] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        if busy:
            raise StoreLocked(
                "what was asked for is erased, but bytes of it remain in the write-ahead log of "
                f"{self._database.where} for as long as another process reads there; close that "
                "process and erase again, or open the database anew"
            )
        connection.execute("DELETE FROM meta WHERE name = 'traces'")


def _erase_owner(connection: apsw.Connection, owner: int) -> Erased:
    [(sessions, turns)] = connection.execute(
        "SELECT (SELECT count(*) FROM sessions WHERE owner = id), turns FROM owners WHERE id = ?",
        (owner,),
    )
    sentences = sum(len(version.sentences) for version in versions(connection, owner))
    for table in _OWNED:
        connection.execute(f"DELETE FROM {table} WHERE owner = ?", (owner,))  # noqa: S608
    connection.execute("DELETE FROM owners WHERE id = ?", (owner,))
    return Erased(sessions=sessions, turns=turns, sentences=sentences)


@dataclass(frozen=True, kw_only=True)
class _Doomed:
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

    def erase(self, connection: apsw.Connection) -> Erased:
        """Remove it from every table."""
        sentences = sum(self._thin(connection, v) for v in versions(connection, self.owner))
        self._erase_aside(connection)
        self._erase_turns(connection)
        if self.session is not None:
            for table, column in (("sessions", "number"), ("jobs", "session")):
                connection.execute(
                    f"DELETE FROM {table} WHERE owner = ? AND {column} = ?",  # noqa: S608
                    (self.owner, self.session),
                )
        connection.execute("UPDATE jobs SET error = '' WHERE owner = ?", (self.owner,))
        connection.execute(
            "UPDATE owners SET turns = turns - ?, epoch = epoch + 1, erasures = erasures + 1 "
            "WHERE id = ?",
            (len(self.positions), self.owner),
        )
        return Erased(
            sessions=int(self.session is not None),
            turns=len(self.positions),
            sentences=sentences,
        )

    def _thin(self, connection: apsw.Connection, version: Summary) -> int:
        """Take sentences out of a version; how many."""
        knows = self._knows(version.session)
        kept = [s for s in version.sentences if not self._dooms(s, knows=knows)]
        gone = len(version.sentences) - len(kept)
        quoted = any(text in note for text in self.texts for note in version.notes)
        if gone or (version.notes and (knows or quoted)):
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

    def _erase_aside(self, connection: apsw.Connection) -> None:
        rows: list[Any] = connection.execute(
            "SELECT serial, session, text, problems FROM aside WHERE owner = ?", (self.owner,)
        ).fetchall()
        for serial, session, text, problems in rows:
            kept = (text, *strings(problems))
            if self._knows(session) or any(t in words for t in self.texts for words in kept):
                connection.execute(
                    "DELETE FROM aside WHERE owner = ? AND serial = ?", (self.owner, serial)
                )

    def _erase_turns(self, connection: apsw.Connection) -> None:
        if not self.positions:
            return
        positions = array(self.positions)
        for table in ("postings", "vectors"):
            connection.execute(
                f"DELETE FROM {table} WHERE owner = ? AND kind = ? "  # noqa: S608
                "AND item IN (SELECT value FROM json_each(?))",
                (self.owner, TURN, positions),
            )
        connection.execute(
            "DELETE FROM turns WHERE owner = ? AND position IN (SELECT value FROM json_each(?))",
            (self.owner, positions),
        )
        connection.execute(
            "UPDATE sessions SET turns = (SELECT count(*) FROM turns "
            "WHERE turns.owner = sessions.owner AND turns.session = sessions.number) "
            "WHERE owner = ?",
            (self.owner,),
        )


def _doomed(
    connection: apsw.Connection,
    owner: int,
    *,
    session: int | None,
    turns: Sequence[str],
    sentences: Sequence[str],
) -> _Doomed:
    rows: list[Any] = connection.execute(
        "SELECT position, id, session FROM turns INDEXED BY turns_session "
        "WHERE owner = ?1 AND session = ?2 UNION "
        "SELECT position, id, session FROM turns INDEXED BY turns_id "
        "WHERE owner = ?1 AND id IN (SELECT value FROM json_each(?3)) ORDER BY position",
        (owner, session, array(turns)),
    ).fetchall()
    there: list[Any] = connection.execute(
        "SELECT number FROM sessions WHERE owner = ? AND number = ?", (owner, session)
    ).fetchall()
    affected = [row[2] for row in rows] + [row[0] for row in there]
    return _Doomed(
        owner=owner,
        session=session if there else None,
        positions=tuple(row[0] for row in rows),
        ids=frozenset(row[1] for row in rows),
        texts=frozenset(sentences),
        earliest=min(affected, default=None),
    )

"""Versions of the recursive summary, and rejected answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.provenance import refuse_erased
from omoide.adapters.stores.sql.rows import (
    decode_strings,
    encode_strings,
    ensured_owner_id,
    from_micros,
    locked_owner_id,
    owner_id,
    to_micros,
)
from omoide.domain import Origin, RejectedAnswer, Sentence, Speaker, Summary
from omoide.errors import StaleVersion

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from omoide.adapters.stores.sql.connection import Connection, Database
    from omoide.domain import Owner

_COLUMNS = (
    "number, sentences, origin, session, time, language, restored, model, prompt, "
    "prompt_tokens, completion_tokens, seconds, notes"
)


class SqlSummaries:
    """`SummaryStore` in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def commit(self, owner: Owner, summary: Summary) -> None:
        """See `SummaryStore.commit`."""

        def work(connection: Connection) -> None:
            number = ensured_owner_id(connection, owner)
            _check_number(connection, number, summary)
            digested = None if summary.origin is not Origin.DIGEST else summary.session
            refuse_erased(
                connection,
                number,
                f"version {summary.number}",
                cited=(source for s in summary.sentences for source in s.sources),
                facts=(s.fact for s in summary.sentences),
                sessions=() if digested is None else (digested,),
            )
            _check_undigested(connection, number, digested)
            _insert(connection, number, summary)

        await self._database.write(owner.tenant, work)

    async def find(
        self,
        owner: Owner,
        *,
        number: int | None = None,
        session: int | None = None,
        at: datetime | None = None,
    ) -> Summary | None:
        """See `SummaryStore.find`."""
        where, values = "owner = ?", list[int]()
        if number is not None:
            where += " AND number = ?"
            values.append(number)
        if session is not None:
            where += " AND (session IS NULL OR session <= ?)"
            values.append(session)
        if at is not None:
            where += " AND time <= ?"
            values.append(to_micros(at))

        def work(connection: Connection) -> Summary | None:
            row = connection.execute(
                f"SELECT {_COLUMNS} FROM summaries WHERE {where} ORDER BY number DESC LIMIT 1",  # noqa: S608
                (owner_id(connection, owner), *values),
            ).fetchone()
            return _summary_of(row) if row else None

        return await self._database.read(owner.tenant, work)

    async def history(self, owner: Owner) -> tuple[Summary, ...]:
        """See `SummaryStore.history`."""
        return await self._database.read(
            owner.tenant, lambda connection: versions(connection, owner_id(connection, owner))
        )

    async def add_rejected(self, owner: Owner, rejected: RejectedAnswer) -> None:
        """See `SummaryStore.add_rejected`."""

        def work(connection: Connection) -> None:
            number = locked_owner_id(connection, owner)
            session = connection.execute(
                "SELECT 1 FROM sessions WHERE owner = ? AND number = ?", (number, rejected.session)
            ).fetchone()
            if number is None or not session:
                return
            connection.execute(
                "INSERT INTO aside (owner, serial, session, text, problems, model, time) VALUES "
                "(?1, (SELECT coalesce(max(serial), 0) + 1 FROM aside WHERE owner = ?1), "
                "?2, ?3, ?4, ?5, ?6)",
                (
                    number,
                    rejected.session,
                    rejected.text,
                    encode_strings(rejected.problems),
                    rejected.model,
                    to_micros(rejected.time),
                ),
            )

        await self._database.write(owner.tenant, work)

    async def rejected(self, owner: Owner) -> tuple[RejectedAnswer, ...]:
        """See `SummaryStore.rejected`."""

        def work(connection: Connection) -> tuple[RejectedAnswer, ...]:
            rows = connection.execute(
                "SELECT session, text, problems, model, time FROM aside "
                "WHERE owner = ? ORDER BY serial",
                (owner_id(connection, owner),),
            )
            return tuple(
                RejectedAnswer(
                    session=session,
                    text=text,
                    problems=decode_strings(problems),
                    model=model,
                    time=from_micros(time),
                )
                for session, text, problems, model, time in rows
            )

        return await self._database.read(owner.tenant, work)


def versions(connection: Connection, owner: int | None) -> tuple[Summary, ...]:
    """All versions of an owner's summary, oldest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM summaries WHERE owner = ? ORDER BY number",  # noqa: S608
        (owner,),
    )
    return tuple(map(_summary_of, rows))


def sentences_text(sentences: Iterable[Sentence]) -> str:
    """Encode sentences for a version's row."""
    return json.dumps(
        [
            {
                "text": s.text,
                "about": s.about and s.about.value,
                "sources": s.sources,
                "fact": s.fact,
            }
            for s in sentences
        ],
        ensure_ascii=False,
    )


def _check_number(connection: Connection, owner: int, summary: Summary) -> None:
    [(newest,)] = connection.execute(
        "SELECT coalesce(max(number), 0) FROM summaries WHERE owner = ?", (owner,)
    )
    if summary.number != newest + 1:
        raise StaleVersion(
            f"version {summary.number} cannot follow version {newest}: the summary was changed "
            "meanwhile; read it again"
        )


def _check_undigested(connection: Connection, owner: int, session: int | None) -> None:
    if session is None:
        return
    if connection.execute(
        "SELECT 1 FROM summaries INDEXED BY summaries_digest "
        "WHERE owner = ? AND session = ? AND origin = 'digest'",
        (owner, session),
    ).fetchone():
        raise StaleVersion(f"session {session} was digested before; read the newest version")


def _insert(connection: Connection, owner: int, summary: Summary) -> None:
    connection.execute(
        f"INSERT INTO summaries (owner, {_COLUMNS}) "  # noqa: S608
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            owner,
            summary.number,
            sentences_text(summary.sentences),
            summary.origin.value,
            summary.session,
            to_micros(summary.time),
            summary.language,
            summary.restored,
            summary.model,
            summary.prompt,
            summary.prompt_tokens,
            summary.completion_tokens,
            summary.seconds,
            encode_strings(summary.notes),
        ),
    )


def _summary_of(row: tuple[Any, ...]) -> Summary:
    return Summary(
        number=row[0],
        sentences=tuple(
            Sentence(
                text=s["text"],
                about=None if s["about"] is None else Speaker(s["about"]),
                sources=tuple(s["sources"]),
                fact=s.get("fact", ""),
            )
            for s in json.loads(row[1])
        ),
        origin=Origin(row[2]),
        session=row[3],
        time=from_micros(row[4]),
        language=row[5],
        restored=row[6],
        model=row[7],
        prompt=row[8],
        prompt_tokens=row[9],
        completion_tokens=row[10],
        seconds=row[11],
        notes=decode_strings(row[12]),
    )

"""After an erasure no row of any table holds the text, and no sample of one does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import psycopg
import pytest

from omoide.adapters.stores.postgres import PostgresStore
from omoide.domain import FactChanges, JobState, MemoryKind
from omoide.testing.contracts.making import (
    ANN,
    BOB,
    HOUR,
    SPACE,
    START,
    event,
    fact,
    memo,
    note,
    rejected,
    rows,
    say,
    sentence,
    version,
)
from tests.postgres import databases

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.domain import Owner
    from omoide.ports import Store


def traces(url: str, mark: str) -> set[str]:
    """The tables with a row in which a mark stands, in either case; those too in which the server
    keeps samples of others."""
    with psycopg.connect(url) as connection:
        tables = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace "
            "AND relkind IN ('r', 'p') AND NOT relispartition"
        ).fetchall()
        assert len(tables) > 19
        return {
            table
            for (table,) in (*tables, ("pg_statistic",))
            if connection.execute(
                f"SELECT 1 FROM {table} AS t WHERE strpos(lower(t::text), %s) > 0".encode(),  # noqa: S608
                (mark.lower(),),
            ).fetchone()
        }


async def fill(store: Store, owner: Owner, mark: str) -> None:
    """A mark in every column that can hold words."""
    said = [say(f"{mark} tea {i}", id=f"{mark}-{i}", name=mark) for i in range(3)]
    turns = await store.turns.append(owner, said, session=f"{mark}-key", idle=HOUR)
    ids = [turn.id for turn in turns]
    await store.index.put(owner, SPACE, ids=ids, vectors=rows((1, 0, 0), (0, 1, 0), (0, 0, 1)))
    await store.events.add(owner, [event(f"{mark} happened", ids[0], id=f"{mark}-e")])
    await store.events.consolidate(
        owner, [e.recalled(START) for e in await store.events.read(owner)]
    )
    await store.memos.add(owner, [memo(f"{mark} memo", ids[1], id=f"{mark}-m", topic=mark)])
    stated = replace(
        fact(f"{mark} holds", ids[1], id=f"{mark}-f"),
        about=mark,
        reason=f"{mark} why",
        tags=(mark,),
        flags=(mark,),
    )
    over = replace(
        fact("over", session=None, id=f"{mark}-o"), ended=START + HOUR, ended_by=f"{mark}-f"
    )
    over = replace(over, end_reason=f"{mark} why", end_sources=(ids[1],), sources=(ids[1],))
    await store.facts.apply(owner, FactChanges(added=(stated, over)))
    for kind, name in (
        (MemoryKind.EVENT, f"{mark}-e"),
        (MemoryKind.MEMO, f"{mark}-m"),
        (MemoryKind.FACT, f"{mark}-f"),
    ):
        await store.index.put(owner, SPACE, ids=[name], vectors=rows((1, 1, 0)), kind=kind)
    await store.notes.put(owner, note(f"{mark} noted", key=mark))
    await store.turns.end(owner, at=START + HOUR)
    cited = sentence(f"{mark} is liked.", ids[2])
    await store.summaries.commit(owner, version(1, cited, notes=(f"left out: {mark}",)))
    await store.summaries.add_rejected(owner, rejected(f"{mark} refused"))
    while job := await store.jobs.claim(owner.tenant, worker="w", now=START + HOUR, lease=HOUR):
        await store.jobs.set_state(job, state=JobState.DEAD, error=f"{mark} failed")


@pytest.mark.parametrize("whole", [True, False])
async def test_no_row_is_left(tmp_path: Path, *, whole: bool) -> None:
    """An owner, or their only session, is gone from every table; another's words all stay."""
    url = databases().for_folder(tmp_path)
    store = await PostgresStore.open(url, partitions=2)
    await fill(store, ANN, "zqxann")
    await fill(store, BOB, "zqxbob")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ANALYZE")  # as the server does by itself, now and then
    before, theirs = traces(url, "zqxann"), traces(url, "zqxbob")
    assert "pg_statistic" not in before
    assert before == theirs
    assert before >= {"turns", "postings", "events", "memos", "facts", "notes", "summaries"}
    assert before >= {"aside", "jobs"}
    await store.archive.erase(ANN, session=None if whole else 1)
    assert traces(url, "zqxann") == set()
    assert traces(url, "zqxbob") == theirs
    with psycopg.connect(url) as connection:
        [(vectors,)] = connection.execute("SELECT count(*) FROM vectors")
        [(owners,)] = connection.execute("SELECT count(*) FROM owners")
    assert vectors == 6
    assert owners == (1 if whole else 2)
    await store.close()


async def test_samples_of_an_older_database_go() -> None:
    """Tables that were made before samples were forbidden lose those they have when they are next
    opened, and get no new ones."""
    url = databases().create("older")  # of its own: other tests share one of the newest schema
    store = await PostgresStore.open(url, partitions=2)
    with psycopg.connect(url, autocommit=True) as connection:
        columns = connection.execute(
            "SELECT attrelid::regclass::text, attname FROM pg_attribute JOIN pg_class "
            "ON pg_class.oid = attrelid WHERE relnamespace = 'public'::regnamespace "
            "AND attnum > 0 AND attstattarget = 0"
        ).fetchall()
        connection.execute("UPDATE omoide_meta SET value = '1' WHERE name = 'schema'")
        for table, column in columns:
            change = f'ALTER TABLE {table} ALTER COLUMN "{column}" SET STATISTICS -1'
            connection.execute(change.encode())
        await fill(store, ANN, "zqxann")
        await store.close()
        connection.execute("ANALYZE")
        assert "pg_statistic" in traces(url, "zqxann")
        # Schema 1 had no facts.
        connection.execute("DROP TABLE facts, fact_sources")
        connection.execute("DROP FUNCTION follow_fact_sources")
        connection.execute("ALTER TABLE events DROP COLUMN fact")
        await (await PostgresStore.open(url)).close()
        assert "pg_statistic" not in traces(url, "zqxann")
        connection.execute("ANALYZE")
    assert "pg_statistic" not in traces(url, "zqxann")

"""The server itself keeps tenants apart: a role that does not rule sees one tenant at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import errors

from omoide.adapters.stores.outside import JoinedStore
from omoide.adapters.stores.postgres import PostgresStore
from omoide.domain import FactChanges, MemoryKind
from omoide.testing.contracts.making import (
    ANN,
    ANN_ELSEWHERE,
    SPACE,
    call,
    event,
    fact,
    memo,
    note,
    rejected,
    rows,
    sentence,
    tell,
    version,
)
from tests.postgres import databases
from tests.qdrant import Line

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from omoide.domain import Owner
    from omoide.ports import Store

GRANTS = """
DROP OWNED BY app CASCADE;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO app;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO app;
"""


async def fill(store: Store, owner: Owner) -> None:
    """Something in every table that holds what belongs to someone."""
    [turn] = await tell(store, owner, "green tea")
    await store.index.put(owner, SPACE, ids=[turn.id], vectors=rows((1, 0, 0)))
    await store.events.add(owner, [event("drank tea", turn.id)])
    await store.memos.add(owner, [memo("of tea", turn.id)])
    await store.facts.apply(owner, FactChanges(added=(fact("likes tea", turn.id),)))
    await store.notes.put(owner, note("a day"))
    await store.summaries.commit(owner, version(1, sentence("Likes tea.", turn.id)))
    await store.summaries.add_rejected(owner, rejected("no"))
    await store.ledger.add(owner, call(1))


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[str]:
    """The address of a database with two tenants, for a role that owns nothing."""
    url = databases().for_folder(tmp_path)
    store = await PostgresStore.open(url, partitions=2)
    for owner in (ANN, ANN_ELSEWHERE):
        await fill(store, owner)
    await store.close()
    with psycopg.connect(url, autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'app'").fetchone():
            connection.execute("CREATE ROLE app LOGIN")
        connection.execute(GRANTS.encode())
    yield url.replace("//postgres@", "//app@")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP OWNED BY app CASCADE")


def owned(connection: psycopg.Connection) -> list[str]:
    """The tables in which each row is someone's."""
    found = connection.execute(
        "SELECT relname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid "
        "WHERE relkind IN ('r', 'p') AND NOT relispartition AND attname = 'owner' ORDER BY 1"
    )
    return ["owners", *(name for (name,) in found)]


async def test_the_store_works_for_such_a_role(app: str) -> None:
    """Every side of it reads and writes as a role that row level security holds."""
    store = await PostgresStore.open(app, create=False)
    await tell(store, ANN, "black tea")
    assert [t.text for t in await store.turns.read(ANN)] == ["green tea", "black tea"]
    assert len(await store.index.search_words(ANN, ["tea"], k=9)) == 2
    assert len(await store.index.nearest(ANN, SPACE, rows((1, 0, 0)), k=9)) == 1
    assert len(await store.index.search_words(ANN, ["tea"], k=9, kind=MemoryKind.EVENT)) == 1
    assert await store.archive.tenants() == ("acme", "other")
    assert await store.archive.owners("other") == (ANN_ELSEWHERE,)
    assert (await store.archive.erase(ANN)).turns == 2
    assert len(await store.turns.read(ANN_ELSEWHERE)) == 1
    await store.close()


async def test_vectors_in_qdrant_work_for_such_a_role(app: str) -> None:
    """So do the ledger, and the grave of an owner whose points could not be removed yet: it is
    its own tenant's alone."""
    line = Line()
    store = await JoinedStore.join(await PostgresStore.open(app, create=False), line.points())
    for owner in (ANN, ANN_ELSEWHERE):
        await store.index.put(owner, SPACE, ids=["green tea"], vectors=rows((1, 0, 0)))
        assert len(await store.index.nearest(owner, SPACE, rows((1, 0, 0)), k=9)) == 1
    line.cut = True
    assert (await store.archive.erase(ANN)).pending
    assert [job.owner.tenant for job in await store.jobs.list("acme")] == ["acme"]
    assert {job.owner for job in await store.jobs.list("other")} == {ANN_ELSEWHERE}
    line.cut = False
    (job,) = await store.jobs.list("acme")
    await store.index.reconcile(job.owner)
    assert [point.payload["tenant"] for point in line.all()] == ["other"]
    assert await store.jobs.list("acme") == ()
    await store.close()


@pytest.mark.parametrize("tenant", ["", "acme", "other", "nobody"])
async def test_a_statement_without_a_condition_sees_one_tenant(app: str, tenant: str) -> None:
    """However carelessly a statement is written, it reads, changes and removes one tenant's rows;
    without a tenant, none."""
    with psycopg.connect(app) as connection:
        if tenant:
            connection.execute("SELECT set_config('omoide.tenant', %s, true)", (tenant,))
        for table in owned(connection):
            if table in ("erasing", "embedded"):
                continue
            expected = {"owners": 1, "counts": 4, "postings": 0}.get(table, 1)
            [(count,)] = connection.execute(f"SELECT count(*) FROM {table}".encode())  # noqa: S608
            if tenant not in ("acme", "other"):
                assert (table, count) == (table, 0)
            elif table == "postings":
                assert count > 1
            else:
                assert (table, count) == (table, expected)
        gone = connection.execute("DELETE FROM calls").rowcount
        assert gone == (tenant in ("acme", "other"))
        connection.rollback()


async def test_rows_cannot_be_slipped_to_another_tenant(app: str) -> None:
    """Writing a row for someone else's number is refused."""
    with psycopg.connect(app.replace("//app@", "//postgres@")) as connection:
        [(other,)] = connection.execute("SELECT id FROM owners WHERE tenant = 'other'")
    with psycopg.connect(app) as connection:
        connection.execute("SET LOCAL omoide.tenant = 'acme'")
        with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
            connection.execute("INSERT INTO notes VALUES (%s, 0, NULL, 'k', 'k', 'x')", (other,))


async def test_partitions_are_no_way_around(app: str) -> None:
    """A partition by itself shows nothing, even of one's own."""
    with psycopg.connect(app) as connection:
        connection.execute("SET LOCAL omoide.tenant = 'acme'")
        found = connection.execute("SELECT relname FROM pg_class WHERE relispartition").fetchall()
        tables = [name for (name,) in found if not name.endswith(("_pkey", "_id"))]
        counts = [
            connection.execute(f"SELECT count(*) FROM {name}".encode()).fetchone()  # noqa: S608
            for name in tables
            if name[-5:-3] == "_p"
        ]
    assert len(counts) >= 28
    assert set(counts) == {(0,)}


@pytest.fixture
async def landlord(tmp_path: Path) -> AsyncIterator[str]:
    """The address of a database with two tenants, for the role that owns its tables."""
    url = databases().for_folder(tmp_path)
    store = await PostgresStore.open(url, partitions=2)
    for owner in (ANN, ANN_ELSEWHERE):
        await fill(store, owner)
    await store.close()
    with psycopg.connect(url, autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'landlord'").fetchone():
            connection.execute("CREATE ROLE landlord LOGIN")
        relations = connection.execute(
            "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') "
            "AND relnamespace = 'public'::regnamespace"
        ).fetchall()
        for (name,) in relations:
            connection.execute(f"ALTER TABLE {name} OWNER TO landlord".encode())
    yield url.replace("//postgres@", "//landlord@")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("REASSIGN OWNED BY landlord TO postgres")


def partitions_with_rows(url: str) -> list[str]:
    """Partitions that show a row to this role, with no tenant set and with each."""
    seen = []
    with psycopg.connect(url, autocommit=True) as connection:
        names = connection.execute(
            "SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r' ORDER BY 1"
        ).fetchall()
        assert len(names) > 10
        for tenant in ("", "acme", "other"):
            connection.execute("SELECT set_config('omoide.tenant', %s, false)", (tenant,))
            for (name,) in names:
                [(count,)] = connection.execute(f"SELECT count(*) FROM {name}".encode())  # noqa: S608
                seen += [name] if count else []
    return seen


async def test_partitions_are_no_way_around_for_the_owner_of_the_tables(landlord: str) -> None:
    """The usual role of an application is the one that made the tables."""
    assert partitions_with_rows(landlord) == []
    store = await PostgresStore.open(landlord, partitions=2)
    assert [turn.text for turn in await store.turns.read(ANN)] == ["green tea"]
    assert (await store.archive.erase(ANN)).turns == 1
    await store.close()


async def test_a_database_from_before_is_closed_when_it_is_opened(landlord: str) -> None:
    """Partitions on which the policies were not forced yet are mended."""
    with psycopg.connect(landlord, autocommit=True) as connection:
        partitions = connection.execute(
            "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'turns'::regclass"
        ).fetchall()
        for (name,) in partitions:  # the database may have been made by other tests
            connection.execute(f"ALTER TABLE {name} NO FORCE ROW LEVEL SECURITY".encode())
    shown = partitions_with_rows(landlord)
    assert shown
    assert set(shown) <= {name for (name,) in partitions}
    await (await PostgresStore.open(landlord, partitions=2)).close()
    assert partitions_with_rows(landlord) == []

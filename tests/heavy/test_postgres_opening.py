"""Opening a database on a server, and what is said where that cannot be."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from omoide.adapters.stores.postgres import PostgresStore
from omoide.adapters.stores.postgres.opening import prepare, with_retries, without_password
from omoide.domain import FactChanges
from omoide.errors import StoreCorrupt, StoreError, StoreLocked, StoreMissing, StoreTooNew
from omoide.testing.contracts.making import ANN, BOB, HOUR, START, fact, rejected, say, tell
from tests.postgres import databases

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self


async def test_many_open_a_new_database_at_once() -> None:
    """Its tables are made once, whoever comes first."""
    url = databases().create("opened_at_once")
    stores = await asyncio.gather(*(PostgresStore.open(url, partitions=1) for _ in range(4)))
    await asyncio.gather(*(tell(store, ANN, f"hello {i}") for i, store in enumerate(stores)))
    assert len(await stores[0].turns.read(ANN)) == 4
    for store in stores:
        await store.close()


async def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    """A database that a newer omoide has written is not touched."""
    url = databases().for_folder(tmp_path)
    await (await PostgresStore.open(url, partitions=2)).close()
    with psycopg.connect(url, autocommit=True) as connection:
        [(schema,)] = connection.execute("SELECT value FROM omoide_meta WHERE name = 'schema'")
        connection.execute("UPDATE omoide_meta SET value = '99' WHERE name = 'schema'")
        try:
            with pytest.raises(StoreTooNew, match="schema 99"):
                await PostgresStore.open(url)
        finally:
            connection.execute("UPDATE omoide_meta SET value = %s WHERE name = 'schema'", (schema,))


async def test_an_opening_does_not_read_the_notes_of_erasures(tmp_path: Path) -> None:
    """There is one for everybody who was ever erased, and keys are read once a second."""
    url = databases().for_folder(tmp_path)
    store = await PostgresStore.open(url, partitions=2)
    for number in range(20):
        await store.archive.note_erasure(replace(ANN, user=f"u{number}"), at=START)
    await store.close()
    read: list[int] = []

    class Counting(psycopg.RawCursor[Any]):
        def execute(self, *given: Any, **more: Any) -> Self:  # noqa: ANN401 - as psycopg's
            super().execute(*given, **more)
            read.append(self.rowcount)
            return self

    with psycopg.connect(url, autocommit=True, cursor_factory=Counting) as connection:
        prepare(connection, "here")
    assert read
    assert max(read) < 20


async def test_a_row_that_cannot_be_read_is_damage(tmp_path: Path) -> None:
    """It is told as such, without its words, and other sessions are read."""
    url = databases().for_folder(tmp_path)
    store = await PostgresStore.open(url, partitions=2)
    await tell(store, ANN, "a secret", key="one")
    await tell(store, ANN, "fine", key="two")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")  # past the triggers
        connection.execute("UPDATE turns SET speaker = 'nobody' WHERE session = 1")
    with pytest.raises(StoreCorrupt, match="is damaged") as told:
        await store.turns.read(ANN, session=1)
    assert "secret" not in str(told.value)
    assert [turn.text for turn in await store.turns.read(ANN, session=2)] == ["fine"]
    await store.close()


async def test_nothing_is_made_unasked() -> None:
    """Without `create` an empty database stays empty, and a missing one is told of."""
    url = databases().create("left_empty")
    with pytest.raises(StoreMissing, match="no omoide tables"):
        await PostgresStore.open(url, create=False)
    with psycopg.connect(url) as connection:
        found = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"
        assert connection.execute(found).fetchone() == (0,)
    with pytest.raises(StoreMissing, match="createdb"):
        await PostgresStore.open(databases().server.url("never_made"))


async def test_an_error_keeps_the_password() -> None:
    """Neither a server that is not there nor a wrong address gives the password away."""
    address = "postgresql://ann:s3cret@localhost:1/memory"
    with pytest.raises(StoreError, match="localhost:1/memory cannot be reached") as caught:
        await PostgresStore.open(address)
    with pytest.raises(StoreError, match="is not valid") as misread:
        await PostgresStore.open("postgresql://ann:s3cret@localhost:one/memory?nonsense=1")
    assert "s3cret" not in f"{caught.value} {misread.value} {without_password(address)}"


async def test_connections_that_died_are_replaced(tmp_path: Path) -> None:
    """After the server ended its connections, as in a restart, the next calls find new ones."""
    url = databases().for_folder(tmp_path)
    store = await PostgresStore.open(url, partitions=2, connections=3)
    await asyncio.gather(*(tell(store, ANN, f"a{i}") for i in range(9)))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name = 'omoide' AND datname = current_database()"
        )
    await asyncio.gather(*(tell(store, ANN, f"b{i}") for i in range(9)))
    assert len(await store.turns.read(ANN)) == 18
    await store.close()


async def test_an_owner_who_is_held_is_waited_for_and_others_are_not(tmp_path: Path) -> None:
    """One transaction holds one owner: another owner writes on, the same one waits its patience."""
    url = databases().for_folder(tmp_path)
    store = await PostgresStore.open(url, partitions=2, patience=0.2)
    await tell(store, ANN, "one")
    with psycopg.connect(url) as connection:
        connection.execute("SELECT 1 FROM owners WHERE \"user\" = 'ann' FOR NO KEY UPDATE")
        await tell(store, BOB, "other")
        with pytest.raises(StoreLocked, match="same user"):
            await tell(store, ANN, "two")
        connection.rollback()
    await tell(store, ANN, "two")
    assert [t.text for t in await store.turns.read(ANN)] == ["one", "two"]
    await store.close()


async def test_what_was_said_cannot_be_changed(tmp_path: Path) -> None:
    """Not even by the role that owns the tables; only an erasure removes it."""
    url = databases().for_folder(tmp_path)
    store = await PostgresStore.open(url, partitions=2)
    await tell(store, ANN, "one")
    await store.facts.apply(ANN, FactChanges(added=(fact("one"),)))
    with psycopg.connect(url, autocommit=True) as connection:
        for statement, message in (
            ("UPDATE turns SET text = 'other'", "turns are"),
            ("DELETE FROM turns", "turns are"),
            ("UPDATE facts SET text = 'other'", "facts are"),
            ("UPDATE facts SET reason = 'other'", "reasons of facts are"),
            ("DELETE FROM facts", "facts are"),
        ):
            with pytest.raises(psycopg.errors.RaiseException, match=message):
                connection.execute(statement.encode())
    await store.close()


async def test_a_nul_in_an_answer_is_kept_as_a_sign(tmp_path: Path) -> None:
    """PostgreSQL's text holds no NUL; a model's answer with one is set aside all the same."""
    store = await PostgresStore.open(databases().for_folder(tmp_path), partitions=2)
    await store.turns.append(ANN, [say("hello")], session=None, idle=HOUR)
    await store.summaries.add_rejected(ANN, rejected("a\0b"))
    assert [r.text for r in await store.summaries.rejected(ANN)] == ["a�b"]
    await store.close()


async def test_a_careless_server_is_told_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A server without fsync, as this one of the tests, may lose what it has acknowledged."""
    with caplog.at_level(logging.WARNING):
        store = await PostgresStore.open(databases().for_folder(tmp_path), partitions=2)
    assert "fsync off" in caplog.text
    await store.close()


async def test_without_partitions(tmp_path: Path) -> None:
    """Tables may be left whole, for an extension that distributes them itself."""
    url = databases().create("whole")
    store = await PostgresStore.open(url, partitions=0)
    await tell(store, ANN, "green tea")
    assert len(await store.index.search_words(ANN, ["tea"], k=5)) == 1
    await store.close()
    with psycopg.connect(url) as connection:
        found = "SELECT count(*) FROM pg_class WHERE relkind = 'p' OR relispartition"
        assert connection.execute(found).fetchone() == (0,)


def test_without_the_extra_it_says_what_to_install() -> None:
    """Importing the adapter needs no vendor; opening does, and names the command."""
    code = (
        "import asyncio, sys\n"
        "sys.modules['psycopg'] = None\n"
        "from omoide.adapters.stores.postgres import PostgresStore\n"
        "asyncio.run(PostgresStore.open('postgresql://localhost/x'))\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MissingExtra: PostgreSQL needs psycopg: pip install 'omoide[postgres]'" in run.stderr


def test_a_server_that_is_getting_up_is_waited_for() -> None:
    """As long as patience lasts; any other refusal is told at once."""
    says = ["the database system is in recovery mode", "the database system is starting up"]
    refusals = [psycopg.OperationalError(f"FATAL:  {words}") for words in says]

    def connect() -> str:
        if refusals:
            raise refusals.pop()
        return "there"

    assert with_retries(connect, patience=60) == "there"
    for words, patience in ((says[0], 0.0), ("password authentication failed", 60.0)):
        refusals.append(psycopg.OperationalError(words))
        with pytest.raises(psycopg.OperationalError, match=words):
            with_retries(connect, patience=patience)
        assert not refusals

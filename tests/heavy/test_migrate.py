"""`omoide migrate`: everything from a file to a server's database and back, checked row by row."""

from __future__ import annotations

import asyncio
import stat
from typing import TYPE_CHECKING, Any

import apsw
import psycopg
import pytest
from click.testing import CliRunner

from omoide import bootstrap
from omoide.adapters.stores.postgres.keys import PostgresKeys
from omoide.adapters.stores.sql.migration import migrate_all, migrate_owner
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.cli.main import cli
from omoide.errors import BadInput, EmbedderMismatch, StoreCorrupt, StoreEncrypted
from omoide.ports import Space
from omoide.server.keys import ApiKeys, KeyFile, Scope
from omoide.settings import Address
from omoide.testing.contracts.making import (
    ANN,
    BOB,
    HOUR,
    SPACE,
    START,
    rows,
    tell,
)
from tests.integration.test_sqlite_migration import EVERYONE, filled, seen
from tests.postgres import databases

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.adapters.stores.sql.store import SqlStore


async def opened(where: Path | Address) -> SqlStore:
    """Either kind of store."""
    store: Any = await bootstrap.open_store(where)
    return store  # type: ignore[no-any-return] # both are of this kind


def target(tmp_path: Path) -> Address:
    """An empty database on the server."""
    return Address(databases().for_folder(tmp_path))


async def test_there_and_back_again(tmp_path: Path) -> None:
    """From a file to the server and into a new file: nothing that can be asked has changed, and
    numbers that were given are not given again."""
    source, url = await filled(tmp_path / "a.sqlite"), target(tmp_path)
    server = await opened(url)
    told: list[tuple[int, int, str]] = []
    there = await migrate_all(source, server, progress=lambda *at: told.append(at))
    assert (there.owners, there.known, there.refused) == (3, 0, ())
    assert there.rows > 800
    assert told == [(1, 3, "users"), (2, 3, "users"), (3, 3, "users")]
    copy = await SqliteStore.open(tmp_path / "b.sqlite")
    back = await migrate_all(server, copy)
    assert (back.owners, back.rows) == (there.owners, there.rows)
    for owner in EVERYONE:
        expected = await seen(source, owner)
        assert await seen(server, owner) == expected
        assert await seen(copy, owner) == expected
        places = set()
        for store in (source, server, copy):
            [turn] = await tell(store, owner, "and on it goes", key="new")
            places.add((turn.position, turn.session))
        assert places == {(37, 4)}
    for store in (source, server, copy):
        await store.close()


async def test_it_goes_on_where_it_was_broken_off(tmp_path: Path) -> None:
    """Owners that are there are compared and passed over; the rest is brought."""
    source, server = await filled(tmp_path / "a.sqlite"), await opened(target(tmp_path))
    first = await migrate_owner(source, server, ANN)
    again = await migrate_all(source, server)
    assert not first.known
    assert (again.owners, again.known, again.refused) == (3, 1, ())
    assert (await migrate_all(source, server)).known == 3
    await source.close()
    await server.close()


async def test_killed_within_an_owner_nothing_of_them_is_there(tmp_path: Path) -> None:
    """An owner comes as a whole or not at all: here the server ends the connection half way."""
    source, url = await filled(tmp_path / "a.sqlite"), target(tmp_path)
    server = await opened(url)
    kill = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE application_name = 'omoide' AND state <> 'idle' AND pid <> pg_backend_pid()"
    )
    with psycopg.connect(url, autocommit=True) as connection:
        moving = asyncio.ensure_future(migrate_owner(source, server, ANN))
        while not moving.done():
            await asyncio.to_thread(connection.execute, kill.encode())
        assert moving.exception() is not None
        for table in ("owners", "turns", "postings", "jobs"):
            [(count,)] = connection.execute(f"SELECT count(*) FROM {table}".encode())  # noqa: S608
            assert (table, count) == (table, 0)
    assert (await migrate_all(source, server)).owners == 3
    await source.close()
    await server.close()


async def test_another_life_of_the_same_name_is_left_alone(tmp_path: Path) -> None:
    """What the target has of a user is neither mixed with the source's nor lost, and the others
    come over."""
    source, server = await filled(tmp_path / "a.sqlite"), await opened(target(tmp_path))
    await tell(server, BOB, "I was here first")
    done = await migrate_all(source, server)
    assert (done.owners, len(done.refused)) == (2, 1)
    assert "'bob'" in done.refused[0]
    assert [t.text for t in await server.turns.read(BOB)] == ["I was here first"]
    with pytest.raises(BadInput, match="erase that user there first"):
        await migrate_owner(source, server, BOB)
    await source.close()
    await server.close()


async def test_a_row_that_changed_on_the_way_is_noticed(tmp_path: Path) -> None:
    """Counts alone would not do: one letter differs, and the owner is not kept."""
    source, url = await filled(tmp_path / "a.sqlite"), target(tmp_path)
    server = await opened(url)
    spoil = """
    CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN IF NEW.position = 7 THEN NEW.text := 'X' || NEW.text; END IF; RETURN NEW; END $$;
    CREATE TRIGGER spoil BEFORE INSERT ON turns FOR EACH ROW EXECUTE FUNCTION spoil()
    """
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(spoil.encode())
        try:
            with pytest.raises(StoreCorrupt, match="turns differ"):
                await migrate_owner(source, server, ANN)
        finally:
            connection.execute("DROP FUNCTION spoil CASCADE")
    assert await server.archive.owners("acme") == ()
    await source.close()
    await server.close()


async def test_spaces_that_do_not_agree_are_refused(tmp_path: Path) -> None:
    """Vectors of another version of an embedder are not put beside those of this one."""
    source, server = await filled(tmp_path / "a.sqlite"), await opened(target(tmp_path))
    other = Space(name=SPACE.name, version="9", dimensions=3)
    [turn] = await tell(server, BOB, "hello")
    await server.index.put(BOB, other, ids=[turn.id], vectors=rows((1, 0, 0)))
    with pytest.raises(EmbedderMismatch, match="version '9'"):
        await migrate_owner(source, server, ANN)
    await source.close()
    await server.close()


def test_every_table_is_taken_along(tmp_path: Path) -> None:
    """A table or a column that someone adds later must be added to the list."""
    from omoide.adapters.stores.sql.tables import TABLES

    asyncio.run(_closed(tmp_path / "a.sqlite"))
    connection = apsw.Connection(str(tmp_path / "a.sqlite"))
    present = {
        name: {row[1] for row in connection.execute(f"PRAGMA table_info({name})")} - {"owner"}
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    }
    connection.close()
    known = {table.name: set(table.columns) for table in TABLES}
    for name in ("meta", "owners", "spaces", "erasing", "sqlite_sequence"):
        present.pop(name)
    present.pop("fact_sources")  # written by triggers of facts, on both sides
    assert known == present


async def _closed(path: Path) -> None:
    await (await SqliteStore.open(path)).close()


def test_the_command(tmp_path: Path) -> None:
    """`omoide migrate` tells what it did, and ends with an error if someone was left alone."""
    path, url = tmp_path / "a.sqlite", target(tmp_path)
    asyncio.run(_filled_and_closed(path))
    ask = ["migrate", "--from", str(path), "--to", url]
    first = CliRunner().invoke(cli, ask)
    assert first.exit_code == 0, first.output
    assert "3 users" in first.output
    assert "users 100 %" in first.stderr
    again = CliRunner().invoke(cli, ask)
    assert "3 of them were there already" in again.output
    back = CliRunner().invoke(cli, ["migrate", "--from", url, "--to", str(tmp_path / "b.sqlite")])
    assert back.exit_code == 0, back.output
    asyncio.run(_say_more(path))
    refused = CliRunner().invoke(cli, ask)
    assert refused.exit_code == 1
    assert "'ann'" in refused.stderr
    same = CliRunner().invoke(cli, ["migrate", "--from", str(path), "--to", str(path)])
    assert same.exit_code == 1


async def _filled_and_closed(path: Path) -> None:
    await (await filled(path)).close()


async def _say_more(path: Path) -> None:
    store = await SqliteStore.open(path)
    await tell(store, ANN, "one more thing")
    await store.close()


async def test_the_key_is_that_of_each_file(tmp_path: Path) -> None:
    """A key reaches the file, which is not encrypted here and says so; nothing is brought over."""
    await (await SqliteStore.open(tmp_path / "plain.sqlite")).close()
    with pytest.raises(StoreEncrypted, match=r"plain\.sqlite is not encrypted"):
        await bootstrap.migrate(
            tmp_path / "plain.sqlite", tmp_path / "new.sqlite", key="a long key"
        )
    assert not (tmp_path / "new.sqlite").exists()


def test_api_keys_come_along(tmp_path: Path) -> None:
    """From a file to the server and into a new file, by the command: every row of the keys is the
    same, their secrets open the same tenants, and one that was revoked opens nothing."""
    path, url, back = tmp_path / "a.sqlite", target(tmp_path), tmp_path / "b.sqlite"
    asyncio.run(_filled_and_closed(path))
    here = ApiKeys.for_file(path)
    read, both = [Scope.READ], [Scope.READ, Scope.WRITE]
    phone = here.create(tenant="acme", name="phone 電話", scopes=both, at=START)
    shop = here.create(tenant="other", name="shop", scopes=read, at=START + HOUR)
    lost = here.create(tenant="acme", name="lost", scopes=read, at=START + HOUR)
    here.revoke(lost.key.prefix, at=START + 2 * HOUR)
    for source, goal in ((str(path), url), (url, str(back)), (str(path), url)):
        run = CliRunner().invoke(cli, ["migrate", "--from", source, "--to", goal])
        assert run.exit_code == 0, run.output
        assert "3 API keys" in run.output
        assert phone.secret not in run.output
    rows = {row.id: row for row in KeyFile(tmp_path / "a.sqlite.keys").read()}
    assert {row.id: row for row in PostgresKeys(url).read()} == rows
    assert {row.id: row for row in KeyFile(tmp_path / "b.sqlite.keys").read()} == rows
    for keys in (ApiKeys(PostgresKeys(url)), ApiKeys.for_file(back)):
        for made in (phone, shop):
            found = keys.find(made.secret)
            assert found is not None
            assert found == here.find(made.secret)
        assert keys.find(lost.secret) is None
    assert stat.S_IMODE((tmp_path / "b.sqlite.keys").stat().st_mode) == 0o600

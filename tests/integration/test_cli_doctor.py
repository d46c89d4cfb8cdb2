"""`omoide doctor`, as a person would run it."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from omoide.adapters.spool import FileSpool
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.cli.main import cli
from omoide.domain import Owner
from omoide.testing.contracts.making import tell
from tests.server.test_waiting import words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new database."""
    monkeypatch.setenv("OMOIDE_MODEL", "none")
    path = tmp_path / "memory.sqlite"
    result = CliRunner().invoke(cli, ["--db", str(path), "work", "--once"])
    assert result.exit_code == 0, result.output
    return path


@pytest.fixture
def unlogged() -> Iterator[None]:
    """Puts back how the server logged before."""
    watched = [logging.getLogger(name) for name in ("omoide", "uvicorn")]
    before = [(logger, logger.handlers[:], logger.level, logger.propagate) for logger in watched]
    yield
    for logger, handlers, level, propagate in before:
        logger.handlers[:], logger.propagate = handlers, propagate
        logger.setLevel(level)


def test_all_is_well(db: Path) -> None:
    """Each thing that was looked at is named."""
    result = CliRunner().invoke(cli, ["--db", str(db), "doctor"])
    assert result.exit_code == 0
    assert "database: " in result.output
    assert "words that wait to be stored: none" in result.output


def test_words_that_wait_are_told_without_quoting_them(db: Path) -> None:
    """With where they are and what stores them; and the status is 1."""

    async def keep() -> None:
        spool = FileSpool(db.with_name("memory.sqlite.spool"))
        await spool.keep(words("my secret"))
        await spool.close()

    asyncio.run(keep())
    result = CliRunner().invoke(cli, ["--db", str(db), "doctor"])
    assert result.exit_code == 1
    assert "1 exchange in " in result.output
    assert "secret" not in result.output
    told = json.loads(CliRunner().invoke(cli, ["--db", str(db), "--json", "doctor"]).output)
    assert [check["well"] for check in told] == [True, True, True, False]


def test_a_database_is_not_copied_without_words_that_wait_beside_it(db: Path) -> None:
    """They would be left behind; once they are stored, it is."""

    async def keep() -> None:
        spool = FileSpool(db.with_name("memory.sqlite.spool"))
        await spool.keep(words("my secret"))
        await spool.close()

    asyncio.run(keep())
    copy = ["migrate", "--from", str(db), "--to", str(db.with_name("copy.sqlite"))]
    result = CliRunner().invoke(cli, copy)
    assert result.exit_code == 1
    assert "run `omoide work --once` on it first" in result.output
    assert not db.with_name("copy.sqlite").exists()
    CliRunner().invoke(cli, ["--db", str(db), "work", "--once"])
    assert "1 user" in CliRunner().invoke(cli, copy).output


def test_words_that_are_set_aside_are_told(db: Path) -> None:
    """They wait for a newer version, or for somebody who erases them; and the status is 1."""

    async def refuse(_: object) -> None:
        raise ZeroDivisionError

    async def put_aside() -> None:
        spool = FileSpool(db.with_name("memory.sqlite.spool"))
        await spool.keep(words("my secret"))
        await spool.replay(refuse)
        await spool.close()

    asyncio.run(put_aside())
    result = CliRunner().invoke(cli, ["--db", str(db), "doctor"])
    assert result.exit_code == 1
    assert "1 exchange could not be stored, kept in " in result.output
    assert "secret" not in result.output


def test_damaged_turns_are_told_with_their_session(db: Path) -> None:
    """A row that nobody can read is found although the database answers, without its words; the
    rest is well, and the status is 1."""

    async def say() -> None:
        store = await SqliteStore.open(db)
        for key in ("one", "two"):
            await tell(store, Owner(tenant="default", user="ana"), f"my secret {key}", key=key)
        await store.close()

    asyncio.run(say())
    well = CliRunner().invoke(cli, ["--db", str(db), "doctor"])
    assert "stored words: all can be read" in well.output
    with closing(sqlite3.connect(db)) as connection, connection:
        connection.executescript(
            "DROP TRIGGER turns_stay; UPDATE turns SET speaker = 'nobody' WHERE session = 2;"
        )
    result = CliRunner().invoke(cli, ["--db", str(db), "doctor"])
    assert result.exit_code == 1
    assert "! stored words: damaged, cannot be read: session 2 of ana; restore" in result.output
    assert "secret" not in result.output


def test_a_taken_port_is_told_with_what_to_do(db: Path, unlogged: None) -> None:
    """`omoide serve` ends with an error that names another port."""
    del unlogged
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        result = CliRunner().invoke(cli, ["--db", str(db), "serve", "--port", str(port)])
    assert result.exit_code == 1
    assert f"port {port} of 127.0.0.1 is taken" in result.stderr
    assert f"--port {port + 1}" in result.stderr


def test_an_address_of_another_machine_is_told(db: Path, unlogged: None) -> None:
    """With which option to change."""
    del unlogged
    made = CliRunner().invoke(cli, ["--db", str(db), "keys", "create", "home"])
    assert made.exit_code == 0, made.output
    result = CliRunner().invoke(cli, ["--db", str(db), "serve", "--host", "192.0.2.1"])
    assert result.exit_code == 1
    assert "cannot listen at 192.0.2.1" in result.stderr
    assert "--host" in result.stderr


def test_a_database_that_is_not_there_is_told(tmp_path: Path) -> None:
    """Without an exception, and the rest is looked at all the same."""
    result = CliRunner().invoke(cli, ["--db", str(tmp_path / "none.sqlite"), "doctor"])
    assert result.exit_code == 1
    assert "! database: " in result.output
    assert "words that wait" in result.output

"""The contract of `KeyStore`: the API keys of a server, beside a file or in a server's database."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from omoide.adapters.stores.postgres.keys import PostgresKeys
from omoide.errors import StoreError
from omoide.ports.keys import StoredKey
from omoide.server.keys import ApiKeys, KeyFile, Scope
from omoide.testing.contracts.making import START
from tests.postgres import databases

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from omoide.ports.keys import KeyStore

    Maker = Callable[[Path], KeyStore]

MAKERS: dict[str, Maker] = {
    "file": lambda folder: KeyFile(folder / "deeper" / "keys"),
    "postgres": lambda folder: PostgresKeys(databases().for_folder(folder)),
}
ROW = StoredKey(
    id="0011223344",
    tenant="acme",
    name="phone 電話",
    scopes="read write",
    salt=b"\x00salt\xff",
    hash=b"\xffhash\x00",
    created=1_700_000_000,
)


@pytest.fixture(params=list(MAKERS))
def rows(request: pytest.FixtureRequest, tmp_path: Path) -> KeyStore:
    """An empty place for keys."""
    return MAKERS[request.param](tmp_path)


def test_what_was_added_is_read(rows: KeyStore) -> None:
    """Every field comes back, the oldest first; a second key of the same id is refused."""
    assert list(rows.read()) == []
    newer = replace(ROW, id="1122334455", created=ROW.created + 1, revoked=ROW.created + 9)
    rows.add(newer)
    rows.add(ROW)
    assert list(rows.read()) == [ROW, newer]
    with pytest.raises(StoreError):
        rows.add(ROW)


def test_revoking_is_noted(rows: KeyStore) -> None:
    """And leaves the others as they are."""
    other = replace(ROW, id="1122334455", created=ROW.created + 1)
    rows.add(ROW)
    rows.add(other)
    rows.revoke(ROW.id, ROW.created + 5)
    assert list(rows.read()) == [replace(ROW, revoked=ROW.created + 5), other]


def test_what_is_known_is_what_would_be_read(rows: KeyStore) -> None:
    """Or nothing, and then it has to be read."""
    rows.add(ROW)
    assert rows.fresh() is None
    assert rows.read() == rows.fresh()
    rows.revoke(ROW.id, ROW.created + 5)
    assert rows.fresh() is None


def test_a_change_within_a_tick_of_the_clock_is_noticed(tmp_path: Path) -> None:
    """A key that is revoked at once after it was read, by a clock that has not gone on."""
    path = tmp_path / "keys"
    rows = KeyFile(path)
    rows.add(ROW)
    assert list(rows.read()) == [ROW]
    before = path.stat()
    KeyFile(path).revoke(ROW.id, ROW.created + 5)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    rows_after = KeyFile(path).read()
    assert path.stat().st_size == before.st_size
    assert rows.fresh() is None
    assert rows.read() == rows_after == (replace(ROW, revoked=ROW.created + 5),)


def test_keys_open_the_door(rows: KeyStore) -> None:
    """Made, found by the secret alone, and revoked."""
    keys = ApiKeys(rows)
    made = keys.create(tenant="acme", name="k", scopes=[Scope.READ], at=START)
    assert keys.find(made.secret) == replace(made.key, created=START.replace(microsecond=0))
    assert keys.find(f"{made.secret[:-1]}-") is None
    keys.revoke(made.key.prefix, at=START)
    assert keys.find(made.secret) is None
    assert keys.any()


@pytest.mark.heavy  # PostgreSQL
def test_another_server_hears_of_it_within_a_second(tmp_path: Path) -> None:
    """What was read from the database counts for a second, and no longer."""
    now = [0.0]
    url = databases().for_folder(tmp_path)
    server, command = PostgresKeys(url, now=lambda: now[0]), PostgresKeys(url)
    command.add(ROW)
    assert [row.revoked for row in server.read()] == [None]
    command.revoke(ROW.id, 5)
    assert [row.revoked for row in server.read()] == [None]
    now[0] = 1.0
    assert server.fresh() is None
    assert [row.revoked for row in server.read()] == [5]

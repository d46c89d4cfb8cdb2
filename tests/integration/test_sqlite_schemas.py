"""Databases with data that every former omoide wrote: each opens, and nothing in it is lost."""

from __future__ import annotations

import json
from importlib import resources
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import Owner
from omoide.language.terms import terms
from tests.facts import disagreeing
from tests.schemas import fixtures, load

if TYPE_CHECKING:
    from pathlib import Path

FIXTURES = fixtures()
NEVER_ALONE = {5}
"""Schemas that came together with the next one: no file ever had them."""


def rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    """What a file holds, read without omoide's code."""
    connection = apsw.Connection(str(path))
    found = connection.execute(query).fetchall()
    connection.close()
    return found


def test_there_is_a_database_of_every_schema() -> None:
    """Whoever adds a migration adds a fixture: `python -m tests.schemas`."""
    folder = resources.files("omoide.adapters.stores.sqlite.migrations")
    numbers = {int(file.name[:4]) for file in folder.iterdir() if file.name.endswith(".sql")}
    assert set(FIXTURES) == numbers - NEVER_ALONE


@pytest.mark.parametrize("number", sorted(FIXTURES))
async def test_nothing_is_lost_in_a_database_of_a_former_schema(
    tmp_path: Path, number: int
) -> None:
    """Turns, versions of the summary, rejected answers, calls and jobs are read as they were
    written, every turn is found by its words, facts agree, and it goes on from there."""
    path = tmp_path / "omoide.sqlite"
    load(FIXTURES[number], path)
    assert rows(path, "PRAGMA user_version") == [(number,)]
    owners = rows(path, "SELECT id, tenant, user FROM owners")
    said = rows(path, "SELECT owner, id, text FROM turns ORDER BY position")
    written = rows(path, "SELECT owner, sentences FROM summaries ORDER BY number")
    counts = {table: _counted(path, table) for table in ("aside", "calls", "jobs", "sessions")}
    store = await SqliteStore.open(path, create=False)
    assert {table: _counted(path, table) for table in counts} == counts
    for number_of_owner, tenant, user in owners:
        owner = Owner(tenant=tenant, user=user)
        turns = await store.turns.read(owner)
        assert [(number_of_owner, turn.id, turn.text) for turn in turns] == [
            row for row in said if row[0] == number_of_owner
        ]
        history = await store.summaries.history(owner)
        assert [[s.text for s in version.sentences] for version in history] == [
            [sentence["text"] for sentence in json.loads(text)]
            for writer, text in written
            if writer == number_of_owner
        ]
        for turn in turns:
            hits = await store.index.search_words(owner, terms(turn.text), k=len(turns))
            assert turn.id in [hit.id for hit in hits]
        assert disagreeing(await store.facts.read(owner)) == []
        assert (await store.archive.erase(owner, turns=[turns[0].id])).turns == 1
        assert len(await store.turns.read(owner)) == len(turns) - 1
    await store.close()
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]
    assert rows(path, "PRAGMA foreign_key_check") == []


def _counted(path: Path, table: str) -> int:
    [(count,)] = rows(path, f"SELECT count(*) FROM {table}")  # noqa: S608
    return int(count)

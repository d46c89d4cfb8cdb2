"""PostgreSQL databases with data that every former omoide wrote: each opens, and nothing in it is
lost."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import psycopg
import pytest

from omoide.adapters.stores.postgres import PostgresStore
from omoide.domain import Owner
from omoide.language.terms import terms
from omoide.testing.contracts.making import ANN, BOB, tell
from tests.facts import disagreeing
from tests.postgres import databases
from tests.postgres_schemas import load, postgres_fixtures

FIXTURES = postgres_fixtures()
NEVER_ALONE = {3, 6}
"""Schemas that came together with the next one: no database ever had them."""


def rows(url: str, query: str) -> list[tuple[Any, ...]]:
    """What a database holds, read without omoide's code and past its policies."""
    with psycopg.connect(url) as connection:
        return connection.execute(query.encode()).fetchall()


def test_there_is_a_database_of_every_schema() -> None:
    """Whoever adds a migration adds a fixture: `python -m tests.postgres_schemas`."""
    folder = resources.files("omoide.adapters.stores.postgres.migrations")
    numbers = {int(file.name[:4]) for file in folder.iterdir() if file.name.endswith(".sql")}
    assert set(FIXTURES) == numbers - NEVER_ALONE


@pytest.mark.parametrize("number", sorted(FIXTURES))
async def test_nothing_is_lost_in_a_database_of_a_former_schema(number: int) -> None:
    """Turns, versions of the summary, rejected answers, calls and jobs are read as they were
    written, every turn is found by its words, facts agree, and it goes on from there."""
    url = databases().create(f"schema_{number}")
    load(FIXTURES[number], url)
    assert rows(url, "SELECT value FROM omoide_meta WHERE name = 'schema'") == [(str(number),)]
    owners = rows(url, 'SELECT id, tenant, "user" FROM owners')
    said = rows(url, "SELECT owner, id, text FROM turns ORDER BY position")
    written = rows(url, "SELECT owner, sentences FROM summaries ORDER BY number")
    counts = {table: _counted(url, table) for table in ("aside", "calls", "jobs", "sessions")}
    store = await PostgresStore.open(url, create=False)
    assert {table: _counted(url, table) for table in counts} == counts
    assert len(owners) == 2
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


def _counted(url: str, table: str) -> int:
    [(count,)] = rows(url, f"SELECT count(*) FROM {table}")  # noqa: S608
    return int(count)


async def test_words_beside_chinese_are_found_in_an_older_database() -> None:
    """Schema 7 made one term of a word and what follows it; none of those is left."""
    url = databases().create("glued")
    store = await PostgresStore.open(url)
    await tell(store, ANN, "I like tea", "我在Google工作了3年")
    wanted = [await store.index.search_words(ANN, [t], k=9) for t in ("googl", "工作", "年", "tea")]
    assert all(wanted)
    await store.close()
    with psycopg.connect(url, autocommit=True) as connection:
        [(owner,)] = connection.execute("SELECT DISTINCT owner FROM turns").fetchall()
        connection.execute("DELETE FROM postings WHERE item = 2")
        for term in ("我在", "在", "google工作了3年"):
            connection.execute(
                "INSERT INTO postings (owner, term, kind, item, tf, length) "
                "VALUES (%s, %s, 1, 2, 1, 2)",
                (owner, term),
            )
        connection.execute("UPDATE omoide_meta SET value = '7' WHERE name = 'schema'")
    store = await PostgresStore.open(url, create=False)
    found = [await store.index.search_words(ANN, [t], k=9) for t in ("googl", "工作", "年", "tea")]
    assert found == wanted
    await store.close()
    assert rows(url, "SELECT count(*) FROM postings WHERE term LIKE 'google工%'") == [(0,)]
    forced = "SELECT count(*) FROM pg_class WHERE relname IN ('turns', 'postings', 'owners') "
    assert rows(url, f"{forced} AND relforcerowsecurity") == [(3,)]


async def test_older_turns_name_the_days_that_a_new_turn_would() -> None:
    """Until schema 8 a month to come was stored as the one before, for every owner."""
    url = databases().create("days")
    store = await PostgresStore.open(url)
    for owner in (ANN, BOB):
        await tell(store, owner, "We will fly to Tokyo in December.", "I like tea")
    await store.close()
    days = "SELECT named FROM outlines ORDER BY owner, position"
    written = rows(url, days)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE outlines SET named = '738855 738885' WHERE position = 1")
        connection.execute("UPDATE omoide_meta SET value = '8' WHERE name = 'schema'")
    store = await PostgresStore.open(url, create=False)
    await store.close()
    assert rows(url, days) == written

"""What recall needs of SQLite: old files are brought along, and only the owner's rows are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import pytest

from omoide.adapters.stores.sql import turn_tables
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import Owner
from omoide.language.terms import informativeness, terms
from omoide.testing.contracts.making import ANN, ANN_ELSEWHERE, BOB, SPACE, rows, tell
from tests.integration.test_sqlite_upgrade import TURNS, schema_1

if TYPE_CHECKING:
    from pathlib import Path


async def test_turns_of_an_older_file(tmp_path: Path) -> None:
    """Turns recorded before outlines were stored have one after the file was opened."""
    path = tmp_path / "omoide.db"
    schema_1(path)
    store = await SqliteStore.open(path)
    for owner in (ANN, ANN_ELSEWHERE):
        survey = await store.index.search_data(owner, ["tea"], space=SPACE, query=rows((1, 1, 0)))
        assert list(survey.table.ids) == list(TURNS)
        assert survey.table.length.tolist() == [len(terms(text)) for text in TURNS]
        assert survey.table.features is not None
        values = survey.table.features.values.tolist()
        assert values == pytest.approx([informativeness(t) for t in TURNS])
        assert survey.postings["tea"].rows.tolist() == [0, 1]
    await tell(store, ANN, "a new turn, said yesterday")
    features = (await store.index.search_data(ANN, [])).table.features
    assert features is not None
    assert len(features.spans) == 1
    await store.close()


async def test_a_turn_without_an_outline_does_not_hide_the_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Of a damaged file what is whole is found. A warning says so, without anybody's words."""
    path = tmp_path / "omoide.db"
    store = await SqliteStore.open(path)
    await tell(store, ANN, "tea yesterday", "green tea", "tea\x1fat four yesterday", "coffee")
    with apsw.Connection(str(path)) as damaged:
        damaged.execute("DELETE FROM outlines WHERE position = 2")
        damaged.execute("INSERT INTO erasing SELECT id FROM owners")  # else it is not allowed
        damaged.execute("DELETE FROM turns WHERE position = 4")
        damaged.execute("DELETE FROM erasing")
    damaged.close()
    survey = await store.index.search_data(ANN, ["tea"])
    assert list(survey.table.ids) == ["tea yesterday", "tea\x1fat four yesterday"]
    assert survey.postings["tea"].rows.tolist() == [0, 1]
    assert survey.table.features is not None
    assert survey.table.features.spans[:, 0].tolist() == [0, 1]
    [record] = caplog.records
    assert record.levelname == "WARNING"
    assert "no outline" in record.getMessage()
    assert "tea" not in record.getMessage()
    await store.close()


BINDINGS: dict[str, tuple[str | int, ...]] = {
    "TURNS_SINCE": (1, 0, ","),
    "OUTLINES_SINCE": (1, 0),
    "NAMES_SINCE": (1, 0),
    "POSTINGS": (1, "a", 1),
    "BEGINNING": (1, "a", 1, "b"),
}


@pytest.mark.parametrize("name", BINDINGS)
async def test_only_the_owners_rows_are_read(tmp_path: Path, name: str) -> None:
    """All statements of a survey find their rows by a key that begins with the owner, and what
    is new by its position."""
    path = tmp_path / "omoide.db"
    store = await SqliteStore.open(path)
    await store.close()
    connection = apsw.Connection(str(path))
    statement: str = getattr(turn_tables, name)
    plan = connection.execute(f"EXPLAIN QUERY PLAN {statement}", BINDINGS[name]).fetchall()
    connection.close()
    steps = [str(step) for *_, step in plan if str(step).startswith("SEARCH")]
    assert not any("SCAN postings" in str(step) or "SCAN turns" in str(step) for *_, step in plan)
    assert not any("TEMP B-TREE FOR ORDER" in str(step) for *_, step in plan)
    assert steps
    assert all("PRIMARY KEY (owner=? AND " in step for step in steps), steps


async def test_outlines_make_room(tmp_path: Path) -> None:
    """Memory for outlines is bounded: the one used longest ago goes, and is loaded again."""
    store = await SqliteStore.open(tmp_path / "omoide.db", cache_bytes=4 * 1000)
    for owner in (ANN, BOB):
        await tell(store, owner, *(f"{owner.user} {i}" for i in range(4)))
    for owner in (ANN, BOB, ANN):
        survey = await store.index.search_data(owner, [])
        assert len(survey.table.ids) == 4
        assert len(store.index._turn_tables._cached) == 1
    await store.archive.erase(BOB)  # leaves what is cached of others alone
    assert len(store.index._turn_tables._cached) == 1
    await store.archive.erase(ANN)
    assert len(store.index._turn_tables._cached) == 0
    await store.close()


async def test_the_outline_that_goes_is_the_one_used_longest_ago(tmp_path: Path) -> None:
    """Where there is room for two of three."""
    store = await SqliteStore.open(tmp_path / "omoide.db", cache_bytes=3 * 4 * 1000)
    cleo = Owner(tenant=ANN.tenant, user="cleo")
    for owner in (ANN, BOB, cleo):
        await tell(store, owner, *(f"{owner.user} {i}" for i in range(4)))
    left = []
    for owner in (ANN, BOB, ANN, cleo, BOB):
        await store.index.search_data(owner, [])
        left.append(len(store.index._turn_tables._cached))
    assert left == [1, 2, 2, 2, 2]
    tables = store.index._turn_tables._cached.values()
    assert [table.ids[0].split()[0] for table in tables] == [cleo.user, BOB.user]
    await store.close()

"""Erasure as in a database that locks one owner at a time: tried on SQLite, without a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from omoide.adapters.stores.sql import slices
from omoide.adapters.stores.sql.archive import SqlArchive
from omoide.adapters.stores.sql.external import (
    erased_owner,
    erased_owner_name,
    is_erased_owner,
    is_vanishing_owner,
    vanishing_owner_name,
)
from omoide.adapters.stores.sql.store import SqlStore
from omoide.domain import FactChanges
from omoide.ports import Erased
from omoide.ports.store import IndexTraces
from omoide.testing.contracts.making import (
    ANN,
    BOB,
    HOUR,
    SPACE,
    event,
    fact,
    memo,
    note,
    rejected,
    rows,
    say,
    sentence,
    tell,
    version,
)
from omoide.testing.contracts.store import (
    ErasureContract,
    FactErasureContract,
    MemoryErasureContract,
)
from tests.contract import stores

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.adapters.stores.sqlite import SqliteStore
    from omoide.ports import Store


async def plainly_erasing(folder: Path) -> SqliteStore:
    """SQLite without its own way to erase."""
    store = await stores.sqlite_file(folder)
    store.archive = SqlArchive(store.database, store.comparer, store.turn_tables)  # type: ignore[assignment]
    return store


class TestPlainArchive(ErasureContract, MemoryErasureContract, FactErasureContract):
    """Everything that the contract says of erasures."""

    async def open(self, folder: Path) -> Store:
        """See `StoreSuite.open`."""
        return await plainly_erasing(folder)


async def fill(store: Store, *, turns: int) -> None:
    """Something of each kind."""
    said = [say(f"word {number}", id=f"t{number}") for number in range(turns)]
    await store.turns.append(ANN, said, session="k", idle=HOUR)
    await store.summaries.commit(ANN, version(1, sentence("One."), sentence("Two.")))
    await store.summaries.add_rejected(ANN, rejected("Aside"))
    await store.events.add(ANN, [event(f"e{n}", "t0") for n in range(3)])
    await store.memos.add(ANN, [memo(f"m{n}", "t0") for n in range(4)])
    await store.notes.put(ANN, note("A note."))
    await store.facts.apply(
        ANN, FactChanges(added=tuple(fact(f"f{n}.", "t0", id=f"f{n}") for n in range(5)))
    )
    await tell(store, BOB, "hello")


def numbers(store: SqliteStore) -> list[tuple[str, str]]:
    """What is noted of unfinished erasures, and the names of all owners."""
    connection = store.file._all[0]
    found: list[tuple[str, str]] = [
        *connection.execute("SELECT 'note', name FROM meta WHERE name LIKE 'unfinished%'"),
        *connection.execute("SELECT 'owner', \"user\" FROM owners ORDER BY id"),
    ]
    return found


async def test_a_whole_owner_goes_at_once_or_loses_the_name_first(tmp_path: Path) -> None:
    """Whoever has up to 40 turns, events, memos and facts goes in one transaction; a larger owner
    only loses the name in the first, so that nobody waits. Everything is counted."""
    for turns, first_names in ((28, ["bob"]), (29, ["erasing", "bob"])):
        folder = tmp_path / str(turns)
        folder.mkdir()
        store = await plainly_erasing(folder)
        await fill(store, turns=turns)
        names: list[str] = []

        def work(connection: Connection, names: list[str] = names) -> None:
            found = connection.execute('SELECT "user" FROM owners ORDER BY id').fetchall()
            names.extend(str(user).split()[0] for (user,) in found)

        started = await store.archive._erase_owner(ANN)
        await store.file.read("acme", work)
        assert names == first_names
        erased = await store.archive._finish(started)
        assert erased == Erased(
            sessions=1, turns=turns, sentences=2, facts=5, events=3, memos=4, notes=1, rejected=1
        )
        assert [name for kind, name in numbers(store)] == ["bob"]
        for table in slices._KEYS:
            left = store.file._all[0].execute(f"SELECT count(*) FROM {table} WHERE owner = 1")  # noqa: S608
            assert left.get == 0, table
        await store.close()


async def test_of_every_owner_the_own_turns_are_counted(tmp_path: Path) -> None:
    """Whoever came first has no part in what is said to be erased of the second."""
    store = await plainly_erasing(tmp_path)
    await tell(store, ANN, "one", "two", "three")
    await tell(store, BOB, "hello")
    assert await store.archive.erase(BOB) == Erased(sessions=1, turns=1, sentences=0)
    assert await store.archive.erase(ANN) == Erased(sessions=1, turns=3, sentences=0)
    await store.close()


def test_names_of_erased_owners_are_told_from_those_of_users() -> None:
    """A user may be called what a placeholder begins with, and one that is being erased is no
    placeholder."""
    assert is_vanishing_owner(vanishing_owner_name(7))
    assert not is_vanishing_owner(erased_owner_name(7))
    assert not is_vanishing_owner("erasing 7")
    assert erased_owner(erased_owner_name(7)) == 7
    assert erased_owner(vanishing_owner_name(7)) is None
    assert erased_owner("erased 7") is None
    assert is_erased_owner(vanishing_owner_name(7))
    assert is_erased_owner(erased_owner_name(7))
    assert not is_erased_owner("erased 7")


@pytest.mark.parametrize(
    "open_store", [stores.sqlite_file, pytest.param(stores.postgres, marks=pytest.mark.heavy)]
)
@pytest.mark.parametrize(
    ("table", "item", "left"),
    [
        ("postings", "item", IndexTraces(postings=2)),
        ("vectors", "item", IndexTraces(vectors=1)),
        ("outlines", "position", IndexTraces(outlines=1)),
    ],
)
async def test_rows_that_an_erasure_forgot_are_found_without_their_turn(
    tmp_path: Path, open_store: stores.Maker, table: str, item: str, left: IndexTraces
) -> None:
    """Each table by itself, though no search would lead to them any more."""
    store = await open_store(tmp_path)
    assert isinstance(store, SqlStore)
    [turn, _] = await tell(store, ANN, "green tea", "black coffee")
    await store.index.put(ANN, SPACE, ids=[turn.id], vectors=rows((1, 0, 0)))
    mark = await store.archive.erasure_mark(ANN)

    def read(connection: Connection) -> list[Any]:
        found = connection.execute(f"SELECT * FROM {table} WHERE {item} = 1")  # noqa: S608
        return found.fetchall()

    kept = await store.database.read(ANN.tenant, read)

    def put_back(connection: Connection) -> None:
        places = ", ".join("?" * len(kept[0]))
        connection.executemany(f"INSERT INTO {table} VALUES ({places})", kept)  # noqa: S608

    await store.archive.erase(ANN, turns=[turn.id])
    words = ["green", "tea"]
    assert await store.archive.traces(ANN, [turn], terms=words, mark=mark) == IndexTraces()
    await store.database.write(ANN.tenant, put_back)
    assert await store.archive.traces(ANN, [turn], terms=words, mark=mark) == left
    await store.close()

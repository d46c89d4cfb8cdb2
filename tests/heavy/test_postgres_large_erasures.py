"""On a server too nobody waits for an erasure of much, and it survives an interruption."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import psycopg
import pytest

from omoide.adapters.stores.postgres import PostgresStore
from omoide.adapters.stores.sql import archive, erased_rows
from omoide.adapters.stores.sql.archive import SqlArchive
from omoide.testing.contracts.making import ANN, BOB, HOUR, START, tell
from tests.heavy.test_postgres_erasure import traces
from tests.heavy.test_sqlite_kill import start
from tests.integration.test_sqlite_large_erasures import chatted
from tests.postgres import databases

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.ports import Erased

TURNS = 120


def in_another_thread(work: Callable[[], Coroutine[None, None, None]]) -> None:
    """Run it to its end, as another process would, and raise what it raises."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            asyncio.run(work())
        except BaseException as error:  # noqa: BLE001 - raised below
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]


async def test_who_writes_under_an_erased_name_does_not_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the rows of a large owner are removed, another process opens the database and records
    a turn under the same name. It is there afterwards, and nothing else."""
    url = databases().for_folder(tmp_path)
    store = await PostgresStore.open(url, partitions=2)
    await chatted(store, ANN, "Zqxann", turns=TURNS)

    async def write() -> None:
        other = await PostgresStore.open(url, patience=0.2)
        await tell(other, ANN, "somebody new")
        await other.close()

    def erase(connection: Connection, owner: int) -> Erased:
        erased = erased_rows.erase_owner(connection, owner)
        in_another_thread(write)
        return erased

    with monkeypatch.context() as patched:
        patched.setattr(archive, "erase_owner", erase)
        erased = await store.archive.erase(ANN)
    assert (erased.turns, erased.sessions) == (TURNS, 1)
    assert [turn.text for turn in await store.turns.read(ANN)] == ["somebody new"]
    assert traces(url, "zqxann") == set()
    await store.close()


async def test_a_transaction_removes_few_turns_of_a_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user's own writes wait for a transaction at most, so a large session goes in several."""
    url = databases().for_folder(tmp_path)
    store = await PostgresStore.open(url, partitions=2)
    await chatted(store, ANN, "Zqxann", turns=TURNS)
    removed: list[int] = []

    def erase(connection: Connection, owner: int, positions: list[int], **more: object) -> None:
        removed.append(len(positions))
        erased_rows.erase_turns(connection, owner, positions, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(archive, "erase_turns", erase)
    erased = await store.archive.erase(ANN, session=1)
    assert erased.turns == sum(removed) == TURNS
    assert max(removed) <= 40
    assert await store.turns.read(ANN) == ()
    assert traces(url, "zqxann") == set()
    await store.close()


class Interrupted(Exception):
    """The process ends in the middle of an erasure."""


@pytest.mark.parametrize("whole", [True, False])
async def test_an_interrupted_erasure_is_finished_at_the_next_opening(
    tmp_path: Path, whole: bool
) -> None:
    """From the first transaction on nothing of an erased owner is found, listed or worked on, and
    whoever takes the name is somebody new."""
    url = databases().for_folder(tmp_path)
    store = await PostgresStore.open(url, partitions=2)
    await chatted(store, ANN, "Zqxann", turns=TURNS)
    await chatted(store, BOB, "Kept", turns=TURNS)
    with pytest.MonkeyPatch.context() as patched:

        def interrupt(*_: object) -> None:
            raise Interrupted

        patched.setattr(SqlArchive, "_slice", interrupt)
        with pytest.raises(Interrupted):
            await store.archive.erase(ANN, session=None if whole else 1)
    assert "turns" in traces(url, "zqxann")
    if whole:
        assert await store.turns.read(ANN) == ()
        assert await store.index.search_words(ANN, ["zqxann"], k=5) == ()
        assert await store.archive.owners(ANN.tenant) == (BOB,)
        worked = set()
        now = START + 100 * HOUR
        while job := await store.jobs.claim(ANN.tenant, worker="w", now=now, lease=HOUR):
            worked.add(job.owner)
        assert worked == {BOB}
        await tell(store, ANN, "somebody new")
    await store.close()
    store = await PostgresStore.open(url)
    assert [turn.text for turn in await store.turns.read(ANN)] == ["somebody new"] * whole
    assert len(await store.turns.read(BOB)) == TURNS
    assert traces(url, "zqxann") == set()
    with psycopg.connect(url) as connection:
        notes = connection.execute("SELECT name FROM omoide_meta WHERE name LIKE 'unfin%'")
        assert notes.fetchall() == []
        assert connection.execute("SELECT count(*) FROM owners").fetchone() == (2,)
    await store.close()


ERASING = """
import asyncio, os, signal, sys
from omoide.adapters.stores.postgres import PostgresStore
from omoide.adapters.stores.postgres.connection import PostgresConnection
from omoide.testing.contracts.making import ANN
url, session, statements = sys.argv[1], sys.argv[2], int(sys.argv[3])
class Counted(PostgresConnection):
    def execute(self, *statement):
        global statements
        statements -= 1
        if not statements:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().execute(*statement)
async def main():
    store = await PostgresStore.open(url)
    store.archive._database.wrap = Counted
    await store.archive.erase(ANN, session=int(session) or None)
    print("erased", flush=True)
    await store.close()
asyncio.run(main())
"""


@pytest.mark.parametrize("whole", [True, False])
async def test_kill_9_in_the_middle_of_an_erasure(tmp_path: Path, whole: bool) -> None:
    """Killed before its first statement, and then later and later: after the next opening all of it
    is there, or nothing."""
    url = databases().for_folder(tmp_path)
    store = await PostgresStore.open(url, partitions=2)
    await chatted(store, BOB, "Kept", turns=TURNS)
    outcomes: list[int] = []
    statements = 1
    while True:
        if not await store.turns.read(ANN):
            await chatted(store, ANN, "Zqxann", turns=TURNS)
        [session] = {turn.session for turn in await store.turns.read(ANN)}
        await store.close()
        with start(ERASING, url, 0 if whole else session, statements) as process:
            said = process.communicate()[0]
        store = await PostgresStore.open(url)
        outcomes.append(len(await store.turns.read(ANN)))
        assert bool(outcomes[-1]) == bool(traces(url, "zqxann"))
        if said:
            break
        statements = 2 * statements + 3
    assert len(await store.turns.read(BOB)) == TURNS
    assert outcomes[0] == TURNS
    assert set(outcomes) == {0, TURNS}
    assert outcomes.count(0) > 2  # killed after the first transaction, not only done
    await store.close()

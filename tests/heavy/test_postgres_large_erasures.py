"""On a server too nobody waits for an erasure of much, and it survives an interruption."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from omoide.adapters.stores.postgres import PostgresStore
from omoide.adapters.stores.postgres.connection import PostgresConnection
from omoide.adapters.stores.sql import archive, erased_rows, erasing, slices
from omoide.adapters.stores.sql.archive import SqlArchive
from omoide.domain import FactChanges, JobState, JobTask
from omoide.testing.contracts.making import ANN, BOB, HOUR, START, event, fact, say, tell
from tests.heavy.test_postgres_erasure import traces
from tests.heavy.test_sqlite_kill import start
from tests.integration.test_sqlite_large_erasures import chatted
from tests.postgres import databases

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
    from pathlib import Path

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.adapters.stores.sql.slices import UnfinishedErasure
    from omoide.domain import Owner
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


class Interrupted(Exception):
    """The process ends in the middle of an erasure."""


def until_somebody_waits(connection: psycopg.Connection[Any]) -> None:
    """Look until a process of the server waits for a lock."""
    while not connection.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchall():
        pass


def interrupt(*_: object) -> None:
    """What a process does that ends there."""
    raise Interrupted


@contextmanager
def interrupted_erasures(*, whole: bool) -> Iterator[None]:
    """Erasures end after their first transaction. Of a part that is a slice already."""
    with pytest.MonkeyPatch.context() as patched:
        place, name = (SqlArchive, "_slice") if whole else (slices, "leave_time")
        patched.setattr(place, name, interrupt)
        yield


async def unfinished(store: PostgresStore) -> list[UnfinishedErasure]:
    """Erasures that are noted: of parts, and then of whole owners."""
    found = await store.archive._database.read("", store.archive._notes.all)
    return sorted(found, key=lambda erasure: erasure.wanted is None)


async def erase_beside(
    url: str,
    store: PostgresStore,
    owner: Owner,
    work: Callable[[PostgresStore], Coroutine[None, None, None]],
) -> Erased:
    """Erase an owner. After all rows were removed and before the transaction ends, another process
    opens the database and works, without patience for locks."""

    async def beside() -> None:
        other = await PostgresStore.open(url, patience=0.2)
        await work(other)
        await other.close()

    def erase(connection: Connection, number: int) -> Erased:
        erased = erased_rows.erase_owner(connection, number)
        in_another_thread(beside)
        return erased

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(archive, "erase_owner", erase)
        return await store.archive.erase(owner)


async def test_who_writes_under_an_erased_name_does_not_wait(tmp_path: Path) -> None:
    """While the rows of a large owner are removed, another process opens the database and records
    a turn under the same name. It is there afterwards, and nothing else."""
    url = databases().for_folder(tmp_path)
    store = await PostgresStore.open(url, partitions=2)
    await chatted(store, ANN, "Zqxann", turns=TURNS)

    async def write(other: PostgresStore) -> None:
        await tell(other, ANN, "somebody new")

    erased = await erase_beside(url, store, ANN, write)
    assert (erased.turns, erased.sessions) == (TURNS, 1)
    assert [turn.text for turn in await store.turns.read(ANN)] == ["somebody new"]
    assert traces(url, "zqxann") == set()
    await store.close()


async def test_no_worker_waits_while_a_large_owner_is_removed(tmp_path: Path) -> None:
    """The owner has jobs that are due, one that is being run, and an idle session. Beside the
    erasure a worker ends what went idle of others, runs their jobs, and gives back the one that it
    had of the owner."""
    url = databases().for_folder(tmp_path)
    store = await PostgresStore.open(url, partitions=2)
    now = START + 100 * HOUR
    await chatted(store, ANN, "Zqxann", turns=TURNS)
    running = await store.jobs.claim(ANN.tenant, worker="w", now=now, lease=HOUR)
    assert running is not None
    await store.jobs.enqueue(ANN, JobTask.DIGEST, session=1, at=START)
    await chatted(store, BOB, "Kept", turns=2)
    claimed: list[Owner] = []

    async def work(other: PostgresStore) -> None:
        assert await other.turns.end_idle(ANN.tenant, before=now) == 1
        assert not await other.jobs.set_state(running, state=JobState.DONE)
        while job := await other.jobs.claim(ANN.tenant, worker="w", now=now, lease=HOUR):
            claimed.append(job.owner)

    erased = await erase_beside(url, store, ANN, work)
    assert erased.turns == TURNS
    assert claimed == [BOB, BOB]
    assert traces(url, "zqxann") == set()
    await store.close()


async def test_a_user_of_few_turns_and_many_facts_loses_the_name_first(tmp_path: Path) -> None:
    """Facts can come without turns. Who writes under the name does not wait for those either."""
    url = databases().for_folder(tmp_path)
    store = await PostgresStore.open(url, partitions=2)
    await chatted(store, ANN, "Zqxann", turns=1)
    added = tuple(fact(f"Zqxann {n}.", "Zqxann0", id=f"f{n}") for n in range(TURNS))
    await store.facts.apply(ANN, FactChanges(added=added))

    async def write(other: PostgresStore) -> None:
        await tell(other, ANN, "somebody new")

    erased = await erase_beside(url, store, ANN, write)
    assert (erased.turns, erased.facts) == (1, TURNS)
    assert traces(url, "zqxann") == set()
    await store.close()


async def test_nobody_waits_for_a_worker_that_waits_for_an_erasure(tmp_path: Path) -> None:
    """Two users went idle, and an erasure holds the lock of the second. A worker that ends sessions
    waits for that one without holding the first's lock, and ends both."""
    url = databases().for_folder(tmp_path)
    store = await PostgresStore.open(url, partitions=2)
    await chatted(store, BOB, "Kept", turns=2)
    await chatted(store, ANN, "Zqxann", turns=2)
    impatient = await PostgresStore.open(url, patience=0.2)
    with psycopg.connect(url, autocommit=True) as looking, psycopg.connect(url) as erasing:
        erasing.execute('SELECT 1 FROM owners WHERE "user" = %s FOR UPDATE', (ANN.user,))
        ending = asyncio.create_task(store.turns.end_idle(ANN.tenant, before=START + 100 * HOUR))
        await asyncio.to_thread(until_somebody_waits, looking)
        await tell(impatient, BOB, "does not wait")
        erasing.rollback()
        assert await ending == 2
    await impatient.close()
    await store.close()


async def test_whoever_finishes_a_part_can_go_on_while_the_whole_owner_is_erased(
    tmp_path: Path,
) -> None:
    """Erasures of a session and then of the user were interrupted. One process finishes the first;
    another the second, which waits for the note and holds nothing that the first still needs."""
    url = databases().for_folder(tmp_path)
    store = await PostgresStore.open(url, partitions=2)
    await chatted(store, ANN, "Zqxann", turns=TURNS)
    for session in (1, None):
        with interrupted_erasures(whole=session is None), pytest.raises(Interrupted):
            await store.archive.erase(ANN, session=session)
    part, whole = await unfinished(store)
    with psycopg.connect(url, autocommit=True) as looking, psycopg.connect(url) as finishing:
        finishing.execute("SELECT 1 FROM omoide_meta WHERE name = %s FOR UPDATE", (part.name,))
        erasing = asyncio.create_task(store.archive._finish_owner(whole, wait=True))
        await asyncio.to_thread(until_somebody_waits, looking)
        finishing.execute("SELECT 1 FROM owners FOR UPDATE NOWAIT")
        finishing.execute("SELECT 1 FROM turns FOR UPDATE NOWAIT")
        finishing.commit()
        await erasing
    await store.archive.resume()
    assert await unfinished(store) == []
    assert traces(url, "zqxann") == set()
    await store.close()


async def test_a_long_turn_needs_no_more_statements_under_the_lock(tmp_path: Path) -> None:
    """Each statement is planned anew, so their number decides for how long the user waits."""
    store = await PostgresStore.open(databases().for_folder(tmp_path), partitions=2)
    statements: Counter[str] = Counter()

    class Counted(PostgresConnection):
        def execute(self, statement: str, values: Sequence[Any] = ()) -> psycopg.Cursor[Any]:
            statements[name] += 1
            return super().execute(statement, values)

        def executemany(self, statement: str, values: Iterable[Sequence[Any]]) -> Any:  # noqa: ANN401
            rows = list(values)
            statements[name] += len(rows)
            return super().executemany(statement, rows)

    long = " ".join(f"word{number}" for number in range(200))
    said = [say("short", id="short"), say(long, id="long")]
    await store.turns.append(ANN, said, session=None, idle=HOUR)
    store.archive._database.wrap = Counted  # type: ignore[attr-defined]
    for name in ("short", "long"):
        assert (await store.archive.erase(ANN, turns=[name])).turns == 1
    assert 0 < statements["long"] == statements["short"]
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

    monkeypatch.setattr(erasing, "erase_turns", erase)
    erased = await store.archive.erase(ANN, session=1)
    assert erased.turns == sum(removed) == TURNS
    assert max(removed) <= 40
    assert await store.turns.read(ANN) == ()
    assert traces(url, "zqxann") == set()
    await store.close()


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
    with interrupted_erasures(whole=whole), pytest.raises(Interrupted):
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
        if not await store.facts.read(ANN):
            ids = [f"Zqxann{number}" for number in range(TURNS // 2)]
            facts = tuple(fact(f"{name} said.", name, id=name, session=session) for name in ids)
            await store.facts.apply(ANN, FactChanges(added=facts))
            await store.events.add(ANN, [event(name, name, session=session) for name in ids])
        await store.close()
        with start(ERASING, url, 0 if whole else session, statements) as process:
            said = process.communicate()[0]
        store = await PostgresStore.open(url)
        outcomes.append(len(await store.turns.read(ANN)))
        assert bool(outcomes[-1]) == bool(traces(url, "zqxann"))
        if said:
            break
        statements += 14
    assert len(await store.turns.read(BOB)) == TURNS
    assert outcomes[0] == TURNS
    assert set(outcomes) == {0, TURNS}
    assert outcomes.count(0) > 2  # killed after the first transaction, not only done
    await store.close()

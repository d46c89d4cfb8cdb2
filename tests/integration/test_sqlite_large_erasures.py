"""An erasure of much makes others wait for a small part of it, and survives an interruption."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from omoide.adapters.stores.sql import slices
from omoide.adapters.stores.sql.erasing import ErasurePlan
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.adapters.stores.sqlite.page_cleaning import PageCleaner
from omoide.adapters.stores.sqlite.scrubbing import SqliteArchive
from omoide.domain import FactChanges, FactMarks
from omoide.testing.contracts.making import ANN, BOB, HOUR, START, fact, say, tell
from tests.integration.test_sqlite_erasure import traces

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.adapters.stores.sql.erasure_findings import FoundMemories
    from omoide.domain import Fact, Owner
    from omoide.ports import Store


async def chatted(store: Store, owner: Owner, mark: str, *, turns: int) -> None:
    """Turns of one session, recorded at once."""
    said = [
        say(f"{mark}{number} {mark}word{number % 7}", id=f"{mark}{number}")
        for number in range(turns)
    ]
    await store.turns.append(owner, said, session=mark, idle=HOUR)


async def rows_by_transaction(store: SqliteStore, erasing: Awaitable[object]) -> list[int]:
    """How many rows each transaction of an erasure removed or changed."""
    counted: list[int] = []
    write = store.file.write

    async def counting(tenant: str, work: Callable[[apsw.Connection], Any]) -> Any:  # noqa: ANN401
        def counted_work(connection: apsw.Connection) -> Any:  # noqa: ANN401
            before = connection.total_changes()
            result = work(connection)
            counted.append(connection.total_changes() - before)
            return result

        return await write(tenant, counted_work)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(store.file, "write", counting)
        await erasing
    return counted


@pytest.mark.parametrize("whole", [True, False])
async def test_no_transaction_of_a_large_erasure_removes_many_rows(
    tmp_path: Path, whole: bool
) -> None:
    """Other writers wait for a transaction at most, so each removes few rows, of whoever is
    large."""
    path = tmp_path / "omoide.db"
    store = await SqliteStore.open(path)
    await chatted(store, ANN, "Zqxann", turns=1_200)
    await chatted(store, BOB, "Kept", turns=3)
    erasing = store.archive.erase(ANN, session=None if whole else 1)
    counted = await rows_by_transaction(store, erasing)
    assert len(counted) > 4
    assert max(counted) <= slices.ROWS + 50
    assert sum(counted) > 4 * 1_200
    assert await store.turns.read(ANN) == ()
    assert len(await store.turns.read(BOB)) == 3
    assert traces(path, "Zqxann") == 0
    await store.close()


@pytest.mark.parametrize("whole", [True, False])
async def test_slices_follow_how_long_they_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: bool
) -> None:
    """Where removing is slow a transaction removes less and less, where it is quick up to the
    most."""
    counted = {}
    for wanted in (0.0, 1e9):
        monkeypatch.setattr(slices, "WANTED", wanted)
        store = await SqliteStore.open(tmp_path / f"{wanted}.db")
        await chatted(store, ANN, "word", turns=400)
        erasing = store.archive.erase(ANN, session=None if whole else 1)
        counted[wanted] = await rows_by_transaction(store, erasing)
        assert await store.turns.read(ANN) == ()
        await store.close()
    assert len(counted[0.0]) > 4 * len(counted[1e9])


@pytest.mark.heavy
@pytest.mark.parametrize("whole", [True, False])
async def test_slices_follow_how_many_pages_they_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: bool
) -> None:
    """Whoever commits waits until the disk has all pages, so a slice writes few, however quickly
    their rows are removed."""
    monkeypatch.setattr(slices, "WANTED", 1e9)
    most = {}
    for wanted in (slices.PAGES, 10**9):
        monkeypatch.setattr(slices, "PAGES", wanted)
        store = await SqliteStore.open(tmp_path / f"{wanted}.db")
        said = [say(f"{number} {'. ' * 15_000}") for number in range(150)]  # six pages each
        await store.turns.append(ANN, said, session="k", idle=HOUR)
        pages: list[int] = []
        count = store.archive._pages_written
        await count()

        async def counted(
            count: Callable[[], Awaitable[int]] = count, pages: list[int] = pages
        ) -> int:
            pages.append(await count())
            return pages[-1]

        monkeypatch.setattr(store.archive, "_pages_written", counted)
        await store.archive.erase(ANN, session=None if whole else 1)
        assert await store.turns.read(ANN) == ()
        most[wanted] = max(pages[1:])  # the first is of two transactions
        await store.close()
    bounded, free = most.values()
    assert bounded <= 200 < free


async def test_others_may_write_between_two_pieces_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large file is cleaned a piece at a time, with a pause after each in which nobody holds the
    lock."""
    path = tmp_path / "omoide.db"
    store = await SqliteStore.open(path)
    await chatted(store, ANN, "word", turns=300)
    monkeypatch.setattr(store.archive, "_rewritten", 0)
    monkeypatch.setattr(PageCleaner.__init__, "__kwdefaults__", {"piece": 2**16})
    other = apsw.Connection(str(path))
    written = 0

    async def write(_: float) -> None:
        nonlocal written
        other.execute("UPDATE meta SET value = value WHERE name = 'traces'")
        written += 1

    monkeypatch.setattr(slices, "leave_time", write)
    await store.archive.erase(ANN, turns=["word5"])
    assert written > 2
    other.close()
    await store.close()


async def test_one_turn_of_many_removes_only_its_own_rows(tmp_path: Path) -> None:
    """An erasure costs what it removes: it looks through no postings of other turns."""
    store = await SqliteStore.open(tmp_path / "omoide.db")
    await chatted(store, ANN, "Zqxann", turns=300)
    statements: list[str] = []
    for connection in store.file._all:
        connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: statements.append(event["sql"]))
    await store.archive.erase(ANN, turns=["Zqxann5"])
    looking = [text for text in statements if "postings" in text]
    assert looking
    assert all("term = ?" in text or "term IN" in text for text in looking)
    await store.close()


async def test_postings_of_an_older_split_are_found(tmp_path: Path) -> None:
    """A term that today's omoide would not make of the text goes too, and the file is clean."""
    path = tmp_path / "omoide.db"
    store = await SqliteStore.open(path)
    await tell(store, ANN, "Zqxone zqxtwo", "kept words")
    with apsw.Connection(str(path)) as older:
        older.execute("UPDATE postings SET term = 'zqxolder' WHERE term = 'zqxtwo'")
    older.close()
    await store.archive.erase(ANN, turns=["Zqxone zqxtwo"])
    assert traces(path, "zqx") == 0
    await store.close()


class Interrupted(Exception):
    """The process ends in the middle of an erasure."""


@pytest.mark.parametrize("whole", [True, False])
async def test_an_interrupted_erasure_is_finished_at_the_next_opening(
    tmp_path: Path, whole: bool
) -> None:
    """From the first transaction on nothing of an erased owner is found, listed or worked on, and
    whoever takes the name is somebody new."""
    path = tmp_path / "omoide.db"
    store = await SqliteStore.open(path)
    await chatted(store, ANN, "Zqxann", turns=400)
    await chatted(store, BOB, "Kept", turns=3)
    with apsw.Connection(str(path)) as other:  # more jobs than a transaction removes
        other.executemany(
            "INSERT INTO jobs (owner, tenant, task, session, state, created, due) "
            "VALUES (1, 'acme', 'digest', ?, 'waiting', 0, 0)",
            [(number,) for number in range(2, 700)],
        )
    other.close()
    with pytest.MonkeyPatch.context() as patched:

        def interrupt(*_: object) -> None:
            raise Interrupted

        # Of a part the first slice is the first transaction, of a whole owner the second.
        place, name = (SqliteArchive, "_slice") if whole else (slices, "leave_time")
        patched.setattr(place, name, interrupt)
        with pytest.raises(Interrupted):
            await store.archive.erase(ANN, session=None if whole else 1)
    assert traces(path, "Zqxann") > 100
    if whole:
        assert await store.turns.read(ANN) == ()
        assert await store.index.search_words(ANN, ["zqxannword1"], k=5) == ()
        assert await store.archive.owners(ANN.tenant) == (BOB,)
        now = START + 100 * HOUR
        worked = set()
        while job := await store.jobs.claim(ANN.tenant, worker="w", now=now, lease=HOUR):
            worked.add(job.owner)
        assert worked == {BOB}
        await tell(store, ANN, "somebody new")
    await store.close()
    store = await SqliteStore.open(path)
    assert [turn.text for turn in await store.turns.read(ANN)] == ["somebody new"] * whole
    assert len(await store.turns.read(BOB)) == 3
    assert traces(path, "Zqxann") == 0
    connection = apsw.Connection(str(path))
    assert connection.execute("SELECT count(*) FROM meta WHERE name LIKE 'unfinished%'").get == 0
    assert connection.execute("SELECT count(*) FROM owners").get == 1 + whole + (not whole)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
    await store.close()


async def test_memories_that_change_before_the_lock_are_looked_for_again(tmp_path: Path) -> None:
    """A fact that comes to rest on the turn after it was looked for goes with the turn, and a fact
    that was marked meanwhile keeps the mark."""
    store = await SqliteStore.open(tmp_path / "omoide.db")
    await tell(store, ANN, "doomed", "kept")
    ended = replace(fact("Ended.", "kept", id="ended"), ended=START, ended_by="by")
    by = replace(fact("By.", "doomed", id="by"), supersedes=("ended",))
    await store.facts.apply(ANN, FactChanges(added=(ended, by)))
    find, late = ErasurePlan.find, [fact("Late.", "doomed", id="late")]

    def found(plan: ErasurePlan, connection: Connection) -> FoundMemories:
        result = find(plan, connection)
        if late:
            _write_late(tmp_path / "omoide.db", late.pop())
        return result

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ErasurePlan, "find", found)
        erased = await store.archive.erase(ANN, turns=["doomed"])
    assert erased.facts == 2
    [left] = await store.facts.read(ANN)
    assert (left.id, left.ended, left.pinned) == ("ended", None, True)
    await store.close()


async def test_a_fact_that_comes_before_the_lock_goes_too(tmp_path: Path) -> None:
    """Nothing that was found has changed, but there is more to find."""
    store = await SqliteStore.open(tmp_path / "omoide.db")
    await tell(store, ANN, "doomed", "kept")
    find, late = ErasurePlan.find, [fact("Late.", "doomed", id="late")]

    def found(plan: ErasurePlan, connection: Connection) -> FoundMemories:
        result = find(plan, connection)
        if late:
            _write_late(tmp_path / "omoide.db", late.pop(), pinned=None)
        return result

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ErasurePlan, "find", found)
        erased = await store.archive.erase(ANN, turns=["doomed"])
    assert erased.facts == 1
    assert await store.facts.read(ANN) == ()
    await store.close()


def _write_late(path: Path, late: Fact, *, pinned: str | None = "ended") -> None:
    """What another process does: adds a fact and may pin one."""

    async def write() -> None:
        other = await SqliteStore.open(path)
        await other.facts.apply(ANN, FactChanges(added=(late,)))
        if pinned:
            await other.facts.mark(ANN, pinned, FactMarks(pinned=True))
        await other.close()

    thread = threading.Thread(target=asyncio.run, args=(write(),))
    thread.start()
    thread.join()

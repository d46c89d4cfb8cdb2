"""What happens seldom to a file: others in the way, its errors in words, workers that ended."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import date
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from omoide.adapters.stores.sql import slices
from omoide.adapters.stores.sql.external import ExternalErasure
from omoide.adapters.stores.sql.slices import ErasureNotes, UnfinishedErasure
from omoide.adapters.stores.sql.workers import describe_worker, is_gone, worker_name
from omoide.adapters.stores.sqlite import SqliteStore, checkpoints, page_cleaning
from omoide.adapters.stores.sqlite.connection import translate_errors
from omoide.adapters.stores.sqlite.page_cleaning import PageCleaner
from omoide.documents import DocumentStore, MemoryDocuments
from omoide.documents.codec import _in, _out
from omoide.domain import Owner
from omoide.errors import StoreCorrupt, StoreError, StoreFull, StoreLocked, StoreReadOnly
from omoide.testing.contracts.making import ANN, BOB, HOUR, say, tell
from tests.integration.test_sqlite_cleaning import half_empty
from tests.integration.test_sqlite_erasure import traces

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.adapters.stores.sql.connection import Connection


def test_a_piece_is_left_if_somebody_wrote_before_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest pages are in the log then, so the file is not touched."""
    path = tmp_path / "plain.db"
    ours = half_empty(path, pages=10)
    other = apsw.Connection(str(path))
    other.execute("PRAGMA wal_autocheckpoint = 0").fetchall()
    cleaner, restart = PageCleaner(str(path)), checkpoints.restart_log

    def late(connection: apsw.Connection) -> bool:
        done = restart(connection)
        other.execute("INSERT INTO t VALUES (1001, 'late')")
        return done

    with monkeypatch.context() as patched:
        patched.setattr(page_cleaning, "restart_log", late)
        before = path.read_bytes()
        assert not cleaner.clean_piece(ours)
    assert path.read_bytes() == before
    assert (cleaner.zeroed, cleaner.locked, cleaner.done) == (0, 0, False)
    assert cleaner.clean_piece(ours)
    assert cleaner.zeroed > 0
    cleaner.close()
    for connection in (ours, other):
        connection.close()


async def test_a_file_that_others_wrote_to_is_gone_through_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may have moved bytes that are to go to where the cleaner has been."""
    path = tmp_path / "omoide.db"
    store = await SqliteStore.open(path)
    said = [say(f"Zqx{number} {'tea ' * 300}", id=f"t{number}") for number in range(60)]
    await store.turns.append(ANN, said, session="k", idle=HOUR)
    monkeypatch.setattr(store.archive, "_rewritten", 0)
    monkeypatch.setattr(PageCleaner.__init__, "__kwdefaults__", {"piece": 2**16})
    other, written = apsw.Connection(str(path)), list[int]()
    other.execute("PRAGMA secure_delete = OFF").fetchall()
    other.execute("PRAGMA wal_autocheckpoint = 0").fetchall()
    leave = slices.leave_time

    async def write(taken: float) -> None:
        if len(written) < 3:
            other.execute("INSERT INTO meta VALUES ('late', ?)", ("Zqxlate" * 50,))
            other.execute("DELETE FROM meta WHERE name = 'late'")
            written.append(1)
        await leave(taken)

    monkeypatch.setattr(slices, "leave_time", write)
    await store.archive.erase(ANN, turns=["t5"])
    assert written
    assert traces(path, "Zqxlate") == 0
    assert traces(path, "Zqx5 ") == 0
    other.close()
    await store.close()


async def test_work_that_finds_the_file_busy_is_tried_until_it_can(tmp_path: Path) -> None:
    """Until patience ends; then it is said that bytes remain."""
    store = await SqliteStore.open(tmp_path / "omoide.db", patience=0.05)
    tries: list[int] = []

    def busy(connection: apsw.Connection, until: int) -> bool:
        tries.append(1)
        if len(tries) < until:
            raise apsw.BusyError("busy")
        return True

    await store.archive._repeated(lambda connection: busy(connection, 3))
    assert len(tries) == 3
    with pytest.raises(StoreLocked, match="bytes of it remain"):
        await store.archive._repeated(lambda connection: busy(connection, 10**9))
    await store.close()


@pytest.mark.parametrize(
    ("error", "ours"),
    [
        (apsw.BusyError, StoreLocked),
        (apsw.LockedError, StoreLocked),
        (apsw.FullError, StoreFull),
        (apsw.ReadOnlyError, StoreReadOnly),
        (apsw.PermissionsError, StoreReadOnly),
        (apsw.CantOpenError, StoreReadOnly),
        (apsw.CorruptError, StoreCorrupt),
        (apsw.NotADBError, StoreCorrupt),
        (apsw.TooBigError, StoreCorrupt),
        (ValueError, StoreCorrupt),
        (KeyError, StoreCorrupt),
        (apsw.IOError, StoreError),
        (apsw.SQLError, StoreError),
    ],
)
def test_errors_of_the_file_are_ours(error: type[Exception], ours: type[StoreError]) -> None:
    """Each with the place of the file."""
    with pytest.raises(StoreError, match=r"some\.db") as raised, translate_errors("some.db"):
        raise error("why")
    assert type(raised.value) is ours


async def test_an_erasure_that_another_process_has_finished_is_left_alone(tmp_path: Path) -> None:
    """Its note is gone."""
    store = await SqliteStore.open(tmp_path / "omoide.db")
    await tell(store, ANN, "hello")
    notes = ErasureNotes(table="meta")

    def work(connection: Connection) -> list[bool]:
        notes._add(connection, 1, {})
        [erasure] = notes.all(connection)
        gone = UnfinishedErasure(name="unfinished 9", tenant="acme", owner=1)
        held = [notes.hold(connection, e, wait=w) for e in (erasure, gone) for w in (True, False)]
        notes.remove(connection, erasure)
        return [*held, bool(notes.all(connection))]

    assert await store.file.write("acme", work) == [True, True, False, False, False]
    await store.close()


class Elsewhere:
    """Storage outside the database, which may have to be asked again later."""

    def __init__(self, *, removes: bool) -> None:
        self.removes = removes
        self.planned: list[bool] = []
        self.removed: list[bool] = []

    def plan_erasure(
        self, connection: Connection, owner: Owner, number: int, *, whole: bool
    ) -> ExternalErasure:
        """In the erasure's transaction, before anything is removed."""
        found = connection.execute("SELECT count(*) FROM turns WHERE owner = ?", (number,))
        assert found.fetchone() != (0,)
        self.planned.append(whole)
        return ExternalErasure(owner=owner, number=number, whole=whole, awaited=False)

    async def remove(self, erasure: ExternalErasure) -> bool:
        """Now, if it can be reached."""
        self.removed.append(erasure.whole)
        return self.removes


@pytest.mark.parametrize("removes", [True, False])
async def test_an_erasure_reaches_what_is_stored_elsewhere(tmp_path: Path, removes: bool) -> None:
    """Of a part and of everything; what could not be removed there yet is said to be pending."""
    store = await SqliteStore.open(tmp_path / "omoide.db")
    store.archive.elsewhere = elsewhere = Elsewhere(removes=removes)
    await tell(store, ANN, "one", "two")
    part = await store.archive.erase(ANN, turns=["one"])
    whole = await store.archive.erase(ANN)
    nothing = await store.archive.erase(BOB)
    assert elsewhere.planned == elsewhere.removed == [False, True]
    assert [e.pending for e in (part, whole, nothing)] == [not removes, not removes, False]
    await store.close()


def test_a_worker_is_known_by_its_process() -> None:
    """One whose process has ended is gone; of another host nobody knows."""
    ours = worker_name()
    host, pid, started, rest = ours.split(":")
    assert int(pid) == os.getpid()
    assert not is_gone(ours)
    assert describe_worker(ours) == f"process {pid}"
    assert is_gone(f"{host}:{pid}:{started}1:{rest}")  # the number was given to another since
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], **_QUIET)
    gone = f"{host}:{ended.stdout.decode().strip()}:{started}:{rest}"
    assert is_gone(gone)
    assert describe_worker(gone).endswith("which has ended")
    elsewhere = f"far/7:{pid}:1:{rest}"
    assert not is_gone(elsewhere)
    assert describe_worker(elsewhere) == f"process {pid} on far"
    for name in ("mine", "a:b:c:d", "a:b"):
        assert not is_gone(name)
        assert describe_worker(name) == name


_QUIET: dict[str, Any] = {"capture_output": True, "check": True}


async def test_documents_of_many_owners() -> None:
    """More than are cached, each with its own words; a document that another process changed
    meanwhile is read again."""
    place = MemoryDocuments()
    one, two = DocumentStore(place), DocumentStore(place)
    owners = [Owner(tenant=f"t{n % 3}", user=f"u{n}") for n in range(70)]
    for owner in owners:
        await tell(one, owner, f"words of {owner.user}")
    for owner in owners:
        await tell(two, owner, f"more of {owner.user}")
        assert len(await one.turns.read(owner)) == 2
    assert await one.archive.tenants() == ("t0", "t1", "t2")
    assert not await place.swap("none", old=b"x", new=b"y")
    assert await place.swap("none", old=None, new=b"y")
    assert await place.swap("none", old=b"y", new=None)
    assert await place.read("none") is None
    assert _in(_out(date(2026, 1, 5))) == date(2026, 1, 5)

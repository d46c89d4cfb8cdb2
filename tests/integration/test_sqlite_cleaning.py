"""What the cleaners of SQLite's files change, and what they leave as it is."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import apsw
import numpy as np
import pytest

from omoide.adapters.stores.sqlite import SqliteStore, checkpoints
from omoide.adapters.stores.sqlite.checkpoints import LogLock
from omoide.adapters.stores.sqlite.log_cleaning import LogCleaner
from omoide.adapters.stores.sqlite.page_cleaning import PageCleaner
from omoide.testing.contracts.making import ANN, HOUR, say

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PIECE = 2**14
FRAME = 24 + 4096
"""A page in the log, with its header."""
BASE = apsw.vfs_names()[0]


def database(path: Path) -> apsw.Connection:
    """A connection to a file with a log that nobody moves into it."""
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA page_size = 4096").fetchall()
    connection.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0").fetchall()
    connection.execute("PRAGMA secure_delete = OFF").fetchall()
    connection.execute("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, words)")
    return connection


def log_of(path: Path) -> bytes:
    """The write-ahead log."""
    return path.with_name(f"{path.name}-wal").read_bytes()


def names_in(folder: Path) -> list[str]:
    """The files of a folder."""
    return [found.name for found in folder.iterdir()]


def differing(before: bytes, after: bytes) -> list[int]:
    """Where two contents of the same length differ."""
    places: list[int] = np.flatnonzero(
        np.frombuffer(before, np.uint8) != np.frombuffer(after, np.uint8)
    ).tolist()
    return places


def after_a_crash(path: Path) -> list[object]:
    """The rows that another process finds if this one is killed now."""
    crashed = path.with_name("crashed.db")
    for suffix in ("", "-wal"):
        shutil.copy(f"{path}{suffix}", f"{crashed}{suffix}")
    connection = apsw.Connection(str(crashed))
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    rows = connection.execute("SELECT id FROM t ORDER BY id").fetchall()
    connection.close()
    return [row[0] for row in rows]


def test_a_log_is_zeroed_after_its_last_page_a_piece_at_a_time(tmp_path: Path) -> None:
    """It keeps its length. What others write between two pieces stands, also after a crash."""
    path = tmp_path / "plain.db"
    ours, other = database(path), database(path)
    for number in range(40):
        ours.execute("INSERT INTO t VALUES (?, ?)", (number, "Zqx" * 1000))
    ours.execute("UPDATE t SET words = ''")
    length = len(log_of(path))
    cleaner = LogCleaner(str(path), piece=PIECE)
    assert cleaner.clean_piece(ours)
    assert cleaner.locked == 0
    assert b"Zqx" in log_of(path)
    written = 0
    while not cleaner.done:
        before = log_of(path)
        assert cleaner.clean_piece(ours)
        changed = differing(before, log_of(path))
        assert changed
        assert changed[-1] - changed[0] < PIECE
        if cleaner.locked < 4:
            other.execute("INSERT INTO t VALUES (?, 'kept')", (100 + written,))
            written += 1
    assert written == 3
    pages, _ = checkpoints.log_length(ours)
    assert log_of(path)[32 + pages * FRAME :].strip(b"\0") == b""
    assert len(log_of(path)) == length
    assert cleaner.locked == -(-(length - 32 - FRAME) // PIECE)
    assert after_a_crash(path) == [*range(40), 100, 101, 102]
    cleaner.synchronise()
    cleaner.close()
    for connection in (ours, other):
        connection.close()


def test_a_log_that_others_made_longer_meanwhile_is_done(tmp_path: Path) -> None:
    """Beyond its old end there is nothing of an earlier log, so nothing is changed there."""
    path = tmp_path / "plain.db"
    ours, other = database(path), database(path)
    ours.execute("INSERT INTO t VALUES (1, ?)", ("Zqx" * 3000,))
    cleaner = LogCleaner(str(path), piece=PIECE)
    assert cleaner.clean_piece(ours)
    for number in range(2, 30):
        other.execute("INSERT INTO t VALUES (?, ?)", (number, "kept" * 1000))
    before = log_of(path)
    assert cleaner.clean_piece(ours)
    assert cleaner.done
    assert log_of(path) == before
    assert after_a_crash(path) == [*range(1, 30)]
    cleaner.close()
    for connection in (ours, other):
        connection.close()


def test_a_log_waits_for_readers_and_writers(tmp_path: Path) -> None:
    """As long as another connection reads an older view, or holds the write lock."""
    path = tmp_path / "plain.db"
    ours, reader, writer = database(path), database(path), database(path)
    ours.execute("INSERT INTO t VALUES (1, ?)", ("Zqx" * 3000,))
    reader.execute("BEGIN; SELECT * FROM t").fetchall()
    ours.execute("UPDATE t SET words = ''")
    cleaner = LogCleaner(str(path), piece=PIECE)
    before = log_of(path)
    assert not cleaner.clean_piece(ours)
    reader.execute("COMMIT")
    writer.execute("BEGIN IMMEDIATE")
    assert not cleaner.clean_piece(ours)
    writer.execute("COMMIT")
    assert log_of(path) == before
    assert cleaner.clean_piece(ours)
    writer.execute("BEGIN IMMEDIATE")
    assert not cleaner.clean_piece(ours)
    writer.execute("COMMIT")
    while not cleaner.done:
        assert cleaner.clean_piece(ours)
    assert b"Zqx" not in log_of(path)
    cleaner.close()
    for connection in (ours, reader, writer):
        connection.close()


def test_cleaners_let_go_of_the_file(tmp_path: Path) -> None:
    """Once they are closed nobody else has the file open: only then it can do without a log."""
    path = tmp_path / "plain.db"
    ours = database(path)
    ours.execute("INSERT INTO t VALUES (1, 'a')")
    cleaners = LogCleaner(str(path)), PageCleaner(str(path))
    ours.set_busy_timeout(0)
    with pytest.raises(apsw.BusyError):
        ours.pragma("journal_mode", "delete")
    for cleaner in cleaners:
        cleaner.close()
    assert ours.pragma("journal_mode", "delete") == "delete"
    ours.close()


def test_a_lock_is_let_go_if_something_fails_under_it(tmp_path: Path) -> None:
    """Others may write at once."""
    path = tmp_path / "plain.db"
    other = database(path)
    other.set_busy_timeout(0)
    lock = LogLock(str(path))

    def fail() -> None:
        with pytest.raises(apsw.BusyError):
            other.execute("INSERT INTO t VALUES (1, 'a')")
        raise OSError("full")

    with pytest.raises(OSError, match="full"), lock.held():
        fail()
    other.execute("INSERT INTO t VALUES (1, 'a')")
    lock.close()
    other.close()


def test_a_log_begins_anew_only_once_all_of_it_is_in_the_file(tmp_path: Path) -> None:
    """The lock says which it was: further pages of the old log, or the first of a new one."""
    path = tmp_path / "plain.db"
    ours = database(path)
    lock = LogLock(str(path))
    begun = []
    for restarted in (False, True, False, True):
        ours.execute("INSERT INTO t (words) VALUES ('a')")
        if restarted:
            assert checkpoints.restart_log(ours)
        with lock.held():
            begun.append(lock.commit())
    assert begun == [False, True, False, True]
    lock.close()
    ours.close()


class CountedFiles(apsw.VFS):
    """SQLite's files. Counts how often the disk was waited for, by database."""

    def __init__(self) -> None:
        self.synchronised = 0
        super().__init__("counted", BASE, makedefault=True)

    def xOpen(  # noqa: N802 - SQLite's name
        self, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> apsw.VFSFile:
        """Open a file."""
        files, counted = self, flags[0] & apsw.SQLITE_OPEN_MAIN_DB

        class CountedFile(apsw.VFSFile):
            def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
                files.synchronised += bool(counted)
                super().xSync(flags)

        return CountedFile(BASE, name, flags)


@pytest.fixture
def files() -> Iterator[CountedFiles]:
    """All files of SQLite, counted."""
    counted = CountedFiles()
    yield counted
    counted.unregister()


def half_empty(path: Path, *, pages: int) -> apsw.Connection:
    """A file of which nearly every page has unused bytes in its middle: of every two rows on a
    page one is deleted."""
    connection = database(path)
    connection.execute("PRAGMA synchronous = OFF").fetchall()
    with connection:
        rows = ((number, "Zqx" * 600) for number in range(2 * pages))
        connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
    with connection:
        connection.execute("DELETE FROM t WHERE id % 2")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return connection


def test_a_file_is_cleaned_a_piece_at_a_time(tmp_path: Path) -> None:
    """Each has the pages of its length, at least one, and is cleaned under one lock."""
    path = tmp_path / "plain.db"
    ours = half_empty(path, pages=30)
    size, rows = path.stat().st_size, ours.execute("SELECT * FROM t").fetchall()
    used = path.read_bytes().count(b"Zqx" * 600)
    assert used > len(rows)
    cleaner = PageCleaner(str(path), piece=3 * 4096 + 17)
    pieces = 0
    while not cleaner.done:
        before = path.read_bytes()
        assert cleaner.clean_piece(ours)
        changed = differing(before, path.read_bytes())
        here = {n // 4096 for n in changed if n >= 4096}  # the first page counts transactions
        assert {page // 3 for page in here} <= {pieces}
        pieces += 1
    assert pieces == -(-size // (3 * 4096))
    assert pieces - 1 <= cleaner.locked <= pieces
    assert cleaner.zeroed >= 1800 * 25
    assert path.read_bytes().count(b"Zqx" * 600) == len(rows)
    assert ours.execute("SELECT * FROM t").fetchall() == rows
    assert ours.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    cleaner.close()
    smallest = PageCleaner(str(path), piece=1)
    while not smallest.done:
        assert smallest.clean_piece(ours)
        assert smallest.locked == 0
    smallest.close()
    ours.close()


def test_the_disk_is_waited_for_every_few_pieces(tmp_path: Path, files: CountedFiles) -> None:
    """Not for each, and never more than some megabytes are left to it."""
    path = tmp_path / "plain.db"
    ours = half_empty(path, pages=1800)  # seven pieces
    cleaner = PageCleaner(str(path))
    files.synchronised = 0
    waited = []
    while not cleaner.done:
        assert cleaner.clean_piece(ours)
        waited.append(files.synchronised)
    assert waited[0] == 0
    assert all(0 < later - waited[n] < 3 for n, later in enumerate(waited[3:]))
    cleaner.synchronise()
    assert files.synchronised == waited[-1] + 1
    cleaner.close()
    ours.close()


def test_a_file_that_got_smaller_has_nothing_more_to_clean(tmp_path: Path) -> None:
    """Another process may rewrite it while it is cleaned."""
    path = tmp_path / "plain.db"
    ours = half_empty(path, pages=40)
    cleaner = PageCleaner(str(path), piece=4 * 4096)
    assert cleaner.clean_piece(ours)
    ours.execute("DELETE FROM t")
    ours.execute("VACUUM")
    ours.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    while not cleaner.done:
        assert cleaner.clean_piece(ours)
    assert cleaner.disturbed
    assert ours.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    cleaner.close()
    ours.close()


async def test_a_closed_store_leaves_no_log_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread that moves pages has a connection of its own, which is closed too."""
    monkeypatch.setattr(checkpoints, "PAGES", 10)
    path = tmp_path / "omoide.db"
    store = await SqliteStore.open(path)
    for number in range(20):
        said = say(f"{number} {'x' * 40_000}", id=f"{number}")
        await store.turns.append(ANN, [said], session="k", idle=HOUR)
    moving = store.file._checkpoints
    await store.close()
    assert names_in(tmp_path) == ["omoide.db"]
    assert moving is not None
    assert moving._connection is not None

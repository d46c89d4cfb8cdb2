"""Pages go from the write-ahead log into the file, and no commit has to carry them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import apsw
import pytest

from omoide.adapters.stores.sqlite import SqliteStore, checkpoints
from omoide.testing.contracts.making import ANN, BOB, HOUR, say

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BASE = apsw.vfs_names()[0]
"""SQLite's own way to its files."""


class WatchedFiles(apsw.VFS):
    """SQLite's files. Notes in which threads a database's own file is written."""

    def __init__(self) -> None:
        self.threads: list[str] = []
        super().__init__("watched", BASE, makedefault=True)

    def xOpen(  # noqa: N802 - SQLite's name
        self, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> apsw.VFSFile:
        """Open a file."""
        watched, threads = flags[0] & apsw.SQLITE_OPEN_MAIN_DB, self.threads

        class WatchedFile(apsw.VFSFile):
            def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's name
                if watched:
                    threads.append(threading.current_thread().name.partition("_")[0])
                super().xWrite(data, offset)

        return WatchedFile(BASE, name, flags)


@pytest.fixture
def files() -> Iterator[WatchedFiles]:
    """All files of SQLite, watched."""
    watched = WatchedFiles()
    yield watched
    watched.unregister()


async def chatted(store: SqliteStore, first: int, *, turns: int, long: int = 40_000) -> None:
    """Turns of some pages, one after the other."""
    for number in range(first, first + turns):
        said = say(f"{number} {'x' * long}", id=f"{number}")
        await store.turns.append(ANN, [said], session="k", idle=HOUR)


async def settled(store: SqliteStore) -> None:
    """Wait until nothing is moved any more."""
    assert store.file._checkpoints is not None
    store.file._checkpoints._thread.submit(int).result()


async def test_no_commit_moves_pages(tmp_path: Path, files: WatchedFiles) -> None:
    """Pages are moved in a thread of their own, whoever's commit made the log long. So a turn of
    one user does not wait for what somebody else has written, or erased, before."""
    path = tmp_path / "omoide.db"
    store, other = await SqliteStore.open(path), await SqliteStore.open(path)
    files.threads.clear()
    before = path.stat().st_size
    await chatted(store, 0, turns=80, long=200_000)
    for number in range(5):
        await other.turns.append(BOB, [say(f"{number}")], session="k", idle=HOUR)
    await settled(store)
    await settled(other)
    assert len(files.threads) >= checkpoints.PAGES
    assert set(files.threads) == {"omoide-checkpoint"}
    assert path.stat().st_size > before + checkpoints.PAGES * 2**14
    for opened in (store, other):
        assert len(await opened.turns.read(ANN)) == 80
        await opened.close()


async def test_the_log_does_not_grow_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a reader kept the log from beginning anew, it does so once the reader has gone, although
    somebody writes all the time."""
    monkeypatch.setattr(checkpoints, "PAGES", 10)
    monkeypatch.setattr(checkpoints, "LONG", 20)
    path, lengths = tmp_path / "omoide.db", []
    store = await SqliteStore.open(path)
    reader = apsw.Connection(str(path))
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM turns").fetchall()
    for number in range(3):
        await chatted(store, 30 * number, turns=30)
        await settled(store)
        await chatted(store, 1000 + number, turns=1)
        lengths.append((tmp_path / "omoide.db-wal").stat().st_size)
        if number == 0:
            reader.execute("COMMIT")
    assert lengths[2] < 1.2 * lengths[1]
    reader.close()
    await store.close()


async def test_a_checkpoint_that_fails_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pages stay in the log, and a later commit tries again."""
    monkeypatch.setattr(checkpoints, "PAGES", 10)
    move = checkpoints.move_pages
    failed: list[apsw.Connection] = []

    def failing(connection: apsw.Connection) -> int:
        if not failed:
            failed.append(connection)
            raise apsw.FullError("no space")
        return move(connection)

    monkeypatch.setattr(checkpoints, "move_pages", failing)
    path = tmp_path / "omoide.db"
    store = await SqliteStore.open(path)
    before = path.stat().st_size
    await chatted(store, 0, turns=20)
    await settled(store)
    await chatted(store, 20, turns=1)
    await settled(store)
    assert failed
    assert path.stat().st_size > before
    assert len(await store.turns.read(ANN)) == 21
    await store.close()

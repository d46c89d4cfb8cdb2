"""Opening SQLite files that are missing, foreign, damaged, newer, locked, full or read-only."""

from __future__ import annotations

import asyncio
import errno
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, cast

import apsw
import pytest

from omoide import __version__
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.adapters.stores.sqlite.cipher import is_encrypted
from omoide.adapters.stores.sqlite.connection import translate_errors
from omoide.adapters.stores.sqlite.opening import APPLICATION_ID
from omoide.errors import (
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreMissing,
    StoreTooNew,
)
from omoide.testing.contracts.making import ANN, HOUR, event, memo, say, sentence, tell, version

if TYPE_CHECKING:
    from collections.abc import Iterator


async def filled(path: Path) -> Path:
    """A closed database with one turn."""
    store = await SqliteStore.open(path)
    await tell(store, ANN, "hello")
    await store.close()
    return path


def names(folder: Path) -> list[str]:
    """What lies in a folder."""
    return sorted(file.name for file in folder.iterdir())


async def fill_up(store: SqliteStore, kept: list[str]) -> None:
    """Record two turns at a time until there is no more room."""
    for number in range(1000):
        texts = f"{number} " + "word " * 500, f"{number} second"
        await tell(store, ANN, *texts)
        kept += texts


async def read_all(path: Path) -> None:
    """Open a file and read it."""
    store = await SqliteStore.open(path)
    try:
        await store.turns.read(ANN)
    finally:
        await store.close()


def change(path: Path, sql: str) -> None:
    """Do something to a file behind omoide's back."""
    connection = apsw.Connection(str(path))
    connection.execute(sql).fetchall()
    connection.close()


async def test_new_file(tmp_path: Path) -> None:
    """A new file gets its folder, our mark, and permissions for its user alone."""
    path = tmp_path / "a" / "b" / "omoide.db"
    store = await SqliteStore.open(path)
    await tell(store, ANN, "hello")
    for file in path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    await store.close()
    assert names(path.parent) == ["omoide.db"]
    connection = apsw.Connection(str(path))
    pragmas = ["application_id", "user_version", "page_size", "journal_mode"]
    values = [connection.execute(f"PRAGMA {name}").fetchall()[0][0] for name in pragmas]
    connection.close()
    assert values == [APPLICATION_ID, 10, 16384, "wal"]


async def test_missing(tmp_path: Path) -> None:
    """Without creating, a path with nothing there is named, and nothing is put there."""
    path = tmp_path / "folder" / "omoide.db"
    with pytest.raises(StoreMissing, match=str(path)):
        await SqliteStore.open(path, create=False)
    assert not path.parent.exists()


async def test_open_what_is_there(tmp_path: Path) -> None:
    """Without creating, a file that is there opens as usual, be it given as text."""
    path = await filled(tmp_path / "omoide.db")
    store = await SqliteStore.open(str(path), create=False)
    assert [t.text for t in await store.turns.read(ANN)] == ["hello"]
    await tell(store, ANN, "again")
    await store.close()


@pytest.mark.heavy
async def test_many_open_a_new_file_at_once(tmp_path: Path) -> None:
    """Processes and tasks that open a new file at the same moment all find it ready."""
    path = tmp_path / "omoide.db"
    code = (
        "import asyncio, sys\n"
        "from omoide.adapters.stores.sqlite import SqliteStore\n"
        "async def main():\n"
        "    stores = await asyncio.gather(*(SqliteStore.open(sys.argv[1]) for _ in range(3)))\n"
        "    for store in stores:\n"
        "        await store.close()\n"
        "asyncio.run(main())\n"
    )
    processes = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", code, path) for _ in range(4)
    ]
    assert [await process.wait() for process in processes] == [0, 0, 0, 0]
    assert await filled(path)


@pytest.mark.parametrize("journal", ["DELETE", "WAL"])
async def test_file_of_another_program(tmp_path: Path, journal: str) -> None:
    """Another program's SQLite file is refused, and not a byte of it is changed."""
    path = tmp_path / "theirs.db"
    change(path, f"PRAGMA journal_mode = {journal}; CREATE TABLE theirs (x); ")
    before = path.read_bytes()
    with pytest.raises(StoreCorrupt, match="another program"):
        await SqliteStore.open(path)
    assert path.read_bytes() == before
    assert names(tmp_path) == ["theirs.db"]


@pytest.mark.parametrize("content", [b"hello", b"\x00" * 5000, b"SQLite format 3\x00 and so on"])
async def test_not_a_database(tmp_path: Path, content: bytes) -> None:
    """A file that is no database is refused and left as it is."""
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(StoreCorrupt, match="not a database"):
        await SqliteStore.open(path)
    assert path.read_bytes() == content


async def test_folder(tmp_path: Path) -> None:
    """A folder is not a database."""
    with pytest.raises(StoreCorrupt, match="folder"):
        await SqliteStore.open(tmp_path)


async def test_damaged(tmp_path: Path) -> None:
    """A file whose pages were overwritten says that it is damaged, at the latest when read."""
    path = await filled(tmp_path / "omoide.db")
    content = path.read_bytes()
    path.write_bytes(content[:200] + os.urandom(len(content) - 200))
    with pytest.raises(StoreCorrupt, match="damaged"):
        await read_all(path)


async def test_cut_short(tmp_path: Path) -> None:
    """A file that was cut short says that it is damaged."""
    path = await filled(tmp_path / "omoide.db")
    path.write_bytes(path.read_bytes()[: 2 * 16384])
    with pytest.raises(StoreCorrupt, match="damaged"):
        await SqliteStore.open(path)


async def test_too_new(tmp_path: Path) -> None:
    """A newer omoide's file is refused with both versions named, and not changed."""
    path = await filled(tmp_path / "omoide.db")
    change(path, "PRAGMA user_version = 999; UPDATE meta SET value = '9.8.7'")
    before = path.read_bytes()
    with pytest.raises(StoreTooNew, match=f"omoide 9.8.7.*999.*omoide {__version__}"):
        await SqliteStore.open(path)
    assert path.read_bytes() == before
    change(path, "DROP TABLE meta")
    with pytest.raises(StoreTooNew, match="a newer omoide"):
        await SqliteStore.open(path)


async def test_locked(tmp_path: Path) -> None:
    """While another process writes for too long, writing says so; reading goes on."""
    path = await filled(tmp_path / "omoide.db")
    store = await SqliteStore.open(path, patience=0.05)
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreLocked, match="another process is writing"):
        await tell(store, ANN, "two")
    assert len(await store.turns.read(ANN)) == 1
    other.execute("ROLLBACK")
    other.close()
    await tell(store, ANN, "two")
    await store.close()


async def test_full(tmp_path: Path) -> None:
    """At the limit a batch is refused as a whole, and what was there stays whole and readable."""
    store = await SqliteStore.open(tmp_path / "omoide.db", max_pages=60)
    kept: list[str] = []
    with pytest.raises(StoreFull, match="no space is left"):
        await fill_up(store, kept)
    assert kept
    assert [turn.text for turn in await store.turns.read(ANN)] == kept
    with pytest.raises(StoreFull):
        await store.turns.append(ANN, [say("x" * 400_000)], session=None, idle=HOUR)
    assert len(await store.turns.read(ANN)) == len(kept)
    await store.close()
    store = await SqliteStore.open(tmp_path / "omoide.db")
    await tell(store, ANN, "now there is room", "word " * 5000)
    await store.close()


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(tmp_path)]
    if os.geteuid() or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("only root may mount a small disk")
    yield tmp_path
    subprocess.run(["umount", str(tmp_path)], check=True)


async def test_disk_full(tiny_disk: Path) -> None:
    """A disk without space is told apart from other failures, and nothing recorded is lost."""
    store = await SqliteStore.open(tiny_disk / "omoide.db")
    kept: list[str] = []
    with pytest.raises(StoreFull):
        await fill_up(store, kept)
    assert kept
    assert [turn.text for turn in await store.turns.read(ANN)] == kept
    await store.close()


GROWING = """
import asyncio, resource, sys
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.errors import StoreFull
from omoide.testing.contracts.making import ANN
from tests.integration.test_sqlite_opening import fill_up
async def main():
    store = await SqliteStore.open(sys.argv[1])
    most = 400_000
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    kept = []
    try:
        await fill_up(store, kept)
    except StoreFull as error:
        print(error)
    assert kept == [turn.text for turn in await store.turns.read(ANN)]
asyncio.run(main())
"""


def outgrown(path: Path) -> str:
    """What a process says that fills a database up to its limit on the size of files."""
    command = [sys.executable, "-c", GROWING, str(path)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.heavy
async def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    """A limit on the size of files is told as one, with what to do about it."""
    pytest.importorskip("resource")
    told = outgrown(tmp_path / "omoide.db")
    assert "no space is left for" in told
    assert "ulimit -f" in told
    store = await SqliteStore.open(tmp_path / "omoide.db")
    assert await store.turns.read(ANN)
    await tell(store, ANN, "now it may grow", "word " * 5000)
    await store.close()


@pytest.mark.parametrize(
    ("number", "advice"), [(errno.EMFILE, "ulimit -n"), (errno.EIO, "ulimit -a"), (0, "the disk")]
)
def test_what_the_disk_says_comes_with_advice(number: int, advice: str) -> None:
    """Other failures of reading and writing name the cause, if it is known, and where to look."""

    class Failing:
        system_errno = number

    with (
        pytest.raises(StoreError, match=advice) as told,
        translate_errors("here", cast("apsw.Connection", Failing())),
    ):
        raise apsw.IOError("disk I/O error")
    assert not isinstance(told.value, StoreFull)
    assert (os.strerror(number) in str(told.value)) is bool(number)


READING = """
import asyncio, sys
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import Owner
from omoide.errors import StoreReadOnly
async def main():
    path, ann = sys.argv[1], Owner(tenant="acme", user="ann")
    try:
        await SqliteStore.open(path)
        print("opened to write")
    except StoreReadOnly:
        pass
    store = await SqliteStore.open(path, create=False)
    print([t.text for t in await store.turns.read(ann)])
    try:
        await store.turns.append(ann, [], session=None, idle=None)
        print("wrote")
    except StoreReadOnly as error:
        print("refused:", error)
    await store.close()
asyncio.run(main())
"""
CREATING = """
import asyncio, sys
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.errors import StoreReadOnly
try:
    asyncio.run(SqliteStore.open(sys.argv[1]))
except StoreReadOnly as error:
    print("refused:", error)
"""


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that every user can reach; pytest keeps its own to its user."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def as_nobody(code: str, path: Path) -> str:
    """Run code as a user without rights, and give back what it prints."""
    if os.geteuid():
        pytest.skip("only root can become someone else")
    # The interpreter may lie in root's home: imports happen before the rights are given up.
    code = (
        "import os, numpy, omoide.adapters.stores.sqlite, encodings.idna\n"
        "import importlib.resources, omoide.adapters.stores.sqlite.opening as opening\n"
        "steps = opening._steps(); opening._steps = lambda: steps\n"
        f"os.setgid(65534); os.setuid(65534)\n{code}"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.heavy
@pytest.mark.parametrize("folder_mode", [0o755, 0o777])
async def test_read_only_file(public: Path, folder_mode: int) -> None:
    """A file that may not be written can be read if it is not to be created; writing is refused."""
    path = await filled(public / "d" / "omoide.db")
    path.chmod(0o444)
    path.parent.chmod(folder_mode)
    printed = as_nobody(READING, path)
    assert printed.splitlines()[0] == "['hello']"
    assert printed.splitlines()[1].startswith("refused:")
    assert str(path) in printed


@pytest.mark.heavy
async def test_writable_file_in_read_only_folder(public: Path) -> None:
    """A file whose folder allows no log beside it can be read, and writing is refused."""
    path = await filled(public / "d" / "omoide.db")
    path.chmod(0o666)
    path.parent.chmod(0o755)
    printed = as_nobody(READING, path)
    assert printed.splitlines()[0] == "['hello']"
    assert printed.splitlines()[1].startswith("refused:")


@pytest.mark.heavy
async def test_folder_without_permission(public: Path) -> None:
    """Where no file may be created, that is said with the path."""
    (public / "d").mkdir(mode=0o755)
    for path in (public / "d" / "omoide.db", public / "d" / "deeper" / "omoide.db"):
        printed = as_nobody(CREATING, path)
        assert printed.startswith("refused:")
        assert str(path) in printed


@pytest.mark.heavy
async def test_unreadable_file(public: Path) -> None:
    """A file that may not even be read says so with its path."""
    path = await filled(public / "omoide.db")
    printed = as_nobody(CREATING, path)
    assert printed.startswith("refused:")
    assert str(path) in printed


@pytest.mark.heavy
async def test_log_that_cannot_be_brought_in(public: Path) -> None:
    """A read-only copy whose log holds newer turns is refused rather than shown without them."""
    store = await SqliteStore.open(public / "omoide.db")
    await tell(store, ANN, "hello")
    (public / "d").mkdir()
    for name in ("omoide.db", "omoide.db-wal"):
        (public / "d" / name).write_bytes((public / name).read_bytes())
    await store.close()
    printed = as_nobody(
        CREATING.replace("sys.argv[1]", "sys.argv[1], create=False"), public / "d" / "omoide.db"
    )
    assert printed.startswith("refused:")
    assert "omoide.db-wal" in printed


async def test_turns_cannot_be_changed(tmp_path: Path) -> None:
    """Even with SQL in hand, turns, versions, events and memos are neither changed nor deleted."""
    path = tmp_path / "omoide.db"
    store = await SqliteStore.open(path)
    await tell(store, ANN, "hello")
    await store.summaries.commit(ANN, version(1))
    await store.events.add(ANN, [event("a")])
    await store.memos.add(ANN, [memo("a")])
    await store.close()
    for sql in (
        "UPDATE events SET text = 'x'",
        "DELETE FROM events",
        "UPDATE memos SET summary = 'x'",
        "DELETE FROM memos",
        "UPDATE turns SET text = 'x'",
        "DELETE FROM turns",
        "UPDATE summaries SET sentences = '[]'",
        "DELETE FROM summaries",
    ):
        connection = apsw.Connection(str(path))
        with pytest.raises(apsw.ConstraintError, match=r"erasure only|never changed"):
            connection.execute(sql)
        connection.close()


@pytest.mark.parametrize(
    "change",
    [
        "turns SET text = CAST(x'ff' AS TEXT)",
        "turns SET speaker = 'usur'",
        f"turns SET time = {2**62}",
        "summaries SET sentences = '[{'",
        "summaries SET sentences = '[{}]'",
    ],
)
async def test_changed_bytes_are_told_as_damage(tmp_path: Path, change: str) -> None:
    """Text that is not UTF-8 or JSON, words that are none of ours, a time that cannot be: all say
    that the file is damaged."""
    store = await SqliteStore.open(tmp_path / "db")
    [turn] = await tell(store, ANN, "green tea")
    await store.summaries.commit(ANN, version(1, sentence("Likes tea.", turn.id)))
    await store.close()
    connection = apsw.Connection(str(tmp_path / "db"))
    triggers = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    for (name,) in connection.execute(triggers).fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute(f"UPDATE {change}")
    connection.close()
    store = await SqliteStore.open(tmp_path / "db")
    with pytest.raises(StoreCorrupt, match="damaged"):
        await (store.turns.read if change.startswith("turns") else store.summaries.find)(ANN)
    await store.close()


@pytest.mark.parametrize(
    ("header", "may_be"),
    [
        (b"SQLite format 3\x00" + b"\x10" * 84, False),
        (b"\x9a" * 100, True),
        (b"\x9a" * 24, True),
        (b"\x9a" * 23, False),
        (b"", False),
    ],
)
def test_what_may_be_an_encrypted_database(header: bytes, may_be: bool) -> None:
    """Neither a plain one nor a file that is too short: such a file is not touched."""
    assert is_encrypted(header) is may_be

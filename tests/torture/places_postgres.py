"""Databases on a server that the torture starts, for a role that row level security holds for."""

from __future__ import annotations

import os
import resource
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from omoide.adapters.stores.postgres import PostgresStore
from omoide.settings import Address
from tests.torture.places import waiting_bytes
from tests.torture.processes import asked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omoide.ports import Store
    from tests.postgres import Server
    from tests.torture.places import Place

SETTINGS = (
    "synchronous_commit=off",  # the store has to ask for it, or a fallen server loses turns
    "wal_recycle=off",  # old files of the write-ahead log are removed, not kept for later
    "max_wal_size=64MB",
    "shared_buffers=64MB",
)
MADE_WITH = ("--wal-segsize=1",)
"""In MB. The kernel's limit on files holds for the write-ahead log as well, and so can lie below
the size of a table and above that."""
SEGMENT = 1024 * 1024
PARTITIONS = 4
ROLE = "omoide"
FOREVER = resource.RLIM_INFINITY


@dataclass(frozen=True)
class PostgresPlace:
    """A database."""

    server: Server
    name: str

    @property
    def where(self) -> Address:
        """See `Place.where`."""
        return Address(self.server.url(self.name, role=ROLE))

    @property
    def spool(self) -> Path:
        """See `Place.spool`."""
        return self.server.data.with_name(f"{self.name}.spool")

    async def open(self, *, patience: float = 5.0) -> Store:
        """See `Place.open`."""
        return await PostgresStore.open(self.where, patience=patience, partitions=PARTITIONS)

    async def cramped(self, trial: int) -> Store:
        """By the kernel, which lets the processes that the server starts from now on write no
        further than a little beyond its largest file; the first and every third time, not even as
        far as a file of the write-ahead log goes: the server falls, and cannot get up."""
        largest = max(path.stat().st_size for path in self.server.data.glob("base/*/*"))
        limit = SEGMENT // 64 if trial % 3 == 0 else max(largest, SEGMENT) + 60_000
        _limit(self.server, limit)
        return await PostgresStore.open(self.where, patience=5.0, partitions=PARTITIONS)

    def relieve(self) -> None:
        """Give room again, and start the server if it could not stay up."""
        _limit(self.server, FOREVER)
        self.server.start()

    @contextmanager
    def held(self) -> Iterator[None]:
        """See `Place.held`."""
        with self.raw() as connection:
            connection.execute("LOCK TABLE owners IN EXCLUSIVE MODE")
            yield
            connection.rollback()

    def traces(self, words: set[str]) -> int:
        """In the rows of all tables, in the samples that the server keeps of them, and in what
        waits."""
        held = waiting_bytes(self)
        with self.raw() as connection:
            tables = connection.execute(
                "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace "
                "AND relkind IN ('r', 'p') AND NOT relispartition"
            ).fetchall()
            assert len(tables) > 18
            for (table,) in tables:
                everything = f"COPY (SELECT t::text FROM {table} AS t) TO STDOUT"  # noqa: S608
                with connection.cursor().copy(everything.encode()) as copy:
                    held += b"".join(bytes(piece) for piece in copy)
        return sum(word.encode() in held for word in words)

    def left_behind(self, words: set[str]) -> str:
        """In how many bytes of the server's files they are, before and after what its keeper can
        do about it. Long values are compressed in the files, and cannot be searched for there."""
        if not words:
            return ""
        at_once = self._in_files(words)
        self._run("VACUUM", "CHECKPOINT")
        swept = self._in_files(words)
        self._run("VACUUM FULL", "SELECT pg_switch_wal()", "CHECKPOINT")
        self._run("SELECT pg_switch_wal()", "CHECKPOINT")
        rewritten = self._in_files(words)
        return (
            f"of {len(words)} erased words, bytes in the server's files of {at_once}; after VACUUM "
            f"of {swept}; after VACUUM FULL and CHECKPOINT of {rewritten}"
        )

    def tables(self) -> set[str]:
        """See `Place.tables`."""
        with self.raw() as connection:
            rows = connection.execute(
                "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace "
                "AND relkind IN ('r', 'p') AND NOT relispartition"
            ).fetchall()
        return {name for (name,) in rows}

    @contextmanager
    def raw(self) -> Iterator[psycopg.Connection[Any]]:
        """As a superuser, for whom row level security does not hold."""
        with psycopg.connect(self.server.url(self.name)) as connection:
            yield connection

    def _run(self, *statements: str) -> None:
        with psycopg.connect(self.server.url(self.name), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def _in_files(self, words: set[str]) -> int:
        """How many are in any file of the database, tables, indexes and catalogues, or of the
        server's write-ahead log."""
        with self.raw() as connection:
            number = "SELECT oid FROM pg_database WHERE datname = current_database()"
            [(folder,)] = connection.execute(number).fetchall()
        left = {word.encode() for word in words}
        data = self.server.data
        for path in (*data.glob(f"base/{folder}/*"), *data.glob("pg_wal/0*")):
            with suppress(FileNotFoundError):
                held = path.read_bytes()
                left -= {word for word in left if word in held}
        return len(words) - len(left)


@dataclass(frozen=True)
class PostgresPlaces:
    """Databases of one server."""

    server: Server
    name: str = "postgres"

    def create(self, name: str) -> PostgresPlace:
        """See `Places.create`."""

        async def make() -> None:
            with psycopg.connect(self.server.url(), autocommit=True) as connection:
                with suppress(psycopg.errors.DuplicateObject):
                    connection.execute(f"CREATE ROLE {ROLE} LOGIN".encode())
                connection.execute(f'CREATE DATABASE "{name}" OWNER {ROLE}'.encode())
            with psycopg.connect(self.server.url(name), autocommit=True) as connection:
                connection.execute("CREATE EXTENSION vector")

        asked(make)
        return PostgresPlace(self.server, name)

    def discard(self, place: Place) -> None:
        """See `Places.discard`."""
        assert isinstance(place, PostgresPlace)
        name = place.name

        async def drop() -> None:
            with psycopg.connect(self.server.url(), autocommit=True) as connection:
                connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())

        asked(drop)


def processes(server: int, *, serving: str = "") -> list[int]:
    """The processes that a server has started, or those of them that serve this database."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, IndexError):
            if path.read_text().rpartition(")")[2].split()[1] != str(server):
                continue
            command = (path.parent / "cmdline").read_text()
            if command.startswith(f"postgres: {ROLE} {serving} " if serving else "postgres: "):
                found.append(int(path.parent.name))
    return found


def _limit(server: Server, size: int) -> None:
    """Let its first process, and those that it starts from now on, write files no larger."""
    for process in (server.pid, *processes(server.pid)):
        child = os.fork()
        if child == 0:  # as the server's own user, who may do this
            with suppress(OSError):
                os.setresuid(*[server.data.stat().st_uid] * 3)
                _, most = resource.prlimit(process, resource.RLIMIT_FSIZE)
                resource.prlimit(process, resource.RLIMIT_FSIZE, (size, most))
            os._exit(0)
        os.waitpid(child, 0)
        if size != FOREVER:
            return  # those that run already are the server's own


def terminated(place: PostgresPlace) -> int:
    """Have the server end all connections to a database; how many there were."""

    async def end() -> int:
        with place.raw() as connection:
            rows = connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND usename = %s",
                (ROLE,),
            ).fetchall()
            return len(rows)

    return int(asked(end))


def fell(place: PostgresPlace, *, which: int) -> None:
    """`kill -9` one of the server's processes for a database: it takes down all others, and brings
    itself up again."""
    serving = processes(place.server.pid, serving=place.name)
    if serving:
        with suppress(ProcessLookupError):
            os.kill(serving[which % len(serving)], 9)

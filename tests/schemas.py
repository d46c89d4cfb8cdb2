"""Databases of every schema, with data, as SQL in `tests/fixtures/schemas`.

    python -m tests.schemas        writes the one of the newest schema, if it is new

The others were written by the omoide of their time, and are never made again.
"""

from __future__ import annotations

import asyncio
import io
import re
import tempfile
from pathlib import Path

import apsw
import apsw.shell

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.testing.contracts.making import ANN, ANN_ELSEWHERE, live

MARKS = ("application_id", "user_version")
FOLDER = Path(__file__).parent / "fixtures" / "schemas"


def fixtures() -> dict[int, Path]:
    """The files, by the number of their schema."""
    return {int(path.stem.removeprefix("sqlite-")): path for path in FOLDER.glob("sqlite-*.sql")}


def load(fixture: Path, path: Path) -> None:
    """Make the database that a fixture describes."""
    connection = apsw.Connection(str(path))
    connection.execute(fixture.read_text("utf-8"))
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.close()


def dump(path: Path) -> str:
    """A database as SQL, without comments."""
    connection, written = apsw.Connection(str(path)), io.StringIO()
    apsw.shell.Shell(stdout=written, db=connection).process_command(".dump")  # type: ignore[no-untyped-call]
    kept = [f"PRAGMA {name} = {_pragma(connection, name)};" for name in ("page_size", *MARKS)]
    text = re.sub(r"(?m)^(-- .*)?\n", "", written.getvalue())
    connection.close()
    return "\n".join([*kept, text])


def _pragma(connection: apsw.Connection, name: str) -> int:
    [(value,)] = connection.execute(f"PRAGMA {name}").fetchall()
    assert isinstance(value, int)
    return value


async def _filled(path: Path) -> None:
    store = await SqliteStore.open(path)
    for owner in (ANN, ANN_ELSEWHERE):
        await live(store, owner)
    await store.close()


def main() -> None:
    """Write the newest fixture."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "omoide.sqlite"
        asyncio.run(_filled(path))
        connection = apsw.Connection(str(path))
        number = _pragma(connection, "user_version")
        connection.close()
        (FOLDER / f"sqlite-{number}.sql").write_text(dump(path), "utf-8")


if __name__ == "__main__":
    main()

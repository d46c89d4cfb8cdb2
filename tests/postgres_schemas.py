"""PostgreSQL databases of every schema, with data, as SQL in `tests/fixtures/schemas`.

    python -m tests.postgres_schemas        writes the one of the newest schema

The others were written by the omoide of their time, and are never made again.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
from typing import TYPE_CHECKING

import psycopg

from omoide.adapters.stores.postgres import PostgresStore
from omoide.testing.contracts.making import ANN, ANN_ELSEWHERE, live
from tests.postgres import Databases, running
from tests.schemas import FOLDER

if TYPE_CHECKING:
    from pathlib import Path

    from tests.postgres import Server

PARTITIONS = 2
_LEFT_OUT = re.compile(r"(?m)^(--.*|\\.*|SET transaction_timeout.*)?\n")
"""Comments, commands of `psql`, and what only newer servers know."""


def postgres_fixtures() -> dict[int, Path]:
    """The files, by the number of their schema."""
    return {int(path.stem.split("-")[1]): path for path in FOLDER.glob("postgres-*.sql")}


def load(fixture: Path, url: str) -> None:
    """Fill an empty database with what a fixture describes."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(fixture.read_bytes())


def dump(server: Server, database: str) -> str:
    """A database as SQL, without comments."""
    wanted = "--inserts --no-owner --no-privileges --no-comments".split()
    command = [str(server.program("pg_dump")), *wanted, "-d", server.url(database)]
    written = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return _LEFT_OUT.sub("", written)


async def _filled(url: str) -> None:
    store = await PostgresStore.open(url, partitions=PARTITIONS)
    for owner in (ANN, ANN_ELSEWHERE):
        await live(store, owner)
    await store.close()


def main() -> None:
    """Write the newest fixture."""
    with running() as server:
        url = Databases(server).create("newest")
        asyncio.run(_filled(url))
        with psycopg.connect(url) as connection:
            found = connection.execute("SELECT value FROM omoide_meta WHERE name = 'schema'")
            [(number,)] = found.fetchall()
        (FOLDER / f"postgres-{number}.sql").write_text(dump(server, "newest"), "utf-8")


if __name__ == "__main__":
    main()

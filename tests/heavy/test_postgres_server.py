"""The server that tests start, with another build of pgvector."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from tests.postgres import PGVECTOR, CannotStart, databases, running

if TYPE_CHECKING:
    from pathlib import Path


def test_another_build_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The library that the environment names takes the place of the package's."""
    library = databases().server.program("../lib/vector.so")
    build = tmp_path / "mine.so"
    build.write_bytes(library.read_bytes() + b"mine")
    monkeypatch.setenv(PGVECTOR, str(build))
    with running() as server, psycopg.connect(server.url()) as connection:
        assert server.program("../lib/vector.so").read_bytes() == build.read_bytes()
        [(distance,)] = connection.execute("SELECT '[1,0]'::vector <-> '[0,0]'::vector")
    assert distance == 1.0
    assert library.read_bytes() != build.read_bytes()


@pytest.mark.parametrize("content", [None, "not a library"])
def test_a_build_that_does_not_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str | None
) -> None:
    """The reason says which variable to set: a file is missing, or no server can load it."""
    databases()
    build = tmp_path / "vector.so"
    if content is not None:
        build.write_text(content)
    monkeypatch.setenv(PGVECTOR, str(build))
    with pytest.raises(CannotStart, match=PGVECTOR), running():
        pass

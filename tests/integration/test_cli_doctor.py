"""`omoide doctor`, as a person would run it."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from omoide.adapters.spool import FileSpool
from omoide.cli.main import cli
from tests.server.test_waiting import words

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new database."""
    monkeypatch.setenv("OMOIDE_MODEL", "none")
    path = tmp_path / "memory.sqlite"
    result = CliRunner().invoke(cli, ["--db", str(path), "work", "--once"])
    assert result.exit_code == 0, result.output
    return path


def test_all_is_well(db: Path) -> None:
    """Each thing that was looked at is named."""
    result = CliRunner().invoke(cli, ["--db", str(db), "doctor"])
    assert result.exit_code == 0
    assert "database: " in result.output
    assert "words that wait to be stored: none" in result.output


def test_words_that_wait_are_told_without_quoting_them(db: Path) -> None:
    """With where they are and what stores them; and the status is 1."""

    async def keep() -> None:
        spool = FileSpool(db.with_name("memory.sqlite.spool"))
        await spool.keep(words("my secret"))
        await spool.close()

    asyncio.run(keep())
    result = CliRunner().invoke(cli, ["--db", str(db), "doctor"])
    assert result.exit_code == 1
    assert "1 exchange in " in result.output
    assert "secret" not in result.output
    told = json.loads(CliRunner().invoke(cli, ["--db", str(db), "--json", "doctor"]).output)
    assert [check["well"] for check in told] == [True, True, False]


def test_a_database_that_is_not_there_is_told(tmp_path: Path) -> None:
    """Without an exception, and the rest is looked at all the same."""
    result = CliRunner().invoke(cli, ["--db", str(tmp_path / "none.sqlite"), "doctor"])
    assert result.exit_code == 1
    assert "! database: " in result.output
    assert "words that wait" in result.output

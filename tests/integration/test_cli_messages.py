"""What commands say when something is missing or wrong, to somebody who reads it the first time."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from omoide.cli.main import cli

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs a command over a database of its own, without models."""
    settings = {
        "OMOIDE_DB": str(tmp_path / "memory.sqlite"),
        "OMOIDE_MODEL": "none",
        "OMOIDE_EMBEDDER": "none",
    }
    return lambda *args: CliRunner().invoke(cli, args, env=settings)


def test_without_a_database_the_message_names_what_makes_one(run: Run) -> None:
    """The option that says where it is, and the command that begins one."""
    said = run("memory", "show").stderr
    assert "check --db, or begin one with `omoide chat`" in said


def test_without_a_model_the_message_says_how_to_choose_one(run: Run) -> None:
    """The variable, the option, and the list."""
    said = run("chat", "--say", "I sing.").stderr
    assert "OMOIDE_MODEL or --model (see `omoide models list`)" in said


def test_a_memory_without_versions_says_when_there_will_be_one(run: Run) -> None:
    """Not that there are those from 0 to 0."""
    run("chat", "--say", "I sing.")
    assert "it is written when a session ends" in run("memory", "diff", "1", "2").stderr
    assert "it is written when a session ends" in run("memory", "show", "--version", "5").stderr


def test_an_import_that_is_no_json_says_where_the_formats_are(run: Run, tmp_path: Path) -> None:
    """In plain words, with the beginning of the file."""
    file = tmp_path / "letter.txt"
    file.write_text("Dear Ana,\n", "utf-8")
    said = run("import", str(file)).stderr
    assert "neither JSON nor JSON lines" in said
    assert "Dear Ana" in said
    assert "`omoide import --help`" in said


@pytest.mark.parametrize("content", [b"\xff\x00\x91", b"Dear Ana,", b'{"a": 1}', b"[" * 200_000])
def test_what_is_no_receipt_is_said_to_be_none(run: Run, tmp_path: Path, content: bytes) -> None:
    """Also a binary file, and one that is nested too deeply to be read."""
    file = tmp_path / "receipt.json"
    file.write_bytes(content)
    result = run("verify-receipt", str(file))
    assert isinstance(result.exception, SystemExit)
    assert f"{file} is not a receipt: give the file that `omoide erase --receipt` wrote" in (
        result.stderr
    )


def test_one_of_a_kind_is_not_said_as_many(run: Run) -> None:
    """An erasure counts what it removed and searched."""
    run("chat", "--say", "Sing!")
    said = run("erase", "--fact", "Sing", "--yes").stdout
    assert "found clean (1 turn, 1 term, 1 vector, 1 session)" in said


def test_without_apsw_the_message_names_what_to_install() -> None:
    """After `pip uninstall apsw`, say, which makes room for the package that encrypts."""
    code = (
        "import sys; sys.modules['apsw'] = None\n"
        "from omoide.cli import main\n"
        "sys.argv = ['omoide', 'memory', 'show']; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "pip install 'apsw>=3.53'" in done.stderr

"""The file under a key. Runs where `apsw-sqlite3mc` is installed in place of `apsw`:
`make encrypted` makes such an environment and runs it there."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import apsw
import pytest
from click.testing import CliRunner

from omoide.adapters.stores.sqlite import SqliteStore, opening
from omoide.adapters.stores.sqlite.cipher import encrypt_file, unlock
from omoide.cli.main import cli
from omoide.errors import BadInput, MissingExtra, StoreEncrypted, StoreError, StoreLocked
from omoide.settings import Settings
from omoide.testing.contracts.making import ANN, HOUR, START, event, memo, sentence, tell, version

if TYPE_CHECKING:
    from pathlib import Path

able = pytest.mark.skipif(
    not hasattr(apsw, "mc_version"),
    reason="the apsw that is installed cannot encrypt; `make encrypted` runs this where it can",
)
KEY = "correct horse battery staple's €"
OTHER = "another key that is long enough"
OPENING = """
import asyncio, sys
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.testing.contracts.making import ANN, tell
async def main():
    store = await SqliteStore.open(sys.argv[1], key=sys.argv[2])
    await tell(store, ANN, "I was quicker.")
    await store.close()
asyncio.run(main())
"""
NEEDLES = [b"hippopotamus", b"needle-key", b"hipopotam"]


async def written(path: Path, key: str) -> SqliteStore:
    """A store with words of every kind, still open."""
    store = await SqliteStore.open(path, key=key)
    await tell(store, ANN, "I saw a hippopotamus.", "Really, a hippopotamus?", key="needle-key")
    await store.events.add(ANN, [event("User saw a hippopotamus.", id="e")])
    await store.memos.add(ANN, [memo("The hippopotamus", id="m")])
    await store.summaries.commit(ANN, version(1, sentence("User saw a hippopotamus.")))
    await store.turns.end(ANN, at=START + HOUR)
    return store


def plaintext(folder: Path) -> list[str]:
    """Files in which any of the words can be read."""
    return [
        f"{path.name} {needle!r}"
        for path in folder.iterdir()
        for needle in NEEDLES
        if needle in path.read_bytes()
    ]


def names(folder: Path) -> list[str]:
    """What lies in a folder."""
    return sorted(path.name for path in folder.iterdir())


@able
async def test_no_word_is_in_file_log_or_copies(tmp_path: Path) -> None:
    """Neither while it is open, nor after it was closed, nor after an erasure rewrote it, nor in a
    copy made by SQLite."""
    path = tmp_path / "memory.sqlite"
    store = await written(path, KEY)
    assert (tmp_path / "memory.sqlite-wal").stat().st_size > 0
    assert plaintext(tmp_path) == []
    copy = apsw.Connection(str(path))
    copy.pragma("key", KEY)
    copy.execute("VACUUM INTO ?", (str(tmp_path / "backup.sqlite"),))
    copy.close()
    assert plaintext(tmp_path) == []
    await store.archive.erase(ANN, turns=["I saw a hippopotamus."])
    assert plaintext(tmp_path) == []
    await store.close()
    assert plaintext(tmp_path) == []
    again = await SqliteStore.open(path, key=KEY)
    assert [turn.text for turn in await again.turns.read(ANN)] == ["Really, a hippopotamus?"]
    await again.close()


@able
async def test_a_new_file_that_another_process_makes_at_the_same_time(tmp_path: Path) -> None:
    """The other was quicker, after this one had looked and found nothing. Both read what the other
    writes, and nothing is left beside the file."""
    path = tmp_path / "memory.sqlite"
    with pytest.MonkeyPatch.context() as patched:

        def unlock_beside(connection: apsw.Connection, key: str, where: str) -> None:
            patched.undo()
            unlock(connection, key, where)
            command = [sys.executable, "-c", OPENING, str(path), KEY]
            subprocess.run(command, check=True, timeout=600)

        patched.setattr(opening, "unlock", unlock_beside)
        store = await SqliteStore.open(path, key=KEY)
    assert [turn.text for turn in await store.turns.read(ANN)] == ["I was quicker."]
    await store.close()
    assert names(tmp_path) == ["memory.sqlite"]


async def test_without_a_key_the_words_are_there(tmp_path: Path) -> None:
    """The search above finds what is not encrypted."""
    if not hasattr(apsw, "mc_version"):
        store = await SqliteStore.open(tmp_path / "memory.sqlite")
        await tell(store, ANN, "I saw a hippopotamus.")
    else:
        store = await written(tmp_path / "memory.sqlite", "")
    await store.close()
    assert plaintext(tmp_path)


@able
@pytest.mark.parametrize("key", ["", OTHER])
async def test_a_wrong_or_missing_key_is_a_clear_error(tmp_path: Path, key: str) -> None:
    """It says what to give and where, holds no key, and leaves the file as it was."""
    path = tmp_path / "memory.sqlite"
    await (await written(path, KEY)).close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="OMOIDE_KEY or --key-file") as caught:
        await SqliteStore.open(path, key=key)
    assert KEY not in str(caught.value)
    assert not key or key not in str(caught.value)
    assert path.read_bytes() == before


@able
async def test_a_key_for_a_plain_file_is_refused(tmp_path: Path) -> None:
    """Nobody believes a file to be encrypted that is not."""
    path = tmp_path / "memory.sqlite"
    await (await written(path, "")).close()
    with pytest.raises(StoreEncrypted, match="is not encrypted"):
        await SqliteStore.open(path, key=KEY)


@able
async def test_encrypt_and_rekey(tmp_path: Path) -> None:
    """A plain file is encrypted with all that is in it, and encrypted again under another key; the
    old key opens it no more, and no plain copy stays behind."""
    path = tmp_path / "memory.sqlite"
    store = await written(path, "")
    turns = await store.turns.read(ANN)
    await store.close()
    encrypt_file(path, old="", new=KEY)
    assert plaintext(tmp_path) == []
    assert path.stat().st_mode & 0o077 == 0
    assert names(tmp_path) == ["memory.sqlite"]
    encrypt_file(path, old=KEY, new=OTHER)
    with pytest.raises(StoreEncrypted):
        await SqliteStore.open(path, key=KEY)
    again = await SqliteStore.open(path, key=OTHER)
    assert await again.turns.read(ANN) == turns
    await again.close()


@able
async def test_a_file_in_use_is_not_replaced(tmp_path: Path) -> None:
    """While somebody has it open, it is not encrypted under their feet."""
    path = tmp_path / "memory.sqlite"
    store = await written(path, "")
    with pytest.raises(StoreLocked):
        encrypt_file(path, old="", new=KEY, patience=0.1)
    assert len(await store.turns.read(ANN)) == 2
    await store.close()
    assert plaintext(tmp_path)


@able
def test_the_commands(tmp_path: Path) -> None:
    """`omoide encrypt` and `rekey` take keys from files and the environment, and say none."""
    db, first, second = (tmp_path / name for name in ("m.sqlite", "first", "second"))
    first.write_text(f"{KEY}\n", "utf-8")
    second.write_text(OTHER)
    lines = tmp_path / "in.jsonl"
    lines.write_text(json.dumps({"role": "user", "content": "I saw a hippopotamus."}))
    run = CliRunner()
    said = ""
    for command, environment in (
        (["import", str(lines), "--no-digest"], {}),
        (["--key-file", str(first), "encrypt"], {}),
        (["export"], {"OMOIDE_KEY": KEY}),
        (["--key-file", str(first), "rekey", "--new-key-file", str(second)], {}),
        (["export", "--key-file", str(second)], {}),
    ):
        done = run.invoke(cli, ["--db", str(db), *command], env=environment)
        assert done.exit_code == 0, done.output
        said += done.output
    assert said.count("I saw a hippopotamus.") == 2
    refused = run.invoke(cli, ["--db", str(db), "export"], env={"OMOIDE_KEY": KEY})
    assert refused.exit_code == 1
    assert KEY not in said + refused.output
    assert OTHER not in said + refused.output


def test_a_key_is_in_no_representation() -> None:
    """Settings that are printed or logged do not show it."""
    assert KEY not in repr(Settings(key=KEY))


def test_a_short_key_is_refused(tmp_path: Path) -> None:
    """A key that can be guessed is no key, and the error does not repeat it."""
    wrong = (BadInput, MissingExtra)
    (tmp_path / "x").write_bytes(b"")
    with pytest.raises(wrong) as caught:
        encrypt_file(tmp_path / "x", old="", new="sesame")
    assert "sesame" not in str(caught.value)


@pytest.mark.skipif(hasattr(apsw, "mc_version"), reason="this SQLite can encrypt")
async def test_a_key_without_the_extra_names_what_to_install(tmp_path: Path) -> None:
    """Nothing is quietly stored in the clear."""
    with pytest.raises(MissingExtra, match="apsw-sqlite3mc"):
        await SqliteStore.open(tmp_path / "memory.sqlite", key=KEY)


@able
def test_the_key_is_not_among_the_arguments(tmp_path: Path) -> None:
    """There is no option that takes a key itself, which `ps` would show."""
    done = subprocess.run(
        [sys.executable, "-m", "omoide.cli", "--help"], capture_output=True, text=True, check=True
    )
    assert "--key-file" in done.stdout
    assert "--key " not in done.stdout

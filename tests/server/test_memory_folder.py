"""Anthropic's memory tool over a user's folder: what it answers, and what it never does."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import omoide
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import Note, Owner
from omoide.engine.memory_folder import MAX_FILES, ROOT, SUMMARY, Files, run_command
from omoide.errors import BadCommand, BadInput, NoSuchVersion
from omoide.testing import ScriptedModel

from .serving import M1, Bench, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


LONGEST = 1000
NOTES = f"{ROOT}/notes.md"


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """A running server."""
    async with serving(tmp_path) as bench:
        yield bench


def folder(**texts: str) -> Files:
    """A folder with these files; `_` in a name stands for a slash."""
    return Files(texts={f"{ROOT}/{name.replace('_', '/')}": text for name, text in texts.items()})


def run(files: Files, command: str, **arguments: Any) -> str:  # noqa: ANN401 - any JSON
    """Do a command."""
    return run_command(files, {"command": command, **arguments}, max_chars=LONGEST)


def test_a_change_is_shown_with_its_lines_in_a_file_that_begins_empty() -> None:
    """An empty first line counts: as many lines are shown before the change as after it."""
    files = Files(texts={})
    run(files, "create", path=NOTES, file_text="\n" + "".join(f"line {n}\n" for n in range(2, 30)))
    shown = run(files, "str_replace", path=NOTES, old_str="line 15", new_str="new")
    numbers = [int(line.split("\t")[0]) for line in shown.splitlines()[1:]]
    assert (numbers[0] + numbers[-1]) / 2 == 15


def test_the_lines_of_a_text_that_occurs_twice_are_told() -> None:
    """Counted from the first line, also if that is empty."""
    with pytest.raises(BadCommand, match=r"in lines: 2, 4\."):
        run(folder(a="\none\n\none\n"), "str_replace", path=f"{ROOT}/a", old_str="one")


def test_a_file_lives() -> None:
    """Created, read, edited, inserted into, moved and deleted, each told as the tool tells it."""
    files = Files(texts={})
    assert run(files, "create", path=NOTES, file_text="one\ntwo\n") == (
        f"File created successfully at: {NOTES}"
    )
    assert run(files, "view", path=NOTES) == (
        f"Here's the content of {NOTES} with line numbers:\n     1\tone\n     2\ttwo\n     3\t"
    )
    assert run(files, "view", path=NOTES, view_range=[2, -1]).endswith("     2\ttwo\n     3\t")
    assert run(files, "str_replace", path=NOTES, old_str="two", new_str="2").endswith(
        "     1\tone\n     2\t2\n     3\t"
    )
    assert run(files, "insert", path=NOTES, insert_line=1, insert_text="and\n") == (
        f"The file {NOTES} has been edited."
    )
    assert files.texts == {NOTES: "one\nand\n2\n"}
    moved = f"{ROOT}/old/notes.md"
    run(files, "rename", old_path=NOTES, new_path=moved)
    assert files.texts == {moved: "one\nand\n2\n"}
    assert run(files, "delete", path=f"{ROOT}/old/") == f"Successfully deleted {ROOT}/old"
    assert files.texts == {}


def test_a_folder_is_listed_two_levels_deep_with_sizes() -> None:
    """Deeper and hidden files are left out, and a folder is as large as what is in it."""
    files = folder(a="x" * 1536, b_c="yy", b_d_e="zzz")
    files.texts[f"{ROOT}/.hidden"] = "?"
    head, *rows = run(files, "view", path=ROOT).split("\n")
    assert head.startswith("Here're the files and directories up to 2 levels deep in /memories")
    assert rows == [
        f"1.5K\t{ROOT}",
        f"1.5K\t{ROOT}/a",
        f"5B\t{ROOT}/b/",
        f"2B\t{ROOT}/b/c",
        f"3B\t{ROOT}/b/d/",
    ]
    assert run(Files(texts={}), "view", path=ROOT).endswith(f"0B\t{ROOT}")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"command": "view", "path": "/memories/none"}, "does not exist"),
        ({"command": "create", "path": f"{ROOT}/a", "file_text": "x"}, "already exists"),
        ({"command": "create", "path": f"{ROOT}/b", "file_text": "x"}, "is a directory"),
        ({"command": "create", "path": f"{ROOT}/a/x", "file_text": "x"}, "is a file"),
        ({"command": "create", "path": f"{ROOT}/x", "file_text": "\x00"}, "control character"),
        ({"command": "create", "path": f"{ROOT}/x", "file_text": "x" * 1001}, "characters"),
        ({"command": "create", "path": ROOT, "file_text": "x"}, "directory"),
        ({"command": "str_replace", "path": f"{ROOT}/a", "old_str": "z", "new_str": ""}, "verbat"),
        ({"command": "str_replace", "path": f"{ROOT}/a", "old_str": "o"}, "in lines: 1, 2"),
        ({"command": "str_replace", "path": f"{ROOT}/a", "old_str": ""}, "old_str"),
        ({"command": "insert", "path": f"{ROOT}/a", "insert_line": 9, "insert_text": ""}, "0, 2"),
        ({"command": "delete", "path": ROOT}, "itself"),
        ({"command": "rename", "old_path": f"{ROOT}/a", "new_path": f"{ROOT}/b"}, "exists"),
        ({"command": "rename", "old_path": f"{ROOT}/b", "new_path": f"{ROOT}/b/x"}, "itself"),
        ({"command": "rename", "old_path": ROOT, "new_path": f"{ROOT}/x"}, "itself"),
        ({"command": "view", "path": f"{ROOT}/a", "view_range": [1]}, "view_range"),
        ({"command": "sing"}, "there are view, create"),
        ({"command": "view"}, "`path` must be given"),
    ],
)
def test_what_cannot_be_done_changes_nothing(arguments: dict[str, Any], reason: str) -> None:
    """The model is told why."""
    files = folder(a="one\ntwo", b_c="x")
    before = dict(files.texts)
    with pytest.raises(BadCommand, match=reason):
        run_command(files, arguments, max_chars=LONGEST)
    assert files.texts == before
    assert not files.written
    assert not files.removed


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "memories/a",
        "/memories/../a",
        "/memories/a/../../etc",
        "/memories//a",
        "/memories/./a",
        "/memories2/a",
        "/memories/a\x00",
        "/memories/..\\a",
        "",
        "/",
        "/memories/" + "x" * 600,
    ],
)
def test_no_path_leaves_the_folder(path: str) -> None:
    """Whatever a model was talked into."""
    for command in ("view", "create", "delete"):
        with pytest.raises(BadCommand):
            run(Files(texts={}), command, path=path, file_text="x")
    for old, new in ((path, NOTES), (NOTES, path)):
        with pytest.raises(BadCommand):
            run(folder(**{"notes.md": "x"}), "rename", old_path=old, new_path=new)


@given(
    st.dictionaries(
        st.sampled_from(["path", "old_path", "new_path", "file_text", "old_str", "view_range"]),
        st.none() | st.integers() | st.text(max_size=20) | st.lists(st.integers(), max_size=3),
    ),
    st.sampled_from(["view", "create", "str_replace", "insert", "delete", "rename"]),
)
def test_any_input_is_done_or_refused(arguments: dict[str, Any], command: str) -> None:
    """A model may write anything; every path that is stored is within the folder."""
    files = folder(a="one")
    try:
        result = run_command(files, {**arguments, "command": command}, max_chars=LONGEST)
    except BadCommand as refusal:
        result = str(refusal)
    assert result
    assert all(path.startswith(f"{ROOT}/") for path in files.texts)


def test_a_folder_has_a_limit() -> None:
    """A model in a loop does not fill the disk."""
    files = Files(texts={f"{ROOT}/{n}": "" for n in range(MAX_FILES)})
    with pytest.raises(BadCommand, match="Delete some"):
        run(files, "create", path=NOTES, file_text="")


async def test_files_last_and_are_one_users(tmp_path: Path) -> None:
    """They survive a restart, are exported, and nobody else sees them."""
    for opened in (1, 2):
        async with omoide.open_async(
            db=tmp_path / "m.sqlite", model=ScriptedModel(), embedder="none", background=False
        ) as memory:
            if opened == 1:
                create = {"command": "create", "path": NOTES, "file_text": "likes tea"}
                await memory.memory_tool("ana", create)
            else:
                view = {"command": "view", "path": NOTES}
                assert "likes tea" in await memory.memory_tool("ana", view)
                with pytest.raises(BadCommand, match="does not exist"):
                    await memory.memory_tool("bob", view)
                exported = [str(record) async for record in memory.export("ana")]
                assert any("likes tea" in record for record in exported)
                await memory.erase("ana")
                with pytest.raises(BadCommand, match="does not exist"):
                    await memory.memory_tool("ana", view)


def test_the_tool_works_without_await(tmp_path: Path) -> None:
    """The sync memory has it as a verb."""
    with omoide.open(db=tmp_path / "m.sqlite", model="none", embedder="none") as memory:
        memory.memory_tool("ana", {"command": "create", "path": NOTES, "file_text": "tea"})
        assert NOTES in memory.memory_tool("ana", {"command": "view", "path": ROOT})


async def test_changes_at_the_same_time_are_all_kept(bench: Bench) -> None:
    """Commands of one user are done one after another."""
    memory = bench.memory()
    await memory.memory_tool("ana", {"command": "create", "path": NOTES, "file_text": ""})
    insert = {"command": "insert", "path": NOTES, "insert_line": 0}
    await asyncio.gather(
        *(memory.memory_tool("ana", {**insert, "insert_text": f"line {n}"}) for n in range(20))
    )
    shown = await memory.memory_tool("ana", {"command": "view", "path": NOTES})
    assert all(f"\tline {n}\n" in f"{shown}\n" for n in range(20))


async def test_the_summary_is_a_file_that_cannot_be_written(bench: Bench) -> None:
    """The model sees what is known about the user where it looks first."""
    await bench.remember()
    tool = "/api/memory/tool?user=ana"
    listed = await bench.client.post(tool, json={"command": "view", "path": ROOT})
    assert SUMMARY in listed.json()["result"]
    shown = await bench.client.post(tool, json={"command": "view", "path": SUMMARY})
    assert M1 in shown.json()["result"]
    for command in (
        {"command": "str_replace", "path": SUMMARY, "old_str": "cat", "new_str": "dog"},
        {"command": "delete", "path": SUMMARY},
        {"command": "rename", "old_path": SUMMARY, "new_path": NOTES},
    ):
        refused = await bench.client.post(tool, json=command)
        assert refused.status_code == 200
        assert refused.json()["is_error"] is True
        assert "cannot be changed" in refused.json()["result"]
    assert await bench.memory().notes("ana", kind="file") == ()


async def test_the_summarys_path_is_reserved_before_there_is_one(bench: Bench) -> None:
    """A file there, or a folder, could not be reached once the summary is shown."""
    memory = bench.memory()
    await memory.memory_tool("ana", {"command": "create", "path": NOTES, "file_text": "tea"})
    for command in (
        {"command": "create", "path": SUMMARY, "file_text": "my own"},
        {"command": "rename", "old_path": NOTES, "new_path": SUMMARY},
        {"command": "create", "path": f"{SUMMARY}/a.md", "file_text": "my own"},
    ):
        with pytest.raises(BadCommand, match=re.escape(SUMMARY)):
            await memory.memory_tool("ana", command)
    assert [note.key for note in await memory.notes("ana", kind="file")] == [NOTES]


@pytest.mark.parametrize("inside", ["", "/a.md"], ids=["a file", "a folder"])
@pytest.mark.parametrize("taken", [False, True])
async def test_a_file_at_the_summarys_path_is_moved_and_stays(
    bench: Bench, inside: str, *, taken: bool
) -> None:
    """In a database of an earlier version: it can be read and changed, and its versions say where
    it came from."""
    await bench.remember()
    memory, notes, now = bench.memory(), bench.server.runtime.store.notes, bench.clock.now()
    owner = Owner(tenant="default", user="ana")
    old = {f"{SUMMARY}{inside}": "my own", **({f"{ROOT}/own_summary.md": "x"} if taken else {})}
    for key, text in old.items():
        await notes.put(owner, Note(kind="file", key=key, text=text, time=now))
    place = f"{ROOT}/own_summary{'_2' * taken}.md{inside}"
    for _ in range(2):
        shown = await memory.memory_tool("ana", {"command": "view", "path": SUMMARY})
        assert M1 in shown
        shown = await memory.memory_tool("ana", {"command": "view", "path": place})
        assert "my own" in shown
    versions = await memory.file_versions("ana")
    assert [(v.path, v.text) for v in versions] == [(f"{SUMMARY}{inside}", None), (place, "my own")]
    await memory.memory_tool("ana", {"command": "delete", "path": place})
    left = {note.key for note in await memory.notes("ana", kind="file")}
    assert left == {*old} - {f"{SUMMARY}{inside}"}


async def test_a_crash_in_a_rename_loses_nothing(tmp_path: Path) -> None:
    """The new files are written before the old ones go."""
    store = await SqliteStore.open(":memory:")
    async with serving(tmp_path, store=store) as bench:
        memory = bench.memory()
        await memory.memory_tool("ana", {"command": "create", "path": NOTES, "file_text": "tea"})
        real = bench.server.runtime.store.notes

        class Crashing:
            read, put = real.read, real.put

            async def remove(self, *_: object, **__: object) -> int:
                raise RuntimeError("the power went")

        bench.server.runtime.store.notes = Crashing()
        rename = {"command": "rename", "old_path": NOTES, "new_path": f"{ROOT}/new.md"}
        with pytest.raises(RuntimeError):
            await memory.memory_tool("ana", rename)
        kept = {note.key for note in await memory.notes("ana", kind="file")}
        assert kept == {NOTES, f"{ROOT}/new.md"}


async def test_every_change_is_a_version(bench: Bench) -> None:
    """Who wrote which text by which command, also of files that were moved or removed."""
    memory, moved = bench.memory(), f"{ROOT}/tea.md"
    for command in (
        {"command": "create", "path": NOTES, "file_text": "green"},
        {"command": "str_replace", "path": NOTES, "old_str": "green", "new_str": "black"},
        {"command": "view", "path": NOTES},
        {"command": "rename", "old_path": NOTES, "new_path": moved},
        {"command": "delete", "path": moved},
    ):
        await memory.memory_tool("ana", command, by="agent 1")
    versions = await memory.file_versions("ana")
    assert [(v.number, v.path, v.command, v.text) for v in versions] == [
        (1, NOTES, "create", "green"),
        (2, NOTES, "str_replace", "black"),
        (3, NOTES, "rename", None),
        (4, moved, "rename", "black"),
        (5, moved, "delete", None),
    ]
    assert {v.by for v in versions} == {"agent 1"}
    assert {v.time for v in versions} == {bench.clock.now()}
    assert await memory.file_versions("ana", moved) == versions[3:]
    assert await memory.file_versions("bob") == ()


async def test_an_earlier_text_is_restored_as_a_new_version(bench: Bench) -> None:
    """Also of a file that was deleted; what was there stays in the history."""
    memory = bench.memory()
    await memory.memory_tool("ana", {"command": "create", "path": NOTES, "file_text": ""})
    await memory.memory_tool("ana", {"command": "delete", "path": NOTES})
    restored = await memory.restore_file("ana", NOTES, 1, by="ana")
    assert (restored.number, restored.text, restored.command, restored.by) == (
        3,
        "",
        "restore",
        "ana",
    )
    assert (await memory.file_versions("ana"))[-1] == restored
    (file,) = await memory.notes("ana", kind="file")
    assert (file.key, file.text) == (NOTES, "")
    for missing in (2, 9):  # where it was deleted; never
        with pytest.raises(NoSuchVersion, match="there is 1, 3"):
            await memory.restore_file("ana", NOTES, missing)
    with pytest.raises(BadCommand, match="escape"):
        await memory.restore_file("ana", f"{ROOT}/../notes.md", 1)
    with pytest.raises(BadInput, match="printable line"):
        await memory.restore_file("ana", NOTES, 1, by="two\nlines")


async def test_no_version_is_lost_to_a_crash(tmp_path: Path) -> None:
    """The version is stored before the file changes, and the next change gets the next number."""
    async with serving(tmp_path, store=await SqliteStore.open(":memory:")) as bench:
        memory = bench.memory()
        await memory.memory_tool("ana", {"command": "create", "path": NOTES, "file_text": "tea"})
        real = bench.server.runtime.store.notes

        class Crashing:
            read, remove = real.read, real.remove

            async def put(self, owner: Owner, note: Note, *, mark: str | None = None) -> None:
                if note.kind == "file":
                    raise RuntimeError("the power went")
                await real.put(owner, note, mark=mark)

        bench.server.runtime.store.notes = Crashing()
        insert = {"command": "insert", "path": NOTES, "insert_line": 0, "insert_text": "green"}
        with pytest.raises(RuntimeError):
            await memory.memory_tool("ana", insert)
        bench.server.runtime.store.notes = real
        await memory.memory_tool("ana", insert)
        texts = [v.text for v in await memory.file_versions("ana")]
        assert texts == ["tea", "green\ntea\n", "green\ntea\n"]


async def test_versions_are_erased_with_what_they_quote(bench: Bench) -> None:
    """With any turn of the user, like the files; nothing is left in an export."""
    memory = bench.memory()
    await memory.record("ana", "I like green tea.")
    await memory.memory_tool("ana", {"command": "create", "path": NOTES, "file_text": "green tea"})
    await memory.memory_tool("ana", {"command": "delete", "path": NOTES})
    (turn,) = await memory.turns("ana")
    await memory.erase("ana", turns=[turn.id])
    assert await memory.file_versions("ana") == ()
    assert "green" not in str([record async for record in memory.export("ana")])


async def test_versions_over_http_name_the_key(bench: Bench) -> None:
    """Who wrote a file is the key's name, whatever the request says; a page has a cursor."""
    headers = bench.key()
    tool, files = "/api/memory/tool?user=ana", "/api/memory/files?user=ana"
    create = {"command": "create", "path": NOTES, "file_text": "tea", "by": "somebody else"}
    await bench.client.post(tool, json=create, headers=headers)
    again = {"path": NOTES, "version": 1}
    restored = await bench.client.post(
        "/api/memory/files/restore?user=ana", json=again, headers=headers
    )
    assert restored.status_code == 201
    first = (await bench.client.get(f"{files}&limit=1", headers=headers)).json()
    rest = (await bench.client.get(f"{files}&cursor={first['next']}", headers=headers)).json()
    assert rest["items"] == [restored.json()]
    assert [(v["command"], v["by"]) for v in first["items"] + rest["items"]] == [
        ("create", "k"),
        ("restore", "k"),
    ]
    missing = await bench.client.post(
        "/api/memory/files/restore?user=ana", json={**again, "version": 9}, headers=headers
    )
    assert missing.status_code == 404
    outside = await bench.client.get(f"{files}&path=/etc/passwd", headers=headers)
    assert outside.status_code == 422

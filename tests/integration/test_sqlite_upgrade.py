"""Files of an older omoide: they are brought up to date when opened, and lose nothing."""

from __future__ import annotations

import asyncio
import sys
from datetime import date, datetime, timedelta, timezone
from importlib import resources
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.adapters.stores.sqlite.opening import APPLICATION_ID
from omoide.domain import FactChanges, JobState, MemoryKind
from omoide.errors import StoreError
from omoide.language.terms import terms
from omoide.testing.contracts.making import (
    ANN,
    ANN_ELSEWHERE,
    BOB,
    HOUR,
    SPACE,
    START,
    event,
    fact,
    memo,
    note,
    rows,
    tell,
)

if TYPE_CHECKING:
    from pathlib import Path

TURNS = ("green tea", "black tea", "東京 trip")
MIGRATIONS = resources.files("omoide.adapters.stores.sqlite.migrations")
WHEN = 1_714_555_815_123_456  # START


def schema_1(path: Path) -> None:
    """A file as the first omoide left it: two owners, one of whom has erased a turn, with turns,
    postings, two vectors of which one was replaced, a version and an open session."""
    db = apsw.Connection(str(path))
    db.execute("PRAGMA page_size = 16384")
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute((MIGRATIONS / "0001_first.sql").read_text("utf-8"))
    db.execute("PRAGMA user_version = 1")
    db.execute("INSERT INTO meta VALUES ('written_by', '0.0.1')")
    db.execute("INSERT INTO spaces VALUES (1, 'test', '1', 3)")
    for owner, who in ((1, ANN), (2, ANN_ELSEWHERE)):
        db.execute(
            "INSERT INTO owners VALUES (?, ?, ?, 1, 4, 3, 2, 1, 1)", (owner, who.tenant, who.user)
        )
        db.execute("INSERT INTO sessions VALUES (?, 1, NULL, ?, ?, NULL, 3)", (owner, WHEN, WHEN))
        for position, text in zip((1, 3, 4), TURNS, strict=True):
            db.execute(
                "INSERT INTO turns VALUES (?, ?, ?, 1, 'user', ?, ?, 'en', NULL)",
                (owner, position, text, text, WHEN),
            )
            found = terms(text)
            for term in set(found):
                db.execute(
                    "INSERT INTO postings VALUES (?, ?, 1, ?, ?, ?)",
                    (owner, term, position, found.count(term), len(found)),
                )
        for serial, position in ((1, 1), (2, 3)):
            vector = rows((1, serial, 0)).astype("<f4").tobytes()
            db.execute(
                "INSERT INTO vectors VALUES (?, 1, ?, 1, ?, ?)", (owner, serial, position, vector)
            )
        db.execute("INSERT INTO embedded VALUES (?, 1, 3)", (owner,))
        db.execute(
            "INSERT INTO summaries VALUES (?, 1, '[]', 'digest', 1, ?, 'en', NULL, 'm', 'p', "
            "1, 1, 1.0, '[]')",
            (owner, WHEN),
        )
    db.execute("PRAGMA journal_mode = WAL").fetchall()
    db.close()


def schema(path: Path) -> set[tuple[Any, ...]]:
    """Tables, indexes and triggers with their columns."""
    db = apsw.Connection(str(path))
    names = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    found: set[tuple[Any, ...]] = set(db.execute("SELECT type, name, tbl_name FROM sqlite_schema"))
    for name in names:
        found |= {(name, *row) for row in db.execute(f"PRAGMA table_xinfo({name})")}
    assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert db.execute("PRAGMA foreign_key_check").fetchall() == []
    assert db.execute("PRAGMA user_version").fetchall() == [(10,)]
    db.close()
    return found


async def test_same_schema_as_a_new_file(tmp_path: Path) -> None:
    """An upgraded file has exactly the tables, columns, indexes and triggers of a new one."""
    schema_1(tmp_path / "old.db")
    for name in ("old.db", "new.db"):
        store = await SqliteStore.open(tmp_path / name)
        await store.close()
    assert schema(tmp_path / "old.db") == schema(tmp_path / "new.db")


async def test_everything_is_still_there(tmp_path: Path) -> None:
    """Turns, sessions, versions, words and vectors of an older file are found as before."""
    path = tmp_path / "omoide.db"
    schema_1(path)
    store = await SqliteStore.open(path, create=False)
    for owner in (ANN, ANN_ELSEWHERE):
        turns = await store.turns.read(owner)
        assert [(t.position, t.text, t.time) for t in turns] == [
            (1, TURNS[0], START),
            (3, TURNS[1], START),
            (4, TURNS[2], START),
        ]
        assert [s.turns for s in await store.turns.sessions(owner)] == [3]
        assert len(await store.summaries.history(owner)) == 1
        hits = await store.index.nearest(owner, SPACE, rows((1, 1, 0)), k=9)
        assert [h.id for h in hits] == ["green tea", "black tea"]
        [lack] = await store.index.without_vector(owner, SPACE, limit=9)
        assert lack.id == TURNS[2]
    fresh = await SqliteStore.open(":memory:")
    await tell(fresh, ANN, *TURNS)
    for query in (["tea"], ["green", "東京"]):
        expected = await fresh.index.search_words(ANN, query, k=9)
        assert await store.index.search_words(ANN, query, k=9) == expected
    await fresh.close()
    await store.close()


async def test_work_goes_on(tmp_path: Path) -> None:
    """An upgraded file goes on counting where it was, and takes in every new kind of memory."""
    path = tmp_path / "omoide.db"
    schema_1(path)
    store = await SqliteStore.open(path)
    [turn] = await tell(store, ANN, "more tea")
    assert (turn.position, turn.session) == (5, 1)
    await store.index.put(
        ANN, SPACE, ids=[TURNS[2], "more tea"], vectors=rows((1, 0, 0), (0, 0, 1))
    )
    assert await store.index.without_vector(ANN, SPACE, limit=9) == ()
    assert [h.id for h in await store.index.nearest(ANN, SPACE, rows((0, 0, 1)), k=1)] == [
        "more tea"
    ]
    for owner in (ANN, BOB):
        told = event("drank tea", id="e")
        await store.events.add(owner, [told])
        await store.memos.add(owner, [memo("all about tea", id="m")])
        await store.notes.put(owner, note("tea"))
        assert await store.events.consolidate(owner, [told.recalled(START + HOUR)]) == 1
        await store.facts.apply(owner, FactChanges(added=(fact("likes tea", id="f"),)))
        for kind, name in (
            (MemoryKind.EVENT, "e"),
            (MemoryKind.MEMO, "m"),
            (MemoryKind.FACT, "f"),
        ):
            await store.index.put(owner, SPACE, ids=[name], vectors=rows((1, 0, 0)), kind=kind)
            [hit] = await store.index.nearest(owner, SPACE, rows((1, 0, 0)), k=9, kind=kind)
            assert [hit.id] == [
                h.id for h in await store.index.search_words(owner, ["tea"], k=9, kind=kind)
            ]
    job = await store.jobs.claim("acme", worker="w", now=START, lease=HOUR)
    assert job is not None
    assert await store.jobs.set_state(job, state=JobState.DONE)
    erased = await store.archive.erase(ANN, turns=["green tea"])
    assert erased.turns == 1
    assert (await store.archive.erase(ANN)).turns == 3
    assert (await store.archive.erase(ANN_ELSEWHERE)).turns == 3
    assert await store.archive.owners("other") == ()
    await store.close()


@pytest.mark.heavy
async def test_many_upgrade_at_once(tmp_path: Path) -> None:
    """Processes that open an older file at the same moment upgrade it once, and all can use it."""
    path = tmp_path / "omoide.db"
    schema_1(path)
    code = (
        "import asyncio, sys\n"
        "from omoide.adapters.stores.sqlite import SqliteStore\n"
        "from omoide.testing.contracts.making import ANN, event\n"
        "async def main():\n"
        "    store = await SqliteStore.open(sys.argv[1])\n"
        "    await store.events.add(ANN, [event(sys.argv[2])])\n"
        "    await store.close()\n"
        "asyncio.run(main())\n"
    )
    processes = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", code, path, name)
        for name in "abc"
    ]
    assert [await process.wait() for process in processes] == [0, 0, 0]
    store = await SqliteStore.open(path)
    assert {e.id for e in await store.events.read(ANN)} == set("abc")
    assert len(await store.turns.read(ANN)) == 3
    await store.close()


async def test_an_upgrade_that_fails_changes_nothing(tmp_path: Path) -> None:
    """If a step cannot be done, the file stays at its schema with all its rows."""
    path = tmp_path / "omoide.db"
    schema_1(path)
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE notes (mine)")
    db.close()
    with pytest.raises(StoreError, match="notes"):
        await SqliteStore.open(path)
    db = apsw.Connection(str(path))
    assert db.execute("PRAGMA user_version").fetchall() == [(1,)]
    assert db.execute("SELECT count(*), sum(positions) FROM turns, owners").fetchall() == [(12, 48)]
    assert db.execute("SELECT count(*) FROM embedded").fetchall() == [(2,)]
    db.execute("DROP TABLE notes")
    db.close()
    store = await SqliteStore.open(path)
    assert len(await store.turns.read(ANN)) == 3
    await store.close()


async def test_one_character_finds_what_is_in_an_older_file(tmp_path: Path) -> None:
    """The last character of a word is found after the upgrade too, and counted rightly."""
    path = tmp_path / "omoide.db"
    schema_1(path)
    store = await SqliteStore.open(path)
    for character in "東京":
        [hit] = await store.index.search_words(ANN, [character], k=5)
        assert hit.id == "東京 trip"
    await store.events.add(ANN, [event("私の猫 猫")])
    await store.close()
    db = apsw.Connection(str(path))
    [(count,)] = db.execute("SELECT tf FROM postings WHERE term = '猫' AND kind = 2")
    assert count == 2  # one that stands alone, and one at the end of a word
    db.close()


GLUED = "我在Google工作了3年"
FORMER_POSTINGS = ("我在", "在", "google工作了3年")
"""The terms that schema 8 made of it."""


async def test_words_beside_chinese_are_found_in_an_older_file(tmp_path: Path) -> None:
    """They were one term with what follows; now each is found, and none of the former is left."""
    path = tmp_path / "omoide.db"
    store = await SqliteStore.open(path)
    await tell(store, ANN, "I like tea", GLUED)
    wanted = [await store.index.search_words(ANN, [t], k=9) for t in ("googl", "工作", "年", "tea")]
    assert all(wanted)
    await store.close()
    db = apsw.Connection(str(path))
    [(owner,)] = db.execute("SELECT owner FROM turns GROUP BY owner")
    outlines = db.execute("SELECT * FROM outlines").fetchall()
    db.execute("DELETE FROM postings WHERE item = 2")
    db.execute("UPDATE outlines SET length = 2, telling = 0 WHERE position = 2")
    for term in FORMER_POSTINGS:
        db.execute("INSERT INTO postings VALUES (?, ?, 1, 2, 1, 2)", (owner, term))
    db.execute("PRAGMA user_version = 8")
    db.close()
    store = await SqliteStore.open(path)
    found = [await store.index.search_words(ANN, [t], k=9) for t in ("googl", "工作", "年", "tea")]
    assert found == wanted
    assert not await store.index.search_words(ANN, ["google工作了3年"], k=9)
    await store.close()
    db = apsw.Connection(str(path))
    assert db.execute("SELECT * FROM outlines").fetchall() == outlines
    db.close()


async def test_older_turns_name_the_days_that_a_new_turn_would(tmp_path: Path) -> None:
    """Until schema 9 a month to come was stored as the one before; days that were right stay."""
    path = tmp_path / "omoide.db"
    store = await SqliteStore.open(path)
    await tell(store, ANN, "We will fly to Tokyo in December.", "I like tea", "In May 2020 I ran.")
    await store.close()
    db = apsw.Connection(str(path))
    days = "SELECT named FROM outlines ORDER BY position"
    written = db.execute(days).fetchall()
    db.execute("UPDATE outlines SET named = '738855 738885' WHERE position = 1")  # the one before
    db.execute("PRAGMA user_version = 9")
    db.close()
    store = await SqliteStore.open(path)
    await store.close()
    db = apsw.Connection(str(path))
    assert db.execute(days).fetchall() == written
    db.close()
    first, last = (date.fromordinal(int(day)) for day in str(written[0][0]).split())
    assert (first, last) == (date(START.year, 12, 1), date(START.year, 12, 31))


async def test_days_that_were_right_where_a_turn_was_said_stay(tmp_path: Path) -> None:
    """Its time is stored in UTC, in which it may have been another day."""
    path = tmp_path / "omoide.db"
    store = await SqliteStore.open(path)
    morning = datetime(2026, 5, 1, 8, tzinfo=timezone(timedelta(hours=9)))  # in UTC the day before
    await tell(store, ANN, "I fly to Kyoto tomorrow.", at=morning)
    await store.close()
    db = apsw.Connection(str(path))
    db.execute("PRAGMA user_version = 9")
    db.close()
    store = await SqliteStore.open(path)
    await store.close()
    db = apsw.Connection(str(path))
    [(named,)] = db.execute("SELECT named FROM outlines")
    db.close()
    assert named == " ".join([str(date(2026, 5, 2).toordinal())] * 2)

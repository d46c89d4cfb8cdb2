"""After an erasure no byte of the text is left in any of SQLite's files."""

from __future__ import annotations

import asyncio
import random
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import apsw
import pytest

from omoide.adapters.stores.sql.turn_tables import TurnTableCache
from omoide.adapters.stores.sql.vectors import VectorKey
from omoide.adapters.stores.sqlite import SqliteStore, page_cleaning
from omoide.adapters.stores.sqlite.page_cleaning import PageCleaner
from omoide.adapters.stores.sqlite.scrubbing import SqliteArchive
from omoide.adapters.stores.sqlite.vector_cache import VectorCache
from omoide.domain import FactChanges, FactEnd, MemoryKind
from omoide.errors import StoreLocked
from omoide.testing.contracts.making import (
    ANN,
    BOB,
    HOUR,
    SPACE,
    START,
    event,
    fact,
    memo,
    note,
    rejected,
    rows,
    say,
    sentence,
    tell,
    version,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.domain import Owner
    from omoide.ports import Store

WAYS = {"rewritten": 2**40, "in place": 0}
"""How many bytes a file may have to be rewritten, by the way in which it is cleaned."""
LENGTHS = (3, 20, 20, 20, 60, 60, 3000)


@pytest.fixture(params=["in place", pytest.param("rewritten", marks=pytest.mark.heavy)])
def way(request: pytest.FixtureRequest) -> str:
    """How the file is cleaned."""
    return str(request.param)


async def opened(path: Path, way: str, *, patience: float = 10.0) -> SqliteStore:
    """A store that cleans its file in this way, whatever its size."""
    store = await SqliteStore.open(path, patience=patience)
    assert isinstance(store.archive, SqliteArchive)
    store.archive._rewritten = WAYS[way]
    return store


def traces(path: Path, mark: str) -> int:
    """How often a mark stands in the database's files, in either case."""
    return sum(
        file.read_bytes().lower().count(mark.lower().encode())
        for file in path.parent.iterdir()
        if file.name.startswith(path.name)
    )


async def fill(store: Store, marks: dict[Owner, str], *, turns: int) -> None:
    """Words of several owners in turn, short and very long, so that trees split and overflow."""
    dice = random.Random(1)
    for number in range(turns):
        for owner, mark in marks.items():
            count = dice.choice(LENGTHS)
            text = " ".join(f"{mark}{dice.randrange(5000)}" for _ in range(count))
            said = say(text, id=f"{mark}id{number}")
            await store.turns.append(owner, [said], session=f"{mark}{number % 9}", idle=HOUR)


async def test_whole_owner(tmp_path: Path, way: str) -> None:
    """Of an erased owner no byte remains after many splits and overflows; others are intact.

    Zeroing deleted rows alone would leave five traces here, in places rows were moved from.
    """
    path = tmp_path / "omoide.db"
    store = await opened(path, way)
    await fill(store, {ANN: "Zqxann", BOB: "Zqxbob"}, turns=60)
    theirs = await store.turns.read(BOB)
    found = await store.index.search_words(BOB, ["zqxbob7"], k=50)
    assert traces(path, "Zqxann") > 10_000
    await store.archive.erase(ANN)
    assert traces(path, "Zqxann") == 0
    assert await store.turns.read(BOB) == theirs
    assert await store.index.search_words(BOB, ["zqxbob7"], k=50) == found
    await store.close()
    assert traces(path, "Zqxann") == 0
    assert traces(path, "Zqxbob") > 10_000


async def test_a_small_file_gives_its_space_back(tmp_path: Path) -> None:
    """It is rewritten, so it shrinks; one with more bytes in use is cleaned in place and keeps its
    size. Pages that were free already do not count."""
    full = tmp_path / "full.db"
    store = await SqliteStore.open(full)
    for owner in (ANN, BOB):
        said = [say(f"{number} {'tea ' * 200}") for number in range(30)]
        await store.turns.append(owner, said, session="k", idle=HOUR)
    await store.close()

    async def erased(name: str, limit: int | None) -> tuple[int, int]:
        """The size of the file after an erasure, and the bytes in use."""
        path = tmp_path / f"{name}.db"
        shutil.copy(full, path)
        store = await SqliteStore.open(path)
        assert isinstance(store.archive, SqliteArchive)
        if limit is not None:
            store.archive._rewritten = limit
        await store.archive.erase(ANN)
        await store.close()
        with apsw.Connection(str(path)) as connection:
            pages, free, size = (
                connection.pragma(name) for name in ("page_count", "freelist_count", "page_size")
            )
        return path.stat().st_size, (pages - free) * size

    kept, used = await erased("in place", 0)
    assert used < kept
    usual, _ = await erased("usual", None)
    exact, _ = await erased("exact", used)
    above, _ = await erased("above", used - 1)
    assert usual == exact < above == kept


async def test_single_turns_among_others(tmp_path: Path, way: str) -> None:
    """Turns taken out of the middle of others leave nothing, and take nothing along."""
    path = tmp_path / "omoide.db"
    store = await opened(path, way)
    dice = random.Random(1)
    for number in range(100):
        for owner in (ANN, BOB):
            words = " ".join(
                f"w{dice.randrange(500)}" for _ in range(dice.choice((3, 20, 60, 300)))
            )
            said = say(f"Zqx{number:03}x {words}", id=f"id{number}")
            await store.turns.append(owner, [said], session=f"key{number % 9}", idle=HOUR)
    doomed = range(0, 100, 7)
    for owner in (ANN, BOB):
        await store.archive.erase(owner, turns=[f"id{number}" for number in doomed])
    assert {number: traces(path, f"Zqx{number:03}x") for number in doomed} == dict.fromkeys(
        doomed, 0
    )
    assert traces(path, "Zqx001x") > 0
    await store.close()


async def test_one_session_in_every_place(tmp_path: Path, way: str) -> None:
    """Words of an erased session are gone from turns, postings, keys, memory, asides and jobs."""
    path = tmp_path / "omoide.db"
    store = await opened(path, way)
    await fill(store, {ANN: "Kept", BOB: "Theirs"}, turns=20)
    secret = say("Zqxsecret words", id="Zqxid")
    [turn] = await store.turns.append(ANN, [secret], session="Zqxkey", idle=HOUR)
    await store.index.put(ANN, SPACE, ids=["Zqxid"], vectors=rows((1, 0, 0)))
    await store.summaries.commit(
        ANN,
        version(
            1, sentence("Zqxcited.", "Zqxid"), sentence("Zqxfree."), session=99, notes=("Zqxnote",)
        ),
    )
    await store.summaries.add_rejected(ANN, rejected("Zqxaside", session=99))
    assert traces(path, "Zqx") > 5
    await store.archive.erase(ANN, session=turn.session)
    assert traces(path, "Zqx") == 0
    assert len(await store.turns.read(ANN)) == 20
    await store.close()


async def remember(store: Store, owner: Owner, mark: str, *, count: int, source: str) -> None:
    """Events, memos, notes and facts, short and very long, each replaced, recalled or folded."""
    dice = random.Random(2)
    for number in range(count):
        text = " ".join(f"{mark}{dice.randrange(5000)}" for _ in range(dice.choice(LENGTHS)))
        told = event(f"{text}.", source, id=f"{mark}e{number}")
        await store.events.add(owner, [replace(told, keywords=(f"{mark}k",), topics=(mark,))])
        await store.events.consolidate(owner, [told.recalled(START + HOUR)])
        kept = memo(text, source, id=f"{mark}m{number}", topic=mark, compressed=text)
        await store.memos.add(owner, [kept])
        await store.notes.put(owner, note(text, key=f"{mark}{number % 5}"))
        stated = replace(
            fact(f"{text}.", source, id=f"{mark}f{number}"),
            about=f"{mark}person",
            reason=text,
            tags=(f"{mark}t",),
            flags=(text,),
            end_sources=(source,),
        )
        await store.facts.apply(owner, FactChanges(added=(stated,)))
    ids = [f"{mark}e{number}" for number in range(count)]
    vectors = rows(*((1, 0, 0) for _ in ids))
    await store.index.put(owner, SPACE, ids=ids, vectors=vectors, kind=MemoryKind.EVENT)
    facts = [f"{mark}f{number}" for number in range(count)]
    await store.index.put(owner, SPACE, ids=facts, vectors=vectors, kind=MemoryKind.FACT)
    for number in range(0, count - 1, 3):
        await store.events.supersede(owner, old=ids[number], by=ids[number + 1])
        ended = FactEnd(
            id=f"{mark}f{number}", at=START, by=f"{mark}f{number + 1}", reason=f"{mark}because"
        )
        await store.facts.apply(owner, FactChanges(ended=(ended,)))
        both = [f"{mark}m{number}", f"{mark}m{number + 1}"]
        into = memo(f"{mark}folded", source, id=f"{mark}m+{number}")
        await store.memos.fold(owner, ids=both, into=into)


async def test_memories_of_a_whole_owner(tmp_path: Path, way: str) -> None:
    """Of an erased owner's events, memos, notes and facts no byte remains; others' are intact."""
    path = tmp_path / "omoide.db"
    store = await opened(path, way)
    for owner, mark in ((ANN, "Zqxann"), (BOB, "Zqxbob")):
        await remember(store, owner, mark, count=30, source="t")
    theirs = await store.events.read(BOB), await store.memos.read(BOB)
    assert traces(path, "Zqxann") > 10_000
    await store.archive.erase(ANN)
    assert traces(path, "Zqxann") == 0
    assert (await store.events.read(BOB), await store.memos.read(BOB)) == theirs
    await store.close()
    assert traces(path, "Zqxann") == 0
    assert traces(path, "Zqxbob") > 10_000


async def test_memories_of_one_turn(tmp_path: Path, way: str) -> None:
    """What cites an erased turn leaves nothing, not even its name in what it had superseded or
    taken in; what rests on another turn is intact."""
    path = tmp_path / "omoide.db"
    store = await opened(path, way)
    await tell(store, ANN, "kept", "doomed")
    await remember(store, ANN, "Kept", count=30, source="kept")
    await remember(store, ANN, "Zqx", count=30, source="doomed")
    await store.events.supersede(ANN, old="Kepte5", by="Zqxe5")
    await store.memos.fold(ANN, ids=["Keptm5"], into=memo("Zqxinto", "doomed"))
    ends = (
        FactEnd(id="Keptf5", at=START, by="Zqxf5", reason="Zqxbecause"),
        FactEnd(id="Keptf8", at=START, reason="Zqxbecause", sources=("doomed",)),
        FactEnd(id="Zqxf6", at=START, by="Kept newer."),
    )
    newer = replace(fact("Kept newer.", "kept"), supersedes=("Zqxf6",), reason="Zqxbecause")
    await store.facts.apply(ANN, FactChanges(added=(newer,), ended=ends))
    events = len(await store.events.read(ANN)), len(await store.memos.read(ANN))
    assert traces(path, "Zqx") > 1_000
    await store.archive.erase(ANN, turns=["doomed"])
    assert traces(path, "Zqx") == 0
    left = len(await store.events.read(ANN)), len(await store.memos.read(ANN))
    assert left == (events[0] // 2, events[1] // 2)
    assert (await store.events.read(ANN, ids=["Kepte5"]))[0].superseded_by is None
    assert (await store.memos.read(ANN, ids=["Keptm5"]))[0].folded_into is None
    holding = await store.facts.read(ANN, ids=["Keptf5", "Keptf8"])
    assert [f.ended for f in holding] == [None, None]
    assert len(await store.facts.read(ANN)) == 31
    await store.close()


async def test_one_sentence_in_every_memory(tmp_path: Path, way: str) -> None:
    """An erased sentence is gone from events, memos, notes and facts, with the words to find it
    by."""
    path = tmp_path / "omoide.db"
    store = await opened(path, way)
    await remember(store, ANN, "Kept", count=10, source="t")
    why = replace(fact("kept fact"), reason="Zqxone zqxtwo.", end_reason="Zqxone zqxtwo.")
    why = replace(why, ended=START, flags=("Zqxone zqxtwo.",))
    for store_one in (
        store.events.add(ANN, [event("So Zqxone zqxtwo. And", id="e")]),
        store.memos.add(ANN, [memo("x", id="m", compressed="user: Zqxone zqxtwo.")]),
        store.notes.put(ANN, note("Zqxone zqxtwo. More.", kind="portrait")),
        store.facts.apply(ANN, FactChanges(added=(fact("So Zqxone zqxtwo.", id="f"), why))),
    ):
        await store_one
    assert traces(path, "Zqxone") > 5
    await store.archive.erase(ANN, sentences=["Zqxone zqxtwo."])
    assert traces(path, "Zqx") == 0
    assert len(await store.events.read(ANN)) == 10
    assert len(await store.facts.read(ANN)) == 11
    await store.close()


async def test_facts_by_id(tmp_path: Path, way: str) -> None:
    """Of an erased fact no byte remains: not in sentences, events or what quotes it."""
    path = tmp_path / "omoide.db"
    store = await opened(path, way)
    await tell(store, ANN, "t")
    await remember(store, ANN, "Kept", count=10, source="t")
    await store.facts.apply(ANN, FactChanges(added=(fact("Zqxone zqxtwo.", "t", id="Zqxid"),)))
    stated = replace(sentence("Zqxthree.", "t"), fact="Zqxid")
    await store.summaries.commit(ANN, version(1, stated, notes=("Zqxone zqxtwo.",)))
    await store.events.add(ANN, [replace(event("Zqxfour", "t"), fact="Zqxid")])
    await store.notes.put(ANN, note("Zqxone zqxtwo. More.", kind="portrait"))
    assert traces(path, "Zqx") > 5
    erased = await store.archive.erase(ANN, facts=["Zqxid"])
    assert (erased.facts, erased.sentences, erased.turns) == (1, 1, 0)
    assert traces(path, "Zqx") == 0
    assert len(await store.facts.read(ANN)) == 10
    await store.close()


async def test_while_another_process_reads(tmp_path: Path, way: str) -> None:
    """A reader of the older view keeps the log alive: that is said, and made good later."""
    path = tmp_path / "omoide.db"
    store = await opened(path, way, patience=0.05)
    await fill(store, {ANN: "Zqxann", BOB: "Theirs"}, turns=5)
    other = apsw.Connection(str(path))
    other.execute("BEGIN")
    other.execute("SELECT count(*) FROM turns").fetchall()
    with pytest.raises(StoreLocked, match="erased, but"):
        await store.archive.erase(ANN)
    assert await store.turns.read(ANN) == ()
    with pytest.raises(StoreLocked, match="erased, but"):
        await store.archive.erase(ANN)
    again = await SqliteStore.open(path, patience=0.05)
    await again.close()
    assert traces(path, "Zqxann") > 0
    other.close()
    again = await opened(path, way)
    assert traces(path, "Zqxann") == 0
    await again.close()
    await store.close()


async def test_erasing_what_does_not_exist_rewrites_nothing(tmp_path: Path) -> None:
    """Not a byte of the file changes, so it costs nobody anything."""
    path = tmp_path / "omoide.db"
    store = await SqliteStore.open(path)
    await tell(store, ANN, "hello")
    await store.close()
    store = await SqliteStore.open(path)
    before = path.read_bytes()
    mark = await store.archive.erasure_mark(ANN)
    assert (await store.archive.erase(ANN, turns=["unknown"])).turns == 0
    assert (await store.archive.erase(ANN, session=7)).sessions == 0
    assert (await store.archive.erase(BOB)).turns == 0
    assert await store.archive.erasure_mark(ANN) == mark
    await store.close()
    assert path.read_bytes() == before


async def test_an_erasure_keeps_the_caches_of_others(tmp_path: Path) -> None:
    """Only the tables and vectors of the owner leave the memory of the process."""
    store = await SqliteStore.open(tmp_path / "omoide.db")
    tables, vectors = TurnTableCache(2**20), VectorCache(2**20)
    archive = SqliteArchive(store.file, vectors, tables)
    cached = {}
    for number, owner in enumerate((ANN, BOB), start=1):
        [turn] = await tell(store, owner, "hello")
        await store.index.put(owner, SPACE, ids=[turn.id], vectors=rows((1, 0, 0)))
        key = VectorKey(owner=number, space=1, kind=1, dimensions=3)
        cached[owner] = (number, key)

    async def shown(owner: Owner) -> tuple[object, object]:
        number, key = cached[owner]

        def work(connection: Connection) -> tuple[object, object]:
            items = vectors.cosines(connection, key, rows((1, 0, 0))[0]).items
            return tables.fresh(connection, number), items.base

        return await store.file.read("acme", work)

    ann, bob = await shown(ANN), await shown(BOB)
    await archive.erase(ANN, turns=["hello"])
    assert all(old is new for old, new in zip(bob, await shown(BOB), strict=True))
    assert all(old is not new for old, new in zip(ann, await shown(ANN), strict=True))
    await store.close()


async def test_an_erasure_of_another_process_in_the_middle_is_not_taken_for_cleaned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another process erased after this one has rewritten the file is still to be cleaned."""
    path = tmp_path / "omoide.db"
    ours = await SqliteStore.open(path)
    await fill(ours, {ANN: "Zqxann", BOB: "Zqxbob"}, turns=20)
    theirs = await SqliteStore.open(path)
    remove_mark = SqliteArchive._remove_mark

    def late(archive: SqliteArchive, connection: apsw.Connection, mark: str) -> None:
        class Watched:
            """A connection; when it has rewritten the file, the other process erases Bob."""

            def execute(self, statement: str, *values: Any) -> apsw.Cursor:  # noqa: ANN401
                if statement.startswith("DELETE FROM meta"):
                    with apsw.Connection(str(path)) as other:
                        archive._mark(cast("Connection", other))
                return connection.execute(statement, *values)

        remove_mark(archive, cast("apsw.Connection", Watched()), mark)

    monkeypatch.setattr(SqliteArchive, "_remove_mark", late)
    await ours.archive.erase(ANN)
    monkeypatch.undo()
    left = apsw.Connection(str(path))
    assert len(left.execute("SELECT 1 FROM meta WHERE name = 'traces'").fetchall()) == 1
    left.close()
    await theirs.archive.scrub()
    assert traces(path, "Zqxann") == 0
    await theirs.close()
    await ours.close()


@pytest.mark.heavy
async def test_others_write_while_a_file_is_cleaned_in_place(tmp_path: Path) -> None:
    """Another process writes between the pieces, with pages in its cache that had traces: its words
    are all there, the file is sound, and nothing of what was erased comes back."""
    path = tmp_path / "omoide.db"
    ours, theirs = await opened(path, "in place"), await opened(path, "in place")
    await fill(ours, {ANN: "Zqxann", BOB: "Zqxbob"}, turns=40)
    before = len(await theirs.turns.read(BOB))
    erasing, written = asyncio.create_task(ours.archive.erase(ANN)), 0
    while not erasing.done():
        said = say(f"Kept {written}", id=f"kept{written}")
        await theirs.turns.append(BOB, [said], session="kept", idle=HOUR)
        written += 1
    await erasing
    assert written > 1
    assert len(await theirs.turns.read(BOB)) == before + written
    await theirs.close()
    await ours.close()
    assert traces(path, "Zqxann") == 0
    sound = apsw.Connection(str(path))
    assert sound.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    sound.close()


async def test_a_piece_waits_for_what_is_not_in_the_file_yet(tmp_path: Path) -> None:
    """While another connection reads an older view, pages in the file are not the newest: nothing
    is changed. Nor is it while another connection writes."""
    path = tmp_path / "omoide.db"
    store = await SqliteStore.open(path)
    await fill(store, {ANN: "Zqxann", BOB: "Zqxbob"}, turns=20)  # leaves unused bytes
    reader, writer, ours = (apsw.Connection(str(path)) for _ in range(3))
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM turns").fetchall()
    await tell(store, ANN, "two")
    cleaner = PageCleaner(str(path))
    assert not cleaner.clean_piece(ours)
    reader.execute("COMMIT")
    writer.execute("BEGIN IMMEDIATE")
    assert not cleaner.clean_piece(ours)
    writer.execute("ROLLBACK")
    while not cleaner.done:
        if not cleaner.clean_piece(ours):  # the store's own thread is moving pages
            await asyncio.sleep(0.01)
    assert cleaner.zeroed > 0
    cleaner.close()
    for connection in (reader, writer, ours):
        connection.close()
    await store.close()


async def test_a_cleaned_file_has_no_unused_bytes_left(tmp_path: Path) -> None:
    """Rows that were moved leave bytes, which go in the first round. A second finds none, so it
    needs no lock: another connection may hold it. The cleaner knows that others wrote."""
    path = tmp_path / "omoide.db"
    store = await SqliteStore.open(path)
    await fill(store, {ANN: "Zqxann", BOB: "Zqxbob"}, turns=40)
    await store.close()
    connection, writer = apsw.Connection(str(path)), apsw.Connection(str(path))
    cleaner = PageCleaner(str(path))

    def cleaned() -> tuple[int, bool]:
        """Go through all pieces; how many bytes were cleaned so far, and whether others wrote."""
        cleaner.begin()
        while not cleaner.done:
            assert cleaner.clean_piece(connection)
        return cleaner.zeroed, cleaner.disturbed

    first, disturbed = cleaned()
    assert first > 0
    assert not disturbed
    with writer:  # writes, and holds the lock
        writer.execute("UPDATE meta SET value = 'other' WHERE name = 'written_by'")
        second, _ = cleaned()
    assert second == first
    cleaner.begin()
    writer.execute("UPDATE meta SET value = 'third' WHERE name = 'written_by'")
    assert cleaner.disturbed
    cleaner.close()
    writer.close()
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


@pytest.mark.parametrize("late", [False, True])
def test_cached_pages_do_not_bring_traces_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: bool
) -> None:
    """A connection that read a page before it was cleaned, or in the last moment before, changes
    that page afterwards."""
    path = tmp_path / "plain.db"
    ours, other = apsw.Connection(str(path)), apsw.Connection(str(path))
    ours.execute("PRAGMA journal_mode = WAL; PRAGMA secure_delete = OFF").fetchall()
    ours.execute("CREATE TABLE meta (name, value); INSERT INTO meta VALUES ('traces', 'x')")
    ours.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, words); INSERT INTO t VALUES (1, 'a')")
    ours.execute("INSERT INTO t VALUES (2, ?)", ("Zqx" * 200,))
    ours.execute("DELETE FROM t WHERE id = 2")
    other.execute("SELECT * FROM t").fetchall()
    cleaner = PageCleaner(str(path))
    find = page_cleaning._unused

    def found(*where: Any) -> Iterator[tuple[int, int]]:  # noqa: ANN401
        if late:
            other.execute("SELECT * FROM t").fetchall()
        return find(*where)

    monkeypatch.setattr(page_cleaning, "_unused", found)
    assert cleaner.clean_piece(ours)
    assert cleaner.zeroed >= 600
    cleaner.close()
    other.execute("INSERT INTO t VALUES (3, 'b')")
    other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    assert traces(path, "Zqx") == 0
    for connection in (ours, other):
        connection.close()

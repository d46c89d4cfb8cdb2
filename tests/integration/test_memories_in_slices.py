"""What goes with many turns is removed in several transactions, and all of it goes."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from omoide.adapters.stores.sql import slices
from omoide.adapters.stores.sql.archive import SqlArchive
from omoide.adapters.stores.sql.erasing import ErasurePlan
from omoide.adapters.stores.sql.store import SqlStore
from omoide.domain import FactChanges, FactMarks
from omoide.ports import Erased
from omoide.testing.contracts.making import (
    ANN,
    BOB,
    HOUR,
    START,
    event,
    fact,
    memo,
    note,
    rejected,
    say,
    sentence,
    tell,
    version,
)
from tests.contract import stores

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.adapters.stores.sql.erasure_findings import FoundMemories

pytestmark = pytest.mark.parametrize(
    "open_store", [stores.sqlite_file, pytest.param(stores.postgres, marks=pytest.mark.heavy)]
)
MANY = 30
"""Turns of the session that goes, with a fact, an event and a memo for each."""
FEW = 40
"""Most items that a transaction may remove."""
KINDS = {1: "turns", 2: "events", 3: "memos", 4: "facts"}


async def opened(open_store: stores.Maker, folder: Path) -> SqlStore:
    """A store in SQL."""
    store = await open_store(folder)
    assert isinstance(store, SqlStore)
    return store


async def remember(store: SqlStore) -> None:
    """A session that goes, with what goes with it, and one that stays, with what comes back."""
    await tell(store, ANN, "kept", key="kept")
    said = [say(f"doomed{n}", id=f"t{n}", at=START + HOUR) for n in range(MANY)]
    await store.turns.append(ANN, said, session="doomed", idle=HOUR)
    ended = replace(fact("Ended.", "kept", id="ended"), ended=START, ended_by="f3")
    again = fact("Said again.", "kept", "t5", id="again")  # the turn only confirms it
    facts = [fact(f"Doomed {n}.", f"t{n}", id=f"f{n}", session=2) for n in range(MANY)]
    facts[3] = replace(facts[3], supersedes=("ended",))
    await store.facts.apply(ANN, FactChanges(added=(ended, again, *facts)))
    stating = [replace(event(f"states {n}", "kept"), fact=f"f{n}") for n in (0, MANY - 1)]
    # Of each of the first events the next took the place; "older" was replaced by the first.
    await store.events.add(
        ANN,
        [
            event("older", "kept", superseded_by="e0"),
            *(event(f"e{n}", f"t{n}", session=2) for n in range(MANY)),
            *stating,
        ],
    )
    for n in range(3):
        await store.events.supersede(ANN, old=f"e{n}", by=f"e{n + 1}")
    await store.memos.add(ANN, [memo(f"m{n}", f"t{n}", session=2) for n in range(MANY)])
    said_of = [
        replace(sentence("Said again.", "t5"), fact="again"),
        replace(sentence("Doomed.", "kept"), fact=f"f{MANY - 1}"),
        sentence("Kept.", "kept"),
    ]
    await store.summaries.commit(ANN, version(1, *said_of, session=1))
    await store.summaries.add_rejected(ANN, rejected("aside", session=2))
    await store.notes.put(ANN, note("A note."))
    await tell(store, BOB, "hello")


ERASED = Erased(
    sessions=1,
    turns=MANY,
    sentences=1,
    facts=MANY,
    events=MANY + 2,
    memos=MANY,
    notes=1,
    rejected=1,
)
"""What goes with the session."""


def counts(erased: Erased) -> dict[str, object]:
    """All of them; some are left out when two are compared."""
    return asdict(erased)


async def left_of(store: SqlStore) -> dict[str, object]:
    """Everything that is left of the user."""
    return {
        "turns": [turn.text for turn in await store.turns.read(ANN)],
        "facts": await store.facts.read(ANN),
        "events": await store.events.read(ANN),
        "memos": await store.memos.read(ANN),
        "versions": await store.summaries.history(ANN),
        "aside": await store.summaries.rejected(ANN),
        "notes": await store.notes.read(ANN),
    }


async def memories(store: SqlStore) -> int:
    """How many facts, events and memos there are."""
    left = (await store.facts.read(ANN), await store.events.read(ANN), await store.memos.read(ANN))
    return sum(map(len, left))


async def unfinished(store: SqlStore) -> list[object]:
    """What is noted of erasures that are not finished."""
    found: list[object] = []
    found += await store.database.read("", store.archive._notes.all)
    return found


def misplaced(connection: Connection) -> list[object]:
    """Postings of what no search may find, items without one, and counts that are wrong."""
    wrong: list[object] = []
    for kind, table in KINDS.items():
        item = "position" if kind == 1 else "item"
        hidden = {1: "NULL", 2: "superseded_by", 3: "folded_into", 4: "ended"}[kind]
        shown = f"SELECT owner, {item} FROM {table} WHERE {hidden} IS NULL"  # noqa: S608
        posted = f"SELECT DISTINCT owner, item FROM postings WHERE kind = {kind}"  # noqa: S608
        wrong += connection.execute(f"{shown} EXCEPT {posted}").fetchall()
        wrong += connection.execute(f"{posted} EXCEPT {shown}").fetchall()
        wrong += connection.execute(
            f"SELECT owner, kind, found FROM counts WHERE kind = {kind} AND found <> "  # noqa: S608
            f"(SELECT count(*) FROM {table} WHERE owner = counts.owner AND {hidden} IS NULL)"
        ).fetchall()
    return wrong


class Pauses:
    """What is done between two transactions of an erasure."""

    def __init__(self, work: Callable[[int], Awaitable[object]]) -> None:
        self.count = 0
        self._work = work
        self._busy = False

    async def __call__(self, _: float) -> None:
        """In place of `leave_time`."""
        if not self._busy:  # what is erased meanwhile has pauses of its own
            self._busy, self.count = True, self.count + 1
            await self._work(self.count)
            self._busy = False


async def erase_with_pauses(store: SqlStore, work: Callable[[int], Awaitable[object]]) -> Erased:
    """Erase the session; in the pauses, `work` is given the number of each."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(slices, "leave_time", Pauses(work))
        return await store.archive.erase(ANN, session=2)


async def test_a_transaction_removes_few_memories(tmp_path: Path, open_store: stores.Maker) -> None:
    """Others wait for a transaction at most. In between everything that they read fits together,
    and they can write. Each memory is counted once."""
    store = await opened(open_store, tmp_path)
    await remember(store)
    seen = [await memories(store)]

    async def look(number: int) -> None:
        seen.append(await memories(store))
        assert await store.database.read(ANN.tenant, misplaced) == []
        assert {f.id for f in await store.facts.read(ANN)} >= {"ended", "again"}
        assert len(await store.events.read(ANN, ids=["older"])) == 1
        await store.events.add(BOB, [event(f"of Bob {number}")])

    erased = await erase_with_pauses(store, look)
    removed = [before - after for before, after in pairwise(seen)]
    assert max(removed) <= FEW
    assert sum(map(bool, removed)) >= 3
    assert counts(erased) == counts(ERASED)
    left = await left_of(store)
    assert left["turns"] == ["kept"]
    assert [f.id for f in await store.facts.read(ANN) if f.ended is None] == ["ended", "again"]
    assert [(e.id, e.superseded_by) for e in await store.events.read(ANN)] == [("older", None)]
    [summary] = await store.summaries.history(ANN)
    assert [s.text for s in summary.sentences] == ["Said again.", "Kept."]
    assert await store.database.read(ANN.tenant, misplaced) == []
    assert await unfinished(store) == []
    await store.close()


class Interrupted(Exception):
    """The process ends."""


async def test_an_erasure_that_ends_after_any_transaction_is_finished_at_the_next_opening(
    tmp_path: Path, open_store: stores.Maker
) -> None:
    """What is left then is what is left of one that was not interrupted."""
    outcomes: list[dict[str, object]] = []
    for last in range(99):
        folder = tmp_path / str(last)
        folder.mkdir()
        store = await opened(open_store, folder)
        await remember(store)

        async def interrupt(number: int, last: int = last) -> None:
            if number == last:
                raise Interrupted

        try:
            await erase_with_pauses(store, interrupt)
            ended = bool(last)
        except Interrupted:
            ended = False
        await store.close()
        store = await opened(open_store, folder)
        assert await unfinished(store) == []
        assert await store.database.read(ANN.tenant, misplaced) == []
        outcomes.append(await left_of(store))
        await store.close()
        if ended:
            break
    assert len(outcomes) > 4
    assert outcomes == [outcomes[0]] * len(outcomes)


async def test_memories_that_come_meanwhile_go_too(
    tmp_path: Path, open_store: stores.Maker
) -> None:
    """A digest that runs may still write down what was said in the session: a fact, an event and a
    source more for a fact, between any two transactions. They are counted, too."""
    store = await opened(open_store, tmp_path)
    await remember(store)
    late = 0

    async def digest(number: int) -> None:
        nonlocal late
        [*_, last] = await store.turns.read(ANN)
        if last.session == 2 and number < 9:
            late += 1
            new = fact("Late.", last.id, id=f"late{number}", session=2)
            await store.facts.apply(ANN, FactChanges(added=(new,)))
            await store.events.add(ANN, [event(f"late{number}", last.id, session=2)])
            await store.facts.mark(ANN, "again", FactMarks(pinned=bool(number % 2)))

    erased = await erase_with_pauses(store, digest)
    assert late > 3
    assert (erased.facts, erased.events) == (MANY + late, MANY + 2 + late)
    assert [f.id for f in await store.facts.read(ANN)] == ["ended", "again"]
    assert [e.id for e in await store.events.read(ANN)] == ["older"]
    assert await store.database.read(ANN.tenant, misplaced) == []
    await store.close()


async def test_a_user_of_whom_something_is_written_all_the_time_is_erased(
    tmp_path: Path, open_store: stores.Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever an erasure has looked for what must go, there is more. It still ends, without a
    transaction that removes much."""
    store = await opened(open_store, tmp_path)
    other = await opened(open_store, tmp_path)
    await remember(store)
    find, erase = ErasurePlan.find, ErasurePlan.erase
    numbers, removed = iter(range(999)), list[int]()

    def found(plan: ErasurePlan, connection: Connection) -> FoundMemories:
        result = find(plan, connection)
        more.set()
        return result

    def counted(plan: ErasurePlan, connection: Connection, slice_: Any) -> Erased:  # noqa: ANN401
        result = erase(plan, connection, slice_)
        removed.append(result.facts + result.events + result.memos)
        return result

    async def keep_writing() -> None:
        while True:
            await more.wait()
            more.clear()
            await other.events.add(ANN, [event(f"more{next(numbers)}", "kept")])

    more = asyncio.Event()
    monkeypatch.setattr(ErasurePlan, "find", found)
    monkeypatch.setattr(ErasurePlan, "erase", counted)
    writing = asyncio.create_task(keep_writing())
    await store.archive.erase(ANN, session=2)
    writing.cancel()
    assert max(removed) <= FEW
    assert [turn.text for turn in await store.turns.read(ANN)] == ["kept"]
    assert [f.id for f in await store.facts.read(ANN)] == ["ended", "again"]
    await other.close()
    await store.close()


async def test_a_user_who_is_erased_and_comes_again_meanwhile_keeps_what_is_new(
    tmp_path: Path, open_store: stores.Maker
) -> None:
    """The name is another owner's then."""
    store = await opened(open_store, tmp_path)
    await remember(store)

    async def again(number: int) -> None:
        if number == 2:
            await store.archive.erase(ANN)
            await tell(store, ANN, "one", key="one")
            await tell(store, ANN, "somebody new", key="two")
            await store.events.add(ANN, [event("new", "somebody new", session=2)])

    await erase_with_pauses(store, again)
    assert [turn.text for turn in await store.turns.read(ANN)] == ["one", "somebody new"]
    assert len(await store.events.read(ANN)) == 1
    await tell(store, BOB, "more")
    await store.archive.erase(BOB)
    assert await unfinished(store) == []
    assert await store.database.read(ANN.tenant, misplaced) == []
    await store.close()


async def test_several_processes_that_erase_the_same_at_once(
    tmp_path: Path, open_store: stores.Maker
) -> None:
    """All of it goes, whoever removes it, and nothing is noted any more."""
    processes = [await opened(open_store, tmp_path) for _ in range(3)]
    await remember(processes[0])
    await asyncio.gather(*(store.archive.erase(ANN, session=2) for store in processes))
    for store in processes:
        assert [turn.text for turn in await store.turns.read(ANN)] == ["kept"]
        assert await memories(store) == 3
    assert await unfinished(processes[0]) == []
    assert await processes[0].database.read(ANN.tenant, misplaced) == []
    for store in processes:
        await store.close()


async def test_another_process_finishes_an_interrupted_erasure_with_its_own(
    tmp_path: Path, open_store: stores.Maker
) -> None:
    """Whatever that one erases."""
    store = await opened(open_store, tmp_path)
    await remember(store)

    async def interrupt(_: int) -> None:
        raise Interrupted

    with pytest.raises(Interrupted):
        await erase_with_pauses(store, interrupt)
    assert (await store.archive.erase(BOB)).turns == 1
    assert [turn.text for turn in await store.turns.read(ANN)] == ["kept"]
    assert await memories(store) == 3
    assert await unfinished(store) == []
    await store.close()


async def test_what_an_older_version_noted_is_finished(
    tmp_path: Path, open_store: stores.Maker
) -> None:
    """It had removed the memories, and noted the positions of the turns that were left."""
    store = await opened(open_store, tmp_path)
    await tell(store, ANN, "kept", key="kept")
    said = [say(f"doomed{n}", id=f"t{n}") for n in range(MANY)]
    turns = await store.turns.append(ANN, said, session="doomed", idle=HOUR)

    def note_it(connection: Connection) -> None:
        [(owner,)] = connection.execute('SELECT id FROM owners WHERE "user" = ?', (ANN.user,))
        what = {
            "tenant": ANN.tenant,
            "owner": owner,
            "positions": [turn.position for turn in turns[10:]],
            "session": 2,
        }
        connection.execute(
            f"INSERT INTO {store.archive.META} (name, value) VALUES (?, ?)",  # noqa: S608
            (f"unfinished {owner} abc", json.dumps(what)),
        )

    await store.archive.erase(ANN, turns=[turn.id for turn in turns[:10]])
    await store.database.write(ANN.tenant, note_it)
    await store.close()
    store = await opened(open_store, tmp_path)
    assert [turn.text for turn in await store.turns.read(ANN)] == ["kept"]
    assert [s.number for s in await store.turns.sessions(ANN)] == [1]
    assert await unfinished(store) == []
    await store.close()


async def test_a_small_erasure_is_one_transaction(
    tmp_path: Path, open_store: stores.Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A turn with what was made of it."""
    store = await opened(open_store, tmp_path)
    await remember(store)
    monkeypatch.delattr(SqlArchive, "_slice")
    erased = await store.archive.erase(ANN, turns=["t7"])
    assert (erased.turns, erased.facts, erased.events, erased.memos) == (1, 1, 1, 1)
    await store.close()


async def test_what_is_left_in_the_index_of_replaced_events_goes(
    tmp_path: Path, open_store: stores.Maker
) -> None:
    """An older version may have split a text into other words, and missed them when the event was
    replaced."""
    store = await opened(open_store, tmp_path)
    await remember(store)

    def leave(connection: Connection) -> None:
        connection.execute(
            "INSERT INTO postings (owner, term, kind, item, tf, length) "
            "SELECT owner, 'zqxolder', 2, item, 1, 1 FROM events WHERE superseded_by = 'e2'"
        )

    await store.database.write(ANN.tenant, leave)
    await store.archive.erase(ANN, session=2)
    assert await store.database.read(ANN.tenant, misplaced) == []
    await store.close()

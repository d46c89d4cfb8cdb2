"""No query of a hot path reads rows of other owners: SQLite's own plans say so."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from omoide.adapters.stores.sql import ranking
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import (
    FactChanges,
    FactConfirmation,
    FactEnd,
    FactFilter,
    FactKind,
    FactMarks,
    JobState,
    JobTask,
    MemoryKind,
)
from omoide.testing.contracts.making import (
    ANN,
    HOUR,
    MINUTE,
    SPACE,
    START,
    call,
    event,
    fact,
    memo,
    note,
    rejected,
    rows,
    sentence,
    tell,
    version,
)

if TYPE_CHECKING:
    from pathlib import Path

SMALL = (
    "json_each",
    "cited",
    "meta",
    "spaces",
    "CONSTANT ROW",
    "sessions USING INDEX sessions_open",
    "SCAN beginning ",
    "SCAN ordered ",
    "SCAN pragma_",
)
"""What may be scanned: lists of the call's own and what it just found, tables of a few rows,
and open sessions alone."""


WHOLE_OWNER = (
    "SEARCH turns USING PRIMARY KEY (owner=?)",
    "SEARCH sessions USING PRIMARY KEY (owner=?)",
    "SEARCH events USING PRIMARY KEY (owner=?)",
    "SEARCH memos USING PRIMARY KEY (owner=?)",
    "SEARCH facts USING PRIMARY KEY (owner=?)",
    "SEARCH facts USING INDEX facts_said (owner=?)",
    "SEARCH facts USING INDEX facts_current (owner=?)",
    "SEARCH recalls USING PRIMARY KEY (owner=?)",
    "SEARCH postings USING PRIMARY KEY (owner=?)",
    "SEARCH vectors USING PRIMARY KEY (owner=? AND space=?)",
)
WANTED = (
    "DELETE",
    "UPDATE sessions SET turns",
    "SELECT (SELECT count(*) FROM sessions",
    "SELECT term, item FROM postings WHERE owner = ? AND kind = ?",  # of texts split otherwise
    "FROM sessions WHERE owner = ? ORDER BY number",
    "SELECT number, key FROM sessions WHERE owner = ?",
    "FROM events JOIN recalls USING (owner, item) WHERE owner = ? ORDER BY item",
    "FROM memos WHERE owner = ? ORDER BY item",
    "SELECT item, superseded_by, session, sources,",
    "SELECT item, folded_into, session, sources,",
    "SELECT item FROM events WHERE owner = ? AND superseded_by = ?",
    "SELECT item FROM memos WHERE owner = ? AND folded_into = ?",
    "item FROM facts WHERE owner = ? ORDER BY item",
    "item FROM facts INDEXED BY facts_said WHERE owner = ?",
    "ORDER BY said DESC, item DESC LIMIT ?",
)
"""Which statements may go through all that an owner has: erasure, putting back, and reading all."""


HOT = (
    FactFilter(at=START, newest=20),
    FactFilter(at=START, newest=20, kinds=[FactKind.STATE]),
    FactFilter(at=START, about="user", newest=20),
    FactFilter(about="user", newest=20),
    FactFilter(session=7),
    FactFilter(session=7, at=START),
    FactFilter(pinned=True),
    FactFilter(pinned=True, at=START),
    FactFilter(newest=20),
    FactFilter(since=START - HOUR, until=START + HOUR, newest=20),
)
"""How facts are read while sessions are digested and prompts are made."""


def plans(path: Path, statements: dict[str, Any]) -> list[str]:
    """Each step of each statement's plan, with the statement."""
    connection = apsw.Connection(str(path))
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.convert_binding = lambda *_: "[]"
    steps = [
        f"{step} <- {statement}"
        for statement, bindings in list(statements.items())
        if statement.split()[0] in ("SELECT", "INSERT", "UPDATE", "DELETE")
        for *_, step in connection.execute(f"EXPLAIN QUERY PLAN {statement}", bindings)
    ]
    connection.close()
    return steps


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Every statement that any new connection runs, and what was bound to it."""
    seen: dict[str, Any] = {}

    def trace(cursor: apsw.Cursor, statement: str, bindings: Any) -> bool:  # noqa: ANN401
        seen[statement.strip()] = bindings
        return True

    def watch(connection: apsw.Connection) -> None:
        connection.exec_trace = trace

    monkeypatch.setattr(apsw, "connection_hooks", [watch])
    return seen


async def use_facts(store: SqliteStore) -> None:
    """Call every method of facts, with every condition that has an index."""
    told = tuple(fact(text, "black tea") for text in ("green", "tea", "black"))
    await store.facts.apply(ANN, FactChanges(added=told))
    ended = FactEnd(id="green", at=START, by="tea", sources=("black tea",))
    said_again = FactConfirmation(id="black", at=START, sources=("black tea",))
    await store.facts.apply(ANN, FactChanges(ended=(ended,), confirmed=(said_again,)))
    await store.facts.mark(ANN, "tea", FactMarks(pinned=True))
    await store.facts.read(ANN)
    await store.facts.read(ANN, ids=["green"], only=FactFilter(at=START))
    for only in HOT:
        await store.facts.read(ANN, only=only)


async def use_memories(store: SqliteStore) -> None:
    """Call every method of events, memos and notes, and search them."""
    told = [event(text, "black tea") for text in ("green", "tea", "black")]
    await store.events.add(ANN, told)
    await store.events.read(ANN)
    await store.events.read(ANN, ids=["green"])
    await store.events.consolidate(ANN, [e.recalled(START) for e in told])
    await store.memos.add(ANN, [memo("green"), memo("tea")])
    await store.memos.read(ANN)
    await store.memos.read(ANN, ids=["green"])
    await store.notes.put(ANN, note("x"))
    await store.notes.read(ANN, kind="day")
    await store.notes.read(ANN)
    await use_facts(store)
    for kind in (MemoryKind.EVENT, MemoryKind.MEMO, MemoryKind.FACT):
        await store.index.search_words(ANN, ["green", "tea", "black"], k=1, kind=kind)
        await store.index.without_vector(ANN, SPACE, limit=5, kind=kind)
        for name in ("green", "tea"):
            await store.index.put(ANN, SPACE, ids=[name], vectors=rows((1, 0, 0)), kind=kind)
            await store.index.nearest(ANN, SPACE, rows((1, 0, 0)), k=5, kind=kind)
    await store.events.supersede(ANN, old="green", by="tea")
    await store.memos.fold(ANN, ids=["tea"], into=memo("all", "black tea"))


async def test_every_step_searches(tmp_path: Path, statements: dict[str, Any]) -> None:
    """Each statement of each method finds its rows by a key; none scans a table that grows."""
    path = tmp_path / "omoide.db"
    store = await SqliteStore.open(path)
    statements.clear()
    turns = await tell(store, ANN, "green tea", "black tea")
    await tell(store, ANN, "green tea", key="k")
    await store.turns.read(ANN, session=1, ids=["green tea"], last=3)
    await store.turns.sessions(ANN)
    await store.index.search_words(ANN, ["green", "tea", "black", "茶"], k=1)
    await store.index.search_data(ANN, ["green", "茶"], space=SPACE, query=rows((1, 0, 0)))
    sessions = await store.turns.sessions(ANN)
    again = [replace(turn, id=f"{turn.id} again", position=turn.position + 9) for turn in turns]
    assert await store.archive.restore(ANN, sessions=sessions, turns=again) == (0, 2)
    await store.index.without_vector(ANN, SPACE, limit=5)
    await store.index.put(ANN, SPACE, ids=[turns[0].id], vectors=rows((1, 0, 0)))
    await store.index.nearest(ANN, SPACE, rows((1, 0, 0)), k=5)
    await store.turns.end(ANN, session=1, at=START)
    await store.turns.end(ANN, at=START)
    await store.turns.end_idle("acme", before=START)
    await store.summaries.commit(ANN, version(1, sentence("S.", "green tea")))
    await store.summaries.find(ANN, session=1, at=START)
    await store.summaries.history(ANN)
    await store.summaries.add_rejected(ANN, rejected("x"))
    await store.summaries.rejected(ANN)
    await store.ledger.add(ANN, call(1))
    await store.ledger.calls(ANN)
    job = await store.jobs.claim("acme", worker="w", now=START + HOUR, lease=HOUR)
    assert job is not None
    await store.jobs.extend(job, until=START)
    await store.jobs.set_state(job, state=JobState.DONE)
    await store.jobs.enqueue(ANN, JobTask.EMBED, session=None, at=START)
    await store.jobs.list("acme", states=[JobState.WAITING])
    await store.jobs.list("acme", owner=ANN)
    await use_memories(store)
    await store.archive.owners("acme")
    await store.archive.erase(ANN, sentences=["Nobody said this."])
    await store.archive.erase(ANN, facts=["black"])
    await store.archive.erase(ANN, turns=["black tea"])
    await store.archive.erase(ANN, session=1)
    await store.archive.erase(ANN)
    await store.close()
    assert len(statements) > 100

    steps = plans(path, statements)
    grow = [s for s in steps if s.startswith("SCAN") and not any(small in s for small in SMALL)]
    assert grow == []
    whole = [s for s in steps if s.startswith(WHOLE_OWNER)]
    assert [s for s in whole if not any(wanted in s for wanted in WANTED)] == []


@pytest.mark.parametrize("statement", [ranking.BEGINNING, ranking.COUNT_BEGINNING])
async def test_a_beginning_is_one_range(tmp_path: Path, statement: str) -> None:
    """The terms that begin with a character are found as one range of the owner's terms."""
    path = tmp_path / "omoide.db"
    await (await SqliteStore.open(path)).close()
    connection = apsw.Connection(str(path))
    plan = connection.execute(f"EXPLAIN QUERY PLAN {statement}", (1, "茶", 1, "茶\U0010ffff"))
    steps = [str(step) for *_, step in plan if "postings" in str(step)]
    connection.close()
    assert steps == ["SEARCH postings USING PRIMARY KEY (owner=? AND term>? AND term<?)"]


@pytest.mark.parametrize("name", ["SCAN", "COUNT", "PROBE"])
async def test_words_search_by_owner_and_term(tmp_path: Path, name: str) -> None:
    """The postings of a word are found by owner and term together, in the table's own order."""
    path = tmp_path / "omoide.db"
    store = await SqliteStore.open(path)
    await store.close()
    connection = apsw.Connection(str(path))
    bindings = (1, "tea", 1, "[1]")[: 4 if name == "PROBE" else 3]
    plan = connection.execute(f"EXPLAIN QUERY PLAN {getattr(ranking, name)}", bindings).fetchall()
    connection.close()
    steps = [str(step) for *_, step in plan if "postings" in str(step)]
    assert steps
    key = "SEARCH postings USING PRIMARY KEY (owner=? AND term=? AND kind=?"
    assert all(key in step for step in steps)


async def many_facts(path: Path, count: int) -> SqliteStore:
    """A store in which Ann has so many facts, a third of them ended, ten of a session."""
    store = await SqliteStore.open(path)
    for first in range(0, count, 500):
        numbers = range(first, min(first + 500, count))
        added = tuple(
            replace(
                fact(f"fact {n}", id=f"f{n}", at=START - (count - n) * MINUTE, session=n // 10 + 1),
                pinned=n % (count // 3) == 0,
            )
            for n in numbers
        )
        ended = tuple(
            FactEnd(id=f"f{n - 1}", at=START - (count - n) * MINUTE, by=f"f{n}")
            for n in numbers[1:]
            if n % 3 == 0
        )
        await store.facts.apply(ANN, FactChanges(added=added, ended=ended))
    return store


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many steps of SQLite's machine each statement of any new connection took."""
    seen: list[int] = []

    def add(event: dict[str, Any]) -> None:
        seen.append(event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"])

    def watch(connection: apsw.Connection) -> None:
        connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, add)

    monkeypatch.setattr(apsw, "connection_hooks", [watch])
    return seen


async def work_of(path: Path, count: int, steps: list[int]) -> dict[str, int]:
    """How many steps each hot call takes on so many facts."""
    store = await many_facts(path, count)
    took: dict[str, int] = {}
    added = tuple(fact(f"new {n}", id=f"n{n}") for n in range(20))
    ended = tuple(FactEnd(id=f"f{count - 2 - 3 * n}", at=START, by=f"n{n}") for n in range(20))
    confirmed = tuple(FactConfirmation(id=f"f{n}", at=START, sources=("t",)) for n in range(20))
    changes = FactChanges(added=added, ended=ended, confirmed=confirmed)
    for only in HOT:
        steps.clear()
        await store.facts.read(ANN, only=only)
        took[repr(only)] = sum(steps)
    steps.clear()
    await store.facts.apply(ANN, changes)
    took["apply"] = sum(steps)
    steps.clear()
    await store.facts.mark(ANN, "n1", FactMarks(pinned=True))
    took["mark"] = sum(steps)
    await store.close()
    return took


async def test_facts_stay_flat(tmp_path: Path, steps: list[int]) -> None:
    """Reading facts by a hot condition, and changing 60 of them, takes no more steps of SQLite's
    machine for a user with thirty times as many."""
    few = await work_of(tmp_path / "few.db", 120, steps)
    many = await work_of(tmp_path / "many.db", 3600, steps)
    assert all(few.values())
    assert {call: (few[call], n) for call, n in many.items() if n > 1.3 * few[call]} == {}


async def test_no_statement_is_compiled_again_for_other_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What runs for every message keeps its compiled form: making it anew for each bound value
    would take longer than running it."""
    compiled: list[str | None] = []

    def compiles(action: int, table: str | None, *_: str | None) -> int:
        compiled.append(table)  # SQLite asks this while it compiles a statement
        return apsw.SQLITE_OK

    def watch(connection: apsw.Connection) -> None:
        connection.authorizer = compiles

    monkeypatch.setattr(apsw, "connection_hooks", [watch])
    store = await SqliteStore.open(tmp_path / "omoide.db")
    for text in ("green tea", "black tea", "white tea"):
        compiled.clear()
        [turn] = await tell(store, ANN, text)
        await store.turns.read(ANN, session=turn.session, last=turn.position)
        await store.facts.read(ANN, only=FactFilter(at=turn.time, newest=turn.position))
        await store.facts.read(ANN, only=FactFilter(turns=[turn.id], ended=True))
        await store.summaries.find(ANN, at=turn.time)
        await store.index.search_data(ANN, text.split())
    await store.close()
    assert compiled == []

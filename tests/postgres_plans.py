"""Whether every query stays on one user's rows, however many there are: PostgreSQL's own plans.

    python -m tests.postgres_plans [--turns 1000000] [--users 5000] [--partitions 16]
        [--dimensions 64] [--db postgresql://…] [--filled] [--plans]

The database is filled as `postgres_filling.py` says. Without --db a server is started for it in
/tmp, and removed in the end. Then each hot call of the store is made for some users, and every
statement of it is first run under EXPLAIN (ANALYZE, BUFFERS) and rolled back. A statement fails
if it looks into more than one partition of a table, reads a growing table without an index (but a
partition of at most eight pages may be read whole), or looks at more rows than the user has.
`--plans` prints the plans. The size is an option: at 10 M turns have 35 GB of disk ready.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
import time
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import psycopg

from omoide.adapters.stores.postgres import PostgresStore
from omoide.adapters.stores.postgres.connection import PostgresConnection
from omoide.domain import (
    Fact,
    FactChanges,
    FactConfirmation,
    FactEnd,
    FactFilter,
    FactMarks,
    JobState,
    MemoryKind,
    NewTurn,
    Owner,
    Speaker,
)
from omoide.ports import Space
from tests.postgres import running
from tests.postgres_filling import SESSION, TENANTS, VOCABULARY, WORDS, fill, words_made

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence

    from omoide.ports import Vectors

    Calls = dict[str, Callable[[Owner], Awaitable[object]]]

START = datetime(2024, 1, 1, tzinfo=UTC)
SMALL = frozenset({"spaces", "tenants", "erasing", "omoide_meta"})
"""Tables of a few rows, which may be read as a whole."""
FEW_PAGES = 8
"""So may a partition that has no more: an index would not be quicker."""


# ── Explaining ──────────────────────────────────────────────────────────────────────────────────


@dataclass
class Seen:
    """One statement of a call, and what PostgreSQL did for it."""

    call: str
    statement: str
    scans: list[Scan]
    milliseconds: float
    plan: dict[str, Any] = field(repr=False, default_factory=dict)

    def problems(self, *, most: int) -> list[str]:
        """What is wrong with it, if the user has `most` rows in a table."""
        found = []
        parts: dict[str, set[str]] = defaultdict(set)
        for scan in self.scans:
            parts[scan.table].add(scan.relation)
            if scan.sequential and (scan.pages <= FEW_PAGES or scan.table in SMALL):
                continue
            if scan.sequential:
                found.append(f"reads all {scan.pages:,} pages of {scan.relation}")
            if scan.rows > most:
                found.append(f"looks at {scan.rows:,} rows of {scan.relation}")
        found += [f"looks into {len(p)} partitions of {t}" for t, p in parts.items() if len(p) > 1]
        return found


@dataclass(frozen=True)
class Scan:
    """A look into one relation."""

    relation: str
    how: str
    rows: int
    """Looked at, whether they were wanted or not."""
    pages: int
    """Of 8 KB."""

    @property
    def table(self) -> str:
        """The relation, or what it is a partition of."""
        name, _, number = self.relation.rpartition("_p")
        return name if number.isdecimal() else self.relation

    @property
    def sequential(self) -> bool:
        """Whether it was read from one end to the other."""
        return self.how == "Seq Scan"


class Explaining(PostgresConnection):
    """Runs each statement first under EXPLAIN, and undoes that."""

    call = ""
    seen: list[Seen] = []  # noqa: RUF012 - one list for all: the store makes these, not we

    def execute(self, statement: str, values: Sequence[Any] = ()) -> psycopg.Cursor[Any]:
        """Note the plan, then run it."""
        self._note(statement, values)
        return super().execute(statement, values)

    def executemany(self, statement: str, values: Iterable[Sequence[Any]]) -> Any:  # noqa: ANN401
        """Note the plan of the first."""
        several = list(values)
        if several:
            self._note(statement, several[0])
        return super().executemany(statement, several)

    def _note(self, statement: str, values: Sequence[Any]) -> None:
        super().execute("SAVEPOINT explained")
        explain = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}"
        [(found,)] = super().execute(explain, values)
        super().execute("ROLLBACK TO SAVEPOINT explained")
        plan = found[0]
        self.seen.append(
            Seen(
                call=Explaining.call,
                statement=" ".join(statement.split()),
                scans=list(scans(plan["Plan"])),
                milliseconds=plan["Planning Time"] + plan["Execution Time"],
                plan=plan,
            )
        )


def scans(node: dict[str, Any]) -> Iterator[Scan]:
    """Every look into a relation within a plan; one that was planned and not made is left out."""
    name = node.get("Relation Name")
    if name and node["Actual Loops"] and node["Node Type"] != "ModifyTable":
        looked = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
        looked += node.get("Rows Removed by Index Recheck", 0)
        pages = node["Shared Hit Blocks"] + node["Shared Read Blocks"]
        yield Scan(name, node["Node Type"], round(looked * node["Actual Loops"]), pages)
    for child in node.get("Plans", ()):
        yield from scans(child)


def calls(store: PostgresStore, space: Space, *, each: int) -> Calls:
    """The hot calls of a store, each for one owner."""
    dice = random.Random(3)
    vocabulary = words_made(VOCABULARY)

    def query() -> Vectors:
        import numpy as np

        numbers = np.random.default_rng(1).standard_normal((1, space.dimensions))
        return numbers.astype(np.float32)

    def asked() -> list[str]:
        return [vocabulary[dice.randrange(2000)] for _ in range(4)] + vocabulary[:1]

    async def record(owner: Owner) -> None:
        said = [
            NewTurn(
                speaker=Speaker.USER,
                text=" ".join([*dice.choices(vocabulary, k=WORDS), "お茶と水"]),
                time=START + timedelta(days=300),
                id=f"new-{dice.random()}",
                language="en",
            )
        ]
        await store.turns.append(owner, said, session=None, idle=timedelta(minutes=30))

    async def put_back(owner: Owner) -> None:
        sessions = await store.turns.sessions(owner)
        [last] = await store.turns.read(owner, last=1)
        turn = replace(last, id=f"back-{dice.random()}", position=last.position + 1)
        await store.archive.restore(owner, sessions=sessions, turns=[turn])

    async def work(owner: Owner) -> None:
        await store.turns.end(owner, at=START)
        job = await store.jobs.claim(
            owner.tenant, worker="w", now=START + timedelta(days=900), lease=timedelta(minutes=1)
        )
        assert job is not None
        await store.jobs.extend(job, until=START)
        await store.jobs.set_state(job, state=JobState.DONE)

    async def come_to_mind(owner: Owner) -> None:
        events = await store.events.read(owner, ids=["event-1", "event-2"])
        await store.events.consolidate(owner, [event.recalled(START) for event in events])

    async def change_facts(owner: Owner) -> None:
        when = START + timedelta(days=300)
        name = f"new-{dice.random()}"
        new = Fact(id=name, about="user", text="it is new", said=when, learned=when)
        ended = FactEnd(id="fact-1", at=when, by=name)
        said_again = FactConfirmation(id="fact-2", at=when)
        changes = FactChanges(added=(new,), ended=(ended,), confirmed=(said_again,))
        await store.facts.apply(owner, changes)
        await store.facts.mark(owner, "fact-4", FactMarks(pinned=True))

    def facts(**only: Any) -> Callable[[Owner], Awaitable[object]]:  # noqa: ANN401
        return lambda o: store.facts.read(o, only=FactFilter(**only))

    now = START + timedelta(days=400)
    return {
        "record a turn": record,
        "change facts": change_facts,
        "facts that hold": facts(at=now, newest=20),
        "facts of a session": facts(session=1),
        "facts about someone": facts(about="Bob", at=now, newest=20),
        "pinned facts": facts(pinned=True, at=now),
        "newest facts": facts(newest=20),
        "facts by id": lambda o: store.facts.read(o, ids=["fact-1", "fact-2"]),
        "put a turn back": put_back,
        "read a session": lambda o: store.turns.read(o, session=each // SESSION),
        "read the last 50": lambda o: store.turns.read(o, last=50),
        "sessions": lambda o: store.turns.sessions(o),
        "newest memory": lambda o: store.summaries.find(o),
        "history of memory": lambda o: store.summaries.history(o),
        "words": lambda o: store.index.search_words(o, asked(), k=10),
        "nearest": lambda o: store.index.nearest(o, space, query(), k=10),
        "words by a character": lambda o: store.index.search_words(o, ["茶"], k=10),
        "survey": lambda o: store.index.search_data(o, asked(), space=space, query=query()),
        "survey by a character": lambda o: store.index.search_data(o, ["茶"]),
        "without a vector": lambda o: store.index.without_vector(o, space, limit=64),
        "events": lambda o: store.events.read(o),
        "come to mind": come_to_mind,
        "words of events": lambda o: store.index.search_words(
            o, asked(), k=10, kind=MemoryKind.EVENT
        ),
        "end, claim, settle": work,
        "cost": lambda o: store.ledger.calls(o),
    }


async def explain(
    store: PostgresStore, space: Space, owners: Sequence[Owner], *, each: int
) -> list[Seen]:
    """The plans of every statement of every call, for each of these owners."""
    Explaining.seen = []
    store.database.wrap = Explaining  # type: ignore[attr-defined] # ours is PostgreSQL's
    for name, call in calls(store, space, each=each).items():
        Explaining.call = name
        for owner in owners:
            await call(owner)
    store.database.wrap = PostgresConnection  # type: ignore[attr-defined]
    return Explaining.seen


async def measure(
    store: PostgresStore, space: Space, owners: Sequence[Owner], *, each: int
) -> dict[str, list[float]]:
    """How long each call takes, for owners nobody has asked about before."""
    took: dict[str, list[float]] = defaultdict(list)
    for name, call in calls(store, space, each=each).items():
        for owner in owners:
            began = time.perf_counter()
            await call(owner)
            took[name].append((time.perf_counter() - began) * 1000)
    return took


# ── Telling ─────────────────────────────────────────────────────────────────────────────────────


def told(seen: list[Seen], *, most: int) -> int:
    """Print a line for each statement, the worst of its runs; how many have problems."""
    worst: dict[tuple[str, str], Seen] = {}
    wrong = 0
    for one in seen:
        key = one.call, one.statement
        if key not in worst or _rows(one) > _rows(worst[key]):
            worst[key] = one
        wrong += bool(one.problems(most=most))
    for (call, statement), one in worst.items():
        looks = ", ".join(sorted({f"{s.table}: {s.how}" for s in one.scans})) or "no table"
        print(f"{call:<22} {_rows(one):>7,} rows  {one.milliseconds:7.2f} ms  {looks}")
        print(f"    {statement[:150]}")
        for problem in one.problems(most=most):
            print(f"    ! {problem}")
    return wrong


def _rows(seen: Seen) -> int:
    return sum(scan.rows for scan in seen.scans)


def sizes(url: str, turns: int) -> None:
    """Print what a turn takes on disk, table by table with its indexes."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT coalesce(inhparent::regclass::text, relname) AS name, "
            "sum(pg_total_relation_size(c.oid)) AS bytes, sum(pg_indexes_size(c.oid)) "
            "FROM pg_class c LEFT JOIN pg_inherits ON inhrelid = c.oid "
            "WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace "
            "GROUP BY 1 ORDER BY 2 DESC LIMIT 8"
        ).fetchall()
        [(whole,)] = connection.execute("SELECT pg_database_size(current_database())")
    print(f"\n{whole / 1e9:.2f} GB in all, {whole / turns:,.0f} bytes a turn; the largest tables:")
    for name, size, indexes in rows:
        print(f"  {name:<12} {size / turns:8,.0f} bytes a turn, {indexes / turns:,.0f} in indexes")


async def run(url: str, arguments: argparse.Namespace) -> int:
    """Fill, explain, measure, tell."""
    space = Space(name="random", version="1", dimensions=arguments.dimensions)
    store = await PostgresStore.open(url, partitions=arguments.partitions)
    each = arguments.turns // arguments.users
    print(
        f"{arguments.turns:,} turns of {arguments.users:,} users, {arguments.partitions} partitions"
    )
    if not arguments.filled:
        fill(url, turns=arguments.turns, users=arguments.users, space=space)
    dice = random.Random(7)
    chosen = dice.sample(range(arguments.users), min(arguments.users, 45))
    owners = [Owner(tenant=f"t{n % TENANTS}", user=f"u{n}") for n in chosen]
    seen = await explain(store, space, owners[:5], each=each)
    if arguments.plans:
        for one in seen:
            print(one.statement, one.plan, sep="\n")
    most = each + 60
    wrong = told(seen, most=most)
    print(f"\n{len(seen)} plans, {wrong} that leave one user's {each:,} rows")
    print("\nmilliseconds, p50 and p95, first call for a user, one at a time")
    for name, took in (await measure(store, space, owners[5:], each=each)).items():
        ordered = sorted(took)
        p95 = ordered[round(0.95 * (len(ordered) - 1))]
        print(f"  {name:<22} {statistics.median(took):8.1f} {p95:8.1f}")
    sizes(url, arguments.turns)
    await store.close()
    return int(wrong > 0)


def main() -> int:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--turns", type=int, default=1_000_000)
    parser.add_argument("--users", type=int, default=5_000)
    parser.add_argument("--partitions", type=int, default=16)
    parser.add_argument("--dimensions", type=int, default=64)
    parser.add_argument("--db", help="an empty database; by default a server is started")
    parser.add_argument("--filled", action="store_true", help="--db has all of this already")
    parser.add_argument("--plans", action="store_true", help="print every plan")
    arguments = parser.parse_args()
    with ExitStack() as stack:
        url = arguments.db
        if url is None:
            settings = ("shared_buffers=1GB", "max_wal_size=8GB", "maintenance_work_mem=512MB")
            url = stack.enter_context(running(settings)).url()
        return asyncio.run(run(url, arguments))


if __name__ == "__main__":
    sys.exit(main())

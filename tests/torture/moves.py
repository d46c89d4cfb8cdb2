"""`omoide migrate`, killed at random moments and run again, and what is at the target each time:
whole users and nothing else, the same as at the source, row by row."""

from __future__ import annotations

import json
import time
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from omoide import bootstrap
from omoide.adapters.stores.sql.tables import OWNER, TABLES
from omoide.domain import Owner
from omoide.testing.contracts.making import live
from tests.torture.outcome import outcome_of
from tests.torture.parts import TENANTS
from tests.torture.places_postgres import PARTITIONS
from tests.torture.processes import asked, killed

if TYPE_CHECKING:
    import random

    from tests.torture.kills import Counts, Promises
    from tests.torture.outcome import Outcome
    from tests.torture.places import Place, Places
    from tests.torture.processes import Promise

    Rows = Counter[str]

USERS = 6
"""Of each tenant."""
SPOKEN = 12
"""Turns in each of three sessions."""
OWNERS = [Owner(tenant=tenant, user=f"user{i}") for tenant in TENANTS for i in range(USERS)]
"""In the order in which they are moved."""


def kill_moves(
    source: Place, places: Places, *, kills: int, seconds: float, dice: random.Random
) -> Outcome:
    """Kill so many moves into new databases. Each is run again until it says that all is there, and
    then another begins."""
    began = time.monotonic()
    promises: Promises = {tenant: {} for tenant in TENANTS}
    asked(lambda: _seed(source))
    counts: Counter[str] = Counter({"lost": 0, "doubled": 0, "emptied": 0, "crossed": 0})
    done = moves = 0
    target, moved = places.create("moved0"), set[str]()
    while done < kills and (done < 3 or time.monotonic() - began < seconds):
        told = killed(partial(_migrate, source, target), dice=dice, most=len(OWNERS) + 2)
        done += 1
        for tenant, verb, user in told:
            if verb == "moved" and f"{tenant} {user}" not in moved:
                promises[tenant].setdefault(verb, []).append(user)
                moved.add(f"{tenant} {user}")
        counts += asked(partial(compare, source, target, sorted(moved)))
        if any(counts.values()):
            break
        if any(verb == "finished" for _, verb, _ in told):
            moves += 1
            places.discard(target)
            target, moved = places.create(f"moved{moves}"), set()
    asked(lambda: _whole(source, target))
    everyone = [f"{owner.tenant} {owner.user}" for owner in OWNERS]
    counts += asked(partial(compare, source, target, everyone))
    found = {name: counts[name] for name in ("lost", "doubled", "emptied", "crossed")}
    beside = f"{moves + 1} moves of {len(OWNERS)} users came to their end"
    return outcome_of("`kill -9` during migrate", done, promises, found, began, beside=beside)


async def _seed(place: Place) -> None:
    store = await place.open()
    for owner in OWNERS:
        await live(store, owner, turns=SPOKEN)
    await store.close()


async def _migrate(source: Place, target: Place, promise: Promise) -> None:
    """Move again and again: when all is there, everything is compared once more."""
    while True:
        await _whole(source, target, promise)
        promise(f"{TENANTS[0]} finished -")


async def _whole(source: Place, target: Place, promise: Promise | None = None) -> None:
    def moved(number: int, _total: int, _what: str) -> None:
        owner = OWNERS[number - 1]
        if promise:
            promise(f"{owner.tenant} moved {owner.user}")

    done = await bootstrap.migrate(
        source.where, target.where, partitions=PARTITIONS, progress=moved
    )
    if done.refused or done.owners != len(OWNERS):
        raise RuntimeError(f"{done.owners} were moved, and refused: {done.refused}")


async def compare(source: Place, target: Place, promised: list[str]) -> Counts:
    """What the target has too little and too much, of users who were promised or are there."""
    here, there = everything(source), everything(target)
    missing = [owner for owner in promised if owner not in there]
    lost, doubled, crossed, emptied = len(missing), 0, 0, 0
    for owner, rows in there.items():
        wanted = here.get(owner, Counter())
        surplus = rows - wanted
        lost += (wanted - rows).total()
        doubled += surplus.total()
        tenant = owner.partition(" ")[0]
        others = [r for name, r in here.items() if not name.startswith(f"{tenant} ")]
        crossed += sum(row not in wanted and any(row in r for r in others) for row in surplus)
        emptied += _versions(wanted) > _versions(rows)
    return {"lost": lost, "doubled": doubled, "emptied": emptied, "crossed": crossed}


def _versions(rows: Rows) -> int:
    return sum(n for row, n in rows.items() if row.startswith('["summaries"'))


def everything(place: Place) -> dict[str, Rows]:
    """All rows of all tables, by the owner's name; those of no owner are under "nobody"."""
    found: dict[str, Rows] = {}
    if "owners" not in place.tables():
        return found  # killed before there were any
    with place.raw() as connection:
        names: dict[int, str] = {}
        counted = ", ".join(OWNER)
        for number, tenant, user, *row in connection.execute(
            f'SELECT id, tenant, "user", {counted} FROM owners'  # noqa: S608
        ):
            names[number] = f"{tenant} {user}"
            found[names[number]] = Counter([json.dumps(["owners", *row])])
        spaces = dict(connection.execute("SELECT id, name FROM spaces").fetchall())
        for table in TABLES:
            columns = ", ".join(table.portable_columns)
            for owner, *row in connection.execute(
                f"SELECT owner, {columns} FROM {table.name}"  # noqa: S608
            ):
                told = dict(zip(table.portable_columns, row, strict=True))
                plain = [
                    _plain(name, value, table.booleans, spaces) for name, value in told.items()
                ]
                rows = found.setdefault(names.get(owner, "nobody"), Counter())
                rows[json.dumps([table.name, *plain])] += 1
    return found


def _plain(name: str, value: Any, booleans: tuple[str, ...], spaces: dict[int, str]) -> Any:  # noqa: ANN401
    """The same in both databases."""
    import numpy as np

    if name == "space":
        return spaces[value]
    if name == "vector":
        numbers = json.loads(value) if isinstance(value, str) else np.frombuffer(value, "<f4")
        return np.asarray(numbers, "<f4").tolist()
    if name in booleans:
        return bool(value)
    if isinstance(value, str):  # PostgreSQL's text cannot hold NUL
        return value.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return value

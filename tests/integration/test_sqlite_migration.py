"""A database copied from one file to another, owner by owner and checked row by row."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import apsw
import pytest

from omoide.adapters.stores.sql import migration
from omoide.adapters.stores.sql.migration import migrate_all, migrate_owner
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import MemoryKind, Owner
from omoide.errors import BadInput, EmbedderMismatch, StoreCorrupt
from omoide.ports import Space
from omoide.testing.contracts.making import (
    ANN,
    ANN_ELSEWHERE,
    BOB,
    SPACE,
    START,
    live,
    rows,
    tell,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from omoide.ports import Store

EVERYONE = (ANN, BOB, ANN_ELSEWHERE)


async def seen(store: Store, owner: Owner) -> tuple[object, ...]:
    """Everything of an owner, as the store tells it."""
    jobs = await store.jobs.list(owner.tenant, owner=owner)
    return (
        await store.turns.read(owner),
        await store.turns.sessions(owner),
        await store.summaries.history(owner),
        await store.events.read(owner),
        await store.memos.read(owner),
        await store.facts.read(owner),
        await store.notes.read(owner, kind="day"),
        await store.ledger.calls(owner),
        [(j.task, j.session, j.state, j.attempts, j.error) for j in jobs],
        await store.index.search_words(owner, ["tea", "green", "東京"], k=99),
        [h.id for h in await store.index.nearest(owner, SPACE, rows((1, 2, 3)), k=9)],
        await store.index.without_vector(owner, SPACE, limit=99, kind=MemoryKind.MEMO),
        await store.index.without_vector(owner, SPACE, limit=99, kind=MemoryKind.FACT),
        await store.index.search_words(owner, ["f1", "茶"], k=99, kind=MemoryKind.FACT),
    )


async def filled(path: Path) -> SqliteStore:
    """A file with three owners of two tenants."""
    store = await SqliteStore.open(path)
    for owner in EVERYONE:
        await live(store, owner)
    return store


@pytest.fixture
async def source(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    """A file with three owners."""
    store = await filled(tmp_path / "a.sqlite")
    yield store
    await store.close()


@pytest.fixture
async def target(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    """An empty file."""
    store = await SqliteStore.open(tmp_path / "b.sqlite")
    yield store
    await store.close()


@pytest.mark.parametrize("chunk", [1, 7, 2000])
async def test_everything_comes_over(
    source: SqliteStore, target: SqliteStore, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    """Nothing that can be asked has changed, however many rows are held at a time, and numbers that
    were given are not given again."""
    monkeypatch.setattr(migration, "CHUNK", chunk)
    told: list[tuple[int, int, str]] = []
    done = await migrate_all(source, target, progress=lambda *at: told.append(at))
    assert (done.owners, done.known, done.refused) == (3, 0, ())
    assert told == [(1, 3, "users"), (2, 3, "users"), (3, 3, "users")]
    assert await migrate_all(source, target) == replace(done, known=3)
    for owner in EVERYONE:
        assert await seen(target, owner) == await seen(source, owner)
        places = set()
        for store in (source, target):
            [turn] = await tell(store, owner, "and on it goes", key="new")
            places.add((turn.position, turn.session))
        assert places == {(37, 4)}


async def test_receipts_stay_genuine(source: SqliteStore, target: SqliteStore) -> None:
    """The secret comes along, and the notes of erasures with it; but a target that has a secret of
    its own keeps that."""
    await source.archive.note_erasure(BOB, at=START)
    key = await source.archive.receipt_key()
    for _ in range(2):
        await migrate_all(source, target)
        assert await target.archive.receipt_key() == key
        assert await target.archive.last_erasure(BOB) == START
    other = await SqliteStore.open(":memory:")
    own = await other.archive.receipt_key()
    await migrate_all(source, other)
    assert await other.archive.receipt_key() == own != key
    assert await other.archive.last_erasure(BOB) is None
    await other.close()


async def test_only_the_named_tenant_comes_over(source: SqliteStore, target: SqliteStore) -> None:
    """And those who are there already are compared and passed over."""
    first = await migrate_owner(source, target, ANN)
    done = await migrate_all(source, target, tenant=ANN.tenant)
    assert (first.known, done.owners, done.known) == (False, 2, 1)
    assert await target.archive.tenants() == (ANN.tenant,)


async def test_who_lives_there_too_is_left_alone(source: SqliteStore, target: SqliteStore) -> None:
    """What the target has of a user is neither mixed with the source's nor lost."""
    await tell(target, BOB, "I was here first")
    done = await migrate_all(source, target)
    assert (done.owners, done.known, len(done.refused)) == (2, 0, 1)
    assert "'bob'" in done.refused[0]
    assert [t.text for t in await target.turns.read(BOB)] == ["I was here first"]


async def test_who_differs_in_their_counters_alone_is_left_alone(
    source: SqliteStore, target: SqliteStore, tmp_path: Path
) -> None:
    """The rows are the same, but the next turn or version would get another number."""
    await migrate_all(source, target)
    with apsw.Connection(str(tmp_path / "b.sqlite")) as connection:
        connection.execute("UPDATE owners SET erasures = erasures + 1")
    with pytest.raises(BadInput, match="counters differ"):
        await migrate_owner(source, target, ANN)


async def test_who_is_not_there_cannot_come(source: SqliteStore, target: SqliteStore) -> None:
    """Somebody erased while the others moved, say."""
    with pytest.raises(BadInput, match="no longer exists"):
        await migrate_owner(source, target, Owner(tenant="acme", user="nobody"))
    assert await target.archive.tenants() == ()


async def test_a_row_that_changed_on_the_way_is_noticed(
    source: SqliteStore, target: SqliteStore, tmp_path: Path
) -> None:
    """Counts alone would not do: one letter differs, and the owner is not kept."""
    with apsw.Connection(str(tmp_path / "b.sqlite")) as connection:
        connection.execute(
            "CREATE TRIGGER spoil AFTER INSERT ON calls "
            "BEGIN UPDATE calls SET model = 'X' || model WHERE owner = new.owner; END"
        )
    with pytest.raises(StoreCorrupt, match="calls differ"):
        await migrate_owner(source, target, ANN)
    assert await target.archive.owners("acme") == ()


async def test_a_row_that_was_lost_on_the_way_is_noticed(
    source: SqliteStore, target: SqliteStore, tmp_path: Path
) -> None:
    """The message says how many there are on each side."""
    with apsw.Connection(str(tmp_path / "b.sqlite")) as connection:
        connection.execute(
            "CREATE TRIGGER lose AFTER INSERT ON calls "
            "BEGIN DELETE FROM calls WHERE owner = new.owner; END"
        )
    with pytest.raises(StoreCorrupt, match=r"calls differ \(3 rows here, 0 there\)"):
        await migrate_owner(source, target, ANN)


@pytest.mark.parametrize(("version", "dimensions"), [("9", 3), (SPACE.version, 4)])
async def test_spaces_that_do_not_agree_are_refused(
    source: SqliteStore, target: SqliteStore, version: str, dimensions: int
) -> None:
    """Vectors of another embedder are not put beside those of this one."""
    other = Space(name=SPACE.name, version=version, dimensions=dimensions)
    [turn] = await tell(target, BOB, "hello")
    vector = rows(tuple(float(n == 0) for n in range(dimensions)))
    await target.index.put(BOB, other, ids=[turn.id], vectors=vector)
    with pytest.raises(EmbedderMismatch, match=f"target version '{version}' and {dimensions}"):
        await migrate_owner(source, target, ANN)

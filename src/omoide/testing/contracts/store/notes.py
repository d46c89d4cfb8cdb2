"""The contract of `NoteStore`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from omoide.errors import StaleVersion
from omoide.testing.contracts.making import ANN, ANN_ELSEWHERE, BOB, HOUR, START, note, tell
from omoide.testing.contracts.store.base import StoreSuite

if TYPE_CHECKING:
    from omoide.ports import Store


class NotesContract(StoreSuite):
    """The contract of `NoteStore`."""

    async def test_read_in_order_of_keys(self, store: Store) -> None:
        """The notes of a kind come ordered by key and unchanged, without those of other kinds."""
        days = [note(f"day {key}", key=key) for key in ("2024-05-02", "2024-05-01", "日")]
        portrait = note("likes tea", kind="portrait", key="", session=None)
        for kept in (*days, portrait):
            await store.notes.put(ANN, kept)
        assert await store.notes.read(ANN, kind="day") == (days[1], days[0], days[2])
        assert await store.notes.read(ANN, kind="portrait") == (portrait,)
        assert await store.notes.read(ANN, kind="unknown") == ()

    async def test_put_takes_the_place(self, store: Store) -> None:
        """A note replaces the one with the same kind and key, and no other."""
        kept = [note("a"), note("b", key="other"), note("c", kind="other")]
        for old in kept:
            await store.notes.put(ANN, old)
        new = replace(note("new", session=2), time=START + HOUR)
        await store.notes.put(ANN, new)
        assert await store.notes.read(ANN, kind="day") == (new, kept[1])
        assert await store.notes.read(ANN, kind="other") == (kept[2],)

    async def test_each_owner_has_their_own(self, store: Store) -> None:
        """The same kind and key of another owner or tenant is another note."""
        for owner in (ANN, BOB, ANN_ELSEWHERE):
            await store.notes.put(owner, note(f"of {owner.tenant} {owner.user}"))
        await store.notes.put(ANN, note("new"))
        assert await store.notes.read(BOB, kind="day") == (note("of acme bob"),)
        assert await store.notes.read(ANN_ELSEWHERE, kind="day") == (note("of other ann"),)
        assert await store.archive.owners("acme") == (ANN, BOB)

    async def test_two_see_each_other_notes(self, stores: tuple[Store, Store]) -> None:
        """What one process puts, the other reads at once."""
        one, two = stores
        await one.notes.put(ANN, note("a"))
        assert await two.notes.read(ANN, kind="day") == (note("a"),)
        await two.notes.put(ANN, note("b"))
        assert await one.notes.read(ANN, kind="day") == (note("b"),)

    async def test_notes_of_erased_sessions_come_too_late(self, store: Store) -> None:
        """A note made from a session that was erased meanwhile is rejected."""
        await tell(store, ANN, "a", key="one")
        await tell(store, ANN, "b", key="two")
        await store.archive.erase(ANN, session=1)
        with pytest.raises(StaleVersion, match="erased meanwhile"):
            await store.notes.put(ANN, note("late", session=1))
        for fine in (note("x", session=2), note("y", key="other", session=None)):
            await store.notes.put(ANN, fine)
        assert len(await store.notes.read(ANN, kind="day")) == 2

    async def test_a_note_of_before_an_erasure_comes_too_late(self, store: Store) -> None:
        """Given the erasure mark of that time, it is rejected and brings no erased owner back."""
        await tell(store, ANN, "a")
        await tell(store, ANN, "b")
        before = await store.archive.erasure_mark(ANN)
        await store.notes.put(ANN, note("in time"), mark=before)
        await store.archive.erase(ANN, turns=["a"])
        with pytest.raises(StaleVersion, match="erased meanwhile"):
            await store.notes.put(ANN, note("late"), mark=before)
        between = await store.archive.erasure_mark(ANN)
        await store.archive.erase(ANN)
        with pytest.raises(StaleVersion, match="erased meanwhile"):
            await store.notes.put(ANN, note("late"), mark=between)
        assert await store.notes.read(ANN) == ()
        assert ANN not in await store.archive.owners("acme")
        await tell(store, ANN, "a")
        with pytest.raises(StaleVersion, match="erased meanwhile"):
            await store.notes.put(ANN, note("late"), mark=between)

    async def test_nothing_of_a_stranger_notes(self, store: Store) -> None:
        """Nothing is read for an unknown owner."""
        assert await store.notes.read(ANN, kind="day") == ()
        assert await store.notes.remove(ANN, kind="day") == 0

    async def test_remove_takes_what_is_named(self, store: Store) -> None:
        """By key, or all of a kind; of this owner alone, and told how many."""
        kept = [note("a", key="1"), note("b", key="2"), note("c", key="3"), note("d", kind="other")]
        for owner in (ANN, BOB):
            for value in kept:
                await store.notes.put(owner, value)
        assert await store.notes.remove(ANN, kind="day", keys=["2", "9"]) == 1
        assert await store.notes.read(ANN, kind="day") == (kept[0], kept[2])
        assert await store.notes.remove(ANN, kind="day") == 2
        assert await store.notes.remove(ANN, kind="day", keys=[]) == 0
        assert await store.notes.read(ANN) == (kept[3],)
        assert len(await store.notes.read(BOB)) == 4

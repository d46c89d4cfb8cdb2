"""The contract of `Archive.restore`, and of reading all notes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from omoide.domain import JobState, JobTask
from omoide.errors import ConflictingTurn
from omoide.testing.contracts.making import ANN, BOB, HOUR, START, note, tell
from omoide.testing.contracts.store.base import StoreSuite

if TYPE_CHECKING:
    from omoide.ports import Store


class PutBackContract(StoreSuite):
    """The contract of `Archive.restore`, and of reading all notes."""

    async def test_what_comes_back_is_what_was(self, store: Store) -> None:
        """Sessions and turns of one owner, restored for another, are equal in every field and found
        by their words; an EMBED job is queued, and no DIGEST job."""
        await tell(store, ANN, "green", "tea", key="k")
        await store.turns.end(ANN, session=1, at=START + HOUR)
        await tell(store, ANN, "open end", at=START + 3 * HOUR)
        sessions, turns = await store.turns.sessions(ANN), await store.turns.read(ANN)
        assert await store.archive.restore(BOB, sessions=sessions, turns=turns) == (2, 3)
        assert await store.turns.sessions(BOB) == sessions
        assert await store.turns.read(BOB) == turns
        assert [hit.id for hit in await store.index.search_words(BOB, ["green"], k=5)] == ["green"]
        jobs = await store.jobs.list("acme", owner=BOB)
        assert [(job.task, job.state) for job in jobs] == [(JobTask.EMBED, JobState.WAITING)]

    async def test_holes_stay_holes(self, store: Store) -> None:
        """Numbers and positions are kept, and none up to the highest is assigned again."""
        (turn,) = await tell(store, ANN, "green")
        (session,) = await store.turns.sessions(ANN)
        far = replace(turn, position=7, session=4)
        await store.archive.restore(BOB, sessions=[replace(session, number=4)], turns=[far])
        (new,) = await tell(store, BOB, "next", key="new")
        assert (new.position, new.session) == (8, 5)

    async def test_numbers_go_on_from_the_highest(self, store: Store) -> None:
        """Also if the owner had turns before: no number is skipped and none is given twice."""
        (turn,) = await tell(store, ANN, "green")
        (session,) = await store.turns.sessions(ANN)
        await tell(store, BOB, "one", "two", key="old")
        for number, position in ((4, 7), (3, 5)):
            moved = replace(turn, id=f"at {position}", position=position, session=number)
            again = replace(session, number=number)
            await store.archive.restore(BOB, sessions=[again], turns=[moved])
            (new,) = await tell(store, BOB, f"after {position}", key=f"after {position}")
            known = await store.turns.read(BOB)
            assert new.position == max(t.position for t in known if t.id != new.id) + 1
            assert new.session == max(t.session for t in known if t.id != new.id) + 1

    async def test_what_is_there_is_passed_over(self, store: Store) -> None:
        """Restoring twice stores nothing twice, and adds only what was missing."""
        await tell(store, ANN, "green", "tea")
        sessions, turns = await store.turns.sessions(ANN), await store.turns.read(ANN)
        half = [replace(sessions[0], turns=2)]
        assert await store.archive.restore(BOB, sessions=half, turns=turns[:1]) == (1, 1)
        assert await store.archive.restore(BOB, sessions=sessions, turns=turns) == (0, 1)
        assert await store.archive.restore(BOB, sessions=sessions, turns=turns) == (0, 0)
        assert await store.turns.read(BOB) == turns

    async def test_a_taken_place_is_a_conflict(self, store: Store) -> None:
        """If another turn has the position, nothing is stored."""
        await tell(store, ANN, "green", key="k")
        await tell(store, BOB, "other")
        sessions, turns = await store.turns.sessions(ANN), await store.turns.read(ANN)
        with pytest.raises(ConflictingTurn, match="position 1"):
            await store.archive.restore(BOB, sessions=sessions, turns=turns)
        assert [turn.id for turn in await store.turns.read(BOB)] == ["other"]
        assert [s.key for s in await store.turns.sessions(BOB)] == [None]

    async def test_a_key_names_many_sessions(self, store: Store) -> None:
        """A session is restored beside another with its key; new turns go into the newest."""
        await tell(store, ANN, "green", key="k")
        sessions = await store.turns.sessions(ANN)
        await tell(store, BOB, "keyed", key="k")
        moved = [replace(sessions[0], number=9)]
        assert await store.archive.restore(BOB, sessions=moved, turns=()) == (1, 0)
        assert [(s.number, s.key) for s in await store.turns.sessions(BOB)] == [(1, "k"), (9, "k")]
        [more] = await tell(store, BOB, "more", key="k")
        assert more.session == 9

    async def test_turns_in_a_hole_are_surveyed(self, store: Store) -> None:
        """A turn restored before existing ones is in the search data, whatever was cached."""
        await tell(store, ANN, "green", "tea")
        sessions, turns = await store.turns.sessions(ANN), await store.turns.read(ANN)
        await store.archive.restore(BOB, sessions=sessions, turns=turns[1:])
        assert list((await store.index.search_data(BOB, ["tea"])).table.ids) == ["tea"]
        await store.archive.restore(BOB, sessions=sessions, turns=turns)
        assert list((await store.index.search_data(BOB, ["tea"])).table.ids) == ["green", "tea"]

    async def test_all_notes_at_once(self, store: Store) -> None:
        """Without a kind, the notes of all kinds come, in order of kinds and keys."""
        for kind, key in (("b", "2"), ("a", "9"), ("b", "1")):
            await store.notes.put(ANN, note("text", kind=kind, key=key))
        await store.notes.put(BOB, note("text", kind="a", key="0"))
        notes = await store.notes.read(ANN)
        assert [(n.kind, n.key) for n in notes] == [("a", "9"), ("b", "1"), ("b", "2")]

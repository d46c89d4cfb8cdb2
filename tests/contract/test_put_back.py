"""The contract of `Archive.put_back`, and of reading all notes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from omoide.domain import State, Task
from omoide.errors import ConflictingTurn
from tests.contract.making import ANN, BOB, HOUR, START, note, tell

if TYPE_CHECKING:
    from omoide.ports import Store


async def test_what_comes_back_is_what_was(store: Store) -> None:
    """Sessions and turns of one owner, put back for another, are equal in every field and found
    by their words; vectors are asked for and digests are not."""
    await tell(store, ANN, "green", "tea", key="k")
    await store.turns.end(ANN, session=1, at=START + HOUR)
    await tell(store, ANN, "open end", at=START + 3 * HOUR)
    sessions, turns = await store.turns.sessions(ANN), await store.turns.read(ANN)
    assert await store.archive.put_back(BOB, sessions=sessions, turns=turns) == (2, 3)
    assert await store.turns.sessions(BOB) == sessions
    assert await store.turns.read(BOB) == turns
    assert [hit.id for hit in await store.index.words(BOB, ["green"], k=5)] == ["green"]
    jobs = await store.jobs.list("acme", owner=BOB)
    assert [(job.task, job.state) for job in jobs] == [(Task.EMBED, State.WAITING)]


async def test_holes_stay_holes(store: Store) -> None:
    """Numbers and positions are kept, and none up to the highest is given again."""
    (turn,) = await tell(store, ANN, "green")
    (session,) = await store.turns.sessions(ANN)
    far = replace(turn, position=7, session=4)
    await store.archive.put_back(BOB, sessions=[replace(session, number=4)], turns=[far])
    (new,) = await tell(store, BOB, "next", key="new")
    assert (new.position, new.session) == (8, 5)


async def test_what_is_there_is_passed_over(store: Store) -> None:
    """Putting back twice stores nothing twice, and goes on with what was missing."""
    await tell(store, ANN, "green", "tea")
    sessions, turns = await store.turns.sessions(ANN), await store.turns.read(ANN)
    half = [replace(sessions[0], turns=2)]
    assert await store.archive.put_back(BOB, sessions=half, turns=turns[:1]) == (1, 1)
    assert await store.archive.put_back(BOB, sessions=sessions, turns=turns) == (0, 1)
    assert await store.archive.put_back(BOB, sessions=sessions, turns=turns) == (0, 0)
    assert await store.turns.read(BOB) == turns


async def test_a_taken_place_is_a_conflict(store: Store) -> None:
    """Another turn at the position, or another session under the key, and nothing is kept."""
    await tell(store, ANN, "green", key="k")
    await tell(store, BOB, "other")
    sessions, turns = await store.turns.sessions(ANN), await store.turns.read(ANN)
    with pytest.raises(ConflictingTurn, match="position 1"):
        await store.archive.put_back(BOB, sessions=sessions, turns=turns)
    await tell(store, BOB, "keyed", key="k")
    moved = [replace(sessions[0], number=9)]
    with pytest.raises(ConflictingTurn, match="'k'"):
        await store.archive.put_back(BOB, sessions=moved, turns=())
    assert [turn.id for turn in await store.turns.read(BOB)] == ["other", "keyed"]


async def test_turns_in_a_hole_are_surveyed(store: Store) -> None:
    """A turn that comes back below others is weighed with them, whatever was cached."""
    await tell(store, ANN, "green", "tea")
    sessions, turns = await store.turns.sessions(ANN), await store.turns.read(ANN)
    await store.archive.put_back(BOB, sessions=sessions, turns=turns[1:])
    assert list((await store.index.survey(BOB, ["tea"])).outline.ids) == ["tea"]
    await store.archive.put_back(BOB, sessions=sessions, turns=turns)
    assert list((await store.index.survey(BOB, ["tea"])).outline.ids) == ["green", "tea"]


async def test_all_notes_at_once(store: Store) -> None:
    """Without a kind, the notes of all kinds come, in order of kinds and keys."""
    for kind, key in (("b", "2"), ("a", "9"), ("b", "1")):
        await store.notes.put(ANN, note("text", kind=kind, key=key))
    await store.notes.put(BOB, note("text", kind="a", key="0"))
    found = await store.notes.read(ANN)
    assert [(n.kind, n.key) for n in found] == [("a", "9"), ("b", "1"), ("b", "2")]

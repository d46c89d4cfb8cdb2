"""The contract of `Archive`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from omoide.domain import JobState, JobTask, Origin, Owner
from omoide.ports import Erased
from omoide.ports.store import IndexTraces
from omoide.testing.contracts.making import (
    ANN,
    ANN_ELSEWHERE,
    BOB,
    HOUR,
    SPACE,
    START,
    call,
    event,
    memo,
    note,
    rejected,
    rows,
    sentence,
    tell,
    version,
)
from omoide.testing.contracts.store.base import StoreSuite

if TYPE_CHECKING:
    from omoide.ports import Store


async def fill(store: Store, owner: Owner) -> None:
    """Store three sessions, three versions, and vectors, rejected answers and calls."""
    for number in (1, 2, 3):
        key = f"k{number}"
        turns = await tell(store, owner, f"green {number}", f"tea {number}", key=key)
        await store.turns.end(owner, session=number, at=START + number * HOUR)
        await store.index.put(
            owner, SPACE, ids=[t.id for t in turns], vectors=rows((1, 0, 0), (0, 1, 0))
        )
        await store.summaries.add_rejected(owner, rejected(f"aside {number}", session=number))
        await store.ledger.add(owner, call(number, session=number))
    for number in (1, 2, 3):
        cited = (sentence(f"S{n}.", f"green {n}") for n in range(1, number + 1))
        summary = version(
            number,
            *cited,
            sentence("Unsupported."),
            session=number,
            notes=(f"left out: tea {number}",),
        )
        await store.summaries.commit(owner, summary)


async def view(store: Store, owner: Owner) -> tuple[object, ...]:
    """Everything stored about an owner."""
    return (
        await store.turns.read(owner),
        await store.turns.sessions(owner),
        await store.summaries.history(owner),
        await store.summaries.rejected(owner),
        await store.jobs.list(owner.tenant, owner=owner),
        await store.ledger.calls(owner),
        await store.index.search_words(owner, ["green", "tea", "1"], k=9),
        await store.index.nearest(owner, SPACE, rows((1, 1, 1)), k=9),
    )


async def memory(store: Store) -> list[list[str]]:
    """Ann's versions as texts."""
    return [[s.text for s in v.sentences] for v in await store.summaries.history(ANN)]


class ErasureContract(StoreSuite):
    """The contract of `Archive`."""

    async def test_owners_by_name(self, store: Store) -> None:
        """All owners of the tenant with anything stored, by name."""
        cat = Owner(tenant="acme", user="cat")
        await tell(store, cat, "hello")
        await tell(store, BOB, "hello")
        await store.summaries.commit(ANN, version(1))
        await store.jobs.enqueue(ANN_ELSEWHERE, JobTask.EMBED, session=None, at=START)
        assert await store.archive.owners("acme") == (ANN, BOB, cat)
        assert await store.archive.owners("other") == (ANN_ELSEWHERE,)
        assert await store.archive.owners("nobody") == ()

    async def test_erase_everything_of_an_owner_erasure(self, store: Store) -> None:
        """Nothing of the owner remains, and nothing of anyone else is touched."""
        empty = await view(store, ANN)
        for owner in (ANN, BOB, ANN_ELSEWHERE):
            await fill(store, owner)
        others = [await view(store, owner) for owner in (BOB, ANN_ELSEWHERE)]
        assert await store.archive.erase(ANN) == Erased(sessions=3, turns=6, sentences=9)
        assert await view(store, ANN) == empty
        assert await store.archive.owners("acme") == (BOB,)
        assert [await view(store, owner) for owner in (BOB, ANN_ELSEWHERE)] == others
        [turn] = await tell(store, ANN, "green 1")
        assert (turn.position, turn.session) == (1, 1)

    async def test_erase_a_session_erasure(self, store: Store) -> None:
        """A session is erased with its turns and jobs, later rejected answers, and all memory that
        cites it."""
        for owner in (ANN, BOB, ANN_ELSEWHERE):
            await fill(store, owner)
        others = [await view(store, owner) for owner in (BOB, ANN_ELSEWHERE)]
        erased = await store.archive.erase(ANN, session=2)
        assert erased == Erased(sessions=1, turns=2, sentences=4)
        assert [t.id for t in await store.turns.read(ANN)] == [
            "green 1",
            "tea 1",
            "green 3",
            "tea 3",
        ]
        assert [t.position for t in await store.turns.read(ANN)] == [1, 2, 5, 6]
        assert [s.number for s in await store.turns.sessions(ANN)] == [1, 3]
        assert await memory(store) == [["S1.", "Unsupported."], ["S1."], ["S1.", "S3."]]
        assert [a.text for a in await store.summaries.rejected(ANN)] == ["aside 1"]
        assert 2 not in [j.session for j in await store.jobs.list("acme", owner=ANN)]
        assert {h.id for h in await store.index.search_words(ANN, ["green", "2"], k=9)} == {
            "green 1",
            "green 3",
        }
        hits = await store.index.nearest(ANN, SPACE, rows((1, 1, 1)), k=9)
        assert {h.id for h in hits} == {"green 1", "tea 1", "green 3", "tea 3"}
        assert [v.notes for v in await store.summaries.history(ANN)] == [
            ("left out: tea 1",),
            (),
            (),
        ]
        assert [await view(store, owner) for owner in (BOB, ANN_ELSEWHERE)] == others

    async def test_what_a_search_index_holds_of_turns_erasure(self, store: Store) -> None:
        """It is counted, and nothing of it remains: neither of some turns nor of all, whose owner
        is gone."""
        for owner in (ANN, BOB):
            await fill(store, owner)
        turns = await store.turns.read(ANN)
        mark = await store.archive.erasure_mark(ANN)
        words = ["green", "tea"]

        async def traces(*positions: int) -> IndexTraces:
            chosen = [turn for turn in turns if turn.position in positions]
            return await store.archive.traces(ANN, chosen, terms=words, mark=mark)

        assert (await traces(3, 4)).vectors == 2
        await store.archive.erase(ANN, session=2)
        assert await traces(3, 4) == IndexTraces()
        assert (await traces(1, 2, 3, 4)).vectors == 2
        await store.archive.erase(ANN)
        await tell(store, ANN, "green tea")
        assert await traces(1, 2, 3, 4, 5, 6) == IndexTraces()
        assert await store.archive.traces(ANN, turns, terms=words, mark="") == IndexTraces()

    async def test_numbers_are_never_used_again_erasure(self, store: Store) -> None:
        """Positions and session numbers of erased data are never assigned again."""
        await fill(store, ANN)
        await store.archive.erase(ANN, session=3)
        [turn] = await tell(store, ANN, "new", key="k3")
        assert (turn.position, turn.session) == (7, 4)

    async def test_erase_turns_erasure(self, store: Store) -> None:
        """Single turns are erased with the sentences that cite them; their session stays."""
        await fill(store, ANN)
        await fill(store, BOB)
        theirs = await view(store, BOB)
        erased = await store.archive.erase(ANN, turns=["green 2", "unknown"])
        assert erased == Erased(sessions=0, turns=1, sentences=4)
        assert [s.turns for s in await store.turns.sessions(ANN)] == [2, 1, 2]
        assert await memory(store) == [["S1.", "Unsupported."], ["S1."], ["S1.", "S3."]]
        assert [a.text for a in await store.summaries.rejected(ANN)] == ["aside 1"]
        assert await view(store, BOB) == theirs
        [again] = await tell(store, ANN, "green 2", key="new")
        assert again.position == 7

    async def test_erase_a_cited_turn_that_is_not_alone(self, store: Store) -> None:
        """A sentence is erased even if only one of its sources is."""
        await tell(store, ANN, "a", "b")
        await store.summaries.commit(
            ANN, version(1, sentence("Both.", "a", "b"), sentence("B.", "b"))
        )
        await store.archive.erase(ANN, turns=["a"])
        assert await memory(store) == [["B."]]

    async def test_erase_sentences(self, store: Store) -> None:
        """Sentences with exactly these texts are erased from every version, and rejected answers
        that quote them."""
        await fill(store, ANN)
        await fill(store, BOB)
        theirs = await view(store, BOB)
        await store.summaries.add_rejected(ANN, rejected("It said S1. and more", session=1))
        erased = await store.archive.erase(ANN, sentences=["S1.", "Unsupp"])
        assert erased == Erased(sessions=0, turns=0, sentences=3)
        assert await memory(store) == [
            ["Unsupported."],
            ["S2.", "Unsupported."],
            ["S2.", "S3.", "Unsupported."],
        ]
        assert len(await store.turns.read(ANN)) == 6
        assert [a.text for a in await store.summaries.rejected(ANN)] == [
            "aside 1",
            "aside 2",
            "aside 3",
        ]
        assert await view(store, BOB) == theirs

    @pytest.mark.parametrize("named", [{"turns": []}, {"sentences": []}, {"session": 9}])
    async def test_erase_of_nothing(self, store: Store, named: dict[str, object]) -> None:
        """Passing nothing that exists removes nothing, and certainly not everything."""
        await fill(store, ANN)
        before = await view(store, ANN)
        erased = await store.archive.erase(ANN, **named)  # type: ignore[arg-type]
        assert erased == Erased(sessions=0, turns=0, sentences=0)
        assert await view(store, ANN) == before

    async def test_erase_a_stranger(self, store: Store) -> None:
        """Erasing an unknown owner is not an error."""
        assert await store.archive.erase(ANN) == Erased(sessions=0, turns=0, sentences=0)

    async def test_unsupported_sentences_before_the_session_stay(self, store: Store) -> None:
        """A sentence without sources stays in versions that only include earlier sessions."""
        await fill(store, ANN)
        await store.summaries.commit(
            ANN, version(4, sentence("Old."), session=None, origin=Origin.ROLLBACK)
        )
        await store.archive.erase(ANN, session=3)
        assert await memory(store) == [
            ["S1.", "Unsupported."],
            ["S1.", "S2.", "Unsupported."],
            ["S1.", "S2."],
            ["Old."],
        ]

    async def test_erase_blanks_errors_of_jobs(self, store: Store) -> None:
        """Errors of jobs may quote the erased text, so they are cleared."""
        await fill(store, ANN)
        job = await store.jobs.claim("acme", worker="w", now=START + 9 * HOUR, lease=HOUR)
        assert job is not None
        await store.jobs.set_state(job, state=JobState.DEAD, error="wanted JSON, came 'green 2'")
        await store.archive.erase(ANN, session=2)
        assert {j.error for j in await store.jobs.list("acme")} == {""}

    async def test_job_of_an_erased_session_is_void(self, store: Store) -> None:
        """A worker whose session was erased can no longer finish its job."""
        await tell(store, ANN, "secret")
        await store.turns.end(ANN, at=START + HOUR)
        jobs = [
            await store.jobs.claim("acme", worker="w", now=START + 9 * HOUR, lease=HOUR)
            for _ in range(2)
        ]
        await store.archive.erase(ANN, session=1)
        [digest] = [j for j in jobs if j and j.task is JobTask.DIGEST]
        assert not await store.jobs.set_state(digest, state=JobState.DONE)

    async def test_every_kind_that_is_removed_is_counted(self, store: Store) -> None:
        """Events, memos, notes and rejected answers, of a session and of everything."""
        for number in (1, 2):
            [turn] = await tell(store, ANN, f"tea {number}", key=f"k{number}")
            await store.events.add(ANN, [event(f"drank {number}", turn.id, session=number)])
            await store.memos.add(ANN, [memo(f"memo {number}", turn.id, session=number)])
            await store.summaries.add_rejected(ANN, rejected("no", session=number))
        await store.notes.put(ANN, note("a day"))
        part = await store.archive.erase(ANN, session=2)
        assert (part.events, part.memos, part.notes, part.rejected) == (1, 1, 1, 1)
        rest = await store.archive.erase(ANN)
        assert (rest.events, rest.memos, rest.notes, rest.rejected) == (1, 1, 0, 1)

    async def test_the_key_of_receipts_stays(self, store: Store) -> None:
        """It is long, is the same each time, and outlives every owner."""
        key = await store.archive.receipt_key()
        await fill(store, ANN)
        await store.archive.erase(ANN)
        assert await store.archive.receipt_key() == key
        assert len(key) == 32

    async def test_the_note_of_an_erasure_outlives_the_owner(self, store: Store) -> None:
        """Each is later than the one before, whatever the clock says; others have none, and nobody
        is listed for it."""
        ann = replace(ANN, user=f"ann {uuid4()}")  # other tests of this database erase people, too
        assert await store.archive.last_erasure(ann) is None
        await tell(store, ann, "one")
        await store.archive.note_erasure(ann, at=START)
        await store.archive.erase(ann)
        first = await store.archive.last_erasure(ann)
        assert first == START
        await store.archive.note_erasure(ann, at=START - HOUR)
        second = await store.archive.last_erasure(ann)
        assert second is not None
        assert second > first
        for other in (replace(ann, user=f"bob {uuid4()}"), replace(ann, tenant="another")):
            assert await store.archive.last_erasure(other) is None
        assert await store.archive.owners(ANN.tenant) == ()

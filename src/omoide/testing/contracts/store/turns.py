"""The contract of `TurnStore`."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from omoide.domain import JobState, JobTask, Speaker, Turn
from omoide.errors import ConflictingTurn, NoSuchSession
from omoide.testing.contracts.making import (
    ANN,
    ANN_ELSEWHERE,
    BOB,
    HOUR,
    MINUTE,
    START,
    say,
    tell,
)
from omoide.testing.contracts.store.base import StoreSuite

if TYPE_CHECKING:
    from omoide.ports import Store


class TurnsContract(StoreSuite):
    """The contract of `TurnStore`."""

    async def test_append_gives_back_what_was_said(self, store: Store) -> None:
        """Every field comes back, with a session and a position."""
        new = say(
            "Tôi thích 東京 🗼\nand “quotes”",
            id="x/1",
            speaker=Speaker.ASSISTANT,
            language="vi",
            name="Max",
        )
        [turn] = await store.turns.append(ANN, [new], session=None, idle=HOUR)
        assert turn == Turn(
            id="x/1",
            session=1,
            position=1,
            speaker=Speaker.ASSISTANT,
            text="Tôi thích 東京 🗼\nand “quotes”",
            time=START,
            language="vi",
            name="Max",
        )
        assert await store.turns.read(ANN) == (turn,)

    async def test_append_of_nothing(self, store: Store) -> None:
        """Recording nothing creates no owner and no session."""
        assert await store.turns.append(ANN, [], session=None, idle=HOUR) == ()
        assert await store.archive.owners("acme") == ()

    async def test_positions_run_through_sessions(self, store: Store) -> None:
        """Positions count each owner's turns from 1, across sessions."""
        await tell(store, ANN, "one", key="a")
        await tell(store, BOB, "theirs")
        await tell(store, ANN, "two", key="b")
        await tell(store, ANN, "three", key="a")
        turns = await store.turns.read(ANN)
        assert [(t.position, t.session, t.text) for t in turns] == [
            (1, 1, "one"),
            (2, 2, "two"),
            (3, 1, "three"),
        ]

    async def test_key_opens_its_session_once(self, store: Store) -> None:
        """A new key opens a session; the same key finds it again, however long the pause."""
        await tell(store, ANN, "one", key="thread")
        [later] = await tell(store, ANN, "two", key="thread", at=START + 100 * HOUR)
        assert later.session == 1
        [session] = await store.turns.sessions(ANN)
        assert (session.key, session.started, session.last, session.ended, session.turns) == (
            "thread",
            START,
            START + 100 * HOUR,
            None,
            2,
        )
        assert session.open

    async def test_key_belongs_to_its_owner(self, store: Store) -> None:
        """The same key is another session for another user or tenant."""
        for owner in (ANN, BOB, ANN_ELSEWHERE):
            await tell(store, owner, "hello", key="thread")
            assert len(await store.turns.sessions(owner)) == 1

    async def test_ended_key_goes_on_in_a_new_session(self, store: Store) -> None:
        """A key names a conversation: after its session has ended, the next turn opens a new
        one."""
        await tell(store, ANN, "one", key="thread")
        await store.turns.end(ANN, session=1, at=START + HOUR)
        await tell(store, ANN, "two", key="thread")
        await tell(store, ANN, "three", key="thread")
        assert [(t.session, t.text) for t in await store.turns.read(ANN)] == [
            (1, "one"),
            (2, "two"),
            (2, "three"),
        ]
        assert [s.key for s in await store.turns.sessions(ANN)] == ["thread", "thread"]

    async def test_repeating_into_an_ended_session(self, store: Store) -> None:
        """Repeating recorded turns is harmless even if their session has ended."""
        first = await tell(store, ANN, "one", key="thread")
        await store.turns.end(ANN, at=START + HOUR)
        assert await tell(store, ANN, "one", key="thread") == first

    async def test_without_key_goes_into_newest_open_keyless_session(self, store: Store) -> None:
        """Turns without a key go into the open session without one, not into a keyed one."""
        await tell(store, ANN, "one")
        await tell(store, ANN, "aside", key="thread")
        [turn] = await tell(store, ANN, "two")
        assert turn.session == 1

    async def test_silence_cuts(self, store: Store) -> None:
        """More than `idle` after the last turn, the session is ended as by `end` and a new one is
        opened."""
        await tell(store, ANN, "one", "two")
        last = START + MINUTE
        [same] = await tell(store, ANN, "three", at=last + HOUR)
        [new] = await tell(store, ANN, "four", at=last + 2 * HOUR + timedelta(microseconds=1))
        assert (same.session, new.session) == (1, 2)
        ended, opened = await store.turns.sessions(ANN)
        assert ended.ended == ended.last == last + HOUR
        assert opened.open
        jobs = await store.jobs.list("acme", owner=ANN)
        assert [(j.task, j.session) for j in jobs] == [(JobTask.EMBED, None), (JobTask.DIGEST, 1)]

    async def test_silences_within_one_batch_cut(self, store: Store) -> None:
        """An imported history is split at every pause longer than `idle`."""
        hours = [0, 0.5, 3, 3.5, 10]
        said = [say(f"at {h}", at=START + h * HOUR) for h in hours]
        turns = await store.turns.append(ANN, said, session=None, idle=HOUR)
        assert [t.session for t in turns] == [1, 1, 2, 2, 3]
        sessions = await store.turns.sessions(ANN)
        assert [(s.turns, s.open) for s in sessions] == [(2, False), (2, False), (1, True)]
        assert [s.started for s in sessions] == [START, START + 3 * HOUR, START + 10 * HOUR]
        digests = [j for j in await store.jobs.list("acme") if j.task is JobTask.DIGEST]
        assert [j.session for j in digests] == [1, 2]

    async def test_time_going_back_does_not_cut(self, store: Store) -> None:
        """Turns with an earlier time than the last go into the same session."""
        for hour in (10, 2, 10.5):
            [turn] = await tell(store, ANN, f"at {hour}", at=START + hour * HOUR)
            assert turn.session == 1
        [session] = await store.turns.sessions(ANN)
        assert session.last == START + 10.5 * HOUR

    async def test_repeated_id_gives_the_first_turn(self, store: Store) -> None:
        """The same id, speaker and text record nothing, be it later, with another name or in one
        batch."""
        [first] = await tell(store, ANN, "hello")
        again = [
            say("hello", at=START + 5 * HOUR, name="Ann"),
            say("new", at=START + MINUTE),
            say("new", at=START + 9 * HOUR),
        ]
        one, two, three = await store.turns.append(ANN, again, session=None, idle=HOUR)
        assert one == first
        assert two == three
        assert [t.text for t in await store.turns.read(ANN)] == ["hello", "new"]
        assert [s.turns for s in await store.turns.sessions(ANN)] == [2]

    @pytest.mark.parametrize(
        "other", [say("other", id="x"), say("hello", id="x", speaker=Speaker.ASSISTANT)]
    )
    async def test_conflicting_turn_keeps_nothing(self, store: Store, other: object) -> None:
        """A known id with another text or speaker raises, and nothing of the batch is stored."""
        await store.turns.append(ANN, [say("hello", id="x")], session=None, idle=HOUR)
        with pytest.raises(ConflictingTurn, match="hello"):
            await store.turns.append(
                ANN,
                [say("before", at=START + 9 * HOUR), other],  # type: ignore[list-item]
                session=None,
                idle=HOUR,
            )
        assert [t.text for t in await store.turns.read(ANN)] == ["hello"]
        assert [s.open for s in await store.turns.sessions(ANN)] == [True]
        assert await store.index.search_words(ANN, ["befor"], k=5) == ()

    async def test_conflict_within_one_batch(self, store: Store) -> None:
        """Two different texts with one id in one batch conflict as well."""
        with pytest.raises(ConflictingTurn):
            await store.turns.append(
                ANN, [say("a", id="x"), say("b", id="x")], session=None, idle=HOUR
            )
        assert await store.turns.read(ANN) == ()

    async def test_ids_belong_to_their_owner(self, store: Store) -> None:
        """Two owners may use one id for different turns."""
        for owner, text in ((ANN, "a"), (BOB, "b"), (ANN_ELSEWHERE, "c")):
            [turn] = await store.turns.append(owner, [say(text, id="x")], session=None, idle=HOUR)
            assert (turn.text, turn.position) == (text, 1)

    async def test_embed_job_is_queued_once(self, store: Store) -> None:
        """New turns queue one EMBED job unless one waits already; repeated turns queue none."""
        await tell(store, ANN, "one")
        await tell(store, ANN, "two")
        await tell(store, BOB, "theirs")
        assert len(await store.jobs.list("acme", owner=ANN)) == 1
        job = await store.jobs.claim("acme", worker="w", now=START + HOUR, lease=HOUR)
        assert job is not None
        await tell(store, ANN, "two")
        assert len(await store.jobs.list("acme", owner=ANN)) == 1
        await tell(store, ANN, "three")
        assert [j.state for j in await store.jobs.list("acme", owner=ANN)] == [
            JobState.RUNNING,
            JobState.WAITING,
        ]

    async def test_embed_job_is_due_whatever_the_words_say(self, store: Store) -> None:
        """Turns dated far in the future do not delay their jobs."""
        await tell(store, ANN, "hello", at=START + 100_000 * HOUR)
        assert await store.jobs.claim("acme", worker="w", now=START, lease=HOUR) is not None

    async def test_end_one_session(self, store: Store) -> None:
        """Ending a session marks it, queues its DIGEST job and returns it."""
        await tell(store, ANN, "one", key="a")
        await tell(store, ANN, "two", key="b")
        [ended] = await store.turns.end(ANN, session=2, at=START + HOUR)
        assert (ended.number, ended.ended, ended.key, ended.turns) == (2, START + HOUR, "b", 1)
        assert [s.open for s in await store.turns.sessions(ANN)] == [True, False]
        [job] = [j for j in await store.jobs.list("acme") if j.task is JobTask.DIGEST]
        assert (job.session, job.state, job.attempts) == (2, JobState.WAITING, 0)
        assert job.created == START + HOUR
        assert await store.jobs.claim("acme", worker="w", now=START, lease=HOUR) is not None

    async def test_end_all_sessions(self, store: Store) -> None:
        """Without a number all open sessions end, in order, and only this owner's."""
        for key in "abc":
            await tell(store, ANN, key, key=key)
        for other in (BOB, ANN_ELSEWHERE):
            await tell(store, other, "theirs")
        await store.turns.end(ANN, session=2, at=START)
        ended = await store.turns.end(ANN, at=START + HOUR)
        assert [s.number for s in ended] == [1, 3]
        for other in (BOB, ANN_ELSEWHERE):
            assert [s.open for s in await store.turns.sessions(other)] == [True]
        digests = [j for j in await store.jobs.list("acme") if j.task is JobTask.DIGEST]
        assert [(j.owner, j.session) for j in digests] == [(ANN, 2), (ANN, 1), (ANN, 3)]

    async def test_end_again_changes_nothing(self, store: Store) -> None:
        """A session that has ended stays unchanged, and its DIGEST job is queued once."""
        await tell(store, ANN, "one")
        await store.turns.end(ANN, session=1, at=START + HOUR)
        assert await store.turns.end(ANN, session=1, at=START + 2 * HOUR) == ()
        assert await store.turns.end(ANN, at=START + 2 * HOUR) == ()
        [session] = await store.turns.sessions(ANN)
        assert session.ended == START + HOUR
        assert len([j for j in await store.jobs.list("acme") if j.task is JobTask.DIGEST]) == 1

    async def test_end_without_digest(self, store: Store) -> None:
        """An import that includes the digested memory queues no DIGEST job."""
        await tell(store, ANN, "one")
        assert len(await store.turns.end(ANN, at=START + HOUR, digest=False)) == 1
        assert [j.task for j in await store.jobs.list("acme")] == [JobTask.EMBED]

    @pytest.mark.parametrize("known", [True, False])
    async def test_end_unknown_session(self, store: Store, *, known: bool) -> None:
        """An unknown number raises `NoSuchSession`; having no session to end is fine."""
        if known:
            await tell(store, ANN, "one")
        with pytest.raises(NoSuchSession):
            await store.turns.end(ANN, session=7, at=START)
        assert await store.turns.end(BOB, at=START) == ()

    async def test_words_after_the_end_open_a_new_session(self, store: Store) -> None:
        """After its session has ended, the next turn opens a new one."""
        await tell(store, ANN, "one")
        await store.turns.end(ANN, at=START + MINUTE)
        [turn] = await tell(store, ANN, "two", at=START + 2 * MINUTE)
        assert turn.session == 2

    async def test_end_idle(self, store: Store) -> None:
        """Sessions of the tenant whose last turn is earlier than `before` end at that turn's
        time."""
        await tell(store, ANN, "old", key="a")
        await tell(store, ANN, "old and new", key="b")
        await tell(store, ANN, "newer", key="b", at=START + 2 * HOUR)
        await tell(store, BOB, "old")
        await tell(store, ANN_ELSEWHERE, "old")
        assert await store.turns.end_idle("acme", before=START) == 0
        assert await store.turns.end_idle("acme", before=START + HOUR) == 2
        assert await store.turns.end_idle("acme", before=START + HOUR) == 0
        assert [s.ended for s in await store.turns.sessions(ANN)] == [START, None]
        assert [s.ended for s in await store.turns.sessions(BOB)] == [START]
        assert [s.ended for s in await store.turns.sessions(ANN_ELSEWHERE)] == [None]
        digests = [j for j in await store.jobs.list("acme") if j.task is JobTask.DIGEST]
        assert {(j.owner, j.session) for j in digests} == {(ANN, 1), (BOB, 1)}

    async def test_read_chooses(self, store: Store) -> None:
        """Turns are selected by session, ids and number, and ordered by position."""
        await tell(store, ANN, "a1", "a2", key="a")
        await tell(store, ANN, "b1", "b2", key="b")
        await tell(store, ANN, "a3", key="a")
        await tell(store, BOB, "a1", key="a")

        async def texts(**choice: object) -> list[str]:
            return [t.text for t in await store.turns.read(ANN, **choice)]  # type: ignore[arg-type]

        assert await texts() == ["a1", "a2", "b1", "b2", "a3"]
        assert await texts(session=1) == ["a1", "a2", "a3"]
        assert await texts(ids=["b2", "a1", "nobody's"]) == ["a1", "b2"]
        assert await texts(last=2) == ["b2", "a3"]
        assert await texts(session=1, last=2) == ["a2", "a3"]
        assert await texts(session=2, ids=["b2", "a1"]) == ["b2"]
        assert await texts(ids=["a1", "a2", "a3"], last=1) == ["a3"]
        assert await texts(last=0) == []
        assert await texts(ids=[]) == []
        assert await texts(session=9) == []

    async def test_nothing_of_a_stranger_turns(self, store: Store) -> None:
        """There is nothing for an unknown owner, and reading does not create one."""
        assert await store.turns.read(ANN) == ()
        assert await store.turns.sessions(ANN) == ()
        assert await store.archive.owners("acme") == ()

    async def test_many_tasks_at_once(self, store: Store) -> None:
        """Concurrent calls each get their own positions."""
        batches = await asyncio.gather(*(tell(store, ANN, f"n{i}", f"m{i}") for i in range(20)))
        positions = [t.position for batch in batches for t in batch]
        assert sorted(positions) == list(range(1, 41))
        assert all(b[1].position == b[0].position + 1 for b in batches)

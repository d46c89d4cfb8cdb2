"""The contract of `TurnStore` where turns are late, replaced, misdated, or read in pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import JobTask, Note, Speaker
from omoide.testing.contracts.making import ANN, BOB, HOUR, MINUTE, START, say, tell
from omoide.testing.contracts.store.base import StoreSuite

if TYPE_CHECKING:
    from omoide.domain import Turn
    from omoide.ports import Store


class LaterTurnsContract(StoreSuite):
    """What happens to turns after they were said."""

    async def test_a_reply_to_an_erased_turn_is_not_recorded(self, store: Store) -> None:
        """It neither stays nor brings its owner back, whether turn, session or owner was erased."""
        reply = say("a reply", speaker=Speaker.ASSISTANT)

        async def answer() -> tuple[Turn, ...]:
            return await store.turns.append(
                ANN, [reply], session=None, idle=HOUR, answers="question"
            )

        assert await answer() == ()
        assert await store.archive.owners("acme") == ()
        await tell(store, ANN, "before", "question")
        await store.archive.erase(ANN, turns=["question"])
        assert await answer() == ()
        await tell(store, ANN, "question")
        await store.archive.erase(ANN)
        assert await answer() == ()
        assert await store.archive.owners("acme") == ()
        await tell(store, ANN, "question")
        assert [turn.text for turn in await answer()] == ["a reply"]
        assert (
            await store.turns.append(BOB, [reply], session=None, idle=HOUR, answers="question")
            == ()
        )

    async def test_a_turn_is_replaced(self, store: Store) -> None:
        """The former one is gone for every reader and search; its session counts one turn less."""
        said = [say("question"), say("half an answ", speaker=Speaker.ASSISTANT), say("aside")]
        await store.turns.append(ANN, said, session=None, idle=HOUR)
        await tell(store, BOB, "half an answ")
        await store.turns.append(
            ANN,
            [say("half an answer", speaker=Speaker.ASSISTANT)],
            session=None,
            idle=HOUR,
            replaces=["half an answ", "unknown"],
        )
        texts = [turn.text for turn in await store.turns.read(ANN)]
        assert texts == ["question", "aside", "half an answer"]
        assert [s.turns for s in await store.turns.sessions(ANN)] == [3]
        assert await store.index.search_words(ANN, ["answ"], k=5) == ()
        assert [h.id for h in await store.index.search_words(ANN, ["half"], k=5)] == [
            "half an answer"
        ]
        assert len((await store.index.search_data(ANN, ["half"])).table.ids) == 3
        assert [turn.text for turn in await store.turns.read(BOB)] == ["half an answ"]

    async def test_a_turn_of_an_ended_session_is_not_replaced(self, store: Store) -> None:
        """It may be part of a memory already."""
        await tell(store, ANN, "question", "half an answ")
        await store.turns.end(ANN, at=START + HOUR)
        await store.turns.append(
            ANN, [say("answer")], session=None, idle=HOUR, replaces=["half an answ"]
        )
        texts = [turn.text for turn in await store.turns.read(ANN)]
        assert texts == ["question", "half an answ", "answer"]

    async def test_a_turn_is_taken_back(self, store: Store) -> None:
        """With nothing in its place, from an open session only; the session goes once it is empty,
        and its number is not given again. Notes stay, for nothing was erased."""
        await tell(store, ANN, "ended", key="one")
        await store.turns.end(ANN, at=START + HOUR)
        await tell(store, ANN, "kept", "slip", key="two")
        await tell(store, ANN, "alone", key="three")
        await tell(store, BOB, "alone", key="three")
        note = Note(kind="app.x", key="k", text="slip", time=START)
        await store.notes.put(ANN, note)
        mark = await store.archive.erasure_mark(ANN)
        gone = ["ended", "slip", "alone", "unknown"]
        back = await store.turns.append(ANN, [], session=None, idle=HOUR, replaces=gone)
        assert back == ()
        assert [turn.text for turn in await store.turns.read(ANN)] == ["ended", "kept"]
        sessions = await store.turns.sessions(ANN)
        assert [(s.number, s.turns) for s in sessions] == [(1, 1), (2, 1)]
        assert [turn.text for turn in await store.turns.read(BOB)] == ["alone"]
        assert await store.notes.read(ANN) == (note,)
        assert await store.archive.erasure_mark(ANN) == mark
        await tell(store, ANN, "later", key="three")
        assert [s.number for s in await store.turns.sessions(ANN)] == [1, 2, 4]

    async def test_a_session_from_the_future_ends(self, store: Store) -> None:
        """A wrong clock keeps no session open; those of the present stay open."""
        await tell(store, ANN, "from the future", at=START + 10_000 * HOUR)
        await tell(store, BOB, "from now", at=START)
        now = START + MINUTE
        ended = await store.turns.end_idle("acme", before=now - HOUR, after=now + HOUR)
        assert ended == 1
        [session] = await store.turns.sessions(ANN)
        assert session.ended == now + HOUR
        assert [s.open for s in await store.turns.sessions(BOB)] == [True]
        assert [j.session for j in await store.jobs.list("acme") if j.task is JobTask.DIGEST] == [1]

    async def test_turns_are_read_in_pages(self, store: Store) -> None:
        """The first ones after a position or the last before one, in all sessions or in one."""
        await tell(store, ANN, "a", "b", "c", key="one")
        await tell(store, ANN, "d", key="two")
        await tell(store, ANN, "e", key="one")

        async def page(
            *,
            after: int | None = None,
            before: int | None = None,
            first: int | None = None,
            last: int | None = None,
            session: int | None = None,
        ) -> str:
            turns = await store.turns.read(
                ANN, after=after, before=before, first=first, last=last, session=session
            )
            return "".join(t.text for t in turns)

        assert await page(first=2) == "ab"
        assert await page(after=2, first=2) == "cd"
        assert await page(after=4, first=2) == "e"
        assert await page(after=1, session=1, first=2) == "bc"
        assert await page(after=1) == "bcde"
        assert await page(after=1, last=1) == "e"
        assert await page(first=0) == ""
        assert await page(before=4, last=2) == "bc"
        assert await page(before=5, last=2, session=1) == "bc"
        assert await page(after=1, before=4) == "bc"
        assert await page(before=1, last=2) == ""

    async def test_an_erasure_changes_the_mark(self, store: Store) -> None:
        """So does an erasure after which the owner is back; nothing else changes it."""
        assert await store.archive.erasure_mark(ANN) == ""
        await tell(store, ANN, "one")
        marks = [await store.archive.erasure_mark(ANN)]
        again = await store.turns.append(ANN, [say("one")], session=None, idle=HOUR)
        assert again.mark == marks[0]
        await tell(store, ANN, "two")
        await tell(store, BOB, "theirs")
        await store.archive.erase(BOB)
        assert await store.archive.erasure_mark(ANN) == marks[0]
        await store.archive.erase(ANN, turns=["one"])
        marks.append(await store.archive.erasure_mark(ANN))
        await store.archive.erase(ANN)
        assert await store.archive.erasure_mark(ANN) == ""
        await tell(store, ANN, "one")
        marks.append(await store.archive.erasure_mark(ANN))
        assert len({"", *marks}) == 4

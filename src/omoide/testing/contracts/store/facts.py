"""The contract of `FactStore`."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest

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
    Trust,
)
from omoide.ports.store.facts import ALL
from omoide.testing.contracts.making import (
    ANN,
    ANN_ELSEWHERE,
    BOB,
    HOUR,
    START,
    fact,
    tell,
)
from omoide.testing.contracts.store.base import StoreSuite

if TYPE_CHECKING:
    from omoide.domain import Fact, Owner
    from omoide.ports import Store

DAY = timedelta(days=1)


async def add(store: Store, *facts: Fact, owner: Owner = ANN) -> None:
    """Store new facts."""
    await store.facts.apply(owner, FactChanges(added=facts))


async def end(store: Store, name: str, *, by: str = "", reason: str = "") -> None:
    """End one of Ann's facts an hour after the start."""
    ended = FactEnd(id=name, at=START + HOUR, by=by, reason=reason)
    await store.facts.apply(ANN, FactChanges(ended=(ended,)))


async def ids(store: Store, only: FactFilter = ALL) -> list[str]:
    """Ids of Ann's facts that match, in order."""
    return [f.id for f in await store.facts.read(ANN, only=only)]


async def found(store: Store, *terms: str, owner: Owner = ANN) -> list[str]:
    """Facts found by words."""
    return [h.id for h in await store.index.search_words(owner, terms, k=9, kind=MemoryKind.FACT)]


async def embeddings(store: Store) -> list[JobState]:
    """States of Ann's EMBED jobs."""
    jobs = await store.jobs.list("acme", owner=ANN)
    return [job.state for job in jobs if job.task is JobTask.EMBED]


class FactsContract(StoreSuite):
    """The contract of `FactStore`."""

    async def test_read_as_added_facts(self, store: Store) -> None:
        """Every field comes back unchanged, and so does a kind that a plug-in added."""
        full = replace(
            fact("She moved to 東京.", "t1", "t2", session=3, at=START + HOUR),
            about='Bob "the" cat',
            learned=START + 2 * HOUR,
            kind=FactKind("hobby"),
            language="ja",
            since=date(2024, 5, 1),
            until=date(9998, 12, 31),
            trust=Trust.TOOL,
            supersedes=("x", "it's"),
            reason='She said "so".',
            ended=START + 3 * HOUR,
            ended_by="later",
            end_reason="茶",
            end_sources=("t3",),
            confirmed=START + 2 * HOUR,
            pinned=True,
            expires=START + 9 * DAY,
            tags=("work", "仕事"),
            flags=("no turn supports it",),
        )
        plain = fact("plain", session=None)
        before = [replace(fact(name), ended=START, ended_by=full.id) for name in full.supersedes]
        await add(store, *before, full, plain)
        assert set(await store.facts.read(ANN)) == {*before, full, plain}

    async def test_read_in_the_order_they_were_said(self, store: Store) -> None:
        """Facts are ordered by when they were said; those of one time by order of storing."""
        await add(store, fact("c", at=START + 2 * HOUR), fact("a"), fact("b"))
        await add(store, fact("between", at=START + HOUR))
        assert await ids(store) == ["a", "b", "between", "c"]

    async def test_read_by_id_facts(self, store: Store) -> None:
        """Facts with these ids come in their own order, each once; unknown ids are ignored."""
        await add(store, *(fact(text) for text in "abcd"))
        chosen = await store.facts.read(ANN, ids=["d", "unknown", "b", "d"])
        assert [f.id for f in chosen] == ["b", "d"]
        assert await store.facts.read(ANN, ids=[]) == ()
        assert await store.facts.read(BOB, ids=["b"]) == ()
        both = await store.facts.read(ANN, ids=["a", "b"], only=FactFilter(newest=1))
        assert [f.id for f in both] == ["b"]

    async def test_known_facts_are_skipped(self, store: Store) -> None:
        """A known id is skipped whatever the fact says, and the first of two counts."""
        await add(store, fact("first", id="f"), fact("second", id="f"))
        await add(store, fact("third", id="f"), fact("new"))
        assert [f.text for f in await store.facts.read(ANN)] == ["first", "new"]

    @pytest.mark.parametrize(
        ("only", "expected"),
        [
            (FactFilter(about="Bob"), ["bob"]),
            (FactFilter(about="bOB "), ["bob"]),
            (FactFilter(about="User", newest=2), ["over", "later"]),
            (FactFilter(about="Bo"), []),
            (FactFilter(kinds=[FactKind.PLAN, FactKind.EVENT]), ["plan"]),
            (FactFilter(tags=["work", "home"]), ["tagged", "later"]),
            (FactFilter(tags=["work"], newest=1), ["later"]),
            (FactFilter(session=2), ["later"]),
            (FactFilter(turns=["t1", "t3", "unknown"]), ["bob", "later"]),
            (FactFilter(turns=["t1", "t3"], about="user"), ["later"]),
            (FactFilter(turns=["t2"], at=START), ["over"]),
            (FactFilter(turns=["t2"], at=START + HOUR), []),
            (FactFilter(turns=["t1", "t2", "t3"], newest=2), ["over", "later"]),
            (FactFilter(turns=["unknown"]), []),
            (FactFilter(turns=["t1", "t2", "t3"], over=START + HOUR), ["over"]),
            (FactFilter(ended=True), ["over"]),
            (FactFilter(ended=False, about="user"), ["plan", "tagged", "pinned", "later"]),
            (FactFilter(turns=["t1", "t2"], ended=True), ["over"]),
            (FactFilter(since=START + HOUR), ["later"]),
            (FactFilter(until=START + HOUR), ["bob", "plan", "tagged", "pinned", "over"]),
            (FactFilter(pinned=True), ["pinned"]),
            (FactFilter(pinned=False, newest=2), ["over", "later"]),
            (FactFilter(at=START), ["bob", "plan", "tagged", "pinned", "over"]),
            (FactFilter(at=START + HOUR), ["bob", "plan", "tagged", "pinned", "later"]),
            (FactFilter(at=START - HOUR), []),
            (FactFilter(at=START + 2 * DAY), ["bob", "plan", "pinned", "later"]),
            (FactFilter(at=START, newest=2), ["pinned", "over"]),
            (FactFilter(at=START, ended=True), ["over"]),
            (FactFilter(at=START + HOUR, ended=True), []),
            (FactFilter(at=START, ended=False), ["bob", "plan", "tagged", "pinned"]),
            (FactFilter(at=START + HOUR, about="user", newest=1), ["later"]),
            (FactFilter(about="user", kinds=[FactKind.PLAN], at=START), ["plan"]),
            (FactFilter(newest=0), []),
            (FactFilter(newest=99), ["bob", "plan", "tagged", "pinned", "over", "later"]),
        ],
    )
    async def test_filters(self, store: Store, only: FactFilter, expected: list[str]) -> None:
        """Each condition, alone and with others, chooses what `FactFilter.matches` says."""
        await add(
            store,
            replace(fact("bob", "t1"), about="Bob"),
            replace(fact("plan"), kind=FactKind.PLAN),
            replace(fact("tagged"), tags=("home", "x"), expires=START + DAY),
            replace(fact("pinned"), pinned=True),
            replace(fact("over", "t2", "t2"), ended=START + HOUR),
            replace(fact("later", "t3", at=START + HOUR, session=2), tags=("work",)),
        )
        await add(store, replace(fact("theirs", "t1"), pinned=True), owner=BOB)
        assert await ids(store, only) == expected

    async def test_a_name_is_found_however_it_is_written(self, store: Store) -> None:
        """Upper and lower case make no difference in whom facts are about, in any alphabet, and
        facts under both spellings are one list."""
        names = ("ÉLODIE", "Anna", "Élodie", "élodie", "Ада")
        await add(
            store,
            *(
                replace(fact(f"{n}", at=START + n * HOUR), about=name)
                for n, name in enumerate(names)
            ),
        )
        assert await ids(store, FactFilter(about="élodie")) == ["0", "2", "3"]
        assert await ids(store, FactFilter(about="E\u0301LODIE", newest=2)) == ["2", "3"]
        assert await ids(store, FactFilter(about="ада", at=START + 5 * HOUR)) == ["4"]
        assert await ids(store, FactFilter(about="anna", ended=True)) == []

    async def test_read_by_turn_follows_the_sources(self, store: Store) -> None:
        """A confirmation adds a turn by which a fact is read, and erasing a turn takes it away."""
        await tell(store, ANN, "t1", "t2", "t3", key="k")
        await add(store, fact("a", "t1"), fact("b", "t3"))
        said_again = FactConfirmation(id="a", at=START, sources=("t2",))
        await store.facts.apply(ANN, FactChanges(confirmed=(said_again,)))
        assert await ids(store, FactFilter(turns=["t2"])) == ["a"]
        assert await ids(store, FactFilter(turns=["t1", "t2", "t3"])) == ["a", "b"]
        await store.archive.erase(ANN, turns=["t3"])
        assert await ids(store, FactFilter(turns=["t3"])) == []
        await store.archive.erase(ANN, facts=["a"])
        assert await ids(store, FactFilter(turns=["t1", "t2"])) == []

    async def test_found_as_soon_as_added_facts(self, store: Store) -> None:
        """Facts can be found by words at once, in every language."""
        await add(store, fact("She runs"), fact("我住在北京市"), fact("Tôi thích phở"))
        assert await found(store, "run") == ["She runs"]
        assert await found(store, "北京") == ["我住在北京市"]
        assert await found(store, "~pho") == ["Tôi thích phở"]
        assert await found(store, "run", owner=BOB) == []

    async def test_adding_queues_one_embedding(self, store: Store) -> None:
        """New facts queue one EMBED job; facts that have ended, known ones and marks none."""
        await add(store, replace(fact("over"), ended=START))
        assert await embeddings(store) == []
        await add(store, fact("a"), fact("b"))
        await add(store, fact("c"))
        assert await embeddings(store) == [JobState.WAITING]
        job = await store.jobs.claim("acme", worker="w", now=START, lease=HOUR)
        assert job is not None
        await store.jobs.set_state(job, state=JobState.DONE)
        await add(store, fact("a"))
        await store.facts.mark(ANN, "a", FactMarks(pinned=True))
        assert JobState.WAITING not in await embeddings(store)

    async def test_replaced_facts_end(self, store: Store) -> None:
        """A fact that is replaced ends at that time, and says by what, why and on what ground."""
        await add(store, fact("in Rome"))
        ended = FactEnd(
            id="in Rome",
            at=START + HOUR,
            until=date(2024, 4, 30),
            by="in Nice",
            reason="moved",
            sources=("t",),
        )
        newer = replace(fact("in Nice", at=START + HOUR), supersedes=("in Rome",), reason="moved")
        await store.facts.apply(ANN, FactChanges(added=(newer,), ended=(ended,)))
        older = replace(
            fact("in Rome"),
            ended=START + HOUR,
            until=date(2024, 4, 30),
            ended_by="in Nice",
            end_reason="moved",
            end_sources=("t",),
        )
        assert await store.facts.read(ANN) == (older, newer)
        assert await found(store, "in", "rome", "nice") == ["in Nice"]
        assert await ids(store, FactFilter(at=START)) == ["in Rome"]
        assert await ids(store, FactFilter(at=START + HOUR)) == ["in Nice"]

    async def test_a_fact_ends_once(self, store: Store) -> None:
        """An ended fact keeps its end, and an end without a last day keeps the known one."""
        await add(store, replace(fact("a"), until=date(2024, 6, 1)), fact("b"))
        await end(store, "a", reason="first")
        [once] = await store.facts.read(ANN, ids=["a"])
        assert (once.ended, once.until, once.end_reason) == (
            START + HOUR,
            date(2024, 6, 1),
            "first",
        )
        await end(store, "a", by="b", reason="second")
        assert await store.facts.read(ANN, ids=["a"]) == (once,)

    async def test_a_forgotten_fact_expires_as_it_ends(self, store: Store) -> None:
        """So that it is known as forgotten wherever it is read, and a rollback leaves it so."""
        await add(store, fact("a"), fact("b"))
        ends = (
            FactEnd(id="a", at=START + HOUR, forgotten=True),
            FactEnd(id="b", at=START + HOUR),
        )
        await store.facts.apply(ANN, FactChanges(ended=ends))
        forgotten, ended = await store.facts.read(ANN)
        assert forgotten.expires == forgotten.ended == START + HOUR
        assert (forgotten.expired(START), forgotten.expired(START + HOUR)) == (False, True)
        assert (ended.expires, ended.expired(START + HOUR)) == (None, False)

    async def test_what_has_expired_is_over(self, store: Store) -> None:
        """At the time at which it expires, whether or not it ends later."""
        await add(store, replace(fact("a", "t1"), expires=START + HOUR), fact("b", "t1"))
        await end(store, "b")
        for hours, expected in ((0, []), (1, ["a", "b"]), (2, ["a", "b"])):
            over = FactFilter(turns=["t1"], over=START + hours * HOUR)
            assert await ids(store, over) == expected

    async def test_changes_of_unknown_facts(self, store: Store) -> None:
        """Unknown ids, ends by unknown facts and ends of a fact by itself are skipped."""
        said_again = FactConfirmation(id="unknown", at=START, sources=("t",))
        await store.facts.apply(ANN, FactChanges(confirmed=(said_again,)))
        assert await store.archive.owners("acme") == ()
        await add(store, fact("a"))
        await end(store, "unknown")
        await end(store, "a", by="unknown")
        await end(store, "a", by="a")
        await store.facts.apply(ANN, FactChanges())
        assert await store.facts.read(ANN) == (fact("a"),)

    async def test_added_and_ended_at_once(self, store: Store) -> None:
        """New facts can be confirmed and ended by the same changes."""
        changes = FactChanges(
            added=(fact("a", "t1"), fact("b")),
            confirmed=(FactConfirmation(id="a", at=START, sources=("t2",)),),
            ended=(FactEnd(id="a", at=START, by="b"),),
        )
        await store.facts.apply(ANN, changes)
        [a] = await store.facts.read(ANN, ids=["a"])
        assert (a.sources, a.confirmed, a.ended_by) == (("t1", "t2"), START, "b")
        assert await found(store, "a", "b") == ["b"]

    async def test_confirmed_facts(self, store: Store) -> None:
        """A confirmation adds its sources, each once, and never moves back in time."""
        await add(store, fact("a", "t1"))
        for at, sources in ((START + HOUR, ("t2", "t1")), (START, ("t3",))):
            said_again = FactConfirmation(id="a", at=at, sources=sources)
            await store.facts.apply(ANN, FactChanges(confirmed=(said_again,)))
        [a] = await store.facts.read(ANN)
        assert (a.sources, a.confirmed) == (("t1", "t2", "t3"), START + HOUR)
        assert await found(store, "a") == ["a"]

    async def test_applying_again_changes_nothing(self, store: Store) -> None:
        """The same changes can be applied twice, as by a job that is run again."""
        await add(store, fact("a", "t1"), fact("c"))
        changes = FactChanges(
            added=(fact("b"),),
            ended=(FactEnd(id="a", at=START, by="b", reason="so"),),
            confirmed=(FactConfirmation(id="c", at=START, sources=("t2",)),),
        )
        await store.facts.apply(ANN, changes)
        once = await store.facts.read(ANN), await store.jobs.list("acme")
        await store.facts.apply(ANN, changes)
        assert (await store.facts.read(ANN), await store.jobs.list("acme")) == once
        assert sorted(await found(store, "a", "b", "c")) == ["b", "c"]

    async def test_marks(self, store: Store) -> None:
        """Marks set what they name and leave the rest; the fact is returned as it is then."""
        await add(store, fact("a"))
        marks = FactMarks(pinned=True, expires=START + DAY, tags=("x",))
        marked = replace(fact("a"), pinned=True, expires=START + DAY, tags=("x",))
        assert await store.facts.mark(ANN, "a", marks) == marked
        assert await store.facts.mark(ANN, "a", FactMarks()) == marked
        free = await store.facts.mark(ANN, "a", FactMarks(pinned=False, forever=True, tags=()))
        assert free == fact("a")
        assert await store.facts.read(ANN) == (fact("a"),)
        assert await store.facts.mark(ANN, "unknown", marks) is None
        assert await store.facts.mark(BOB, "a", marks) is None

    async def test_owners_have_their_own_facts(self, store: Store) -> None:
        """The same ids under other owners and tenants are other facts."""
        for owner in (ANN, BOB, ANN_ELSEWHERE):
            await add(store, fact(f"of {owner.tenant} {owner.user}", id="f"), owner=owner)
        await end(store, "f")
        for owner in (BOB, ANN_ELSEWHERE):
            [theirs] = await store.facts.read(owner)
            assert (theirs.text, theirs.ended) == (f"of {owner.tenant} {owner.user}", None)
            assert await found(store, owner.user, owner=owner) == ["f"]

    async def test_many_processes_apply_at_once(self, stores: tuple[Store, Store]) -> None:
        """Of concurrent ends of one fact one wins, and no addition or confirmation is lost."""
        await add(stores[0], fact("old"))

        async def change(n: int) -> None:
            changes = FactChanges(
                added=(fact(f"new {n}"),),
                ended=(FactEnd(id="old", at=START, by=f"new {n}", reason=str(n)),),
                confirmed=(FactConfirmation(id="old", at=START, sources=(f"t{n}",)),),
            )
            await stores[n % 2].facts.apply(ANN, changes)

        await asyncio.gather(*(change(n) for n in range(8)))
        old, *new = await stores[0].facts.read(ANN)
        assert {f.id for f in new} == {f"new {n}" for n in range(8)}
        assert set(old.sources) == {f"t{n}" for n in range(8)}
        assert old.ended_by == f"new {old.end_reason}"
        assert await found(stores[1], "old") == []
        assert len(await found(stores[1], "new")) == 8

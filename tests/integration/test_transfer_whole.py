"""Whatever a life left in the store, its export comes back to the very same export."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator, meta

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import (
    CallPurpose,
    Event,
    Fact,
    FactChanges,
    FactConfirmation,
    FactEnd,
    FactKind,
    FactMarks,
    JobState,
    JobTask,
    Memo,
    MemoryKind,
    ModelCall,
    NewTurn,
    Note,
    Origin,
    Owner,
    RejectedAnswer,
    Sentence,
    Speaker,
    Summary,
)
from omoide.errors import BadInput
from omoide.transfer import ExportContents, Record, export, read, restore, schema
from tests.examples import examples

ANNA = Owner(tenant="acme", user="anna")
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
IDLE = timedelta(minutes=30)
VALID = Draft202012Validator(schema())

WORDS = st.sampled_from(
    ["a cat", "猫が好き", "고양이", "con mèo", "我有一只猫", "x\ny", "‮rtl", "é"]
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            "say say say end version aside call event recall supersede memo fold note dead "
            "retry fact fact replace confirm mark erase-turn erase-session erase-sentence "
            "erase-fact".split()
        ),
        st.integers(0, 7),
        WORDS,
    ),
    max_size=25,
)


@dataclass
class Life:
    """Does what the steps say, as far as there is anything to do it to."""

    store: SqliteStore
    clock: datetime = START
    count: int = 0

    async def step(self, verb: str, n: int, words: str) -> None:
        """One step; `n` chooses among what there is."""
        self.count += 1
        self.clock += timedelta(minutes=n * 13 - 10)
        sessions = await self.store.turns.sessions(ANNA)
        turns = await self.store.turns.read(ANNA)
        if verb == "say":
            key = f"k{self.count}" if n == 7 else None
            speaker = Speaker.ASSISTANT if n % 2 else Speaker.USER
            said = [
                NewTurn(
                    speaker=speaker,
                    text=f"{words} {self.count}",
                    time=self.clock,
                    id=f"t{self.count}",
                    language="en",
                    name="Ann" if n == 3 else None,
                )
            ]
            await self.store.turns.append(ANNA, said, session=key, idle=IDLE)
        elif sessions and turns:
            await self._later(verb, n, words)

    async def _later(self, verb: str, n: int, words: str) -> None:
        sessions = await self.store.turns.sessions(ANNA)
        turns = await self.store.turns.read(ANNA)
        history = await self.store.summaries.history(ANNA)
        events = await self.store.events.read(ANNA)
        memos = await self.store.memos.read(ANNA)
        facts = await self.store.facts.read(ANNA)
        session, turn = sessions[n % len(sessions)], turns[n % len(turns)]
        match verb:
            case "end":
                await self.store.turns.end(
                    ANNA, session=session.number, at=self.clock, digest=n % 3 > 0
                )
            case "version":
                taken = {v.session for v in history if v.origin is Origin.DIGEST}
                origin = Origin.ROLLBACK if session.number in taken else Origin.DIGEST
                sentence = Sentence(
                    text=words,
                    about=turn.speaker,
                    sources=(turn.id,) if n else (),
                    fact=facts[n % len(facts)].id if facts else "",
                )
                version = Summary(
                    number=len(history) + 1,
                    sentences=(sentence,) * (n % 3),
                    origin=origin,
                    session=session.number,
                    time=self.clock,
                    language="en",
                    restored=1 if origin is Origin.ROLLBACK else None,
                    model="m",
                    seconds=n / 7,
                    notes=(words,) if n % 2 else (),
                )
                await self.store.summaries.commit(ANNA, version)
            case "aside":
                rejected = RejectedAnswer(
                    session=session.number, text=words, problems=("p",), model="m", time=self.clock
                )
                await self.store.summaries.add_rejected(ANNA, rejected)
            case "call":
                call = ModelCall(
                    purpose=CallPurpose.REPLY,
                    model="m",
                    session=session.number if n % 2 else None,
                    prompt_tokens=n % 2,
                    completion_tokens=1,
                    seconds=0.5,
                    time=START,
                    failed=n % 2 == 0,
                )
                await self.store.ledger.add(ANNA, call)
            case "event":
                event = Event(
                    id=f"e{self.count}",
                    session=turn.session,
                    text=words,
                    time=self.clock,
                    sources=(turn.id,),
                    topics=(words,),
                    feeling=n / 8,
                    last_recalled=self.clock,
                    fact=facts[-1].id if facts else "",
                )
                await self.store.events.add(ANNA, [event])
            case "recall" if events:
                event = events[n % len(events)].recalled(self.clock)
                await self.store.events.consolidate(ANNA, [event])
            case "supersede" if len(events) > 1:
                await self.store.events.supersede(ANNA, old=events[0].id, by=events[-1].id)
            case "memo" | "fold":
                memo = Memo(
                    id=f"m{self.count}",
                    session=turn.session,
                    topic=words,
                    summary=words,
                    sources=(turn.id,),
                    time=self.clock,
                    compressed=words,
                    method="x",
                    whole=n % 2 == 0,
                )
                if verb == "memo":
                    await self.store.memos.add(ANNA, [memo])
                else:
                    await self.store.memos.fold(ANNA, ids=[m.id for m in memos[:n]], into=memo)
            case "fact" | "replace":
                old = facts[n % len(facts)].id if facts and verb == "replace" else ""
                fact = Fact(
                    id=f"f{self.count}",
                    about=words if n == 4 else "user",
                    text=f"{words} {self.count}",
                    said=turn.time,
                    learned=self.clock,
                    kind=FactKind("hobby") if n == 5 else FactKind.PLAN,
                    session=turn.session if n % 4 else None,
                    since=turn.time.date() if n % 2 else None,
                    sources=(turn.id,) if n % 3 else (),
                    supersedes=(old,) if old else (),
                    reason=words if old else "",
                    flags=(words,) if n == 6 else (),
                )
                by = fact.id if n % 3 else ""
                end = FactEnd(id=old, at=self.clock, by=by, reason=words, sources=(turn.id,))
                ended = (end,) if old else ()
                await self.store.facts.apply(ANNA, FactChanges(added=(fact,), ended=ended))
            case "confirm" if facts:
                said_again = FactConfirmation(
                    id=facts[n % len(facts)].id, at=self.clock, sources=(turn.id,)
                )
                await self.store.facts.apply(ANNA, FactChanges(confirmed=(said_again,)))
            case "mark" if facts:
                marks = FactMarks(pinned=n % 2 == 0, expires=self.clock, tags=(words,))
                await self.store.facts.mark(ANNA, facts[n % len(facts)].id, marks)
            case "note":
                note = Note(
                    kind=f"kind {n % 2}",
                    key=words,
                    text=words,
                    time=self.clock,
                    session=turn.session if n % 3 else None,
                )
                await self.store.notes.put(ANNA, note)
            case "dead" | "retry":
                jobs = await self.store.jobs.list("acme", owner=ANNA, states=[JobState.WAITING])
                for job in [job for job in jobs if job.task is JobTask.DIGEST][:1]:
                    state = JobState.DEAD if verb == "dead" else JobState.WAITING
                    await self.store.jobs.set_state(job, state=state, error=words)
            case "erase-turn":
                await self.store.archive.erase(ANNA, turns=[turn.id])
            case "erase-session":
                await self.store.archive.erase(ANNA, session=session.number)
            case "erase-sentence":
                await self.store.archive.erase(ANNA, sentences=[words])
            case "erase-fact" if facts:
                await self.store.archive.erase(ANNA, facts=[facts[n % len(facts)].id])
            case _:
                pass


async def exported(store: SqliteStore, owner: Owner = ANNA) -> list[Record]:
    """All records of an owner."""
    return [record async for record in export(store, owner)]


def through_a_file(records: list[Record]) -> ExportContents:
    """The records as a file has them."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "anna.jsonl"
        path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), "utf-8")
        whole = read(path, max_chars=1000)
    assert isinstance(whole, ExportContents)
    return whole


async def lived(steps: list[tuple[str, int, str]]) -> SqliteStore:
    """A store after these steps."""
    store = await SqliteStore.open(":memory:")
    life = Life(store=store)
    for step in steps:
        await life.step(*step)
    return store


@settings(max_examples=examples(120), deadline=None)
@given(STEPS)
@example([("say", 0, "a cat"), ("call", 0, "a cat"), ("erase-session", 0, "a cat")])
def test_any_life_comes_back_as_it_was(steps: list[tuple[str, int, str]]) -> None:
    """Export, import into an empty store, export: the same lines, each true to the schema; a
    second import changes nothing; and what is found by its words is what was found before."""

    async def work() -> None:
        store = await lived(steps)
        empty = await SqliteStore.open(":memory:")
        records = await exported(store)
        for record in records:
            VALID.validate(record)
        whole = through_a_file(records)
        await restore(empty, ANNA, whole, at=START)
        assert await exported(empty) == records
        await restore(empty, ANNA, whole, at=START)
        assert await exported(empty) == records
        for kind in (MemoryKind.TURN, MemoryKind.EVENT, MemoryKind.MEMO, MemoryKind.FACT):
            for terms in (["cat"], ["猫"], ["mèo"]):
                mine = await store.index.search_words(ANNA, terms, k=99, kind=kind)
                theirs = await empty.index.search_words(ANNA, terms, k=99, kind=kind)
                assert {hit.id for hit in mine} == {hit.id for hit in theirs}
        await store.close()
        await empty.close()

    asyncio.run(work())


async def test_recall_statistics_come_along() -> None:
    """An event that came to mind is as vivid after an import as before; one that was superseded
    stays so."""
    steps = [("say", 0, "a cat"), ("event", 2, "a cat"), ("event", 3, "é"), ("recall", 0, "")]
    store = await lived([*steps, ("supersede", 0, "")])
    empty = await SqliteStore.open(":memory:")
    await restore(empty, ANNA, through_a_file(await exported(store)), at=START)
    first, second = await empty.events.read(ANNA)
    assert (first.recalls, first.superseded_by) == (1, second.id)
    assert first == (await store.events.read(ANNA))[0]
    await store.close()
    await empty.close()


async def test_dead_work_stays_dead() -> None:
    """A session that was given up is still there for a person to look at, with the reason."""
    store = await lived([("say", 0, "a cat"), ("end", 1, ""), ("dead", 0, "why")])
    empty = await SqliteStore.open(":memory:")
    await restore(empty, ANNA, through_a_file(await exported(store)), at=START)
    (job,) = await empty.jobs.list("acme", owner=ANNA, states=[JobState.DEAD])
    assert (job.session, job.error, job.task) == (1, "why", JobTask.DIGEST)
    await store.close()
    await empty.close()


async def test_facts_come_back_with_their_ends() -> None:
    """What replaced a fact, why, and what was marked on it are the same after an import."""
    steps = [("say", 0, "a cat"), ("fact", 1, "a cat"), ("mark", 0, "é"), ("replace", 1, "é")]
    store = await lived([*steps, ("version", 1, "é"), ("event", 1, "é")])
    empty = await SqliteStore.open(":memory:")
    done = await restore(empty, ANNA, through_a_file(await exported(store)), at=START)
    old, new = await empty.facts.read(ANNA)
    assert (done.facts, old.ended_by, old.end_reason, new.supersedes) == (2, new.id, "é", (old.id,))
    assert (old.pinned, old.tags) == (True, ("é",))
    assert (old, new) == await store.facts.read(ANNA)
    [version], [event] = await empty.summaries.history(ANNA), await empty.events.read(ANNA)
    assert (version.sentences[0].fact, event.fact) == (new.id, new.id)
    await store.close()
    await empty.close()


async def test_exports_without_facts_are_read() -> None:
    """A file of schema 2, whose sentences and events name no facts, is restored as it was."""
    store = await lived([("say", 0, "a cat"), ("version", 1, "a cat"), ("event", 1, "é")])
    header, *records = await exported(store)
    counts = header["records"]
    assert isinstance(counts, dict)
    del counts["fact"]
    for record in records:
        record.pop("fact", None)
        for sentence in record.get("sentences", ()):  # type: ignore[attr-defined]
            del sentence["fact"]
    empty = await SqliteStore.open(":memory:")
    old = through_a_file([{**header, "schema": 2}, *records])
    done = await restore(empty, ANNA, old, at=START)
    assert (done.turns, done.versions, done.events, done.facts) == (1, 1, 1, 0)
    assert await empty.events.read(ANNA) == await store.events.read(ANNA)
    assert await empty.summaries.history(ANNA) == await store.summaries.history(ANNA)
    await store.close()
    await empty.close()


async def test_another_memory_under_the_same_id_is_refused() -> None:
    """A file that says something else of an event or fact we have is not mixed in."""
    store = await lived([("say", 0, "a cat"), ("event", 2, "a cat"), ("fact", 2, "a cat")])
    whole = through_a_file(await exported(store))
    (event,), (fact,) = whole.events, whole.facts
    for forged in (
        replace(whole, events=[replace(event, text="a dog")]),
        replace(whole, facts=[replace(fact, text="a dog")]),
    ):
        with pytest.raises(BadInput, match="another memory under the id"):
            await restore(store, ANNA, forged, at=START)
    await store.close()


def test_the_schema_names_every_field() -> None:
    """The schema is one itself, and every kind of record we write or read is in it."""
    meta.validate(schema())
    kinds = {"header", *"session turn version aside call fact event memo note job".split()}
    found = schema()["$defs"]
    assert isinstance(found, dict)
    assert set(found) == kinds

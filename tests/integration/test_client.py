"""One suite over both memories: the library's own, and that of a server over HTTP."""

from __future__ import annotations

import asyncio
import inspect
import json
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

import httpx
import pytest

import omoide
from omoide import Memory, RemoteMemory, Speaker, Utterance, When
from omoide.domain import Event, FactMarks, JobState, Owner
from omoide.engine import Answer
from omoide.errors import (
    AccessDenied,
    BadCommand,
    BadImport,
    BadInput,
    ConflictingTurn,
    EmptyText,
    ModelUnavailable,
    NoSuchFact,
    NoSuchSession,
    NoSuchVersion,
    OmoideError,
    ServerUnavailable,
    StoreError,
    TextTooLong,
)
from omoide.server.keys import Scope
from omoide.server.options import Options
from omoide.transfer import (
    ForeignConversation,
    ForeignFact,
    ForeignMemories,
    ForeignMessage,
    KeptItem,
    MemoriesImportResult,
    SkippedItem,
    read_records,
)
from tests.server.serving import Bench, listening, serving
from tests.server.test_exchange_used import Noting
from tests.unit.fact_stories import CAT, FACTS, OSLO, add, answer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    AnyMemory = Memory | RemoteMemory

SAID = "I live in Oslo and have a cat called Miso."


@dataclass
class Place:
    """A memory, the server that holds it, and both ways to it."""

    memory: AnyMemory
    embedded: Memory
    remote: RemoteMemory
    bench: Bench

    async def told(self, user: str = "ana") -> None:
        """A session about Oslo and a cat, digested into two facts."""
        self.bench.iterator.answers.append(answer(add(OSLO), add(CAT)))
        await self.memory.record(user, [SAID, {"role": "assistant", "content": "How nice."}])
        await self.memory.end_session(user)
        await self.memory.run_jobs()
        self.bench.clock.advance(timedelta(hours=1))


def connected(bench: Bench, **options: Any) -> Any:  # noqa: ANN401 - a context manager
    """A client of the bench's server, without a socket."""
    return omoide.connect_async(
        "http://127.0.0.1:8377", transport=httpx.ASGITransport(bench.app), **options
    )


@pytest.fixture(params=["embedded", "remote"])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    """Each test runs with the memory of this process, and with the same over HTTP."""
    options = Options(work=False)  # jobs run only when a test asks for it
    async with (
        serving(tmp_path, settings=FACTS, options=options) as bench,
        connected(bench) as remote,
    ):
        embedded = bench.memory()
        memory = embedded if request.param == "embedded" else remote
        yield Place(memory=memory, embedded=embedded, remote=remote, bench=bench)


async def test_turns_are_recorded_once_and_read(place: Place) -> None:
    """Texts, messages and utterances; a known id is not recorded again, nor with another text."""
    memory, now = place.memory, place.bench.clock.now()
    first = await memory.record(
        "ána", ["Hi!", {"role": "assistant", "content": "Hello."}], session="thread-1"
    )
    assert [turn.text for turn in first] == ["Hi!", "Hello."]
    assert first.new == {turn.id for turn in first}
    said = Utterance(
        speaker=Speaker.USER, text="Bye!", id="b", name="Ana", time=now - timedelta(days=2)
    )
    assert (await memory.record("ána", said)).new == {"b"}
    assert (await memory.record("ána", said)).new == frozenset()
    with pytest.raises(ConflictingTurn):
        await memory.record("ána", Utterance(speaker=Speaker.USER, text="No!", id="b"))
    assert [t.text for t in await memory.turns("ána", last=1)] == ["Bye!"]
    assert [t.text for t in await memory.turns("ána", after=1, first=1)] == ["Hello."]
    assert (await memory.turns("ána", ids=["b"]))[0].name == "Ana"
    assert (await memory.turns("ána", ids=["b"]))[0].time == now - timedelta(days=2)
    assert await memory.turns("ána", session=9) == ()
    assert await memory.users() == ("ána",)
    assert {s.key for s in await memory.sessions("ána")} == {"thread-1", None}


async def test_sessions_have_titles_and_turns_are_read_backwards(place: Place) -> None:
    """As the page shows them."""
    memory = place.memory
    await memory.record("ana", [f"Message {n}." for n in range(1, 6)])
    assert [t.position for t in await memory.turns("ana", before=5, last=2)] == [3, 4]
    assert [t.position for t in await memory.turns("ana", before=3)] == [1, 2]
    assert await memory.turns("ana", last=0) == ()
    await memory.rename("ana", 1, "Counting")
    assert await memory.titles("ana") == {1: "Counting"}
    with pytest.raises(NoSuchSession):
        await memory.rename("ana", 9, "Nothing")


async def test_a_past_conversation_is_replayed(place: Place) -> None:
    """`at` is the clock of what is done."""
    then = place.bench.clock.now() - timedelta(days=400)
    (turn,) = await place.memory.record("ana", "Long ago.", at=then)
    (ended,) = await place.memory.end_session("ana", at=then + timedelta(minutes=5))
    assert (turn.time, ended.ended) == (then, then + timedelta(minutes=5))


async def test_a_reply_is_streamed_and_recorded(place: Place) -> None:
    """With what memory added to its prompt, and why."""
    await place.told()
    place.bench.replier.answers.append("Your cat is Miso.")
    reply = await place.memory.reply("ana", "What is my cat called?", session="s", id="q")
    assert (reply.turn.id, reply.turn.text) == ("q", "What is my cat called?")
    assert CAT in "".join(c.text for c in reply.why)
    assert await reply.text() == "Your cat is Miso."
    assert (await place.memory.turns("ana"))[-1].text == "Your cat is Miso."


async def test_a_model_that_fails_is_the_same_error(place: Place) -> None:
    """While the reply is streamed; the message is recorded."""
    place.bench.replier.answers.append(ModelUnavailable("gone"))
    reply = await place.memory.reply("ana", "Hello?")
    with pytest.raises(ModelUnavailable, match="gone"):
        await reply.text()
    assert [turn.text for turn in await place.memory.turns("ana")] == ["Hello?"]


async def test_an_exchange_with_a_model_of_ones_own(place: Place) -> None:
    """The prompt has the memory; the reply is recorded in the same conversation."""
    await place.told()
    history = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is my cat called?"},
    ]
    async with place.memory.exchange("ana", history, session="thread") as turn:
        assert turn.turn.text == "What is my cat called?"
        assert turn.messages[0]["content"].startswith("Be brief.")
        assert "Miso" in str(turn.messages)
        assert turn.why
        assert turn.context is not None
        assert turn.context.contributions == turn.why
        await turn.finish("Miso.")
    asked, said = (await place.memory.turns("ana"))[-2:]
    assert (said.text, said.speaker, said.session) == ("Miso.", Speaker.ASSISTANT, asked.session)
    async with place.memory.exchange("ana", history, session="thread") as again:
        assert again.repeated


async def test_both_turns_of_an_exchange_are_of_when_the_message_was_said(place: Place) -> None:
    """The message may have a time of its own; `at` goes before it."""
    yesterday = place.bench.clock.now() - timedelta(days=1)
    said = Utterance(speaker=Speaker.USER, text="Hello.", time=yesterday)
    for user, at in (("ana", None), ("bob", yesterday + timedelta(hours=1))):
        exchange = await place.memory.begin(user, said, at=at)
        await exchange.finish("Good evening.")
        assert {turn.time for turn in await place.memory.turns(user)} == {at or yesterday}
    with pytest.raises(BadInput):
        await place.memory.begin("ana", replace(said, time=yesterday.replace(tzinfo=None)))


async def test_an_exchange_says_what_was_recorded_of_its_reply(place: Place) -> None:
    """Nothing of a reply that only thinks, or to a message that was erased meanwhile."""
    exchange = await place.memory.begin("ana", "Hello.")
    assert await exchange.finish("<think>Hm.</think>") == ()
    said = Answer(text="Good evening.", once=True)
    for new in (1, 0):  # the same reply is recorded once
        recorded = await exchange.finish(said)
        assert [turn.text for turn in recorded] == ["Good evening."]
        assert len(recorded.new) == new
    assert len(await place.memory.turns("ana")) == 2
    await place.memory.erase("ana")
    assert await exchange.finish("Good evening.") == ()
    assert await place.memory.turns("ana") == ()


async def test_a_context_records_nothing(place: Place) -> None:
    """As a text, and as messages."""
    await place.told()
    context = await place.memory.context("ana", "What is my cat called?")
    assert "Miso" in context.text
    assert context.messages[-1]["role"] == "user"
    assert context.recalled or context.contributions
    assert len(await place.memory.turns("ana")) == 2
    with pytest.raises(BadInput):
        await place.memory.context("ana", [{"role": "assistant", "content": "Hm."}])


async def test_facts_are_read_corrected_marked_and_forgotten(place: Place) -> None:
    """All that a person may do with a fact."""
    memory = place.memory
    await place.told()
    oslo, cat = await memory.facts("ana", about="user")
    assert (oslo.text, cat.text) == (OSLO, CAT)
    assert await memory.facts("ana", ids=[cat.id]) == (cat,)
    assert await memory.facts("ana", ids=[]) == ()
    new = await memory.correct("ana", oslo.id, "The user lives in Bergen.")
    assert new.supersedes == (oslo.id,)
    assert oslo.id in {fact.id for fact in await memory.facts("ana", ended=True)}
    assert (await memory.pin("ana", cat.id)).pinned
    assert not (await memory.unpin("ana", cat.id)).pinned
    assert (await memory.tag("ana", cat.id, ["pets", "pets"])).tags == ("pets",)
    assert await memory.facts("ana", tags=["pets"]) == (await memory.facts("ana", ids=[cat.id]))
    until = place.bench.clock.now() + timedelta(days=3)
    assert (await memory.expire("ana", cat.id, until)).expires == until
    assert (await memory.expire("ana", cat.id, None)).expires is None
    both = await memory.mark("ana", cat.id, FactMarks(pinned=True, tags=()))
    assert (both.pinned, both.tags) == (True, ())
    assert [str(e.change) for e in await memory.timeline("ana")] == ["began", "began", "changed"]
    found = await memory.find_fact("ana", "Bergen")
    assert [fact.id for fact in found.stored] == [new.id]
    erased = await memory.forget("ana", cat.id)
    assert erased.facts == 1
    assert await memory.facts("ana", ids=[cat.id]) == ()


async def test_versions_are_compared_and_brought_back(place: Place) -> None:
    """Named by number, by session or by time."""
    memory = place.memory
    await place.told()
    summary = await memory.summary("ana")
    assert await memory.history("ana") == (summary,)
    assert await memory.summary("ana", session=1) == summary
    assert {b.turns[0].text for b in await memory.why("ana")} == {SAID}
    amended = await memory.amend("ana", OSLO, "The user lives in Rome.")
    changes = await memory.diff("ana", When(version=1))
    assert changes == await memory.diff("ana", When(session=1, version=None), When(version=2))
    assert "The user lives in Rome." in {change.new for change in changes}
    back = await memory.rollback("ana", 1)
    assert (amended.number, back.number, back.restored) == (2, 3, 1)
    assert (await memory.summary("ana", version=0)).sentences == ()


async def test_recall_is_filtered(place: Place) -> None:
    """By kind, speaker and number; with the support for an answer."""
    await place.told()
    found = await place.memory.recall("ana", "Where do I live?", k=3)
    assert len(found) <= 3
    assert found.support.known > 0
    assert {i.kind for i in await place.memory.recall("ana", "cat", kinds=["fact"])} == {"fact"}
    turns = await place.memory.recall("ana", "cat", kinds=["turn"], speaker="user")
    assert [item.speaker for item in turns] == [Speaker.USER]


async def test_work_is_listed_run_and_queued_again(place: Place) -> None:
    """Jobs, the calls they made, and what was rejected."""
    await place.told()
    memory = place.memory
    place.bench.iterator.answers.append(answer())
    (job,) = await memory.digest("ana", session=1)
    assert (job.owner.user, job.session) == ("ana", 1)
    assert job in await memory.jobs(states=[JobState.WAITING])
    await memory.run_jobs()
    assert await memory.jobs("ana", states=[JobState.WAITING, JobState.DEAD]) == ()
    assert await memory.retry("ana") == ()
    await memory.embed("ana")
    await memory.run_jobs()
    assert await memory.calls("ana")
    assert await memory.rejected("ana") == ()
    assert await memory.notes("ana", kind="nothing") == ()
    with pytest.raises(NoSuchSession):
        await memory.digest("ana", session=9)


async def test_an_application_keeps_notes_of_its_own(place: Place) -> None:
    """By kind and key; those of mechanisms are not its to change; erased with any turn."""
    memory = place.memory
    (turn,) = await memory.record("ana", "Hi")
    for key in "ab":
        await memory.put_note("ana", kind="app.state", key=key, text=f"{key}1")
    note = await memory.put_note("ana", kind="app.state", key="a", text="a2")
    assert (await memory.notes("ana", kind="app.state"))[0] == note
    assert await memory.remove_notes("ana", kind="app.state", keys=["b", "none"]) == 1
    assert [n.text for n in await memory.notes("ana", kind="app.state")] == ["a2"]
    with pytest.raises(BadInput, match=r"begins with app\."):
        await memory.put_note("ana", kind="portrait", key="a", text="x")
    await memory.erase("ana", turns=[turn.id])
    assert await memory.notes("ana", kind="app.state") == ()
    await memory.put_note("ana", kind="app.state", key="a", text="x")
    assert await memory.remove_notes("ana", kind="app.state") == 1


async def test_what_is_erased_is_receipted(place: Place) -> None:
    """By parts, and all of it; a receipt that was changed is not genuine."""
    memory = place.memory
    await place.told()
    turn = (await memory.turns("ana"))[0]
    one = await memory.erase("ana", turns=[turn.id], sentences=[])
    assert one.turns == 1
    assert one.receipt is not None
    assert await memory.is_genuine(one.receipt)
    assert not await memory.is_genuine(replace(one.receipt, scope="user"))
    nothing = await memory.erase("ana", turns=[], facts=[])
    assert (nothing.turns, nothing.facts) == (0, 0)
    assert (await memory.erase("ana")).turns == 1
    assert await memory.users() == ()


async def test_an_export_is_the_same(place: Place) -> None:
    """Record by record."""
    await place.told()
    exported = [record async for record in place.memory.export("ana")]
    assert exported[1:] == [record async for record in place.embedded.export("ana")][1:]
    assert any(record.get("text") == SAID for record in exported)


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (EmptyText, lambda m: m.record("ana", " ")),
        (TextTooLong, lambda m: m.record("ana", "x" * 10_001)),
        (BadInput, lambda m: m.embed("nobody")),
        (EmptyText, lambda m: m.recall("ana", "")),
        (BadInput, lambda m: m.recall("ana", "x", k=0)),
        (BadInput, lambda m: m.recall("ana", "x", kinds=["Dreams"])),
        (BadInput, lambda m: m.record("", "Hi")),
        (BadInput, lambda m: m.context("ana", "Hi", budget=0)),
        (NoSuchVersion, lambda m: m.summary("ana", version=7)),
        (NoSuchVersion, lambda m: m.rollback("ana", When(version=7))),
        (NoSuchFact, lambda m: m.pin("ana", "none")),
        (NoSuchFact, lambda m: m.correct("ana", "none", "Text.")),
    ],
)
async def test_errors_are_of_the_same_class(
    place: Place, error: type[OmoideError], call: Callable[[Any], Any]
) -> None:
    """What is refused is refused alike."""
    with pytest.raises(error) as caught:
        await call(place.memory)
    assert type(caught.value) is error


async def test_both_memories_answer_the_same_values(place: Place) -> None:
    """Every method that reads, field by field."""
    await place.told()
    await place.memory.record("ana", "Good morning.")
    calls: dict[str, Callable[[Any], Any]] = {
        "summary": lambda m: m.summary("ana"),
        "history": lambda m: m.history("ana"),
        "why": lambda m: m.why("ana"),
        "sessions": lambda m: m.sessions("ana"),
        "turns": lambda m: m.turns("ana"),
        "facts": lambda m: m.facts("ana"),
        "timeline": lambda m: m.timeline("ana"),
        "events": lambda m: m.events("ana"),
        "memos": lambda m: m.memos("ana"),
        "calls": lambda m: m.calls("ana"),
        "recall": lambda m: m.recall("ana", "What is my cat called?"),
        "curves": lambda m: m.curves("ana", days=90),
    }
    for name, call in calls.items():
        assert await call(place.remote) == await call(place.embedded), name
    assert place.remote.about == place.embedded.about
    assert place.remote.tenant == place.embedded.tenant


async def test_the_memory_tool(place: Place) -> None:
    """Its commands, and errors for the model."""
    tool = place.memory.memory_tool
    await tool("ana", {"command": "create", "path": "/memories/a.md", "file_text": "x"})
    assert "a.md" in await tool("ana", {"command": "view", "path": "/memories"})
    with pytest.raises(BadCommand):
        await tool("ana", {"command": "view", "path": "/etc/passwd"})


async def test_versions_of_the_memory_tools_files(place: Place) -> None:
    """Listed and restored alike on both sides."""
    path = "/memories/a.md"
    tool, restore = place.memory.memory_tool, place.memory.restore_file
    await tool("ana", {"command": "create", "path": path, "file_text": "x"})
    await tool("ana", {"command": "delete", "path": path})
    assert (await restore("ana", path, 1)).text == "x"
    listed = await place.memory.file_versions("ana", path)
    assert [(v.number, v.command, v.text) for v in listed] == [
        (1, "create", "x"),
        (2, "delete", None),
        (3, "restore", "x"),
    ]
    with pytest.raises(NoSuchVersion):
        await restore("ana", path, 2)
    with pytest.raises(BadInput):
        await restore("ana", "/memories/../a.md", 1)


async def test_a_server_names_who_wrote_a_file(place: Place) -> None:
    """The API key; the library takes anybody's name."""
    command = {"command": "create", "path": "/memories/a.md", "file_text": "x"}
    if isinstance(place.memory, RemoteMemory):
        with pytest.raises(BadInput, match="API key"):
            await place.memory.memory_tool("ana", command, by="bot")
        with pytest.raises(BadInput, match="API key"):
            await place.memory.restore_file("ana", "/memories/a.md", 1, by="bot")
    else:
        await place.memory.memory_tool("ana", command, by="bot")
        await place.memory.restore_file("ana", "/memories/a.md", 1, by="bot")
    assert {v.by for v in await place.embedded.file_versions("ana")} <= {"bot"}


WRONG: dict[str, Callable[[Any], Any]] = {
    "since='2026-01-01' is not a datetime": lambda m: m.recall("ana", "cat", since="2026-01-01"),
    "until=.* has no time zone": lambda m: m.facts("ana", until=datetime(2026, 1, 1)),  # noqa: DTZ001
    "at='now' is not a datetime": lambda m: m.summary("ana", at="now"),
    "is not a datetime: give one": lambda m: m.expire("ana", "f", "tomorrow"),
    "expires=.* is not a datetime": lambda m: m.mark(
        "ana", "f", FactMarks(expires=cast("Any", "tomorrow"))
    ),
    "speaker must be user or assistant.*about=": lambda m: m.recall("ana", "cat", speaker="Rui"),
    "asker must be user or assistant": lambda m: m.recall("ana", "cat", asker="Rui"),
    "k must be from 1": lambda m: m.recall("ana", "cat", k="3"),
    "budget must be": lambda m: m.recall("ana", "cat", budget="9"),
    "give a text, not None": lambda m: m.recall("ana", None),
    "there is no message in None": lambda m: m.record("ana", None),
    "there is no message in 42": lambda m: m.exchange("ana", 42).__aenter__(),
    "message 0 is 'Hi'": lambda m: m.exchange("ana", ["Hi"]).__aenter__(),
    "there is no message in 7": lambda m: m.context("ana", 7),
    "the user must be one printable line.*not 5": lambda m: m.record(5, "x"),
}


@pytest.mark.parametrize("says", WRONG)
async def test_a_wrong_argument_is_bad_input(place: Place, says: str) -> None:
    """Whoever passes what cannot be meant is told what to give."""
    with pytest.raises(BadInput, match=says):
        await WRONG[says](place.memory)
    assert await place.embedded.turns("ana") == ()


async def test_the_same_answer_twice_is_recorded_twice_without_a_history(place: Place) -> None:
    """A text alone is new each time, whatever the session began with."""
    for reply in ("Booked. A cab too?", "Ordered for 7."):
        async with place.memory.exchange("ana", "yes") as turn:
            await turn.finish(reply)
    said = [turn.text for turn in await place.memory.turns("ana")]
    assert said == ["yes", "Booked. A cab too?", "yes", "Ordered for 7."]


async def test_records_of_an_export_are_restored(place: Place) -> None:
    """As they come, in a list, or as they were written to a file."""
    await place.told()
    records = [record async for record in place.memory.export("ana")]
    lines = (json.loads(line) for line in "\n".join(map(json.dumps, records)).splitlines())
    given: dict[str, Any] = {
        "eve": place.memory.export("ana"), "mia": records, "zoe": lines
    }  # fmt: skip
    for user, export in given.items():
        assert (await place.memory.restore(user, export)).turns == 2
        copied = [record async for record in place.memory.export(user)]
        assert copied[1:] == records[1:]
    wrongs: list[Any] = ["ana.jsonl", None, [], records[:-1]]
    for wrong in wrongs:
        with pytest.raises(BadImport):
            await place.memory.restore("ida", wrong)


async def test_a_text_where_several_are_meant_is_one(place: Place) -> None:
    """And not its letters."""
    memory = place.memory
    await place.told()
    oslo, cat = await memory.facts("ana", kinds="state")
    assert (await memory.tag("ana", oslo.id, "home")).tags == ("home",)
    assert (await memory.mark("ana", cat.id, FactMarks(tags=cast("Any", "pets")))).tags == ("pets",)
    assert [f.id for f in await memory.facts("ana", tags="home")] == [oslo.id]
    assert [f.id for f in await memory.facts("ana", ids=cat.id)] == [cat.id]
    assert [f.id for f in await memory.facts("ana", turns=oslo.sources[0])] == [oslo.id, cat.id]
    assert {entry.fact.id for entry in await memory.timeline("ana", tags="pets")} == {cat.id}
    found = await memory.recall("ana", "Where do I live?", kinds="fact", tags="home")
    assert [item.text for item in found] == [OSLO]
    assert len(await memory.turns("ana", ids=oslo.sources[0])) == 1
    await memory.put_note("ana", kind="app.state", key="step", text="2")
    assert await memory.remove_notes("ana", kind="app.state", keys="step") == 1
    assert (await memory.erase("ana", facts=cat.id)).facts == 1


async def test_a_single_message_need_not_be_in_a_list(place: Place) -> None:
    """A mapping alone is a list of one, wherever messages are taken."""
    message: Any = {"role": "user", "content": "My cat is called Miso."}
    async with place.memory.exchange("ana", message) as exchange:
        await exchange.finish("Nice.")
    assert [turn.text for turn in await place.memory.turns("ana")] == [message["content"], "Nice."]
    assert (await place.memory.context("ana", message)).messages[-1]["role"] == "user"


async def test_a_closed_memory_over_http_says_so(place: Place) -> None:
    """As the library's own does."""
    async with connected(place.bench) as memory:
        pass
    with pytest.raises(StoreError, match="was closed; open it again"):
        await memory.users()


def test_both_memories_have_the_same_methods() -> None:
    """With the same parameters, so that one line changes where the memory is."""
    verbs = {
        name: member
        for name, member in inspect.getmembers(Memory, inspect.isfunction)
        if not name.startswith("_")
    }
    for name, verb in verbs.items():
        ours = inspect.signature(getattr(RemoteMemory, name))
        assert ours.parameters == inspect.signature(verb).parameters, name
        assert hasattr(omoide.SyncMemory, name) or name == "begin", name


async def test_why_an_event_is_recalled_or_not(place: Place) -> None:
    """With all its numbers, now and at another time."""
    await events_of("ana", place)
    later = place.bench.clock.now() + timedelta(days=30)
    for at in (None, later):
        explained = await place.memory.explain("ana", "How was the picnic 3?", at=at)
        assert explained == await place.embedded.explain("ana", "How was the picnic 3?", at=at)
        assert len(explained.candidates) == 12
    assert explained.candidates[0].elapsed > timedelta(days=29)
    ahead = await place.memory.curves("ana", at=later, days=90)
    assert ahead == await place.embedded.curves("ana", at=later, days=90)
    assert ahead != await place.embedded.curves("ana", days=90)


async def test_recall_is_calibrated_to_a_user(place: Place) -> None:
    """Which needs some data; the map is used from then on."""
    with pytest.raises(BadInput, match="needs 10 events"):
        await place.memory.calibrate("ana")
    await events_of("ana", place)
    fitted = await place.memory.calibrate("ana")
    assert not fitted.measured
    assert fitted == await place.embedded.calibrate("ana")
    assert "own events" in (await place.memory.explain("ana", "A picnic?")).calibration


async def events_of(user: str, place: Place) -> None:
    """Twelve events, and as many sessions that they are not from."""
    now = place.bench.clock.now()
    for n in range(12):
        await place.memory.record(user, f"Remark number {n} about nothing.", session=f"s{n}")
    await place.bench.server.runtime.store.events.add(
        Owner(tenant="default", user=user),
        [
            Event(
                id=f"e{n}", session=0, text=f"The user had a picnic {n}.", time=now,
                sources=(), last_recalled=now,
            )
            for n in range(12)
        ],
    )  # fmt: skip
    await place.memory.embed(user, at=now)
    await place.memory.run_jobs()


async def test_idle_sessions_are_ended(place: Place) -> None:
    """Of all users, once they were idle for long."""
    await place.memory.record("ana", "Hi")
    await place.memory.record("ben", "Hi")
    assert await place.memory.end_idle() == 0
    later = place.bench.clock.now() + FACTS.idle + timedelta(minutes=1)
    assert await place.memory.end_idle(at=later) == 2
    assert not (await place.memory.sessions("ben"))[0].open


async def test_an_export_is_restored_into_another_user(place: Place) -> None:
    """To the same state; again it adds nothing; what contradicts it is refused."""
    await place.told()
    contents = read_records([record async for record in place.embedded.export("ana")])
    result = await place.memory.restore("eve", contents)
    assert (result.sessions, result.turns, result.facts, result.versions) == (1, 2, 2, 1)
    restored = [record async for record in place.embedded.export("eve")]
    assert restored[1:] == [record async for record in place.embedded.export("ana")][1:]
    assert (await place.memory.restore("eve", contents)).turns == 0
    await place.memory.record("mia", "I am someone else.")
    with pytest.raises(BadInput, match="other turns than the file"):
        await place.memory.restore("mia", contents)


async def test_conversations_of_another_program_are_imported(place: Place) -> None:
    """In order of time, each once, with their titles; what was left out of them is told."""
    then = place.bench.clock.now() - timedelta(days=400)

    def talk(n: int, day: int) -> ForeignConversation:
        said = ForeignMessage(
            id=f"m{n}", speaker=Speaker.USER, text=f"Words {n}.", time=then + timedelta(days=day)
        )
        skipped = (SkippedItem(where=f"talk {n}", reason="a picture"),)
        return ForeignConversation(
            key=f"k{n}", messages=(said,), title=f"Talk {n}", left_out=skipped
        )

    empty = ForeignConversation(
        key="", messages=(), left_out=(SkippedItem(where="x", reason="bad"),)
    )
    given = [talk(1, 5), talk(2, 3), empty]
    seen: list[tuple[int, int]] = []
    result = await place.memory.import_conversations(
        "ana", given, digest=False, progress=lambda done, total, what: seen.append((done, total))
    )
    assert (result.sessions, result.turns, result.to_digest) == (2, 2, 0)
    assert sorted(item.reason for item in result.left_out) == ["a picture", "a picture", "bad"]
    assert seen[-1][0] >= 2
    assert [turn.text for turn in await place.memory.turns("ana")] == ["Words 2.", "Words 1."]
    assert await place.memory.titles("ana") == {1: "Talk 2", 2: "Talk 1"}
    again = await place.memory.import_conversations("ana", given)
    assert (again.turns, again.known) == (0, 2)


async def test_memories_of_another_product_are_imported(place: Place) -> None:
    """Facts with their times, conversations, and what has no counterpart; each once."""
    now = place.bench.clock.now()
    said = ForeignMessage(id="m", speaker=Speaker.USER, text="I moved.", time=now)
    memories = ForeignMemories(
        source="mem0",
        items=4,
        facts=(
            ForeignFact(id="f1", text="The user lives in Bonn.", said=now, tags=("home",)),
            ForeignFact(id="f2", text="The user lives in Kiel.", ended=now, until=now),
        ),
        conversations=(ForeignConversation(key="k", messages=(said,)),),
        kept=(KeptItem(key="r", text='{"a": 1}', what="a relation"),),
        left_out=(SkippedItem(where="line 9", reason="not JSON"),),
    )
    result = await place.memory.import_memories("ana", memories, digest=False)
    assert result == MemoriesImportResult(
        items=4,
        sessions=1,
        turns=1,
        facts=2,
        known=0,
        kept={"a relation": 1},
        left_out=memories.left_out,
    )
    (bonn,) = await place.memory.facts("ana")
    assert (bonn.text, bonn.tags, str(bonn.trust)) == (
        "The user lives in Bonn.", ("home",), "imported",
    )  # fmt: skip
    assert (await place.memory.facts("ana", ids=["f2"]))[0].ended == now
    again = await place.memory.import_memories("ana", memories)
    assert (again.facts, again.turns, again.known) == (0, 0, 3)


async def test_a_large_import_is_sent_in_parts(tmp_path: Path) -> None:
    """Which add up; a text that is too long for the server is refused."""
    async with serving(tmp_path) as bench, connected(bench) as memory:
        talks = [
            ForeignConversation(
                key=f"k{n}",
                messages=(ForeignMessage(id=f"m{n}", speaker=Speaker.USER, text="x" * 9_000),),
            )
            for n in range(130)
        ]
        seen: list[int] = []
        result = await memory.import_conversations(
            "ana", talks, digest=False, progress=lambda done, total, what: seen.append(done)
        )
        assert (result.sessions, seen) == (130, [111, 130])
        long = ForeignMessage(id="l", speaker=Speaker.USER, text="x" * 10_001)
        with pytest.raises(TextTooLong):
            await memory.import_conversations(
                "ana", [ForeignConversation(key="l", messages=(long,))]
            )


async def test_plain_code_over_a_socket(tmp_path: Path) -> None:
    """`connect` without asyncio: talk, stream, break off, end, recall, export, erase."""
    async with serving(tmp_path, settings=FACTS) as bench, listening(bench.app) as url:
        bench.replier.answers.extend(["How nice.", "One two three"])
        bench.iterator.answers.append(answer(add(CAT)))
        key = bench.key()["Authorization"].removeprefix("Bearer ")

        def work() -> list[str]:
            with omoide.connect(url, key=key) as memory:
                assert "".join(memory.reply("ana", "I have a cat called Miso.")) == "How nice."
                with memory.exchange("ana", "Is that so?") as turn:
                    turn.finish("It is.")
                memory.end_session("ana")
                memory.run_jobs()
                assert memory.find_fact("ana", "Miso").stored[0].text == CAT
                assert memory.recall("ana", "cat")
                assert memory.about.model == "replier"
                assert any(record.get("text") == CAT for record in memory.export("ana"))
                texts = [turn.text for turn in memory.turns("ana")]
                assert memory.erase("ana").turns == 4
            return texts

        assert await asyncio.to_thread(work) == [
            "I have a cat called Miso.",
            "How nice.",
            "Is that so?",
            "It is.",
        ]


async def test_a_reply_that_is_stopped_is_recorded_as_far_as_it_came(tmp_path: Path) -> None:
    """Closing the stream ends the reply on the server."""
    async with (
        serving(tmp_path, settings=FACTS) as bench,  # a small model's reply is checked whole
        listening(bench.app) as url,
        omoide.connect_async(url) as memory,
    ):
        bench.replier.answers.append("One two three")
        reply = await memory.reply("ana", "Count.")
        assert await anext(aiter(reply)) == "One"
        await reply.close()
        await bench.server.runtime.exchanges.settled()
        said = await memory.turns("ana")
        assert said[0].text == "Count."
        assert "One two three".startswith("".join(turn.text for turn in said[1:]))


async def test_keys_are_checked_at_once(tmp_path: Path) -> None:
    """A wrong key, and one that lacks a scope."""
    async with serving(tmp_path) as bench:
        write = bench.key("t", Scope.WRITE)["Authorization"].removeprefix("Bearer ")
        with pytest.raises(AccessDenied, match="API key"):
            await connected(bench, key="omo_wrong").__aenter__()
        async with connected(bench, key=write) as memory:
            assert len(await memory.record("ana", "Hi")) == 1
            with pytest.raises(AccessDenied, match="read"):
                await memory.turns("ana")
            with pytest.raises(AccessDenied, match="read"):
                _ = memory.about


class Unreliable(httpx.AsyncBaseTransport):
    """Loses the first answers of a server, or replaces them."""

    def __init__(self, bench: Bench, faults: list[httpx.Response | Exception]) -> None:
        self.inner = httpx.ASGITransport(bench.app)
        self.faults = faults
        self.requests: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Let the server answer, then lose it."""
        self.requests.append(request)
        response = await self.inner.handle_async_request(request)
        if request.url.path == "/api/turns" and self.faults:
            await response.aread()
            fault = self.faults.pop(0)
            if isinstance(fault, Exception):
                raise fault
            return fault
        return response


async def test_an_answer_that_is_lost_is_asked_for_again(tmp_path: Path) -> None:
    """And what was recorded is not recorded twice."""
    async with serving(tmp_path) as bench:
        lost: list[httpx.Response | Exception] = [
            httpx.ReadError("lost"),
            httpx.Response(503, headers={"Retry-After": "0"}),
        ]
        transport = Unreliable(bench, lost)
        async with omoide.connect_async("http://127.0.0.1:1", transport=transport) as memory:
            (turn,) = await memory.record("ana", "Hi")
            assert [t.id for t in await memory.turns("ana")] == [turn.id]
        keys = {r.headers["idempotency-key"] for r in transport.requests if r.method == "POST"}
        assert len(keys) == 1


async def test_a_server_that_is_away_is_one_error(tmp_path: Path) -> None:
    """After the retries; a tolerant exchange goes on without memory."""
    async with serving(tmp_path) as bench:
        transport = Unreliable(bench, [])
        opening = omoide.connect_async("http://127.0.0.1:1", transport=transport, retries=0)
        async with opening as memory:
            transport.faults = [httpx.ConnectError("gone"), httpx.Response(418, text="teapot")]
            for _ in range(2):
                with pytest.raises(ServerUnavailable):
                    await memory.record("ana", "Hi")
            transport.inner = httpx.MockTransport(lambda request: httpx.Response(500))  # type: ignore[assignment]
            async with memory.exchange("ana", "Hello?", tolerant=True) as turn:
                assert turn.messages == [{"role": "user", "content": "Hello?"}]
                await turn.finish("Hi.")
            assert isinstance(turn.problems[0], ServerUnavailable)


async def test_an_address_without_a_scheme_is_refused() -> None:
    """With an example of one."""
    with pytest.raises(BadInput, match="http://"):
        await omoide.connect_async("localhost:8377").__aenter__()


@pytest.mark.parametrize("way", ["embedded", "remote"])
async def test_what_an_exchange_used_is_marked(tmp_path: Path, way: str) -> None:
    """Events consolidate however the reply came, also if another request brings it."""
    noting = Noting()
    noting.may.set()
    async with serving(tmp_path, mechanisms=[noting]) as bench, connected(bench) as remote:
        memory = bench.memory() if way == "embedded" else remote
        async with memory.exchange("ana", "What about my cat?") as turn:
            assert noting.used == []
            await turn.finish("It is well.")
    assert noting.used == ["e1"]


async def test_nobody_finishes_the_exchange_of_another(tmp_path: Path) -> None:
    """A turn's id is no key: for another user, or another tenant, there is no such turn."""
    async with serving(tmp_path) as bench:
        ana, other = bench.key("one"), bench.key("two")
        body = {"text": "Hello?"}
        begun = await bench.client.post("/api/exchanges?user=ana", json=body, headers=ana)
        end = {"turn": begun.json()["turns"][-1]["id"], "text": "I am not yours."}
        for user, headers in (("ben", ana), ("ana", other)):
            answer = await bench.client.post(
                f"/api/exchanges/finish?user={user}", json=end, headers=headers
            )
            assert answer.json() == {"recorded": False, "turns": [], "new": []}
        assert await bench.said("ana", "one") == ["Hello?"]
        assert await bench.said("ana", "two") == await bench.said("ben", "one") == []


async def test_a_context_does_not_repeat_the_prompt(place: Place) -> None:
    """What the caller recorded and sends itself is not recalled beside it."""
    said = "My cat Miso sleeps on the radiator."
    await place.memory.record("ana", said)
    question = {"role": "user", "content": "Where does my cat Miso sleep?"}
    alone = await place.memory.context("ana", [question])
    assert "radiator" in alone.text
    history = [{"role": "user", "content": said}, {"role": "assistant", "content": "Ha."}, question]
    assert "radiator" not in (await place.memory.context("ana", history)).text


async def test_unpinning_over_http_applies_the_retention(tmp_path: Path) -> None:
    """As in the library."""
    settings = replace(FACTS, retention=30)
    async with (
        serving(tmp_path, settings=settings, options=Options(work=False)) as bench,
        connected(bench) as memory,
    ):
        bench.iterator.answers.append(answer(add(CAT)))
        await memory.record("ana", SAID)
        await memory.end_session("ana")
        await memory.run_jobs()
        (fact,) = await memory.facts("ana")
        assert (await memory.pin("ana", fact.id)).expires is None
        unpinned = await memory.unpin("ana", fact.id)
        assert unpinned.expires == bench.clock.now() + timedelta(days=30)

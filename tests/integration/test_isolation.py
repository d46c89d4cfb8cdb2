"""Nobody reads another's memory: through no verb, whatever the names are and whatever is asked."""

from __future__ import annotations

import asyncio
import inspect
import json
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from omoide.adapters.stores.outside import JoinedStore
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.cli.main import cli
from omoide.domain import (
    CallPurpose,
    Event,
    Fact,
    FactChanges,
    FactFilter,
    FactMarks,
    Memo,
    MemoryKind,
    ModelCall,
    Note,
    Origin,
    Owner,
    Receipt,
    RejectedAnswer,
    Sentence,
    Session,
    Speaker,
    Summary,
    Turn,
)
from omoide.engine.forgetting import FactMentions
from omoide.engine.memory import Memory
from omoide.engine.memory_folder import SUMMARY
from omoide.engine.messages import Utterance
from omoide.engine.runtime import Runtime
from omoide.engine.versions import When
from omoide.errors import BadInput, ConflictingTurn, OmoideError
from omoide.settings import Settings
from omoide.testing import FrozenClock, HashEmbedder, ScriptedModel
from omoide.transfer import (
    ExportContents,
    ForeignConversation,
    ForeignFact,
    ForeignMemories,
    ForeignMessage,
    export,
)
from tests.examples import examples
from tests.qdrant import Line

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from omoide.ports import Request, Store

    Verb = Callable[[Memory, str, "Theirs"], Awaitable[object]]

CLOCK = FrozenClock()


def _normal(name: str) -> str:
    """A name as it is stored."""
    return unicodedata.normalize("NFC", name).strip()


NAMES = st.lists(
    st.sampled_from(["a", "aa", "A", "á", "a.", "a%", "_", "%", "a' OR 1=1 --", 'a"', "a/b", "*"])
    | st.text(min_size=1, max_size=8).map(_normal).filter(lambda text: text.isprintable() and text),
    min_size=2,
    max_size=2,
    unique=True,
)


@dataclass(frozen=True)
class Theirs:
    """What a stranger may have learnt of another owner: every name there is in their data."""

    turns: tuple[str, ...]
    session_key: str
    sentence: str
    words: str


def mark(number: int) -> str:
    """A word that only one of the four owners says."""
    return f"zq{number}xylophone"


def theirs(number: int) -> Theirs:
    """The names in the data of an owner."""
    return Theirs(
        turns=(f"turn-{number}-1", f"turn-{number}-2"),
        session_key=f"key-{number}",
        sentence=f"The user plays the {mark(number)}.",
        words=f"Tell me about the {mark(number)}",
    )


class Echo(ScriptedModel):
    """Says back everything that it was shown, so that what is in a prompt is seen."""

    def __init__(self) -> None:
        super().__init__(name="echo", window=100_000)

    async def stream(self, request: Request):  # type: ignore[no-untyped-def] # noqa: ANN201 - as the base's
        """All of the prompt."""
        self.answers.append("\n".join(message.content for message in request.messages))
        async for piece in super().stream(request):
            yield piece


def memory_of(store: Store, tenant: str) -> Memory:
    """A tenant's memory with every kind of mechanism that reads."""
    return Runtime(
        Settings(
            tenant=tenant,
            mechanisms=("summary", "search", "memos", "human-recall", "bm25", "dense", "context"),
            memory_tokens=20_000,
        ),
        store=store,
        model=Echo(),
        summariser=Echo(),
        embedder=HashEmbedder(),
        clock=CLOCK,
        name=f"worker of {tenant}",
    ).memory()


async def fill(store: Store, owner: Owner, number: int) -> None:
    """Something of every kind that can be stored, all with the owner's word in it."""
    word, names = mark(number), theirs(number)
    memory = memory_of(store, owner.tenant)
    said = [
        Utterance(speaker=Speaker.USER, text=f"I play the {word}.", id=names.turns[0], name=word),
        Utterance(speaker=Speaker.ASSISTANT, text=f"The {word}, nice.", id=names.turns[1]),
    ]
    await memory.record(owner.user, said, session=names.session_key)
    await store.turns.end(owner, at=CLOCK.now(), digest=False)
    sentence = Sentence(text=names.sentence, about=Speaker.USER, sources=names.turns[:1])
    for version in (1, 2):
        summary = Summary(
            number=version,
            sentences=(sentence,),
            origin=Origin.DIGEST if version == 1 else Origin.ROLLBACK,
            session=1,
            time=CLOCK.now(),
            language="en",
            notes=(word,),
        )
        await store.summaries.commit(owner, summary)
    rejected = RejectedAnswer(session=1, text=word, problems=(word,), model="m", time=CLOCK.now())
    await store.summaries.add_rejected(owner, rejected)
    event = Event(
        id=f"event-{number}",
        session=1,
        text=f"User plays the {word}.",
        time=CLOCK.now(),
        sources=names.turns[:1],
        last_recalled=CLOCK.now(),
    )
    await store.events.add(owner, [event])
    fact = Fact(
        id="fact",
        about=word,
        text=names.sentence,
        said=CLOCK.now(),
        learned=CLOCK.now(),
        session=1,
        sources=names.turns[:1],
        tags=(word,),
    )
    await store.facts.apply(owner, FactChanges(added=(fact,)))
    memo = Memo(
        id=f"memos-{number}",
        session=1,
        topic=word,
        summary=f"The {word}",
        sources=names.turns[:1],
        time=CLOCK.now(),
        compressed=word,
        method="x",
    )
    await store.memos.add(owner, [memo])
    note = Note(kind="day", key="2026", text=word, time=CLOCK.now(), session=1)
    await store.notes.put(owner, note)
    call = ModelCall(
        purpose=CallPurpose.REPLY,
        model=word,
        session=1,
        prompt_tokens=1,
        completion_tokens=1,
        seconds=0.0,
        time=CLOCK.now(),
    )
    await store.ledger.add(owner, call)
    await memory.run_jobs()


async def replied(memory: Memory, user: str, text: str) -> object:
    """A reply, with everything that was in its prompt."""
    reply = await memory.reply(user, text)
    return reply.contributions, (await reply.text()).replace(text, "")


async def exchanged(memory: Memory, user: str, text: str) -> object:
    """An exchange, with everything that goes to the model."""
    async with memory.exchange(user, text) as turn:
        await turn.finish("I see.")
        return turn.why, [str(message["content"]).replace(text, "") for message in turn.messages]


async def found_for(memory: Memory, user: str, text: str) -> object:
    """The context for a text."""
    context = await memory.context(user, text)
    return context.text, context.contributions


async def restored(memory: Memory, user: str, turn: str) -> object:
    """An export that holds a turn under an id that others use too."""
    now = CLOCK.now()
    said = Turn(
        id=turn, session=90, position=900, speaker=Speaker.USER, text="Hi.", time=now, language="en"
    )
    session = Session(number=90, started=now, last=now, ended=now, turns=1)
    return await memory.restore(
        user,
        ExportContents(
            user=user,
            sessions={90: session},
            turns=[said],
            versions=[],
            aside=[],
            calls=[],
            facts=[],
            events=[],
            memos=[],
            notes=[],
            jobs=[],
        ),
    )


def talk(key: str) -> ForeignConversation:
    """A conversation of another product's under a key that others use too."""
    said = ForeignMessage(id="h1", speaker=Speaker.USER, text="Hello there.", time=CLOCK.now())
    return ForeignConversation(key=key, title="", messages=(said,), left_out=())


def foreign(key: str) -> ForeignMemories:
    """Another product's memory, with a fact of an id that others use too."""
    return ForeignMemories(
        source="mem0",
        items=2,
        facts=(ForeignFact(id="fact", text="Someone says hello."),),
        conversations=(talk(key),),
        kept=(),
        left_out=(),
    )


async def exported(store: Store, owner: Owner) -> list[str]:
    """All records of an owner."""
    return [json.dumps(record, ensure_ascii=False) async for record in export(store, owner)]


async def all_of(memory: Memory, user: str) -> object:
    """What `Memory.export` gives."""
    return [record async for record in memory.export(user)]


VERBS: dict[str, Verb] = {
    "record": lambda m, u, t: m.record(
        u, [Utterance(speaker=Speaker.USER, text="Hi there.", id=t.turns[0])], session=t.session_key
    ),
    "reply": lambda m, u, _: replied(m, u, "Tell me what I play, the instrument that is so nice."),
    "recall": lambda m, u, t: m.recall(u, t.words, k=50),
    "explain": lambda m, u, t: m.explain(u, t.words),
    "curves": lambda m, u, _: m.curves(u),
    "calibrate": lambda m, u, _: m.calibrate(u),
    "end_session": lambda m, u, _: m.end_session(u, session=1),
    "end_idle": lambda m, _, __: m.end_idle(),
    "run_jobs": lambda m, _, __: m.run_jobs(),
    "summary": lambda m, u, _: m.summary(u, version=1),
    "history": lambda m, u, _: m.history(u),
    "diff": lambda m, u, _: m.diff(u, When(version=0)),
    "rollback": lambda m, u, _: m.rollback(u, When(version=1)),
    "why": lambda m, u, _: m.why(u),
    "sessions": lambda m, u, _: m.sessions(u),
    "titles": lambda m, u, _: m.titles(u),
    "rename": lambda m, u, _: m.rename(u, 1, "Hi"),
    "preset": lambda m, u, _: m.preset(u),
    "choose_preset": lambda m, u, _: m.choose_preset(u, "hou2024"),
    "turns": lambda m, u, _: m.turns(u, session=1),
    "rejected": lambda m, u, _: m.rejected(u),
    "calls": lambda m, u, _: m.calls(u),
    "jobs": lambda m, _, __: m.jobs(),
    "retry": lambda m, u, _: m.retry(u),
    "users": lambda m, _, __: m.users(),
    "export": lambda m, u, _: all_of(m, u),
    "erase": lambda m, u, t: m.erase(u, turns=t.turns, sentences=[t.sentence], facts=["fact"]),
    "is_genuine": lambda m, u, _: m.is_genuine(
        Receipt(id="r", time=CLOCK.now(), tenant=m.tenant, user=u, scope="user")
    ),
    "find_fact": lambda m, u, t: m.find_fact(u, t.words),
    "forget": lambda m, u, t: m.forget(u, FactMentions(sentences=(t.sentence,), turns=())),
    "memory_tool": lambda m, u, _: m.memory_tool(u, {"command": "view", "path": SUMMARY}),
    "file_versions": lambda m, u, _: m.file_versions(u),
    "restore_file": lambda m, u, _: m.restore_file(u, "/memories/a.md", 1),
    "amend": lambda m, u, t: m.amend(u, t.sentence, "Hi."),
    "exchange": lambda m, u, _: exchanged(m, u, "What is the instrument that I play so nicely?"),
    "begin": lambda m, u, _: exchanged(m, u, "Which instrument do I play?"),
    "context": lambda m, u, _: found_for(m, u, "the instrument that I play"),
    "events": lambda m, u, _: m.events(u),
    "memos": lambda m, u, _: m.memos(u),
    "facts": lambda m, u, _: m.facts(u, ended=True),
    "timeline": lambda m, u, _: m.timeline(u),
    "correct": lambda m, u, _: m.correct(u, "fact", "Hi."),
    "pin": lambda m, u, _: m.pin(u, "fact"),
    "unpin": lambda m, u, _: m.unpin(u, "fact"),
    "expire": lambda m, u, _: m.expire(u, "fact", None),
    "tag": lambda m, u, _: m.tag(u, "fact", ["Hi"]),
    "mark": lambda m, u, _: m.mark(u, "fact", FactMarks(pinned=True)),
    "notes": lambda m, u, _: m.notes(u, kind="day"),
    "put_note": lambda m, u, _: m.put_note(u, kind="app.x", key="k", text="Hi."),
    "remove_notes": lambda m, u, _: m.remove_notes(u, kind="app.x"),
    "digest": lambda m, u, _: m.digest(u, session=1),
    "embed": lambda m, u, _: m.embed(u),
    "restore": lambda m, u, t: restored(m, u, t.turns[0]),
    "import_conversations": lambda m, u, t: m.import_conversations(u, [talk(t.session_key)]),
    "import_memories": lambda m, u, t: m.import_memories(u, foreign(t.session_key)),
}


def test_every_verb_is_tried() -> None:
    """A new verb of `Memory` has to be put into the table."""
    public = {
        name
        for name, member in inspect.getmembers(Memory, inspect.isfunction)
        if not name.startswith("_")
    }
    assert public <= VERBS.keys()


@settings(
    max_examples=examples(20), deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate)
)
@given(
    tenants=NAMES,
    users=NAMES,
    me=st.integers(0, 3),
    steps=st.lists(
        st.tuples(st.sampled_from([v for v in VERBS if hasattr(Memory, v)]), st.integers(0, 3)),
        min_size=1,
        max_size=8,
    ),
)
def test_no_verb_reads_or_changes_another_owner(
    tenants: list[str], users: list[str], me: int, steps: list[tuple[str, int]]
) -> None:
    """Four owners, two tenants with two users each; one of them tries every verb with the names
    out of the others' data. They see no word of the others, and the others stay as they were."""

    async def work() -> None:
        store = await SqliteStore.open(":memory:")
        owners = [Owner(tenant=tenant, user=user) for tenant in tenants for user in users]
        for number, owner in enumerate(owners):
            await fill(store, owner, number)
        before = [await exported(store, owner) for owner in owners]
        memory, user = memory_of(store, owners[me].tenant), owners[me].user
        strangers = [mark(n) for n in range(4) if n != me]
        for verb, target in steps:
            try:
                seen = repr(await VERBS[verb](memory, user, theirs(target)))
            except (BadInput, ConflictingTurn, OmoideError) as error:
                seen = str(error)
            if verb in ("explain", "amend"):  # they tell what they were asked
                seen = seen.replace(theirs(target).words, "").replace(theirs(target).sentence, "")
            assert not [word for word in strangers if word in seen], verb
        for number, owner in enumerate(owners):
            if number != me:
                assert await exported(store, owner) == before[number]
        await store.close()

    asyncio.run(work())


@pytest.mark.parametrize("outside", [False, True], ids=["vectors within", "in Qdrant"])
async def test_no_side_of_the_store_reads_another_owner(outside: bool) -> None:
    """The ports below the verbs: searches by word and vector, items without a vector, ids."""
    within = await SqliteStore.open(":memory:")
    store: Store = await JoinedStore.join(within, Line().points()) if outside else within
    ann, eve = Owner(tenant="t", user="ann"), Owner(tenant="t", user="eve")
    abroad = Owner(tenant="s", user="ann")
    for number, owner in enumerate((ann, eve, abroad)):
        await fill(store, owner, number)
    embedder, names = HashEmbedder(), theirs(0)
    query = await embedder.embed([f"the {mark(0)}"])
    for stranger, word in ((eve, mark(1)), (abroad, mark(2))):
        seen: list[object] = [
            await store.turns.read(stranger, ids=names.turns),
            await store.events.read(stranger, ids=["event-0"]),
            await store.memos.read(stranger, ids=["memos-0"]),
            await store.facts.read(stranger),
            await store.facts.read(stranger, ids=["fact"], only=FactFilter(about=mark(0))),
            await store.notes.read(stranger),
            await store.jobs.list("t", owner=abroad),
        ]
        for kind in (MemoryKind.TURN, MemoryKind.EVENT, MemoryKind.MEMO, MemoryKind.FACT):
            seen += [
                await store.index.search_words(stranger, [mark(0), "the"], k=99, kind=kind),
                await store.index.nearest(stranger, embedder.space, query, k=99, kind=kind),
                await store.index.without_vector(stranger, embedder.space, limit=99, kind=kind),
            ]
        survey = await store.index.search_data(
            stranger, [mark(0)], space=embedder.space, query=query
        )
        seen += [survey.table.ids, survey.table.speakers, survey.postings]
        shown = repr(seen)
        assert mark(0) not in shown
        assert "turn-0" not in shown
        assert "event-0" not in shown
        assert "memos-0" not in shown
        assert word in shown  # their own, so the question was a real one
    await store.close()


async def test_one_tenants_worker_leaves_anothers_work_alone() -> None:
    """Claiming is by tenant: whoever settles everything of one has done nothing of the other."""
    store = await SqliteStore.open(":memory:")
    for tenant in ("t", "s"):
        memory = memory_of(store, tenant)
        await memory.record("ann", [Utterance(speaker=Speaker.USER, text="Hello there.")])
        await memory.end_session("ann")
    await memory_of(store, "t").run_jobs()
    left = [job.owner.tenant for job in await store.jobs.list("s")]
    assert left == ["s", "s"]
    assert {job.attempts for job in await store.jobs.list("s")} == {0}
    await store.close()


def test_the_command_exports_one_owner_only(tmp_path: Path) -> None:
    """`omoide export` of a user holds nothing of the same user elsewhere, nor of another one."""
    db, run = tmp_path / "m.sqlite", CliRunner()
    pairs = [("t", "ann"), ("t", "eve"), ("s", "ann")]
    for number, (tenant, user) in enumerate(pairs):
        lines = tmp_path / "in.jsonl"
        lines.write_text(json.dumps({"role": "user", "content": f"I play the {mark(number)}."}))
        who = ["--db", str(db), "--tenant", tenant, "--user", user]
        assert run.invoke(cli, [*who, "import", str(lines), "--no-digest"]).exit_code == 0
    for number, (tenant, user) in enumerate(pairs):
        who = ["--db", str(db), "--tenant", tenant, "--user", user]
        shown = run.invoke(cli, [*who, "export"]).output
        shown += run.invoke(cli, [*who, "--json", "jobs", "list"]).output
        assert mark(number) in shown
        assert not [n for n in range(3) if n != number and mark(n) in shown]

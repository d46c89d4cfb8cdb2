"""Words that the database could not take: they wait in files, and are stored once."""

from __future__ import annotations

import asyncio
import fcntl
import stat
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.adapters.spool import FileSpool
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.bootstrap import make_spool
from omoide.domain import CallPurpose, ModelCall, Owner
from omoide.domain.waiting import (
    WaitingExchange,
    WaitingMessage,
    WaitingReply,
    WaitingWords,
    as_json,
    from_json,
)
from omoide.engine.asking import Answer
from omoide.errors import StoreError, StoreFull, StoreReadOnly
from omoide.server.options import Options
from omoide.settings import Address, Settings
from omoide.testing.endpoint import stream, whole

from .serving import Bench, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

ANA = Owner(tenant="default", user="ana")
BOB = Owner(tenant="default", user="bob")
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
PATIENT = Options(patience=600.0, work=False)


def words(text: str, *, owner: Owner = ANA, exchange: str = "e1") -> WaitingWords:
    """Something that was said and is not stored."""
    message = WaitingMessage(id=f"chat-{text}", text=text, first=True)
    return WaitingWords(
        exchange=exchange, owner=owner, session=None, time=NOON, messages=(message,)
    )


def reply(text: str, *, exchange: str = "e1", answers: str | None = None) -> WaitingReply:
    """A reply that is not stored."""
    return WaitingReply(
        exchange=exchange, owner=ANA, session=None, time=NOON, text=text, answers=answers
    )


class Written:
    """Notes what is replayed."""

    def __init__(self) -> None:
        self.found: list[WaitingExchange] = []

    async def __call__(self, found: WaitingExchange) -> None:
        """Take it as stored."""
        self.found.append(found)

    @property
    def texts(self) -> list[str]:
        """All that was said in it."""
        parts = [part for f in self.found for part in (f.words, f.reply) if part is not None]
        return [text for part in parts for text in part.texts]


def contents(folder: Path) -> bytes:
    """All bytes in the files."""
    return b"".join(path.read_bytes() for path in folder.iterdir())


@asynccontextmanager
async def broken(
    folder: Path, *, error: Exception | None = None, waits: Path | None = None
) -> AsyncIterator[Bench]:
    """A server whose database is a file and takes nothing; `mend` lets it."""
    store = await SqliteStore.open(folder / "memory.sqlite")
    spool = FileSpool(waits or folder / "spool")
    async with serving(folder, options=PATIENT, store=store, spool=spool, replaying=False) as bench:
        real = store.turns.append

        async def refuse(*_: object, **__: object) -> Any:  # noqa: ANN401 - never returns
            raise error or StoreReadOnly("the database cannot be written")

        def mend() -> None:
            store.turns.append = real  # type: ignore[method-assign]

        store.turns.append = refuse  # type: ignore[method-assign]
        bench.mend = mend  # type: ignore[attr-defined]
        yield bench


def mend(bench: Bench) -> None:
    """Let the database take words again."""
    bench.mend()  # type: ignore[attr-defined]


async def test_both_sides_wait_and_are_stored_in_order(tmp_path: Path) -> None:
    """Two exchanges that failed come before the one that went well, at the times they were said,
    with what they cost."""
    async with broken(tmp_path) as bench:
        first = await bench.chat("One")
        assert first.headers["x-omoide-stored"] == "waiting"
        assert first.headers["x-omoide-status"] == "degraded; reason=store-read-only"
        said = [{"role": "user", "content": "One"}, {"role": "assistant", "content": "I see."}]
        bench.clock.advance(timedelta(minutes=1))
        await bench.chat(*said, "Two")
        assert await bench.said() == []
        health = await bench.client.get("/healthz")
        assert health.json() == {"status": "ok", "waiting": 2, "refused": 0}
        assert "omoide_waiting 2" in (await bench.client.get("/metrics")).text
        mend(bench)
        bench.clock.advance(timedelta(minutes=1))
        third = await bench.chat("Three")
        assert third.headers["x-omoide-stored"] == "yes"
        turns = await bench.memory().turns("ana")
        assert [t.text for t in turns] == ["One", "I see.", "Two", "I see.", "Three", "I see."]
        minutes = [(turn.time - turns[0].time) / timedelta(minutes=1) for turn in turns]
        assert minutes == [0, 0, 1, 1, 2, 2]
        assert len(await bench.replies()) == 3
        assert (await bench.client.get("/healthz")).json()["waiting"] == 0
        assert b"One" not in contents(tmp_path / "spool")


async def test_a_past_conversation_waits_with_its_times(tmp_path: Path) -> None:
    """Its reply is stored at the time of the message, in the same session, as if nothing failed."""
    async with broken(tmp_path) as bench:
        memory, past = bench.memory(), NOON - timedelta(days=700)
        exchange = await memory.begin("ana", "I moved to Kyoto", at=past, tolerant=True)
        await exchange.finish("How do you like it?")
        mend(bench)
        await bench.server.runtime.exchanges.waiting.replay()
        turns = await memory.turns("ana")
        assert [(turn.time, turn.session) for turn in turns] == [(past, 1), (past, 1)]


async def test_a_call_whose_reply_waits_is_counted_once(tmp_path: Path) -> None:
    """Whether or not the ledger took it when the reply was refused."""
    call = ModelCall(
        purpose=CallPurpose.REPLY,
        model="m",
        session=None,
        prompt_tokens=5,
        completion_tokens=6,
        seconds=1.5,
        time=NOON,
    )
    async with broken(tmp_path) as bench:
        memory, turns = bench.memory(), bench.server.runtime.store.turns
        append = turns.append
        for number in (1, 2):
            if number == 2:
                mend(bench)  # the message is stored, its reply is not
            exchange = await memory.begin(f"u{number}", "Hello", tolerant=True)
            turns.append = append  # type: ignore[method-assign]
            await exchange.finish(Answer(text="Hi!", call=call))
            mend(bench)
            await bench.server.runtime.exchanges.waiting.replay()
            assert len(await memory.turns(f"u{number}")) == 2
            assert await memory.calls(f"u{number}") == (replace(call, session=1),)


async def test_a_stream_says_at_its_end_what_its_beginning_could_not(tmp_path: Path) -> None:
    """The message was stored, the reply waits: a comment that clients skip."""
    async with broken(tmp_path) as bench:
        mend(bench)
        turns = bench.server.runtime.store.turns
        real, calls = turns.append, 0

        async def once(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - passed through
            nonlocal calls
            calls += 1
            if calls == 2:
                raise StoreFull("no space left")
            return await real(*args, **kwargs)

        turns.append = once  # type: ignore[method-assign]
        bench.upstairs.answers.append(stream("Hel", "lo"))
        response = await bench.chat("Hi", stream=True)
        assert response.headers["x-omoide-stored"] == "yes"
        assert response.text.endswith("\n\n: X-Omoide-Stored: waiting\n\ndata: [DONE]\n\n")
        assert await bench.said() == ["Hi"]
        await bench.server.runtime.exchanges.waiting.replay()
        assert await bench.said() == ["Hi", "Hello"]


async def test_a_retry_after_a_failure_replaces_the_reply_that_waits(tmp_path: Path) -> None:
    """As it would have if nothing had failed."""
    async with broken(tmp_path) as bench:
        hello = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}]
        await bench.chat(*hello, "Tell me more.")
        mend(bench)
        bench.upstairs.answers.append(whole("Better."))
        await bench.chat(*hello, "Tell me more.")
        assert await bench.said() == ["Tell me more.", "Better."]


async def test_a_long_message_waits_whole(tmp_path: Path) -> None:
    """It is stored in parts, and its reply once, even if the process dies in between."""
    async with broken(tmp_path) as bench:
        await bench.chat("word " * 5_000)
        mend(bench)
        spool, waiting = bench.server.runtime.spool, bench.server.runtime.exchanges.waiting
        assert isinstance(spool, FileSpool)
        real = spool._remove
        spool._remove = fail  # type: ignore[method-assign,assignment]
        with pytest.raises(StoreError):
            await waiting.replay()
        spool._remove = real  # type: ignore[method-assign]
        assert await waiting.replay() == 1
        said = await bench.said()
        assert len(said) > 2
        assert "".join(said) == "word " * 5_000 + "I see."
        assert len(await bench.replies()) == 1


async def test_who_said_it_waits_too(tmp_path: Path) -> None:
    """In a group the words are nobody's without the name."""
    async with broken(tmp_path) as bench:
        await bench.chat({"role": "user", "name": "Ben", "content": "No nuts for me."})
        mend(bench)
        assert await bench.server.runtime.exchanges.waiting.replay() == 1
        said, _ = await bench.memory().turns("ana")
        assert (said.text, said.name) == ("No nuts for me.", "Ben")


def fail(*_: object) -> None:
    """The disk fails."""
    raise OSError(5, "input/output error")


async def test_what_was_stored_before_a_crash_is_not_stored_again(tmp_path: Path) -> None:
    """The process died after the database had it and before the file was told."""
    async with broken(tmp_path) as bench:
        for text in ("Good night.", "Good morning."):
            await bench.chat(text)
            bench.clock.advance(timedelta(seconds=5))
        mend(bench)
        spool, waiting = bench.server.runtime.spool, bench.server.runtime.exchanges.waiting
        assert isinstance(spool, FileSpool)
        real = spool._remove
        spool._remove = fail  # type: ignore[method-assign,assignment]
        for _ in range(3):
            with pytest.raises(StoreError):
                await waiting.replay()
        spool._remove = real  # type: ignore[method-assign]
        assert await waiting.replay() == 2
        assert await waiting.replay() == 0
        assert await bench.said() == ["Good night.", "I see.", "Good morning.", "I see."]


async def test_the_next_process_stores_what_the_last_one_kept(tmp_path: Path) -> None:
    """Before anything new is said."""
    async with broken(tmp_path) as bench:
        await bench.chat("Before")
    async with broken(tmp_path) as bench:
        assert await bench.said() == ["Before", "I see."]
        assert (await bench.client.get("/healthz")).json()["waiting"] == 0
        assert await bench.server.runtime.exchanges.waiting.replay() == 0
        assert len(list((tmp_path / "spool").glob("*.words"))) == 1  # its own


async def test_erasing_a_user_removes_what_waits(tmp_path: Path) -> None:
    """No byte of it is left in any file, other users' words stay, and the receipt counts it."""
    async with broken(tmp_path) as bench:
        await bench.chat("My secret is Miso")
        await bench.chat("Bob's words", user="bob")
        erased = await bench.memory().erase("ana")
        assert erased.receipt is not None
        assert erased.receipt.removed["waiting"] == 1
        assert b"Miso" not in contents(tmp_path / "spool")
        mend(bench)
        await bench.server.runtime.exchanges.waiting.replay()
        assert await bench.said() == []
        assert await bench.said("bob") == ["Bob's words", "I see."]


async def test_an_erasure_reaches_the_files_of_other_processes(tmp_path: Path) -> None:
    """Also of one that runs and does not know of it."""
    theirs, ours = FileSpool(tmp_path / "spool"), FileSpool(tmp_path / "spool")
    await theirs.keep(words("Miso"))
    await theirs.keep(words("Rex", owner=BOB, exchange="e2"))
    async with ours.erasing(ANA) as count:
        assert count == 1
        assert b"Miso" not in contents(tmp_path / "spool")
    written = Written()
    assert await theirs.replay(written) == 1
    assert written.texts == ["Rex"]
    await theirs.close()
    await ours.close()


async def test_a_reply_in_flight_does_not_bring_an_erased_user_back(tmp_path: Path) -> None:
    """Its message waited and was erased, then the reply came."""
    async with broken(tmp_path) as bench:
        memory = bench.memory()
        exchange = await memory.begin(
            "ana", [{"role": "user", "content": "Hi"}], tolerant=True, patience=600.0
        )
        await memory.erase("ana")
        await exchange.finish("Hello Ana.")
        mend(bench)
        await bench.server.runtime.exchanges.waiting.replay()
        assert await bench.said() == []
        assert b"Hello Ana." not in contents(tmp_path / "spool")


async def test_closing_twice_is_closing_once(tmp_path: Path) -> None:
    """A server closes its runtime, and so does the command that opened it."""
    spool = FileSpool(tmp_path / "spool")
    await spool.keep(words("Hi.", exchange="e1"))
    await spool.close()
    await spool.close()


async def test_erasing_one_turn_removes_the_reply_that_waits_for_it(tmp_path: Path) -> None:
    """And what contains an erased sentence; the rest still waits."""
    spool = FileSpool(tmp_path / "spool")
    await spool.keep(reply("to the turn", exchange="e1", answers="t1"))
    await spool.keep(reply("to another", exchange="e2", answers="t2"))
    await spool.keep(words("I live in Oslo.", exchange="e3"))
    async with spool.erasing(ANA, turns=["t1"], texts=["Oslo"]) as count:
        assert count == 2
    written = Written()
    await spool.replay(written)
    assert written.texts == ["to another"]
    await spool.close()


async def test_a_full_spool_takes_nothing_more_and_says_so(tmp_path: Path) -> None:
    """It is bounded; what it has is kept."""
    spool = FileSpool(tmp_path / "spool", limit=4000, reserve=0)
    await spool.keep(words("kept"))
    with pytest.raises(StoreFull):
        await spool.keep(words("x" * 1000, exchange="e2"))
    written = Written()
    await spool.replay(written)
    assert written.texts == ["kept"]
    await spool.keep(words("y" * 300, exchange="e3"))  # there is room again
    await spool.close()


async def test_words_are_kept_on_a_full_disk(tmp_path: Path) -> None:
    """The space was set aside before: a file may not grow, and still takes them."""
    import resource
    import signal

    spool = FileSpool(tmp_path / "spool", reserve=64 * 1024)
    await spool.prepare()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 * 1024, before[1]))
    try:
        await spool.keep(words("kept"))
        with pytest.raises(StoreError):
            await spool.keep(words("secret" * 12_000, exchange="e2"))
        assert b"secret" not in contents(tmp_path / "spool")
        await spool.keep(words("also kept", exchange="e3"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    written = Written()
    await spool.replay(written)
    assert written.texts == ["kept", "also kept"]
    await spool.close()


async def test_a_file_that_could_not_be_opened_is_opened_by_the_next_words(tmp_path: Path) -> None:
    """A full disk may refuse its name. What is kept later is in a file that a replay finds."""
    spool = FileSpool(tmp_path)
    spool._path.mkdir()  # the name cannot be given
    with pytest.raises(StoreError):
        await spool.keep(words("refused"))
    spool._path.rmdir()
    await spool.keep(words("kept", exchange="e2"))
    written = Written()
    await spool.replay(written)
    assert written.texts == ["kept"]
    await spool.close()


async def test_files_are_private(tmp_path: Path) -> None:
    """Nobody else on the machine reads them."""
    spool = FileSpool(tmp_path / "spool")
    await spool.keep(words("secret"))
    modes = [path.stat().st_mode for path in (tmp_path / "spool").iterdir()]
    assert all(stat.S_IMODE(mode) == 0o600 for mode in modes)
    assert stat.S_IMODE((tmp_path / "spool").stat().st_mode) == 0o700
    await spool.close()


async def test_a_record_that_was_cut_off_is_none(tmp_path: Path) -> None:
    """It was never acknowledged; those before it are whole."""
    spool = FileSpool(tmp_path / "spool", reserve=0)
    await spool.keep(words("whole"))
    await spool.keep(words("cut off", exchange="e2"))
    await spool.close()
    (path,) = (tmp_path / "spool").glob("*.words")
    path.write_bytes(path.read_bytes()[:-9])
    after, written = FileSpool(tmp_path / "spool"), Written()
    await after.replay(written)
    assert written.texts == ["whole"]
    await after.replay(written)
    assert list((tmp_path / "spool").glob("*.words")) == []
    await after.close()


async def test_a_living_process_keeps_its_own_words(tmp_path: Path) -> None:
    """Another one must not store them as well."""
    theirs, ours, written = FileSpool(tmp_path / "s"), FileSpool(tmp_path / "s"), Written()
    await theirs.keep(words("theirs"))
    assert await ours.replay(written) == 0
    assert (await ours.status()).exchanges == 1
    await theirs.close()
    assert await ours.replay(written) == 1
    await ours.close()


async def test_a_reply_that_comes_while_others_are_replayed_stays_with_its_words(
    tmp_path: Path,
) -> None:
    """An exchange that ends in the middle of a replay, which read only its message, is left for the
    next one: stored without its message, the reply would answer nothing and be lost."""
    spool = FileSpool(tmp_path / "spool")
    await spool.keep(words("First"))
    await spool.keep(replace(words("Second", exchange="e2"), time=NOON + timedelta(seconds=1)))
    in_flight = {"e2"}
    written = Written()

    async def write(found: WaitingExchange) -> None:
        await written(found)
        if in_flight:  # the other exchange gets its reply meanwhile, and ends
            await spool.keep(reply("Answer", exchange="e2"))
            in_flight.clear()

    assert await spool.replay(write, skip=in_flight) == 1
    assert await spool.replay(write, skip=in_flight) == 1
    last = written.found[-1]
    assert last.words is not None
    assert last.reply is not None
    assert written.texts == ["First", "Second", "Answer"]
    await spool.close()


async def test_a_file_is_never_seen_before_it_is_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process that looks at this very moment must not take it for one left behind, and
    remove it: what is kept in it later would be lost."""
    seen: list[list[str]] = []
    real = fcntl.flock

    def flock(file: int, how: int) -> None:
        if how == fcntl.LOCK_EX:
            seen.append([path.name for path in tmp_path.glob("*.words")])
        real(file, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    spool = FileSpool(tmp_path)
    await spool.prepare()
    assert seen == [[]]
    await spool.close()


TEXT = st.text(max_size=40)
CALL = ModelCall(
    purpose=CallPurpose.REPLY,
    model="m",
    session=None,
    prompt_tokens=1,
    completion_tokens=2,
    seconds=0.5,
    time=NOON,
)


@given(said=TEXT, user=TEXT.filter(bool), session=st.none() | TEXT, complete=st.booleans())
def test_what_waits_is_read_as_it_was_written(
    said: str, user: str, session: str | None, complete: bool
) -> None:
    """Whatever the characters."""
    owner = Owner(tenant="t", user=user)
    message = WaitingMessage(id="i", text=said, first=complete)
    one = WaitingWords(exchange="e", owner=owner, session=session, time=NOON, messages=(message,))
    other = WaitingReply(
        exchange="e", owner=owner, session=session, time=NOON, text=said, complete=complete
    )
    for item in (one, other, replace(other, call=CALL)):
        assert from_json(as_json(item)) == item


def test_where_words_wait(tmp_path: Path) -> None:
    """Beside the database, or where the setting says; nowhere for an encrypted one."""
    beside = make_spool(Settings(db=tmp_path / "m.sqlite"))
    assert beside is not None
    assert beside._folder == tmp_path / "m.sqlite.spool"
    given = make_spool(Settings(db=tmp_path / "m.sqlite", spool=str(tmp_path / "here")))
    assert given is not None
    assert given._folder == tmp_path / "here"
    servers = [
        make_spool(Settings(db=Address(f"postgresql://u:{word}@h/{name}")))
        for word, name in (("a", "one"), ("b", "one"), ("a", "two"))
    ]
    folders = [server._folder for server in servers if server is not None]
    assert folders[0] == folders[1] != folders[2]
    several = make_spool(Settings(db=Address("postgresql://u:p@h:5432,spare:5433/one")))
    assert several is not None
    assert several._folder not in folders
    assert make_spool(Settings(db=tmp_path / "m.sqlite", key="secret")) is None
    assert make_spool(Settings(db=tmp_path / "m.sqlite", spool="none")) is None


async def test_what_is_stored_late_waits_no_longer(tmp_path: Path) -> None:
    """Words that the database took after the patience was over are dropped at once, not only when
    all that waits is replayed."""
    store, spool = await SqliteStore.open(tmp_path / "db"), FileSpool(tmp_path / "spool")
    options, taking, going_on = Options(patience=0.01, work=False), asyncio.Event(), asyncio.Event()
    async with serving(
        tmp_path, options=options, store=store, spool=spool, replaying=False
    ) as bench:
        real = store.turns.append

        async def late(*given: Any, **more: Any) -> Any:  # noqa: ANN401 - as the real one
            await taking.wait()
            return await real(*given, **more)

        store.turns.append = late  # type: ignore[method-assign]
        bench.upstairs.answers.append(stream("I ", going_on, "see."))
        chat = asyncio.ensure_future(bench.chat("Hello", stream=True))
        while not bench.upstairs.requests:  # noqa: ASYNC110 - the upstream has no event for it
            await asyncio.sleep(0)
        assert (await spool.status()).exchanges == 1
        taking.set()
        going_on.set()
        assert (await chat).headers["x-omoide-stored"] == "waiting"
        await bench.server.runtime.exchanges.settled()
        assert await bench.said() == ["Hello", "I see."]
        assert (await spool.status()).exchanges == 0

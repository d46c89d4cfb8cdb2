"""Words that wait: none hold up those of others, none outlive an erasure, and each finds its own
database and its place in the order, whichever process keeps it."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import httpx
import pytest

from omoide.adapters.spool import FileSpool
from omoide.domain import CallPurpose, ModelCall, Owner, Speaker
from omoide.domain.waiting import (
    WaitingExchange,
    as_json,
    database_id,
    erasure_text,
    from_json,
)
from omoide.engine import recorder
from omoide.engine.asking import Answer, Stored
from omoide.engine.messages import Utterance, incoming
from omoide.errors import StoreError, StoreFull, StoreLocked
from omoide.testing.endpoint import Scripted

from .serving import serving
from .test_waiting import ANA, BOB, NOON, PATIENT, Written, broken, contents, mend, reply, words

if TYPE_CHECKING:
    from pathlib import Path

    from .serving import Bench

EVE = Owner(tenant="evil", user="eve")
HI = {"role": "user", "content": "Hi there"}
COST = ModelCall(
    purpose=CallPurpose.REPLY,
    model="m",
    session=None,
    prompt_tokens=1,
    completion_tokens=1,
    seconds=1.0,
    time=NOON,
)


class Refusing(Written):
    """Refuses the words of some owners."""

    def __init__(self, error: Exception, *owners: Owner) -> None:
        super().__init__()
        self.error = error
        self.owners = owners

    async def __call__(self, found: WaitingExchange) -> None:
        """Take it as stored, unless it is one of theirs."""
        if found.owner in self.owners:
            raise self.error
        await super().__call__(found)


async def replayed(bench: Bench) -> int:
    """Store what waits."""
    return await bench.server.runtime.exchanges.waiting.replay()


async def test_what_cannot_be_stored_is_set_aside(tmp_path: Path) -> None:
    """Others are stored, also later words of the same user; it is counted apart, and the next
    process tries it again."""
    spool = FileSpool(tmp_path)
    await spool.keep(words("bad", owner=EVE))
    await spool.keep(words("good", owner=BOB, exchange="e2"))
    refusing = Refusing(ZeroDivisionError("a fault of ours"), EVE)
    assert await spool.replay(refusing) == 1
    assert refusing.texts == ["good"]
    status = await spool.status()
    assert (status.exchanges, status.refused) == (0, 1)
    assert not await spool.holds(EVE)
    await spool.keep(words("later", owner=EVE, exchange="e3"))
    written = Written()
    await spool.replay(written)
    assert written.texts == ["later"]
    await spool.close()
    after, written = FileSpool(tmp_path), Written()
    assert await after.replay(written) == 1
    assert written.texts == ["bad"]
    assert (await after.status()).refused == 0
    assert b"bad" not in contents(tmp_path)
    await after.close()


async def test_room_that_could_not_be_reserved_is_reserved_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder that is not there yet, on a disk that was full when the file began."""
    with monkeypatch.context() as full:
        full.setattr(os, "posix_fallocate", Mock(side_effect=OSError("no space left")))
        spool = FileSpool(tmp_path / "deeper" / "spool", reserve=100_000)
        await spool.keep(words("kept all the same", owner=BOB))
    assert 0 < len(contents(tmp_path / "deeper" / "spool")) < 100_000
    await spool.replay(Written())
    assert len(contents(tmp_path / "deeper" / "spool")) == 100_000
    await spool.close()


async def test_an_erasure_reaches_what_is_set_aside(tmp_path: Path) -> None:
    """And the words of others stay."""
    spool = FileSpool(tmp_path)
    await spool.keep(words("Miso", owner=EVE))
    await spool.keep(words("Rex", owner=BOB, exchange="e2"))
    await spool.replay(Refusing(ZeroDivisionError(), EVE, BOB))
    async with spool.erasing(EVE) as count:
        assert count == 1
    assert b"Miso" not in contents(tmp_path)
    assert (await spool.status()).refused == 1
    await spool.close()


async def test_what_finds_no_room_aside_stays_and_is_skipped(tmp_path: Path) -> None:
    """It is not lost, and holds up nobody."""
    spool = FileSpool(tmp_path, limit=8_000, reserve=0)
    await spool.keep(words("b" * 700, owner=EVE))
    await spool.replay(Refusing(ZeroDivisionError(), EVE))
    await spool.keep(words("c" * 700, owner=EVE, exchange="e2"))
    await spool.replay(Refusing(ZeroDivisionError(), EVE))
    await spool.keep(words("good", owner=BOB, exchange="e3"))
    written = Written()
    assert await spool.replay(written) == 1
    assert written.texts == ["good"]
    status = await spool.status()
    assert (status.exchanges, status.refused) == (1, 1)
    await spool.close()


async def test_words_that_the_store_does_not_take_hold_up_only_their_user(tmp_path: Path) -> None:
    """A lock may be one user's. They stay in their order, and the error is raised."""
    spool = FileSpool(tmp_path)
    for number, owner in enumerate((ANA, ANA, BOB)):
        item = words(f"{owner.user} {number}", owner=owner, exchange=f"e{number}")
        await spool.keep(replace(item, time=NOON + timedelta(seconds=number)))
    locked = Refusing(StoreLocked("somebody has it"), ANA)
    with pytest.raises(StoreLocked):
        await spool.replay(locked)
    assert locked.texts == ["bob 2"]
    written = Written()
    assert await spool.replay(written) == 2
    assert written.texts == ["ana 0", "ana 1"]
    await spool.close()


async def test_words_are_stored_as_they_were_said_though_the_clock_was_set_back(
    tmp_path: Path,
) -> None:
    """What one process keeps is in the order of its file; another's words find their place by the
    time."""
    one, other = FileSpool(tmp_path), FileSpool(tmp_path)
    for number, (spool, minutes) in enumerate(((one, 0), (one, -60), (other, -30), (one, 2))):
        item = replace(words(f"{minutes}", exchange=f"e{number}"), database="db")
        item = replace(item, time=NOON + timedelta(minutes=minutes))
        await spool.keep(item)
        await spool.keep(replace(reply("", exchange=f"e{number}"), time=item.time, database="db"))
    written = Written()
    await one.replay(written, database="db")
    assert [text for text in written.texts if text] == ["-30", "0", "-60", "2"]
    await one.close()
    await other.close()


async def test_a_file_that_cannot_be_read_holds_up_nobody(tmp_path: Path) -> None:
    """It may be another user's of the machine. Only what must be sure of all words names it."""
    spool = FileSpool(tmp_path)
    await spool.keep(words("kept"))
    (tmp_path / "1-another.words").mkdir()  # as unreadable as a file may be
    assert await spool.holds(ANA)
    written = Written()
    assert await spool.replay(written) == 1
    assert written.texts == ["kept"]
    with pytest.raises(StoreError, match="1-another"):
        async with spool.erasing(ANA):
            pass
    await spool.close()


async def test_a_store_that_takes_nobodys_words_is_not_asked_for_each(tmp_path: Path) -> None:
    """It may take ten seconds each time. The next time those come first who were not asked."""
    spool = FileSpool(tmp_path)
    owners = [replace(ANA, user=f"u{number}") for number in range(4)]
    for number, owner in enumerate(owners):
        item = words(owner.user, owner=owner, exchange=f"e{number}")
        await spool.keep(replace(item, time=NOON + timedelta(seconds=number)))
    refusing = Refusing(ConnectionError("gone"), *owners[:3])
    with pytest.raises(StoreError):
        await spool.replay(refusing)
    assert refusing.texts == []
    with pytest.raises(StoreError):
        await spool.replay(refusing)
    assert refusing.texts == ["u3"]
    await spool.close()


async def test_nobody_fills_the_file_for_others(tmp_path: Path) -> None:
    """A tenant gets half of what others leave, and a user of it half of that."""
    spool = FileSpool(tmp_path, limit=40_000, reserve=0)

    async def fill(owner: Owner) -> int:
        for number in range(100):
            try:
                await spool.keep(words("x" * 500, owner=owner, exchange=f"{owner.user}{number}"))
            except StoreFull:
                return number
        return 100

    kept = [await fill(Owner(tenant="evil", user=user)) for user in ("a", "b", "c", "d")]
    assert kept[0] > kept[-1]
    assert (await spool.status()).bytes < 20_000
    assert await fill(BOB) > 2
    async with spool.erasing(Owner(tenant="evil", user="a")):
        pass
    assert await fill(Owner(tenant="evil", user="e")) > 0
    await spool.close()


async def test_an_erasure_clears_what_was_cut_off(tmp_path: Path) -> None:
    """Bytes that a full disk or a crash left after the last record, in our file and in those that
    nobody holds."""
    dead, ours = FileSpool(tmp_path), FileSpool(tmp_path)
    for spool in (dead, ours):
        await spool.keep(words("kept", owner=BOB, exchange=spool._path.name))
        os.pwrite(spool._file, b"0badc0de {PANGOLIN", spool._end)
    os.close(dead._file)  # as if its process had been killed
    async with ours.erasing(ANA) as count:
        assert count == 0
        assert b"PANGOLIN" not in contents(tmp_path)
    written = Written()
    assert await ours.replay(written) == 2
    assert written.texts == ["kept", "kept"]
    await ours.close()


async def test_what_is_over_is_stored_by_any_process_of_the_database(tmp_path: Path) -> None:
    """What still waits for its reply is not, nor what was said to another database."""
    theirs, ours = FileSpool(tmp_path), FileSpool(tmp_path)
    for exchange, database in (("e1", "db"), ("e2", "other")):
        said, answer = words(exchange, exchange=exchange), reply("yes", exchange=exchange)
        await theirs.keep(replace(said, database=database))
        await theirs.keep(replace(answer, database=database))
    await theirs.keep(words("e3", exchange="e3"))
    await theirs.keep(replace(words("e4", exchange="e4"), database="db"))
    await theirs.keep(replace(reply("so far", exchange="e4"), database="db", final=False))
    written = Written()
    assert await ours.holds(ANA)
    assert await ours.replay(written, database="db", owner=ANA) == 1
    assert written.texts == ["e1", "yes"]
    async with ours.erasing(ANA, database="db") as count:
        assert count == 2  # e3 may be this database's
    assert (await ours.status()).exchanges == 1
    await theirs.close()
    await ours.close()


def test_what_an_older_version_kept_is_read() -> None:
    """And what a newer one will keep."""
    for item in (words("Hi"), reply("Yes?")):
        value = as_json(item)
        for name in ("database", "erased", "final"):
            value.pop(name, None)
        assert from_json(value) == item
        assert from_json({**value, "mood": "good"}) == item


def test_what_was_said_after_an_erasure_is_not_erased() -> None:
    """By what the database said as it was kept, whatever the clocks say; else by the times."""
    later, now = NOON + timedelta(seconds=1), erasure_text(NOON)
    found = [
        WaitingExchange(words=replace(words("Hi"), time=time, erased=erased))
        for time in (NOON, later)
        for erased in (None, "", now)
    ]
    assert [each.is_erased(NOON) for each in found] == [True, True, False, False, True, False]
    assert not any(each.is_erased(None) for each in found)
    both = WaitingExchange(words=replace(words("Hi"), erased=now), reply=reply("Yes?"))
    assert both.is_erased(NOON)


async def test_a_chat_of_any_length_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In several calls if one would take too many turns; once, also if it is sent again."""
    monkeypatch.setattr(recorder, "MAX_TURNS", 3)
    async with serving(tmp_path, options=PATIENT) as bench:
        for _ in range(2):
            answered = await bench.chat(*"abcdefgh")
            assert answered.headers["x-omoide-stored"] == "yes"
            assert answered.headers["x-omoide-status"] == "ok"
        assert await bench.said() == [*"abcdefgh", "I see."]


async def test_an_id_that_another_text_has_does_not_refuse_a_chat(tmp_path: Path) -> None:
    """The message gets another one, the same whenever it is sent again."""
    async with serving(tmp_path, options=PATIENT) as bench:
        sent = [{"role": "user", "content": "Hm"}, {"role": "assistant", "content": "Yes?"}, HI]
        taken = incoming(sent, session=None).words[0].id
        other = Utterance(speaker=Speaker.USER, text="Other text", id=taken)
        await bench.memory().record("ana", [other])
        for _ in range(2):
            answered = await bench.chat(*sent)
            assert answered.headers["x-omoide-stored"] == "yes"
        assert await bench.said() == ["Other text", "Hi there", "I see."]


async def test_words_wait_their_turn_at_another_server(tmp_path: Path) -> None:
    """Two processes of one database share the folder: what was said to the one comes first."""
    async with broken(tmp_path) as one, broken(tmp_path) as other:
        await replayed(one)
        assert (await one.chat("Second")).headers["x-omoide-stored"] == "waiting"
        mend(other)
        other.clock.advance(timedelta(minutes=1))
        assert (await other.chat("Third")).headers["x-omoide-stored"] == "yes"
        assert await other.said() == ["Second", "I see.", "Third", "I see."]
        mend(one)
        assert await replayed(one) == 0


async def test_words_come_before_the_next_ones_after_a_restart(tmp_path: Path) -> None:
    """Also if nothing was replayed at the start."""
    async with broken(tmp_path) as bench:
        await bench.chat("One")
    async with broken(tmp_path, waits=tmp_path / "elsewhere") as bench:
        mend(bench)
        bench.server.runtime.exchanges.waiting.spool = spool = FileSpool(tmp_path / "spool")
        bench.clock.advance(timedelta(minutes=1))
        await bench.chat("Two")
        assert await bench.said() == ["One", "I see.", "Two", "I see."]
        await spool.close()


async def test_a_chat_is_stored_if_nobody_can_say_what_waits(tmp_path: Path) -> None:
    """The folder cannot be read: that is no reason not to store what is said now."""
    async with serving(tmp_path, options=PATIENT, spool=FileSpool(tmp_path / "spool")) as bench:
        spool: Any = bench.server.runtime.spool

        async def fail(_: Owner) -> bool:
            raise StoreError("input/output error")

        spool.holds = fail
        assert (await bench.chat(HI)).headers["x-omoide-stored"] == "yes"


@pytest.mark.parametrize("readable", [True, False])
async def test_erased_words_do_not_come_back_from_another_machine(
    tmp_path: Path, *, readable: bool
) -> None:
    """Its folder is not reached by the erasure; whether or not the database could be read when they
    were said. What is said later is stored."""
    async with (
        broken(tmp_path, waits=tmp_path / "one") as one,
        broken(tmp_path, waits=tmp_path / "two") as two,
    ):
        await replayed(one)
        archive: Any = one.server.runtime.store.archive
        real = archive.last_erasure
        if not readable:

            async def fail(_: Owner) -> datetime | None:
                raise StoreError("out of reach")

            archive.last_erasure = fail
        assert (await one.chat("My secret is Miso")).headers["x-omoide-stored"] == "waiting"
        archive.last_erasure = real
        two.clock.advance(timedelta(minutes=1))
        erased = await two.memory().erase("ana")
        assert erased.receipt is not None
        assert erased.receipt.clean
        one.clock.advance(timedelta(minutes=2))
        assert (await one.chat("I am back")).headers["x-omoide-stored"] == "waiting"
        mend(one)
        await replayed(one)
        assert await one.said() == ["I am back", "I see."]
        assert b"Miso" not in contents(tmp_path / "one")


async def test_words_that_are_stored_while_their_user_is_erased_are_removed(tmp_path: Path) -> None:
    """The erasure came after they were checked and before they were written."""
    async with broken(tmp_path, waits=tmp_path / "one") as bench:
        await bench.chat("My secret is Miso")
        mend(bench)
        store = bench.server.runtime.store
        turns: Any = store.turns
        append = turns.append

        async def erased_first(*given: Any, **more: Any) -> Any:  # noqa: ANN401 - as the real one
            turns.append = append
            await store.archive.note_erasure(ANA, at=bench.clock.now())
            await store.archive.erase(ANA)
            return await append(*given, **more)

        turns.append = erased_first
        await replayed(bench)
        assert await bench.said() == []


async def test_words_that_are_held_up_until_their_user_is_erased_are_not_stored(
    tmp_path: Path,
) -> None:
    """They waited for a write of the database that took long, and were told to wait."""
    async with broken(tmp_path) as bench:
        mend(bench)
        turns: Any = bench.server.runtime.store.turns
        append, began, gate = turns.append, asyncio.Event(), asyncio.Event()
        memory = bench.memory()
        first = await memory.begin("ana", [{"role": "user", "content": "Hi"}], tolerant=True)

        async def slow(*given: Any, **more: Any) -> Any:  # noqa: ANN401 - as the real one
            turns.append = append
            began.set()
            await gate.wait()
            return await append(*given, **more)

        turns.append = slow
        finishing = asyncio.create_task(first.finish("Hello"))
        await began.wait()
        said = [{"role": "user", "content": "My secret is Miso"}]
        second = await memory.begin("ana", said, tolerant=True, patience=0.0)
        assert second.stored.value == "waiting"
        await memory.erase("ana")
        gate.set()
        await finishing
        assert second.attempt is not None
        await second.attempt
        await second.finish("Noted.")
        await bench.server.runtime.exchanges.settled()
        await replayed(bench)
        assert await memory.users() == ()
        assert second.stored is Stored.NO


@pytest.mark.parametrize("once", [False, True])
async def test_a_reply_that_is_still_being_written_is_not_stored_beside_that(
    tmp_path: Path, once: bool
) -> None:
    """Neither twice, nor is its cost counted twice."""
    async with broken(tmp_path) as bench:
        mend(bench)
        exchanges = bench.server.runtime.exchanges
        turns: Any = bench.server.runtime.store.turns
        append, gate = turns.append, asyncio.Event()
        exchange = await bench.memory().begin(
            "ana", [{"role": "user", "content": "Hi"}], tolerant=True, patience=60.0
        )
        exchange.asking = replace(exchange.asking, patience=0.0)

        async def slow(*given: Any, **more: Any) -> Any:  # noqa: ANN401 - as the real one
            turns.append = append
            await gate.wait()
            return await append(*given, **more)

        turns.append = slow
        await exchange.finish(Answer(text="Hello", once=once, call=COST))
        assert exchange.stored is Stored.WAITING
        exchanges.abandon(exchange)  # the client was answered with an error after all
        assert await replayed(bench) == 0
        gate.set()
        await exchanges.settled()
        await replayed(bench)
        assert await bench.said() == ["Hi", "Hello"]
        assert len(await bench.replies()) == 1
        assert b"Hello" not in contents(tmp_path / "spool")


async def test_two_databases_share_a_folder(tmp_path: Path) -> None:
    """What was said to one is never stored in the other, nor erased there."""
    folders = [tmp_path / "x", tmp_path / "y"]
    for folder in folders:
        folder.mkdir()
    shared = tmp_path / "spool"
    async with broken(folders[0], waits=shared) as x:
        await replayed(x)
        await x.chat("For x only")
        key = await x.server.runtime.store.archive.receipt_key()
    async with broken(folders[1], waits=shared) as y:
        mend(y)
        assert await replayed(y) == 0
        assert await y.said() == []
        await y.memory().erase("ana")
        assert (await y.chat("For y")).headers["x-omoide-stored"] == "yes"
    async with broken(folders[0], waits=shared) as x:
        assert database_id(key) != database_id(b"")
        mend(x)
        assert await replayed(x) == 0  # it was stored at the start
        assert await x.said() == ["For x only", "I see."]


@pytest.mark.parametrize(
    "answer",
    [Scripted(status=500, blocks=(b'{"error":{"message":"boom"}}',)), httpx.ConnectError("gone")],
)
async def test_words_without_a_reply_are_stored(
    tmp_path: Path, answer: Scripted | Exception
) -> None:
    """The model failed too: no reply will come, so they do not wait for one, in any process."""
    async with broken(tmp_path) as bench, broken(tmp_path) as other:
        await replayed(bench)
        bench.upstairs.answers.append(answer)
        failed = await bench.chat("Are you there?")
        assert failed.status_code >= 500
        assert failed.headers["x-omoide-stored"] == "waiting"
        await bench.server.runtime.exchanges.settled()
        mend(other)
        assert await replayed(other) == 1
        assert await other.said() == ["Are you there?"]

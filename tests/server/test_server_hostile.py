"""Clients, upstreams and clocks that misbehave: nothing is lost, leaked or brought back."""

from __future__ import annotations

import asyncio
import gzip
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import Speaker
from omoide.engine.messages import Utterance
from omoide.errors import BadInput
from omoide.server.answer_parser import MAX_ANSWER_BYTES
from omoide.server.keys import ApiKeys, Scope
from omoide.server.options import Options, check_address
from omoide.testing.endpoint import Scripted, event, failure, stream, whole

from .serving import Bench, listening, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


def assistant(text: str | None, **more: object) -> dict[str, Any]:
    """A message of the assistant's."""
    return {"role": "assistant", "content": text, **more}


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """A running server."""
    async with serving(tmp_path) as bench:
        yield bench


# ── Upstreams ───────────────────────────────────────────────────────────────────────────────


async def test_an_impossible_usage_does_not_cost_the_reply(bench: Bench) -> None:
    """Words and cost are recorded; the cost is an estimate."""
    [block] = whole("Yes.").blocks
    assert isinstance(block, bytes)
    reported = {**json.loads(block), "usage": {"prompt_tokens": 10**23, "completion_tokens": -5}}
    bench.upstairs.answers.append(Scripted(blocks=(json.dumps(reported).encode(),)))
    response = await bench.chat("Is it?")
    assert response.headers["x-omoide-status"] == "ok"
    assert await bench.said() == ["Is it?", "Yes."]
    [call] = await bench.replies()
    assert 0 < call.prompt_tokens < 100
    assert 0 < call.completion_tokens < 100


async def test_an_upstream_cannot_speak_in_our_name(bench: Bench) -> None:
    """Headers that only this server sets, or that are about the upstream's own site, do not pass;
    others do."""
    theirs = {
        "X-Omoide-Status": "ok; forged",
        "X-Omoide-Recalled": "99",
        "X-Omoide-Other": "x",
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Allow-Credentials": "true",
        "Clear-Site-Data": "*",
        "Strict-Transport-Security": "max-age=1",
        "Alt-Svc": "h3",
        "OpenAI-Version": "1",
    }
    for headers in ({}, {"X-Omoide-Memory": "off"}):
        answer = whole("Yes.")
        bench.upstairs.answers.append(Scripted(blocks=answer.blocks, headers=theirs))
        response = await bench.chat("Is it?", headers=headers)
        assert response.headers["openai-version"] == "1"
        assert response.headers["x-omoide-status"] == ("off" if headers else "ok")
        assert response.headers.get("x-omoide-recalled") in (None, "0")
        passed = {name for name in response.headers if name.lower() in map(str.lower, theirs)}
        assert passed <= {"openai-version", "x-omoide-status", "x-omoide-recalled"}


# ── Erasure ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("session", [None, 1])
async def test_a_reply_in_flight_does_not_bring_an_erased_user_back(
    bench: Bench, session: int | None
) -> None:
    """The reply is passed on, and not recorded: what it answers is gone."""
    going_on = asyncio.Event()
    bench.upstairs.answers.append(stream("You said", going_on, " it."))
    chat = asyncio.ensure_future(bench.chat("My secret", stream=True))
    while not bench.upstairs.requests:  # noqa: ASYNC110 - the upstream has no event for it
        await asyncio.sleep(0)
    await bench.memory().erase("ana", session=session)
    going_on.set()
    assert b" it." in (await chat).content
    await bench.server.runtime.exchanges.settled()
    assert await bench.said() == []
    if session is None:
        assert await bench.memory().users() == ()


async def test_what_another_process_erased_is_neither_shown_nor_replayed(tmp_path: Path) -> None:
    """Two servers on one database: the caches of one end with an erasure through the other."""
    stores = [await SqliteStore.open(tmp_path / "db") for _ in range(2)]
    options = Options(patience=300.0, work=False)
    async with (
        serving(tmp_path / "1", store=stores[0], options=options) as one,
        serving(tmp_path / "2", store=stores[1], options=options) as two,
    ):
        for target in ({"all": True}, {"session": 2}):
            one.upstairs.answers += [whole("Your secret."), whole("Fresh.")]
            await one.memory().record("ana", "Something else", session="other")
            key = {"Idempotency-Key": "k"}
            await one.chat("My secret", headers=key)
            again = await one.chat("My secret", headers=key)
            assert again.headers["idempotent-replayed"] == "true"
            latest = await one.client.get("/api/latest", params={"user": "ana"})
            assert latest.json()["latest"]["text"] == "My secret"
            erased = await two.client.post("/api/erase", params={"user": "ana"}, json=target)
            assert erased.json()["turns"] > 0
            latest = await one.client.get("/api/latest", params={"user": "ana"})
            assert latest.json()["latest"] is None
            assert "Fresh." in (await one.chat("My secret", headers=key)).text
            await two.memory().erase("ana")


# ── Retries ─────────────────────────────────────────────────────────────────────────────────


async def broken_off(bench: Bench, *messages: dict[str, Any] | str, text: str) -> None:
    """A chat whose stream breaks off after `text`."""
    blocks = (event({"content": text}),)
    bench.upstairs.answers.append(Scripted(media_type="text/event-stream", blocks=blocks))
    await bench.chat(*messages, stream=True)


async def test_a_whole_reply_replaces_the_one_that_broke_off(bench: Bench) -> None:
    """Also for the first message of a conversation. The count of the session's turns is right."""
    await broken_off(bench, "Tell me", text="Once upon")
    assert await bench.said() == ["Tell me", "Once upon"]
    await broken_off(bench, "Tell me", text="Once upon a")
    bench.upstairs.answers.append(whole("Once upon a time."))
    await bench.chat("Tell me")
    assert await bench.said() == ["Tell me", "Once upon a time."]
    [session] = await bench.memory().sessions("ana")
    assert session.turns == 2
    found = await bench.memory().recall("ana", "Once upon", kinds=["turn"], k=1)
    assert [item.text for item in found] == ["Once upon a time."]


async def test_a_regenerated_reply_replaces_the_former_one(bench: Bench) -> None:
    """Where the history shows that it is the same message; one that broke off replaces none."""
    history = ("Hello", assistant("I see."), "Is it?")
    await bench.chat("Hello")
    for answer in ("Yes.", "No."):
        bench.upstairs.answers.append(whole(answer))
        await bench.chat(*history)
    assert await bench.said() == ["Hello", "I see.", "Is it?", "No."]
    await broken_off(bench, *history, text="Per")
    assert await bench.said() == ["Hello", "I see.", "Is it?", "No.", "Per"]
    bench.upstairs.answers.append(whole("Perhaps."))
    await bench.chat(*history)
    assert await bench.said() == ["Hello", "I see.", "Is it?", "Perhaps."]


async def test_words_between_tool_calls_are_not_replaced(bench: Bench) -> None:
    """They and the answer that follows the tools both belong to the reply."""
    call = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    result = {"role": "tool", "tool_call_id": "c", "content": "rain"}
    bench.upstairs.answers += [whole("Let me look.", tool_calls=call), whole("It rains.")]
    await bench.chat("Hello", assistant("Hi."), "Weather?")
    await bench.chat(
        "Hello",
        assistant("Hi."),
        "Weather?",
        assistant("Let me look.", tool_calls=call),
        result,
    )
    assert await bench.said() == ["Weather?", "Let me look.", "It rains."]


async def test_a_reply_stays_where_the_user_went_back(bench: Bench) -> None:
    """Replies with later messages behind them are part of what was said."""
    history = ("One", assistant("I see."), "Two")
    await bench.chat("One")
    await bench.chat(*history)
    await bench.chat(*history, assistant("I see."), "Three")
    bench.upstairs.answers.append(whole("Another."))
    await bench.chat(*history)
    assert (await bench.said())[:6] == ["One", "I see.", "Two", "I see.", "Three", "I see."]


async def test_a_retry_does_not_meet_its_own_answer(bench: Bench) -> None:
    """What the model said to the same message is not what comes to its mind."""
    bench.upstairs.answers += [whole("I said your cat Miso is grey.")] * 2
    history = ("Hello", assistant("I see."), "What did you say about my cat Miso?")
    for _ in range(2):
        await bench.chat(*history)
    assert "grey" not in str(bench.upstairs.requests[-1].body["messages"])
    await bench.memory().end_session("ana")
    await bench.chat("What did you say about my cat?")
    assert "grey" in str(bench.upstairs.requests[-1].body["messages"])


@pytest.mark.parametrize("status", [429, 500, 504, 400])
async def test_a_failure_of_the_upstream_is_not_replayed(bench: Bench, status: int) -> None:
    """The same key gets another try; success is replayed."""
    bench.upstairs.answers += [failure(status, "no"), whole("Yes."), whole("No.")]
    key = {"Idempotency-Key": "k"}
    answers = [await bench.chat("Is it?", headers=key) for _ in range(3)]
    assert [a.status_code for a in answers] == [status, 200, 200]
    assert answers[1].content == answers[2].content


async def test_a_client_without_history_may_say_next_three_times(bench: Bench) -> None:
    """Once the session shows that it sends no history, an answered message is new each time."""
    pages = ["Page one.", "Page two.", "Page three."]
    await bench.chat("Read to me")
    bench.upstairs.answers += [whole(page) for page in pages]
    for _ in pages:
        await bench.chat("next")
    said = await bench.said()
    assert said[2:] == ["next", "Page one.", "next", "Page two.", "next", "Page three."]


async def test_a_client_without_history_may_retry(bench: Bench) -> None:
    """A message that got no whole answer is the same when it comes again."""
    await bench.chat("Read to me")
    await broken_off(bench, "next", text="Page")
    bench.upstairs.answers.append(whole("Page one."))
    await bench.chat("next")
    assert (await bench.said())[2:] == ["next", "Page one."]


# ── Time, names, pages, metrics ─────────────────────────────────────────────────────────────


@pytest.mark.parametrize("year", [1970, 2031, 9999])
async def test_a_turn_from_another_time_does_not_stop_digestion(bench: Bench, year: int) -> None:
    """The session ends by itself when it is idle, and later turns are recorded in order."""
    memory = bench.memory()
    odd = Utterance(speaker=Speaker.USER, text="Odd", time=datetime(year, 12, 30, tzinfo=UTC))
    await memory.record("ana", [Utterance(speaker=Speaker.USER, text="Before"), odd])
    await memory.record("ana", "After")
    assert [t.text for t in await memory.turns("ana")] == ["Before", "Odd", "After"]
    bench.clock.advance(timedelta(days=1))
    assert await memory.end_idle() == 1
    assert all(turn.time <= bench.clock.now() for turn in await memory.turns("ana"))


async def test_a_session_recorded_under_a_wrong_clock_ends(bench: Bench) -> None:
    """The server's own clock was a year ahead, and was put right."""
    bench.clock.advance(timedelta(days=365))
    await bench.chat("Hello from next year")
    bench.clock.advance(timedelta(days=-365))
    assert await bench.memory().end_idle() == 1


async def test_a_name_with_spaces_around_it_is_the_same_user(bench: Bench) -> None:
    """In every way to name a user."""
    await bench.memory().record("ana", "One")
    await bench.memory().record(" ana ", "Two")
    await bench.chat("Three", user="ana ")
    await bench.client.post(
        "/api/turns", params={"user": "ana "}, json={"turns": [{"speaker": "user", "text": "4"}]}
    )
    assert await bench.memory().users() == ("ana",)
    assert await bench.said() == ["One", "Two", "Three", "I see.", "4"]


async def test_made_up_methods_are_counted_as_one(bench: Bench) -> None:
    """Nobody without a key can fill the metrics with labels."""
    for number in range(20):
        await bench.client.request(f"MADEUP{number}", "/healthz")
    methods = {method for method, _, _ in bench.server.metrics.requests}
    assert methods == {"other"}


# ── Clients on a socket ─────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("sent", "receive"),
    [
        (b"", 0.02),
        (b"GET /healthz HTTP/1.1\r\nHost: local", 0.02),
        # A busy machine must have the time to read the first request.
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /heal", 3.0),
    ],
    ids=["nothing", "half a request", "half of a second request"],
)
async def test_a_request_that_does_not_end_loses_its_connection(
    bench: Bench, sent: bytes, receive: float
) -> None:
    """Half-sent headers hold no connection for ever."""
    async with listening(bench.app, receive=receive, keep_alive=1) as url:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
        writer.write(sent)
        answer = await reader.read()  # until the server closes it
        assert (b"200 OK" in answer) == sent.endswith(b"GET /heal")
        writer.close()


async def test_a_body_that_does_not_come_is_not_waited_for(tmp_path: Path) -> None:
    """The client is told, and nothing is recorded."""
    options = Options(patience=300.0, receive=0.02)
    async with serving(tmp_path, options=options) as bench, listening(bench.app) as url:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
        writer.write(
            b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            b'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"user":"ana",'
        )
        assert b"408 Request Timeout" in await reader.readuntil(b"\r\n")
        writer.close()
        assert await bench.said() == []


@pytest.mark.parametrize(("pause", "status"), [(0.9, 408), (0.1, 200)])
async def test_a_body_that_comes_drop_by_drop_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pause: float, status: int
) -> None:
    """Each part comes in time, but all of them together must, too: in ten times the time of one."""
    times = [asyncio.get_running_loop().time()]

    async def drops() -> AsyncIterator[bytes]:
        for letter in b'{"user": "ana", "messages": [{"role": "user", "content": "Hello."}]}':
            yield bytes([letter])
            times.append(times[-1] + pause)
            for _ in range(3):  # timers that are due now run
                await asyncio.sleep(0)

    async with serving(tmp_path, options=Options(patience=300.0, receive=1.0)) as bench:
        bench.upstairs.answers.append(whole("Hi."))
        with monkeypatch.context() as patch:
            patch.setattr(asyncio.get_running_loop(), "time", lambda: times[-1])
            response = await bench.client.post(
                "/v1/chat/completions",
                content=drops(),
                headers={"content-type": "application/json"},
            )
        assert response.status_code == status
        assert await bench.said() == ([] if status == 408 else ["Hello.", "Hi."])


@pytest.mark.parametrize("origin", ["*", "null"])
async def test_every_web_page_may_call_only_where_there_are_keys(
    tmp_path: Path, origin: str
) -> None:
    """Neither the command nor the application starts like that; with a key both do."""
    options, keys = Options(cors=(origin,)), ApiKeys(tmp_path / "keys")
    with pytest.raises(BadInput, match="omoide keys create"):
        check_address(options, keys)
    with pytest.raises(BadInput, match="omoide keys create"):
        async with serving(tmp_path, options=options):
            pass
    keys.create(tenant="t", name="k", scopes=tuple(Scope), at=datetime(2026, 1, 1, tzinfo=UTC))
    check_address(options, keys)
    async with serving(tmp_path, options=options) as bench:
        refused = await bench.client.get("/api/users", headers={"Origin": "https://evil.example"})
        assert refused.status_code == 401
    check_address(Options(cors=("https://app.example",)), ApiKeys(tmp_path / "none"))


async def test_a_compressed_bomb_of_the_upstream_is_bounded(bench: Bench) -> None:
    """A few kilobytes that expand without end are too long like any other answer, and the pieces
    that come before that are small."""
    bomb = gzip.compress(bytes(MAX_ANSWER_BYTES + 2**20), compresslevel=9)
    assert len(bomb) < 100_000
    bench.upstairs.answers.append(Scripted(blocks=(bomb,), headers={"content-encoding": "gzip"}))
    response = await bench.client.post(
        "/v1/messages",
        json={"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]},
        headers={"X-Omoide-User": "ana"},
    )
    assert response.status_code == 502
    assert "longer than 64 MiB" in response.text
    assert await bench.said() == ["Hi"]

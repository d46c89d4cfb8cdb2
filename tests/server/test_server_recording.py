"""The proxy records what was said exactly once, whatever of its history a client sends."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from omoide import Speaker, Utterance
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.server.options import Options
from omoide.testing.endpoint import failure, whole

from .serving import Bench, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

CALL = [{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}]
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "rain"}


def assistant(text: str | None, **more: object) -> dict[str, Any]:
    """A message of the assistant's."""
    return {"role": "assistant", "content": text, **more}


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """A running server."""
    async with serving(tmp_path) as bench:
        yield bench


async def test_a_client_that_sends_its_history_is_recorded_once(bench: Bench) -> None:
    """Old messages are not recorded again, and the answers are ours already."""
    await bench.chat("One")
    await bench.chat("One", assistant("I see."), "Two")
    await bench.chat("One", assistant("I see."), "Two", assistant("I see."), "One")
    assert await bench.said() == ["One", "I see.", "Two", "I see.", "One", "I see."]


async def test_a_request_sent_again_records_nothing_again(bench: Bench) -> None:
    """A failure, a retry, and a regenerated answer that differs."""
    bench.upstairs.answers += [failure(500, "down"), whole("Yes."), whole("Yes."), whole("No.")]
    for _ in range(4):
        await bench.chat("Is it?")
    assert await bench.said() == ["Is it?", "Yes.", "No."]


async def test_the_same_words_said_again_later_are_recorded_again(bench: Bench) -> None:
    """A new conversation may begin as an old one did."""
    await bench.chat("Hi")
    bench.clock.advance(timedelta(days=1))
    for _ in range(2):
        await bench.chat("Hi")
    bench.clock.advance(timedelta(days=1))
    await bench.chat("Hi")
    turns = await bench.memory().turns("ana")
    assert [t.text for t in turns] == ["Hi", "I see."] * 3
    assert [t.session for t in turns] == [1, 1, 2, 2, 3, 3]


async def test_a_request_from_long_ago_may_be_sent_again_and_again(bench: Bench) -> None:
    """Said again after many others, then repeated: remembered both times, recorded once more."""
    old = ("A", assistant("I see."), "Once more")
    await bench.chat(*old)
    for number in range(20):
        await bench.chat(f"Something else, {number}")
    for _ in range(2):
        answer = await bench.chat(*old)
        assert answer.headers["x-omoide-status"] == "ok"
    assert (await bench.said()).count("Once more") == 2


async def test_a_client_without_a_history_may_repeat_itself(bench: Bench) -> None:
    """Once something else was said in between, the same words are new."""
    for text in ("yes", "yes", "no", "yes"):
        await bench.chat(text)
    assert [t for t in await bench.said() if t != "I see."] == ["yes", "no", "yes"]


async def test_a_client_that_keeps_only_its_own_words_is_recorded_once(bench: Bench) -> None:
    """The list grows without answers in it."""
    await bench.chat("One")
    await bench.chat("One", "Two")
    await bench.chat("One", "Two", "Three")
    assert [t for t in await bench.said() if t != "I see."] == ["One", "Two", "Three"]


async def test_a_client_that_drops_old_messages_is_recorded_once(bench: Bench) -> None:
    """Also in the middle of a tool call, when the place of the last words changes."""
    await bench.chat("One")
    bench.upstairs.answers.append(whole(None, tool_calls=CALL))
    await bench.chat("One", assistant("I see."), "Weather?")
    await bench.chat(assistant("I see."), "Weather?", assistant(None, tool_calls=CALL), RESULT)
    assert await bench.said() == ["One", "I see.", "Weather?", "I see."]


async def test_tool_calls_are_not_words(bench: Bench) -> None:
    """The call and its result leave no turn; the answer that follows does."""
    bench.upstairs.answers += [whole(None, tool_calls=CALL), whole("It rains.")]
    await bench.chat("Weather?")
    assert await bench.said() == ["Weather?"]
    await bench.chat("Weather?", assistant(None, tool_calls=CALL), RESULT)
    assert await bench.said() == ["Weather?", "It rains."]


async def test_going_back_in_a_conversation_records_nothing_again(bench: Bench) -> None:
    """An earlier message is answered anew, with what stood before it."""
    await bench.chat("One")
    await bench.chat("One", assistant("I see."), "Two")
    await bench.chat("One", assistant("I see."), "Two", assistant("I see."), "Three")
    await bench.chat("One", assistant("I see."), "Two")
    assert (await bench.said()).count("Two") == 1


async def test_a_named_session_that_ended_goes_on_in_another(bench: Bench) -> None:
    """A thread's name is good for ever, though its sessions end."""
    thread = {"X-Omoide-Session": "thread-7"}
    first = await bench.chat("One", headers=thread)
    for expected in ("2", "3"):
        await bench.memory().end_session("ana")
        ended = await bench.chat(f"Go {expected}", headers=thread)
        again = await bench.chat(f"On {expected}", headers=thread)
        assert ended.headers["X-Omoide-Session"] == expected
        assert again.headers["X-Omoide-Session"] == expected
    assert first.headers["X-Omoide-Session"] == "1"
    keys = [s.key for s in await bench.memory().sessions("ana")]
    assert keys == ["thread-7", "thread-7", "thread-7"]


async def test_a_named_session_goes_on_after_one_of_its_sessions_was_erased(bench: Bench) -> None:
    """Erasing a session in the middle stops nothing from being recorded later."""
    thread = {"X-Omoide-Session": "project"}
    for day in ("One", "Two", "Three"):
        await bench.chat(day, headers=thread)
        await bench.memory().end_session("ana")
    await bench.memory().erase("ana", session=2)
    for day in ("Four", "Five"):
        answer = await bench.chat(day, headers=thread)
        assert answer.headers["X-Omoide-Status"] == "ok"
        await bench.memory().end_session("ana")
    said = [t for t in await bench.said() if t != "I see."]
    assert said == ["One", "Three", "Four", "Five"]


async def test_a_key_that_begins_like_another_is_another_conversation(bench: Bench) -> None:
    """Words of `work~personal` and `work~2` never go into `work`, nor the other way round."""
    keys = ["work~personal", "work~2", "work"]
    for key in keys:
        await bench.chat(f"Hello {key}", headers={"X-Omoide-Session": key})
    await bench.memory().end_session("ana", session=3)
    await bench.chat("Back to work", headers={"X-Omoide-Session": "work"})
    turns = await bench.memory().turns("ana")
    sessions = {s.number: s.key for s in await bench.memory().sessions("ana")}
    said = [(sessions[t.session], t.text) for t in turns if t.text != "I see."]
    assert said == [(key, f"Hello {key}") for key in keys] + [("work", "Back to work")]


@pytest.mark.parametrize(
    "rest",
    [
        pytest.param([assistant(None, tool_calls=CALL), RESULT], id="tool result"),
        pytest.param([assistant("Well, ")], id="prefill"),
    ],
)
async def test_old_words_are_answered_again_after_a_long_session(
    bench: Bench, rest: list[dict[str, Any]]
) -> None:
    """Words that lie further back than what counts as being talked about are no error."""
    await bench.chat("One")
    turns = [Utterance(speaker=Speaker.USER, text=f"More, {n}") for n in range(70)]
    await bench.memory().record("ana", turns)
    answer = await bench.chat("One", *rest)
    assert answer.status_code == 200
    assert answer.headers["X-Omoide-Status"] == "ok"


async def test_two_sessions_of_one_user_stay_apart(bench: Bench) -> None:
    """The same opening words in two threads are two turns."""
    for name in ("a", "b"):
        await bench.chat("Hi", headers={"X-Omoide-Session": name})
    assert [t.session for t in await bench.memory().turns("ana")] == [1, 1, 2, 2]


async def test_a_chat_goes_to_the_store_five_times(tmp_path: Path) -> None:
    """The words, the session, what mechanisms look up, what they found and what of it no longer
    holds, the reply with its cost: each way to a thread and back costs CPU."""
    store = await SqliteStore.open(tmp_path / "db")
    async with serving(tmp_path, store=store, options=Options(patience=300.0, work=False)) as bench:
        await bench.chat("I have a cat called Momo")
        await bench.memory().end_session("ana")
        before = store.file.round_trips
        answer = await bench.chat("Do you remember my cat?")
        assert answer.headers["x-omoide-recalled"] != "0"
        assert store.file.round_trips - before <= 5

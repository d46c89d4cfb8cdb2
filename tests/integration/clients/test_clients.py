"""What every vendor's client can do with the server, in its own protocol."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from omoide.server.options import Options
from omoide.testing.endpoint import DONE, Scripted, event, failure, stream, whole
from tests.server.serving import M1

from .drivers import DRIVERS, AnthropicDriver, OllamaDriver, OpenAIDriver
from .lines import connected, shows

if TYPE_CHECKING:
    from pathlib import Path

    from .drivers import Driver
    from .lines import Line

TOOLED = [driver for driver in DRIVERS if driver.tools]
INSTRUCTED = [driver for driver in DRIVERS if driver.system]
CONVERTED = [driver for driver in DRIVERS if driver is not OpenAIDriver]
CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"place": "Oslo"}'},
}
ASKED = ("weather", {"place": "Oslo"})


def streamed_call(*, said: str = "") -> Scripted:
    """A stream in which the model asks for the weather in Oslo and in Rome."""
    blocks = [event({"role": "assistant", "content": said or None})]
    for index, place in enumerate(("Oslo", "Rome")):
        named = {"name": "weather", "arguments": ""}
        first = {"index": index, "id": f"call_{index}", "type": "function", "function": named}
        blocks.append(event({"tool_calls": [first]}))
        for piece in ('{"place": ', f'"{place}"}}'):
            part = {"index": index, "function": {"arguments": piece}}
            blocks.append(event({"tool_calls": [part]}))
    blocks += [event({}, finish="tool_calls"), DONE]
    return Scripted(media_type="text/event-stream", blocks=tuple(blocks))


async def read(line: Line, text: str, into: list[str]) -> None:
    """Read a stream, piece by piece."""
    async for piece in line.driver.stream(text):
        into.append(piece)  # noqa: PERF401 - what came before an error is wanted


@shows("plain answer")
async def test_an_answer_comes_with_its_cost(line: Line) -> None:
    """Text and tokens are the upstream's, and both sides are recorded."""
    heard = await line.driver.say("Hi")
    assert heard.text == "I see."
    assert heard.tokens == (11, 3)
    assert line.sent["messages"] == [{"role": "user", "content": "Hi"}]
    assert line.sent["model"] == "m"
    assert await line.settled("Hi", "I see.")


@shows("streamed answer")
async def test_a_stream_comes_piece_by_piece(line: Line) -> None:
    """The first piece is there before the upstream has said the second."""
    gate = asyncio.Event()
    line.endpoint.answers.append(stream("Hel", gate, "lo"))
    pieces = []
    async for piece in line.driver.stream("Hi"):
        pieces.append(piece)
        gate.set()
    assert pieces == ["Hel", "lo"]
    assert line.sent["stream"] is True
    assert await line.settled("Hi", "Hello")


@shows("system prompt", only=INSTRUCTED)
async def test_a_system_prompt_comes_first_and_memory_after_it(line: Line) -> None:
    """The client's own words stay in front, so that they can be cached."""
    await line.bench.remember()
    await line.driver.instruct("Be brief.", "My cat is ill.")
    system, user = line.sent["messages"]
    assert system["role"] == "system"
    assert system["content"].startswith("Be brief.")
    assert M1 in system["content"]
    assert user["content"].endswith("My cat is ill.")


@shows("memory")
async def test_what_is_remembered_reaches_the_model(line: Line) -> None:
    """The summary and what was recalled are in the prompt, whatever the protocol."""
    await line.bench.remember()
    await line.driver.say("My cat is ill.")
    system, user = line.sent["messages"]
    assert M1 in system["content"]
    assert " a cat called Miso." in user["content"]


@shows("tool call", only=TOOLED)
async def test_a_tool_is_called_and_its_result_goes_back(line: Line) -> None:
    """The model's call, the tool's result and the answer, as an agent does it."""
    line.endpoint.answers += [whole("Let me look.", tool_calls=[CALL]), whole("It rains.")]
    first = await line.driver.say("How is Oslo?", tools=True)
    assert first.calls == [ASKED]
    assert first.text == "Let me look."
    (tool,) = line.sent["tools"]
    assert tool["function"]["name"] == "weather"
    assert tool["function"]["parameters"]["required"] == ["place"]
    second = await line.driver.give_back("How is Oslo?", first, "rain")
    assert second.text == "It rains."
    user, asked, result = line.sent["messages"]
    assert user["content"].endswith("How is Oslo?")
    assert asked["content"] == "Let me look."
    assert asked["tool_calls"][0]["function"]["name"] == "weather"
    assert result["role"] == "tool"
    assert result["content"] == "rain"
    assert result["tool_call_id"] == asked["tool_calls"][0]["id"]
    assert await line.settled("How is Oslo?", "Let me look.", "It rains.")


@shows("streamed tool call", only=TOOLED)
async def test_tool_calls_are_streamed(line: Line) -> None:
    """Two at once, after some words, put together by the client itself."""
    line.endpoint.answers.append(streamed_call(said="Let me look."))
    heard = await line.driver.stream_calls("How are Oslo and Rome?")
    assert heard.text == "Let me look."
    assert heard.calls == [ASKED, ("weather", {"place": "Rome"})]


@shows("upstream's error")
@pytest.mark.parametrize("streamed", [False, True])
async def test_an_error_of_the_upstream_is_the_clients_exception(
    line: Line, streamed: bool
) -> None:
    """With the upstream's status and words, so that the client's own retries work."""
    line.endpoint.answers.append(failure(429, "slow down", retry_after="7"))
    asked = read(line, "Hi", []) if streamed else line.driver.say("Hi")
    with pytest.raises(line.driver.error, match="slow down") as raised:
        await asked
    assert line.driver.status(raised.value) == 429
    assert await line.settled("Hi")


@shows("broken stream")
async def test_a_stream_that_breaks_is_an_error_and_what_came_is_kept(line: Line) -> None:
    """No client takes half an answer for a whole one."""
    whole_stream = stream("Hel", "lo")
    broken = Scripted(media_type="text/event-stream", blocks=whole_stream.blocks[:2], cut=True)
    line.endpoint.answers.append(broken)
    pieces: list[str] = []
    with pytest.raises(Exception, match="broke"):
        await read(line, "Hi", pieces)
    assert pieces == ["Hel"]
    assert await line.settled("Hi", "Hel")


@shows("refusal of what cannot be converted", only=CONVERTED)
async def test_what_cannot_be_converted_is_refused_by_name(line: Line) -> None:
    """Before anything is recorded or sent."""
    arguments, field = line.driver.refused
    with pytest.raises(line.driver.error) as raised:
        await line.driver.say("Hi", **arguments)
    assert line.driver.status(raised.value) == 400
    assert field in str(raised.value)
    assert line.endpoint.requests == []
    assert await line.bench.said() == []


@shows("API key of the server")
async def test_a_key_is_sent_as_the_client_sends_it(line: Line, tmp_path: Path) -> None:
    """It opens the tenant, and never reaches the upstream."""
    driver = type(line.driver)
    async with connected(tmp_path / "keyed", driver, keyed=True) as keyed:
        heard = await keyed.driver.say("Hi")
        assert heard.text == "I see."
        for received in keyed.endpoint.requests:
            assert all("omo_" not in value for value in received.headers.values())
        stranger: Any = driver
        other = stranger(keyed.url, "omo_0000000000_" + "x" * 43)
        with pytest.raises(driver.error) as raised:
            await other.say("Hi")
        assert other.status(raised.value) == 401
        await other.close()


@shows("embedded model")
async def test_the_servers_own_model_answers(line: Line, tmp_path: Path) -> None:
    """Plain and streamed, without any upstream."""
    async with connected(tmp_path / "own", type(line.driver), embedded=True) as own:
        own.bench.replier.answers += ["Hello, Ana.", "And again."]
        assert (await own.driver.say("Hi")).text == "Hello, Ana."
        pieces = [piece async for piece in own.driver.stream("Hi again")]
        assert "".join(pieces) == "And again."
        assert await own.settled("Hi", "Hello, Ana.", "Hi again", "And again.")


@pytest.mark.parametrize("driver", DRIVERS)
async def test_nobody_is_recorded_under_a_name_that_nobody_gave(
    tmp_path: Path, driver: type[Driver]
) -> None:
    """Without a user the request is refused with what to do, or recorded as a setting says."""

    class Nameless(driver):  # type: ignore[valid-type,misc]
        user = ""

    async with connected(tmp_path / "a", Nameless) as line:
        with pytest.raises(driver.error, match="--default-user") as raised:
            await line.driver.say("Hi")
        assert line.driver.status(raised.value) == 400
        assert await line.bench.memory().users() == ()
    options = Options(patience=600.0, default_user="home")
    async with connected(tmp_path / "b", Nameless, options=options) as line:
        await line.driver.say("Hi")
        assert await line.bench.memory().users() == ("home",)
    options = Options(patience=600.0, default_user="home", user_from_key=True)
    async with connected(tmp_path / "c", Nameless, options=options, keyed=True) as line:
        await line.driver.say("Hi")
        assert await line.bench.memory().users() == ("k",)


@pytest.mark.parametrize("line", [AnthropicDriver, OllamaDriver], indirect=True)
async def test_another_vendors_key_stays_here(line: Line) -> None:
    """What a client would send to Anthropic or Ollama is not shown to an OpenAI endpoint."""
    await line.driver.say("Hi")
    received = line.endpoint.requests[-1].headers
    assert "sk-ant-theirs" not in received.values()
    assert not any(name.startswith(("anthropic", "x-api-key", "x-stainless")) for name in received)

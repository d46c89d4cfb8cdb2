"""Every client over every upstream: the vendors' own clients on one side, endpoints that speak
another protocol on the other."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from omoide.server.options import Options
from omoide.testing.endpoint import Scripted
from tests.server.serving import M1, listening, serving

from .drivers import DRIVERS, AnthropicDriver, CompletionsDriver, OllamaDriver, OpenAIDriver
from .lines import Line, title
from .test_chat import ENDS, reason
from .test_clients import read
from .upstream_responses import Responses
from .upstreams import VENDORS, Anthropic, Ollama, VendorEndpoint

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from .drivers import Driver
    from .upstreams import Vendor

OSLO = ("call_1", "weather", {"place": "Oslo"})
ROME = ("call_2", "weather", {"place": "Rome"})


@dataclass
class Pair(Line):
    """A client, the server, and an endpoint of another protocol behind it."""

    vendor: Any = None

    @property
    def asked(self) -> list[tuple[str, str]]:
        """Role and text of the messages that the endpoint got last, in its own terms."""
        self.vendor.check(self.sent)
        texts: list[tuple[str, str]] = self.vendor.texts(self.sent)
        return texts


@asynccontextmanager
async def paired(
    folder: Path, driver: type[Driver], vendor: type[Vendor], *, key: str | None = None
) -> AsyncIterator[Pair]:
    """Both of them, connected."""
    speaking = vendor()
    endpoint = VendorEndpoint(speaking)
    async with (
        endpoint,
        serving(folder, url=endpoint.address, options=Options(patience=600.0)) as bench,
        listening(bench.app) as url,
    ):
        make: Any = driver
        made = make(url, key)
        try:
            yield Pair(driver=made, bench=bench, endpoint=endpoint, url=url, vendor=speaking)
        finally:
            await made.close()


@pytest.fixture
async def pair(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Pair]:
    """The pair that a test is run with."""
    driver, vendor = request.param
    async with paired(tmp_path, driver, vendor) as pair:
        yield pair


def over(*drivers: type[Driver]) -> pytest.MarkDecorator:
    """A test that is run with these clients over every upstream: in `make test` with each client
    over one of them."""
    pairs = [
        pytest.param(
            (driver, vendor),
            id=f"{title(driver)} over {vendor.name}",
            marks=() if (i - j) % len(VENDORS) == 0 else pytest.mark.heavy,
        )
        for i, driver in enumerate(drivers)
        for j, vendor in enumerate(VENDORS)
    ]
    return pytest.mark.parametrize("pair", pairs, indirect=True)


TOOLED = [driver for driver in DRIVERS if driver.tools]
INSTRUCTED = [driver for driver in DRIVERS if driver.system]


@over(*DRIVERS)
async def test_an_answer_comes_with_its_cost(pair: Pair) -> None:
    """Text and tokens are the endpoint's, what went through its cache included; both sides are
    recorded."""
    heard = await pair.driver.say("Hi")
    assert heard.text == "I see."
    prompt = heard.tokens[0]
    if isinstance(pair.driver, AnthropicDriver) and not isinstance(pair.vendor, Ollama):
        prompt += heard.raw.usage.cache_read_input_tokens
    assert (prompt, heard.tokens[1]) == (11, 3)
    assert pair.asked == [("user", "Hi")]
    assert pair.sent["model"] == "m"
    assert await pair.settled("Hi", "I see.")
    (cost,) = await pair.bench.replies()
    assert (cost.prompt_tokens, cost.completion_tokens, cost.failed) == (11, 3, False)


@over(*DRIVERS)
async def test_a_stream_comes_piece_by_piece(pair: Pair) -> None:
    """The first piece is there before the endpoint has said the second, and the cost at the end."""
    gate = asyncio.Event()
    pair.endpoint.answers.append(pair.vendor.stream("Hel", gate, "lo"))
    pieces = []
    async for piece in pair.driver.stream("Hi"):
        pieces.append(piece)
        gate.set()
    assert pieces == ["Hel", "lo"]
    assert pair.sent["stream"] is True
    assert await pair.settled("Hi", "Hello")
    await pair.bench.server.runtime.exchanges.settled()
    costs = await pair.bench.replies()
    assert [(c.prompt_tokens, c.completion_tokens, c.failed) for c in costs] == [(11, 3, False)]


@over(*INSTRUCTED)
async def test_a_system_prompt_and_memory_go_where_they_belong(pair: Pair) -> None:
    """The client's own words in front, then the summary; what was recalled beside the message."""
    await pair.bench.remember()
    await pair.driver.instruct("Be brief.", "My cat is ill.")
    (role, system), (_, user) = pair.asked
    assert role == "system"
    assert system.startswith("Be brief.")
    assert M1 in system
    assert " a cat called Miso." in user
    assert user.endswith("My cat is ill.")


@over(*TOOLED)
async def test_a_tool_is_called_and_its_result_goes_back(pair: Pair) -> None:
    """The model's call, the tool's result and the answer, as an agent does it."""
    vendor = pair.vendor
    pair.endpoint.answers += [vendor.whole("Let me look.", calls=(OSLO,)), vendor.whole("Rain.")]
    first = await pair.driver.say("How is Oslo?", tools=True)
    assert (first.text, first.calls) == ("Let me look.", [OSLO[1:]])
    second = await pair.driver.give_back("How is Oslo?", first, "rain")
    assert second.text == "Rain."
    assert [role for role, _ in pair.asked] == ["user", "assistant", "tool"]
    assert pair.asked[1:] == [("assistant", "Let me look."), ("tool", "rain")]
    messages = pair.sent.get("messages", [])
    if isinstance(vendor, Responses):
        (tool,) = pair.sent["tools"]
        assert (tool["name"], tool["parameters"]["required"]) == ("weather", ["place"])
        _, _, call, result = pair.sent["input"]
        assert json.loads(call["arguments"]) == OSLO[2]
        assert call["call_id"] == result["call_id"]
    elif isinstance(vendor, Anthropic):
        (tool,) = pair.sent["tools"]
        assert (tool["name"], tool["input_schema"]["required"]) == ("weather", ["place"])
        use, result = messages[1]["content"][1], messages[2]["content"][0]
        assert use["input"] == OSLO[2]
        assert result["tool_use_id"] == use["id"]
    else:
        (tool,) = pair.sent["tools"]
        assert tool["function"]["parameters"]["required"] == ["place"]
        assert messages[1]["tool_calls"][0]["function"]["arguments"] == OSLO[2]
        assert messages[2]["tool_name"] == "weather"
    assert await pair.settled("How is Oslo?", "Let me look.", "Rain.")


@over(*TOOLED)
async def test_tool_calls_are_streamed(pair: Pair) -> None:
    """Two at once, after some words, put together by the client itself."""
    pair.endpoint.answers.append(pair.vendor.stream("Let me look.", calls=(OSLO, ROME)))
    heard = await pair.driver.stream_calls("How are Oslo and Rome?")
    assert (heard.text, heard.calls) == ("Let me look.", [OSLO[1:], ROME[1:]])


@over(*ENDS)
async def test_why_an_answer_ended_is_said(pair: Pair) -> None:
    """In the client's words, from the endpoint's."""
    for finish, expected in ENDS[type(pair.driver)].items():
        if finish in pair.vendor.reasons:
            pair.endpoint.answers.append(pair.vendor.whole("I", finish=finish))
            assert reason(pair.driver, await pair.driver.say("Hi")) == expected


@over(*DRIVERS)
@pytest.mark.parametrize("streamed", [False, True])
async def test_an_error_of_the_endpoint_is_the_clients_exception(
    pair: Pair, streamed: bool
) -> None:
    """With its status and words, so that the client's own retries work."""
    pair.endpoint.answers.append(pair.vendor.failure(429, "slow down"))
    asked = read(pair, "Hi", []) if streamed else pair.driver.say("Hi")
    with pytest.raises(pair.driver.error, match="slow down") as raised:
        await asked
    assert pair.driver.status(raised.value) == 429
    assert await pair.settled("Hi")


@over(*DRIVERS)
async def test_a_stream_that_breaks_is_an_error_and_what_came_is_kept(pair: Pair) -> None:
    """No client takes half an answer for a whole one."""
    whole = pair.vendor.stream("Hel", "lo")
    until = next(i for i, block in enumerate(whole.blocks) if b"Hel" in block) + 1
    pair.endpoint.answers.append(replace(whole, blocks=whole.blocks[:until], cut=True))
    pieces: list[str] = []
    with pytest.raises(Exception, match="broke"):
        await read(pair, "Hi", pieces)
    assert pieces == ["Hel"]
    assert await pair.settled("Hi", "Hel")


@over(OpenAIDriver, OllamaDriver)
async def test_reasoning_is_shown_and_not_recorded(pair: Pair) -> None:
    """As the client's protocol names it."""
    pair.endpoint.answers.append(pair.vendor.stream("Yes.", thought="Hm."))
    if isinstance(pair.driver, OllamaDriver):
        messages = [{"role": "user", "content": "Is it?"}]
        parts = await pair.driver.api.chat("m", messages, stream=True)
        thoughts = [part.message.thinking or "" async for part in parts]
    else:
        stream = await pair.driver.api.chat.completions.create(
            model="m", user="ana", messages=[{"role": "user", "content": "Is it?"}], stream=True
        )
        deltas = [chunk.choices[0].delta async for chunk in stream]
        thoughts = [getattr(delta, "reasoning_content", None) or "" for delta in deltas]
    assert "".join(thoughts) == "Hm."
    assert await pair.settled("Is it?", "Yes.")


REFUSED: dict[type[Driver], dict[str, Any]] = {
    OpenAIDriver: {"n": 2},
    CompletionsDriver: {"logit_bias": {"50256": -100}},
}


@over(*REFUSED)
async def test_what_the_endpoint_has_not_is_refused_by_name(pair: Pair) -> None:
    """It is never dropped without a word, and the endpoint is not asked."""
    (name,) = REFUSED[type(pair.driver)]
    with pytest.raises(pair.driver.error, match=name) as raised:
        await pair.driver.say("Hi", **REFUSED[type(pair.driver)])
    assert pair.driver.status(raised.value) == 400
    assert pair.endpoint.requests == []


@over(OpenAIDriver)
async def test_the_endpoints_models_are_listed(pair: Pair) -> None:
    """As OpenAI lists them."""
    assert [model.id async for model in pair.driver.api.models.list()] == ["fake-1"]


@over(OpenAIDriver)
async def test_an_image_goes_along(pair: Pair) -> None:
    """In the endpoint's own form."""
    content: Any = [
        {"type": "text", "text": "What is it?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
    ]
    await pair.driver.api.chat.completions.create(
        model="m", user="ana", messages=[{"role": "user", "content": content}]
    )
    assert pair.asked == [("user", "What is it?")]
    (message,) = pair.sent.get("messages") or pair.sent["input"]
    if isinstance(pair.vendor, Responses):
        assert message["content"][1]["image_url"] == "data:image/png;base64,iVBORw0KGgo="
    elif isinstance(pair.vendor, Ollama):
        assert message["images"] == ["iVBORw0KGgo="]
    else:
        source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
        assert message["content"][1] == {"type": "image", "source": source}


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("driver", DRIVERS, ids=title)
async def test_a_clients_secret_never_reaches_another_vendor(
    tmp_path: Path, driver: type[Driver], vendor: type[Vendor]
) -> None:
    """Neither as it sends it nor under another name; the endpoint's key is the server's own."""
    async with paired(tmp_path, driver, vendor, key="sk-of-the-client") as pair:
        await pair.driver.say("Hi")
        headers = pair.endpoint.requests[-1].headers
        assert "sk-of-the-client" not in " ".join(headers.values())


@pytest.mark.parametrize("driver", DRIVERS, ids=title)
async def test_a_response_that_failed_is_the_clients_exception(
    tmp_path: Path, driver: type[Driver]
) -> None:
    """Responses tell it in a body whose status is 200."""
    async with paired(tmp_path, driver, Responses) as pair:
        error = {"code": "server_error", "message": "out of luck"}
        failed = json.dumps({"object": "response", "status": "failed", "error": error})
        pair.endpoint.answers.append(Scripted(blocks=(failed.encode(),)))
        with pytest.raises(pair.driver.error, match="out of luck") as raised:
            await pair.driver.say("Hi")
        assert pair.driver.status(raised.value) == 502


@over(*DRIVERS)
async def test_an_error_in_the_middle_of_a_stream_is_the_clients_exception(pair: Pair) -> None:
    """In the endpoint's own form of it; what came before is kept."""
    whole = pair.vendor.stream("Hel", "lo")
    until = next(i for i, block in enumerate(whole.blocks) if b"Hel" in block) + 1
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "too busy"}}
    failing = b"event: error\ndata: " + json.dumps(error).encode() + b"\n\n"
    if isinstance(pair.vendor, Ollama):
        failing = b'{"error": "too busy"}\n'
    elif isinstance(pair.vendor, Responses):
        flat = {"type": "error", "code": "server_error", "message": "too busy", "param": None}
        failing = b"event: error\ndata: " + json.dumps(flat).encode() + b"\n\n"
    pair.endpoint.answers.append(replace(whole, blocks=(*whole.blocks[:until], failing)))
    pieces: list[str] = []
    with pytest.raises(Exception, match="too busy"):
        await read(pair, "Hi", pieces)
    assert pieces == ["Hel"]
    assert await pair.settled("Hi", "Hel")

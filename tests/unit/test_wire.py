"""Chat Completions over other protocols: what is converted, refused and bounded."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from omoide.adapters.embedders.openai import OpenAIEmbedder
from omoide.adapters.models.openai import OpenAIChat
from omoide.errors import ModelRefused, Unconvertible
from omoide.ports import Completion, Message, Request
from omoide.wire.address import CONVERTED, EndpointAddress, is_endpoint
from omoide.wire.anthropic_request import MAX_TOKENS, messages_body
from omoide.wire.connecting import PROTOCOLS, transport_to
from omoide.wire.decoding import PIECE, decoded
from omoide.wire.ollama import OllamaProtocol
from omoide.wire.ollama_request import chat_request
from omoide.wire.responses_request import responses_body
from omoide.wire.transport import MAX_EVENT_BYTES, items

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

CONVERTERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "anthropic": messages_body,
    "ollama": chat_request,
    "responses": responses_body,
}
CHAT: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


def test_every_protocol_can_be_connected_to() -> None:
    """The names that an address may begin with are those that there is code for."""
    assert tuple(PROTOCOLS) == CONVERTED


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("anthropic+https://api.example.com#c", ("anthropic", "https://api.example.com", "c")),
        ("Ollama+http://localhost:11434/#q:8b", ("ollama", "http://localhost:11434", "q:8b")),
        ("responses+https://e.example/v1#m", ("responses", "https://e.example/v1", "m")),
        ("openai+https://e.example/v1#m", ("openai", "https://e.example/v1", "m")),
        ("https://e.example/v1", ("openai", "https://e.example/v1", "")),
        ("http://e.example/a+b#m", ("openai", "http://e.example/a+b", "m")),
    ],
)
def test_an_address_names_its_protocol(text: str, wanted: tuple[str, str, str]) -> None:
    """OpenAI's if it names none; a plus further on means nothing."""
    address = EndpointAddress.parse(text)
    assert (address.protocol, address.base_url, address.model) == wanted
    assert is_endpoint(text)


@pytest.mark.parametrize("text", ["default", "qwen+x", "mine:http://x", "anthropic+file:///x"])
def test_other_names_are_no_endpoints(text: str) -> None:
    """Models of the catalogue, plug-ins and files."""
    assert not is_endpoint(text)


@pytest.mark.parametrize(
    ("protocol", "more", "field"),
    [
        ("anthropic", {"n": 2}, "n"),
        ("anthropic", {"seed": 7}, "seed"),
        ("anthropic", {"frequency_penalty": 0.5}, "frequency_penalty"),
        ("anthropic", {"temperature": 1.5}, "temperature"),
        ("anthropic", {"response_format": {"type": "json_object"}}, "response_format"),
        ("anthropic", {"logit_bias": {"1": 1}}, "logit_bias"),
        ("anthropic", {"invented": 1}, "invented"),
        ("ollama", {"n": 2}, "n"),
        ("ollama", {"logprobs": True}, "logprobs"),
        ("ollama", {"tools": [WEATHER], "tool_choice": "required"}, "tool_choice"),
        ("ollama", {"parallel_tool_calls": False}, "parallel_tool_calls"),
        ("responses", {"n": 2}, "n"),
        ("responses", {"stop": "END"}, "stop"),
        ("responses", {"seed": 7}, "seed"),
        ("responses", {"tools": [WEATHER], "tool_choice": {"type": "custom"}}, "tool_choice.type"),
        ("responses", {"logprobs": True}, "logprobs"),
        (
            "ollama",
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [{"type": "image_url", "image_url": {"url": "https://x/y.png"}}],
                    }
                ]
            },
            "messages[0].content[0].image_url.url",
        ),
        (
            "anthropic",
            {"messages": [{"role": "user", "content": [{"type": "input_audio"}]}]},
            "messages[0].content[0].type",
        ),
    ],
)
def test_what_has_no_counterpart_is_refused_by_name(
    protocol: str, more: dict[str, Any], field: str
) -> None:
    """Never dropped without a word."""
    with pytest.raises(Unconvertible) as raised:
        CONVERTERS[protocol]({**CHAT, **more})
    assert raised.value.param == field


def test_all_that_anthropic_has_is_passed_on() -> None:
    """Under its names: the limit, the schema, the choice of a tool, the user."""
    schema = {"type": "object", "properties": {}}
    body = messages_body(
        {
            **CHAT,
            "max_completion_tokens": 9,
            "stop": "END",
            "top_p": 0.5,
            "user": "ana",
            "tools": [WEATHER],
            "tool_choice": {"type": "function", "function": {"name": "weather"}},
            "parallel_tool_calls": False,
            "reasoning_effort": "high",
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": schema},
            },
            "stream_options": {"include_usage": True},
        }
    )
    assert body == {
        "model": "m",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
        "top_p": 0.5,
        "stop_sequences": ["END"],
        "tools": [{"name": "weather", "input_schema": {"type": "object"}}],
        "tool_choice": {"type": "tool", "name": "weather", "disable_parallel_tool_use": True},
        "output_config": {"effort": "high", "format": {"type": "json_schema", "schema": schema}},
        "metadata": {"user_id": "ana"},
    }
    assert messages_body(CHAT)["max_tokens"] == MAX_TOKENS


def test_results_of_tools_and_the_next_words_are_one_message_at_anthropic() -> None:
    """It wants both results in the message that follows the calls."""
    calls = [
        {"id": i, "type": "function", "function": {"name": "weather", "arguments": "{}"}}
        for i in ("a", "b")
    ]
    said = [
        {"role": "system", "content": "One."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "a", "content": "rain"},
        {"role": "tool", "tool_call_id": "b", "content": "sun"},
        {"role": "developer", "content": "Two."},
        {"role": "user", "content": "And?"},
    ]
    body = messages_body({"model": "m", "messages": said})
    assert body["system"] == "One.\n\nTwo."
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
    kinds = [block["type"] for block in body["messages"][2]["content"]]
    assert kinds == ["tool_result", "tool_result", "text"]


def test_all_that_ollama_has_is_passed_on() -> None:
    """Sampling as options, a schema as its format, effort as thinking."""
    schema = {"type": "object", "properties": {}}
    wanted = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    body = chat_request(
        {
            **CHAT,
            "max_tokens": 9,
            "seed": 7,
            "temperature": 1.5,
            "stop": "END",
            "response_format": wanted,
            "reasoning_effort": "low",
            "tools": [WEATHER],
            "tool_choice": "none",
        }
    )
    assert body == {
        **CHAT,
        "stream": False,
        "think": "low",
        "format": schema,
        "options": {"num_predict": 9, "seed": 7, "temperature": 1.5, "stop": ["END"]},
    }


def test_all_that_responses_have_is_passed_on() -> None:
    """Under their names; a function is strict only if the chat says so, and nothing is stored."""
    schema = {"type": "object", "properties": {}}
    wanted = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    body = responses_body(
        {
            **CHAT,
            "max_tokens": 9,
            "temperature": 1.5,
            "top_p": 0.5,
            "user": "ana",
            "verbosity": "low",
            "response_format": wanted,
            "reasoning_effort": "low",
            "tools": [WEATHER],
            "tool_choice": {"type": "function", "function": {"name": "weather"}},
            "parallel_tool_calls": False,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
    )
    tool = {"type": "function", "name": "weather", "parameters": {"type": "object"}}
    assert body == {
        "model": "m",
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "Hi"}]}],
        "max_output_tokens": 9,
        "temperature": 1.5,
        "top_p": 0.5,
        "user": "ana",
        "text": {
            "verbosity": "low",
            "format": {"type": "json_schema", "name": "answer", "schema": schema},
        },
        "reasoning": {"effort": "low"},
        "tools": [{**tool, "strict": False}],
        "tool_choice": {"type": "function", "name": "weather"},
        "parallel_tool_calls": False,
        "store": False,
        "stream": True,
    }


def vendor(answer: dict[str, Any], seen: list[httpx.Request]) -> httpx.MockTransport:
    """An endpoint in memory that always answers so."""

    async def handle(request: httpx.Request) -> httpx.Response:
        await request.aread()
        seen.append(request)
        return httpx.Response(200, stream=httpx.ByteStream(json.dumps(answer).encode()))

    return httpx.MockTransport(handle)


MESSAGE = {
    "type": "message",
    "model": "c-1",
    "content": [{"type": "text", "text": "Hello."}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 5, "output_tokens": 2},
}


async def test_an_endpoint_of_anthropics_can_write_the_memory() -> None:
    """The model adapter is the usual one; its key goes into Anthropic's header, and an option that
    cannot be converted is left out as for any endpoint that refuses it."""
    seen: list[httpx.Request] = []
    model = OpenAIChat(
        "anthropic+https://api.example.com",
        "c",
        api_key="sk-ant",
        whole=True,
        transport=vendor(MESSAGE, seen),
    )
    request = Request(messages=(Message(role="user", content="Hi"),), max_tokens=9, seed=7)
    pieces = [piece async for piece in model.stream(request)]
    assert isinstance(pieces[-1], Completion)
    assert (pieces[-1].text, pieces[-1].prompt_tokens) == ("Hello.", 5)
    (sent,) = seen
    assert str(sent.url) == "https://api.example.com/v1/messages"
    assert sent.headers["x-api-key"] == "sk-ant"
    assert "authorization" not in sent.headers
    assert "seed" not in json.loads(sent.content)
    await model.close()


async def test_an_endpoint_of_ollamas_can_embed() -> None:
    """Its own route for embeddings is used."""
    seen: list[httpx.Request] = []
    answer = {"model": "e", "embeddings": [[0.6, 0.8]], "prompt_eval_count": 1}
    embedder = OpenAIEmbedder(
        "ollama+http://localhost:11434", "e", dimensions=2, transport=vendor(answer, seen)
    )
    vectors = await embedder.embed(["Hi"])
    assert vectors[0].tolist() == pytest.approx([0.6, 0.8])
    assert str(seen[0].url) == "http://localhost:11434/api/embed"
    await embedder.close()


@pytest.mark.parametrize("vector", [7, None, "x", [None], ["x"], [[1]], [10**400]], ids=str)
def test_what_is_no_vector_of_ollamas_is_an_error_of_the_endpoint(vector: object) -> None:
    """Packed, as OpenAI's clients ask for it, it cannot be."""
    with pytest.raises(httpx.RemoteProtocolError, match="not a list of numbers"):
        OllamaProtocol().embeddings_answer({"embeddings": [vector]}, {"encoding_format": "base64"})


async def test_anthropic_has_no_embeddings() -> None:
    """That is said, and nobody is asked."""
    seen: list[httpx.Request] = []
    embedder = OpenAIEmbedder(
        "anthropic+https://api.example.com", "e", dimensions=2, transport=vendor({}, seen)
    )
    with pytest.raises(ModelRefused, match="no embeddings"):
        await embedder.embed(["Hi"])
    assert seen == []
    await embedder.close()


def compressed(body: bytes, encoding: str) -> httpx.Response:
    """A response whose body still has to be read."""
    return httpx.Response(
        200, headers={"content-encoding": encoding}, stream=httpx.ByteStream(body)
    )


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_a_compressed_answer_is_read(encoding: str) -> None:
    """Some endpoints compress although they were asked not to."""
    body = b"It rains. " * 50_000
    made = gzip.compress(body) if encoding == "gzip" else zlib.compress(body)
    assert b"".join([block async for block in decoded(compressed(made, encoding))]) == body


async def test_a_compressed_bomb_comes_in_small_pieces() -> None:
    """However well it compresses, whoever reads can stop after each piece."""
    bomb = gzip.compress(bytes(64 * 1024 * 1024), compresslevel=9)
    assert len(bomb) < 75_000
    blocks = decoded(compressed(bomb, "gzip"))
    sizes = [len(await anext(blocks)) for _ in range(20)]
    assert max(sizes) <= PIECE
    await blocks.aclose()


@pytest.mark.parametrize(
    ("body", "encoding"),
    [(b"no gzip", "gzip"), (gzip.compress(b"cut off")[:-9], "gzip"), (b"x", "zstd")],
)
async def test_a_damaged_or_unknown_encoding_is_an_error(body: bytes, encoding: str) -> None:
    """Never half an answer taken for a whole one."""
    with pytest.raises(httpx.DecodingError):
        [block async for block in decoded(compressed(body, encoding))]


async def test_an_endless_line_of_a_stream_is_not_held() -> None:
    """It breaks the stream off once it is longer than any event."""
    given = 0

    async def blocks() -> AsyncGenerator[bytes]:
        nonlocal given
        while True:
            given += 65536
            yield b"x" * 65536

    with pytest.raises(httpx.RemoteProtocolError):
        [item async for item in items(blocks())]
    assert given <= MAX_EVENT_BYTES + 2 * 65536


async def test_an_unknown_path_is_answered_as_such() -> None:
    """With the vendor's name, so that a person knows whom to ask."""
    address = EndpointAddress.parse("ollama+http://localhost:11434")
    transport = transport_to(address, inner=vendor({}, []))
    request = httpx.Request("POST", "http://localhost:11434/audio/speech", json={})
    answer = await transport.handle_async_request(request)
    assert answer.status_code == 404
    assert "Ollama" in (await answer.aread()).decode()


@pytest.mark.parametrize(
    ("protocol", "failed"),
    [
        ("ollama", {"error": "out of memory"}),
        (
            "anthropic",
            {"type": "error", "error": {"type": "api_error", "message": "out of memory"}},
        ),
        ("responses", {"error": {"code": "server_error", "message": "out of memory"}}),
    ],
)
async def test_an_error_with_status_200_is_no_empty_answer(
    protocol: str, failed: dict[str, Any]
) -> None:
    """As a gateway may send it: nothing would be remembered of a session, without a word."""
    address = EndpointAddress.parse(f"{protocol}+http://desk/v1")
    transport = transport_to(address, inner=vendor(failed, []))
    request = httpx.Request("POST", "http://desk/v1/chat/completions", json=CHAT)
    answer = await transport.handle_async_request(request)
    assert answer.status_code == 502
    assert json.loads(await answer.aread())["error"]["message"] == "out of memory"


@pytest.mark.parametrize("protocol", CONVERTED)
@pytest.mark.parametrize("whole", [True, False])
async def test_an_address_that_has_moved_is_told(protocol: str, whole: bool) -> None:
    """The final URL is asked for, not whether the endpoint runs; nothing is tried again."""
    moved = httpx.Response(301, headers={"location": "https://desk/"})
    model = OpenAIChat(
        f"{protocol}+http://desk", "m", whole=whole, transport=httpx.MockTransport(lambda _: moved)
    )
    request = Request(messages=(Message(role="user", content="Hi"),), max_tokens=9)
    with pytest.raises(ModelRefused, match="give the final URL"):
        _ = [piece async for piece in model.stream(request)]
    await model.close()

"""The adapter for OpenAI-compatible endpoints: what they refuse, how they fail, what leaks."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from omoide.adapters.models.endpoint import Retries, Timeouts
from omoide.adapters.models.openai import OpenAIChat
from omoide.errors import (
    ContextTooLong,
    ModelError,
    ModelRefused,
    ModelStalled,
    ModelUnavailable,
)
from omoide.ports import Completion, Message, Request
from omoide.testing.contracts.model import answer
from tests.contract.test_chat_model import begin, chunk, endpoint

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

KEY = "sk-very-secret-key"
PRIVATE = "My grandmother's maiden name is Watanabe."
REQUEST = Request(
    messages=(Message(role="system", content="Be kind."), Message(role="user", content=PRIVATE)),
    max_tokens=50,
    seed=7,
    frequency_penalty=0.3,
    schema={"type": "object"},
    grammar='root ::= "yes"',
)
PLAIN = Request(messages=REQUEST.messages, max_tokens=50)


def stream(*events: bytes) -> httpx.Response:
    """A 200 with these events."""
    return httpx.Response(
        200, headers={"Content-Type": "text/event-stream"}, content=b"".join(events)
    )


HELLO = (chunk("Hel"), chunk("lo"), chunk(finish="stop"), b"data: [DONE]\n\n")


class Desk:
    """An endpoint that gives these answers in turn, and notes what was asked and slept."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[httpx.Headers] = []
        self.slept: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """The next answer."""
        self.bodies.append(json.loads(request.content))
        self.headers.append(request.headers)
        given = self.answers.pop(0)
        if isinstance(given, Exception):
            raise given
        return given

    async def sleep(self, seconds: float) -> None:
        """Note it; no time passes."""
        self.slept.append(seconds)

    def model(self, **more: Any) -> OpenAIChat:  # noqa: ANN401 - passed through
        """A model at this desk."""
        given: dict[str, Any] = {"api_key": KEY, "retries": Retries(limit=2), **more}
        return OpenAIChat(
            "http://user:pass@desk/v1",
            "m",
            transport=httpx.MockTransport(self),
            sleep=self.sleep,
            **given,
        )


async def test_everything_asked_for_is_sent() -> None:
    """Wishes go along, the grammar only to llama.cpp and there in place of the schema, the key in
    its header."""
    desk = Desk(stream(*HELLO), stream(*HELLO))
    pieces, completion = await answer(desk.model(), REQUEST)
    await answer(desk.model(grammar=True), REQUEST)
    body = desk.bodies[0]
    assert pieces == ["Hel", "lo"]
    assert completion.text == "Hello"
    assert body["messages"][1] == {"role": "user", "content": PRIVATE}
    assert (body["max_tokens"], body["seed"], body["frequency_penalty"]) == (50, 7, 0.3)
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert body["stream_options"] == {"include_usage": True}
    assert "grammar" not in body
    assert desk.bodies[1]["grammar"] == REQUEST.grammar
    assert "response_format" not in desk.bodies[1]
    assert desk.headers[0]["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("streamed", [False, True])
async def test_an_answer_may_come_in_parts(streamed: bool) -> None:
    """As models of Mistral's send it that think first: what they thought is left out."""
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    text = [thought, {"type": "text", "text": "Hello"}]
    choice = {"index": 0, "delta" if streamed else "message": {"content": text}}
    body = json.dumps({"choices": [{**choice, "finish_reason": "stop"}]}).encode()
    given = stream(b"data: " + body + b"\n\n") if streamed else httpx.Response(200, content=body)
    _, completion = await answer(Desk(given).model(), PLAIN)
    assert completion.text == "Hello"


async def test_usage_is_taken_or_estimated() -> None:
    """Where the endpoint counts, its numbers stand; elsewhere ours, above zero."""
    usage = {
        "prompt_tokens": 11,
        "completion_tokens": 2,
        "prompt_tokens_details": {"cached_tokens": 8},
    }
    counted = f"data: {json.dumps({'choices': [], 'usage': usage})}\n\n".encode()
    desk = Desk(stream(*HELLO[:3], counted), stream(*HELLO))
    _, told = await answer(desk.model(), PLAIN)
    _, guessed = await answer(desk.model(), PLAIN)
    assert (told.prompt_tokens, told.completion_tokens, told.cached_tokens) == (11, 2, 8)
    assert guessed.prompt_tokens > 10
    assert guessed.completion_tokens > 0


@pytest.mark.parametrize(
    ("status", "page", "gone"),
    [
        (400, {"error": {"message": "Unrecognized argument: stream_options"}}, {"stream_options"}),
        (
            400,
            {"error": {"message": "This response_format type is unavailable"}},
            {"response_format"},
        ),
        (400, {"error": {"message": "json_schema is not supported"}}, {"response_format"}),
        (422, {"detail": [{"loc": ["body", "seed"], "msg": "extra", "input": PRIVATE}]}, {"seed"}),
        (400, {"error": {"param": "frequency_penalty", "message": "no"}}, {"frequency_penalty"}),
        (400, {"error": {"message": "'temperature' does not support 0.0"}}, {"temperature"}),
        (
            501,
            {"error": "not implemented"},
            {"stream_options", "response_format", "seed", "frequency_penalty", "temperature"},
        ),
    ],
)
async def test_a_wish_that_is_refused_is_dropped_for_good(
    status: int, page: dict[str, Any], gone: set[str]
) -> None:
    """The request goes on without it, at once, and later ones leave it out."""
    desk = Desk(httpx.Response(status, json=page), stream(*HELLO), stream(*HELLO))
    model = desk.model()
    await answer(model, REQUEST)
    await answer(model, REQUEST)
    first, second, third = desk.bodies
    assert first.keys() - second.keys() == gone
    assert third.keys() == second.keys()
    assert desk.slept == []


async def test_an_endpoint_may_want_the_other_name_of_the_limit() -> None:
    """`max_completion_tokens` takes the place of `max_tokens` when it is asked for."""
    page = {"error": {"message": "Unsupported: 'max_tokens'. Use 'max_completion_tokens' instead."}}
    desk = Desk(httpx.Response(400, json=page), stream(*HELLO), stream(*HELLO))
    model = desk.model()
    await answer(model, PLAIN)
    await answer(model, PLAIN)
    assert [("max_tokens" in b, b.get("max_completion_tokens")) for b in desk.bodies] == [
        (True, None),
        (False, 50),
        (False, 50),
    ]


@pytest.mark.parametrize("status", [401, 403, 404, 400, 307])
async def test_a_refusal_is_final_and_says_what_to_do(status: int) -> None:
    """No retry; URL, status and reason are named, and neither key nor prompt."""
    page = {"error": {"message": f"bad {KEY}: in {PRIVATE!r}: bad value"}}
    desk = Desk(httpx.Response(status, json=page))
    with pytest.raises(ModelRefused) as caught:
        await answer(desk.model(), replace(PLAIN, temperature=0.0))
    said = str(caught.value)
    assert f"http://desk/v1/chat/completions answered with status {status}" in said
    assert "bad value" in said
    assert KEY not in said
    assert "pass" not in said
    assert "Watanabe" not in said
    assert len(desk.bodies) == 1


@pytest.mark.parametrize(
    "page",
    [
        {"error": {"code": "context_length_exceeded", "message": "too long"}},
        {"error": {"message": "request (9 tokens) exceeds", "type": "exceed_context_size_error"}},
        {"object": "error", "message": "'max_tokens' or 'max_completion_tokens' is too large: this "
         "model's maximum context length is 4096 tokens"},
        {"error": {"message": "The input token count (9) exceeds the maximum number of tokens "
         "allowed (8).", "code": 400}},
    ],
)  # fmt: skip
async def test_a_long_prompt_is_told_apart(page: dict[str, Any]) -> None:
    """The ways in which OpenAI, llama.cpp, vLLM and Google say so all become `ContextTooLong`."""
    desk = Desk(httpx.Response(400, json=page))
    with pytest.raises(ContextTooLong, match="shorten"):
        await answer(desk.model(), REQUEST)


@pytest.mark.parametrize("said", ["maximum context length", "prompt is too long"])
async def test_a_long_prompt_is_told_apart_whatever_it_is_about(said: str) -> None:
    """Also if the user talked about such errors; their words are still not repeated."""
    talk = Message(role="user", content=f"My code says: {said}. What now?")
    page = {"object": "error", "message": f"Sorry: {said}, 9000 tokens > 8192"}
    with pytest.raises(ContextTooLong) as caught:
        await answer(Desk(httpx.Response(400, json=page)).model(), replace(PLAIN, messages=(talk,)))
    assert said not in str(caught.value)


async def test_a_wish_that_is_refused_is_dropped_whatever_the_talk_is_about() -> None:
    """A developer's memory is written too."""
    talk = Message(role="user", content="What does response_format do?")
    refused = httpx.Response(400, json={"error": {"message": "no such thing: response_format"}})
    desk = Desk(refused, stream(*HELLO))
    await answer(desk.model(), replace(REQUEST, messages=(talk,)))
    assert "response_format" not in desk.bodies[1]


@pytest.mark.parametrize("status", [425, 429, 500, 502, 503, 504, 520, 524, 529])
async def test_passing_failures_are_tried_again(status: int) -> None:
    """Two failures, two growing waits, then the answer."""
    failed = httpx.Response(status, text="busy")
    desk = Desk(failed, httpx.ConnectError("refused"), stream(*HELLO))
    _, completion = await answer(desk.model(), PLAIN)
    assert completion.text == "Hello"
    assert len(desk.slept) == 2
    assert 0.25 <= desk.slept[0] <= 0.5 <= desk.slept[1] <= 1.0


async def test_retries_are_bounded() -> None:
    """After the last try the error says how many there were."""
    desk = Desk(*[httpx.ConnectError("refused") for _ in range(3)])
    with pytest.raises(ModelUnavailable, match=r"http://desk/v1.*refused.*tried 3 times"):
        await answer(desk.model(), PLAIN)
    assert len(desk.slept) == 2


@pytest.mark.parametrize(
    ("asked", "waited"),
    [("3", 3.0), ("9999", 30.0), ("-5", 0.0), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0)],
)
async def test_retry_after_is_honoured_within_reason(asked: str, waited: float) -> None:
    """The endpoint's own wish is kept, up to the cap, whether seconds or a date."""
    desk = Desk(httpx.Response(429, headers={"Retry-After": asked}), stream(*HELLO))
    await answer(desk.model(), PLAIN)
    assert desk.slept == [waited]


async def test_a_web_page_is_not_an_answer() -> None:
    """A 200 with HTML says to check the base URL."""
    page = httpx.Response(200, headers={"Content-Type": "text/html"}, text="<html>hi</html>")
    with pytest.raises(ModelUnavailable, match="base URL"):
        await answer(Desk(page).model(), PLAIN)


async def test_an_endpoint_that_does_not_stream_is_understood() -> None:
    """A whole completion as JSON becomes one piece."""
    body = {"choices": [{"message": {"content": "Hi."}, "finish_reason": "length"}]}
    pieces, completion = await answer(Desk(httpx.Response(200, json=body)).model(), PLAIN)
    assert pieces == ["Hi."]
    assert completion.finish == "length"


async def test_whole_answers_are_asked_for_where_nobody_reads_along() -> None:
    """Neither a stream nor its options are asked for; a grammar still goes along, and where it is
    turned down the schema takes its place from then on."""
    body = {
        "choices": [{"message": {"content": "Hi."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    }
    no = httpx.Response(400, json={"error": {"message": "unknown field: grammar"}})
    desk = Desk(no, httpx.Response(200, json=body), httpx.Response(200, json=body))
    model = desk.model(whole=True, grammar=True)
    pieces, completion = await answer(model, REQUEST)
    await answer(model, REQUEST)
    assert pieces == ["Hi."]
    assert (completion.prompt_tokens, completion.completion_tokens) == (3, 2)
    assert [one["stream"] for one in desk.bodies] == [False] * 3
    assert not any("stream_options" in one for one in desk.bodies)
    assert ["grammar" in one for one in desk.bodies] == [True, False, False]
    assert ["response_format" in one for one in desk.bodies] == [False, True, True]


@pytest.mark.parametrize("event", [b"data: {not json\n\n", b"data: [1]\n\n"])
async def test_malformed_events_are_an_error(event: bytes) -> None:
    """What is no JSON object ends the stream with clear words, and without the event's text."""
    with pytest.raises(ModelUnavailable, match="http://desk/v1/chat/completions sent"):
        await answer(Desk(stream(chunk("a"), event)).model(), PLAIN)


async def test_a_stream_may_be_cut_anywhere() -> None:
    """CRLF, comments, U+2028 in the text, many bytes or few at a time: the same answer."""
    event = json.dumps(
        {"choices": [{"delta": {"content": "a\u2028b\x85c"}, "finish_reason": "stop"}]},
        ensure_ascii=False,
    )
    raw = f": ping\r\n\r\nevent: x\r\ndata:{event}\r\n\r\ndata: [DONE]".encode()

    class Drip(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            for byte in raw:
                yield bytes([byte])

    response = httpx.Response(200, headers={"Content-Type": "text/event-stream"}, stream=Drip())
    _, completion = await answer(Desk(response).model(), PLAIN)
    assert completion.text == "a\u2028b\x85c"


async def test_a_truncated_stream_is_tried_again_only_before_its_first_piece() -> None:
    """Nothing given out yet: again. A piece given out: an error, since it cannot be taken back."""
    desk = Desk(stream(b": ping\n\n"), stream(*HELLO))
    _, completion = await answer(desk.model(), PLAIN)
    assert completion.text == "Hello"
    desk = Desk(stream(chunk("Hel")), stream(*HELLO))
    with pytest.raises(ModelUnavailable, match="middle of an answer"):
        await answer(desk.model(), PLAIN)
    assert len(desk.bodies) == 1


@pytest.mark.parametrize(
    ("event", "error"),
    [
        ({"error": {"message": "the engine died"}}, ModelUnavailable),
        ({"error": {"message": "Context size has been exceeded."}}, ContextTooLong),
    ],
)
async def test_an_error_inside_the_stream_is_raised(
    event: dict[str, Any], error: type[ModelError]
) -> None:
    """After 200, too, an error is an error."""
    raw = f"data: {json.dumps(event)}\n\n".encode()
    with pytest.raises(error):
        await answer(Desk(stream(chunk("a"), raw)).model(), PLAIN)


async def test_an_empty_reason_is_no_end() -> None:
    """Some endpoints send one with every chunk: an answer that breaks off is not whole for it."""
    more = chunk("Hel", finish="")
    with pytest.raises(ModelUnavailable, match="before the answer was complete"):
        await answer(Desk(stream(more)).model(), PLAIN)


async def test_an_error_that_is_none_is_passed_over() -> None:
    """Some endpoints send `"error": null` with every chunk."""
    chunks = [
        {"choices": [{"delta": {"content": "Hello"}}], "error": None},
        {"choices": [{"delta": {}, "finish_reason": "stop"}], "error": None},
    ]
    desk = Desk(stream(*(f"data: {json.dumps(one)}\n\n".encode() for one in chunks)))
    pieces, _ = await answer(desk.model(), PLAIN)
    assert pieces == ["Hello"]


async def test_an_error_in_place_of_a_whole_answer_is_told() -> None:
    """With status 200, as routers of several endpoints send it; it may pass."""
    page = {"error": {"message": "the provider is overloaded", "code": 429}}
    whole = {"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}
    desk = Desk(httpx.Response(200, json=page), httpx.Response(200, json=whole))
    assert (await answer(desk.model(whole=True), PLAIN))[1].text == "Hello"
    assert len(desk.slept) == 1
    desk = Desk(*(httpx.Response(200, json=page) for _ in range(3)))
    with pytest.raises(ModelUnavailable, match="overloaded"):
        await answer(desk.model(whole=True), PLAIN)


async def test_half_a_character_is_marked() -> None:
    """An endpoint that cuts a character in two gives text that can be shown and recorded."""
    halves = [rf'{{"choices": [{{"delta": {{"content": "{half}"}}}}]}}' for half in HALVES]
    desk = Desk(stream(*(f"data: {half}\n\n".encode() for half in halves), *HELLO[2:]))
    pieces, completion = await answer(desk.model(), PLAIN)
    assert pieces == ["Hi \ufffd", "\ufffd!", "\U0001f600"]
    assert completion.text.encode() == "".join(pieces).encode()


HALVES = (r"Hi \ud83d", r"\ude00!", r"\ud83d\ude00")


async def test_what_cannot_be_unpacked_is_unavailable() -> None:
    """Neither a broken compression nor a page of brackets ends in a stranger's error."""

    def broken() -> httpx.Response:
        headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
        return httpx.Response(200, headers=headers, stream=Bytes(b"not gzip"))

    desk = Desk(broken(), broken(), broken())
    with pytest.raises(ModelUnavailable, match="cannot be decompressed"):
        await answer(desk.model(), PLAIN)
    deep = b"[" * 60_000
    desk = Desk(httpx.Response(200, content=deep), httpx.Response(400, content=deep))
    with pytest.raises(ModelUnavailable, match="not JSON"):
        await answer(desk.model(), PLAIN)
    with pytest.raises(ModelRefused):
        await answer(desk.model(), PLAIN)


class Bytes(httpx.AsyncByteStream):
    """A body as it is on the wire."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._data


async def test_a_filtered_answer_is_refused() -> None:
    """An answer that a content filter cut is not passed off as whole."""
    with pytest.raises(ModelRefused, match="filter"):
        await answer(Desk(stream(chunk("a"), chunk(finish="content_filter"))).model(), PLAIN)


@pytest.mark.parametrize("key", ["sk-\u043a\u043b\u044e\u0447", "sk-a\r\nb"])
async def test_a_key_that_no_header_can_carry_is_not_quoted(key: str) -> None:
    """A badly pasted key is refused before a library could put it into an error."""
    with pytest.raises(ModelRefused, match="copy it again") as caught:
        await answer(Desk().model(api_key=key), PLAIN)
    assert key[-2:] not in str(caught.value)


async def test_an_address_that_is_none_is_refused() -> None:
    """A base URL of another scheme says what one looks like."""
    model = OpenAIChat("ftp://ann:secret@desk", "m")
    with pytest.raises(ModelRefused, match=r"ftp://desk.*http://localhost") as caught:
        await answer(model, PLAIN)
    assert "secret" not in str(caught.value)
    await model.close()


# ── Over a real socket ──────────────────────────────────────────────────────────────────────

QUICK = Timeouts(connect=300, first=1.0, between=1.0)


async def over_socket(
    script: Callable[[dict[str, Any], asyncio.StreamWriter], Any],
) -> tuple[list[str], Completion]:
    """The answer of a model behind a socket that behaves as `script` does."""
    async with endpoint(script) as url:
        model = OpenAIChat(url, "m", timeouts=QUICK, retries=Retries(limit=0))
        try:
            return await answer(model, PLAIN)
        finally:
            await model.close()


@pytest.mark.parametrize("pieces", [None, 0, 2])
async def test_silence_is_a_stall(pieces: int | None) -> None:
    """No head, no first token, no next token: each is noticed; pings do not count as tokens."""
    held = asyncio.Event()

    async def stuck(_: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        if pieces is not None:
            begin(writer)
            writer.write(chunk("a") * pieces + b": ping\n\n")
            await writer.drain()
        await held.wait()

    with pytest.raises(ModelStalled, match="timed out"):
        await over_socket(stuck)
    held.set()


async def test_a_connection_that_breaks_is_unavailable() -> None:
    """The server goes away in the middle of a chunked body."""

    async def broken(_: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        event = chunk("a")
        writer.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")

    with pytest.raises(ModelUnavailable, match="middle of an answer"):
        await over_socket(broken)


async def test_nobody_listening_is_unavailable() -> None:
    """A port without a server says so, with the URL."""
    async with endpoint(lambda *_: asyncio.sleep(0)) as url:
        pass
    model = OpenAIChat(url, "m", retries=Retries(limit=0))
    with pytest.raises(ModelUnavailable, match="is it running"):
        await answer(model, PLAIN)
    await model.close()


async def test_closing_early_hangs_up() -> None:
    """The server sees the connection go, so that it can stop generating."""
    gone = asyncio.Event()

    async def endless(_: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        begin(writer)
        try:
            while True:
                writer.write(chunk("a"))
                await writer.drain()
                await asyncio.sleep(0)
        except ConnectionError:
            gone.set()
            raise

    async with endpoint(endless) as url:
        model = OpenAIChat(url, "m")
        pieces = model.stream(PLAIN)
        await anext(pieces)
        await pieces.aclose()
        async with asyncio.timeout(300):
            await gone.wait()
        await model.close()


async def endless(block: bytes, sent: list[int]) -> AsyncIterator[bytes]:
    """A body without an end; counts the blocks that were read of it."""
    while True:
        sent.append(len(block))
        yield block


async def test_an_answer_without_end_is_cut_off() -> None:
    """An endpoint that does not heed the limit is not read for ever; the answer says it was cut."""
    sent: list[int] = []
    head = {"Content-Type": "text/event-stream"}
    desk = Desk(httpx.Response(200, headers=head, content=endless(chunk("word " * 20), sent)))
    pieces, completion = await answer(desk.model(), replace(PLAIN, max_tokens=100))
    assert completion.finish == "length"
    assert completion.text == "".join(pieces)
    assert len(completion.text) == 4096
    assert len(sent) < 60


async def test_a_whole_answer_without_end_is_cut_off() -> None:
    """Neither its bytes nor its text are held without a limit."""
    sent: list[int] = []
    desk = Desk(httpx.Response(200, content=endless(b" " * 2**20, sent)))
    with pytest.raises(ModelUnavailable, match="more than 64 MiB"):
        await answer(desk.model(whole=True), PLAIN)
    assert len(sent) == 65
    message = {"choices": [{"message": {"content": "x" * 10**6}, "finish_reason": "stop"}]}
    desk = Desk(httpx.Response(200, json=message))
    _, completion = await answer(desk.model(whole=True), replace(PLAIN, max_tokens=1000))
    assert (completion.finish, len(completion.text)) == ("length", 32_000)


async def test_an_answer_may_not_take_for_ever() -> None:
    """However steadily it comes, there is a time for the whole of it."""
    sent: list[int] = []
    head = {"Content-Type": "text/event-stream"}
    desk = Desk(httpx.Response(200, headers=head, content=endless(chunk(""), sent)))
    model = desk.model(timeouts=Timeouts(first=300, between=300, whole=0.05))
    with pytest.raises(ModelStalled, match=r"did not finish its answer in 0\.05 s"):
        await answer(model, PLAIN)


async def test_a_silence_at_the_end_of_its_time_is_no_missing_token() -> None:
    """Whichever limit comes first is told: a stream that falls silent had begun long ago."""

    async def body() -> AsyncIterator[bytes]:
        yield chunk("word ")
        await asyncio.Event().wait()

    head = {"Content-Type": "text/event-stream"}
    desk = Desk(httpx.Response(200, headers=head, content=body()))
    model = desk.model(timeouts=Timeouts(first=300, between=300, whole=0.05))
    with pytest.raises(ModelStalled, match=r"did not finish its answer in 0\.05 s"):
        await answer(model, PLAIN)


@pytest.mark.parametrize("reported", [10**23, -1, True])
async def test_an_impossible_usage_is_estimated(reported: object) -> None:
    """No database could hold it."""
    usage = {"prompt_tokens": reported, "completion_tokens": reported}
    choice = {"message": {"content": "Hello."}, "finish_reason": "stop"}
    desk = Desk(httpx.Response(200, json={"choices": [choice], "usage": usage}))
    _, completion = await answer(desk.model(), PLAIN)
    assert 0 < completion.prompt_tokens < 1000
    assert 0 < completion.completion_tokens < 1000


MUTE = (chunk(finish="length"), b"data: [DONE]\n\n")
"""All tokens went into thoughts."""


async def test_a_model_that_thinks_first_gets_room_for_it() -> None:
    """It is asked once more, and from then on with room at once."""
    desk = Desk(stream(*MUTE), stream(*HELLO), stream(*HELLO))
    model = desk.model()
    for _ in range(2):
        assert (await answer(model, PLAIN))[1].text == "Hello"
    first, again, later = (body["max_tokens"] for body in desk.bodies)
    assert first == PLAIN.max_tokens
    assert again == later > 10_000


@pytest.mark.parametrize(
    "second", [stream(*MUTE), httpx.Response(400, json={"error": "maximum context length is 4096"})]
)
async def test_a_model_that_only_thinks_is_an_error(second: httpx.Response) -> None:
    """An empty reply, or facts that cannot be read, would not say what is wrong."""
    desk = Desk(stream(*MUTE), second)
    with pytest.raises(ModelRefused, match="before the first word"):
        await answer(desk.model(), PLAIN)


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        (("<think>", "A cat, ", "then.", "</think>", "\n\n", "How lovely", "!"), "How lovely!"),
        (("\n<th", "ink>x</th", "ink>How lovely!"), "How lovely!"),
        (("<think>a</think><think>b</think>Yes.",), "Yes."),
        (("<thanks", "> for it"), "<thanks> for it"),
        ((" <", "3 <think>"), " <3 <think>"),
        (("<think>never ends",), ""),
    ],
)
async def test_thoughts_are_not_the_answer(pieces: tuple[str, ...], said: str) -> None:
    """Some endpoints send them in it, at its beginning, cut anywhere."""
    desk = Desk(stream(*map(chunk, pieces), chunk(finish="stop"), b"data: [DONE]\n\n"))
    given, completion = await answer(desk.model(), PLAIN)
    assert "".join(given) == completion.text == said

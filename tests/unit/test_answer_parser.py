"""What is parsed of an upstream's answer, and what it costs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from omoide.server.answer_parser import (
    MAX_ANSWER_BYTES,
    MAX_REPLY_CHARS,
    AnswerParser,
    ParsedAnswer,
)
from omoide.server.protocols.answer import ChatAnswer, chunks
from omoide.testing.endpoint import DONE, event
from omoide.wire.answer_chunks import MAX_EVENT_BYTES, EventReader

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class CountedBytes(bytes):
    """Bytes that count how much of them was split into lines."""

    looked_at = 0

    def split(self, *arguments: object) -> list[bytes]:
        """Like `bytes.split`."""
        CountedBytes.looked_at += len(self)
        return bytes(self).split(*arguments)  # type: ignore[arg-type]


def parser(*, stream: bool) -> tuple[AnswerParser, ParsedAnswer]:
    """A parser and what it fills."""
    parsed = ParsedAnswer(model="m", prompt="Hi")
    return AnswerParser(parsed, stream=stream), parsed


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _completion(message: dict[str, Any], *, index: int | None = 0) -> bytes:
    choice = {"index": index, "message": message, "finish_reason": "stop"}
    return json.dumps({"model": "m", "choices": [choice]}, ensure_ascii=False).encode()


@pytest.mark.parametrize("size", [1, 7, 64, 100_000])
@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r"])
def test_a_stream_is_parsed_however_it_is_cut(size: int, ending: bytes) -> None:
    """Any block size and both line endings give the same text."""
    whole = b": ping\n\n" + event({"content": "Hel"}) + event({"content": "lo \u3042"})
    whole = (whole + event({}, finish="stop") + DONE).replace(b"\n", ending)
    parsing, parsed = parser(stream=True)
    for i in range(0, len(whole), size):
        parsing.feed(whole[i : i + size])
    parsing.close()
    assert parsed.recorded_text == "Hello \u3042"
    assert parsed.finished


def test_a_stream_without_lines_is_looked_at_once() -> None:
    """Each byte is searched for a line break once, not again with every block."""
    parsing, parsed = parser(stream=True)
    CountedBytes.looked_at = 0
    block = CountedBytes(b"x" * 4096)
    for _ in range(2048):
        parsing.feed(block)
    assert CountedBytes.looked_at == 2048 * 4096
    assert parsing.held <= MAX_EVENT_BYTES
    parsing.feed(b"\n\n" + event({"content": "after it"}))
    parsing.close()
    assert parsed.recorded_text == "after it"


def test_an_event_that_is_too_long_is_skipped() -> None:
    """Those around it are kept, and what is held of it has a bound."""
    parsing, parsed = parser(stream=True)
    parsing.feed(event({"content": "before, "}) + b"data: {" + b"x" * MAX_EVENT_BYTES)
    assert parsing.held == 0
    parsing.feed(b"x" * 100 + b"\n\n" + event({"content": "after"}))
    parsing.close()
    assert parsed.recorded_text == "before, after"


@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_without_end_is_not_held(stream: bool) -> None:
    """What is beyond the limit is dropped, and the parser says so."""
    parsing, _ = parser(stream=stream)
    block = b"data: {}" + b" " * 65_528
    for _ in range(MAX_ANSWER_BYTES // len(block) + 1):
        parsing.feed(block)
    assert parsing.too_long
    assert parsing.held == 0
    assert parsing.close().recorded_text == ""


@pytest.mark.parametrize("more", ["", "x"])
def test_of_a_very_long_reply_the_beginning_is_recorded(more: str) -> None:
    """As much as may be recorded; it is told if there was more."""
    parsing, parsed = parser(stream=True)
    for piece in ("x" * (MAX_REPLY_CHARS - 3), "abc", more):
        parsing.feed(event({"content": piece}))
    parsing.close()
    assert parsed.recorded_text == "x" * (MAX_REPLY_CHARS - 3) + "abc"
    assert parsed.cut is bool(more)


@pytest.mark.parametrize("reported", [10**23, -1, True, 1.5, "9", None])
def test_an_impossible_usage_is_estimated(reported: object) -> None:
    """A database could not hold it."""
    parsing, parsed = parser(stream=False)
    usage = {"prompt_tokens": reported, "completion_tokens": reported}
    choice = {"index": 0, "message": {"content": "Hello there"}, "finish_reason": "stop"}
    parsing.feed(json.dumps({"choices": [choice], "usage": usage}).encode())
    parsing.close()
    assert 0 < parsed.prompt_tokens < 10
    assert 0 < parsed.completion_tokens < 10


@pytest.mark.parametrize("space", ["", " "])
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_the_space_behind_a_field_is_optional(space: str, end: str) -> None:
    """Also in a line that the stream ends without having ended."""
    events = EventReader()
    sent = f'data:{space}{{"a":1}}\ndata:{space}{{"a":2}}\ndata:{space}{{"a":3}}{end}'
    assert [*events.feed(sent.encode()), *events.close()] == [{"a": 1}, {"a": 2}, {"a": 3}]


SAID = {"content": "caf\u00e9"}
FORMS: dict[str, bytes] = {
    "object": _completion(SAID),
    "byte order mark": b"\xef\xbb\xbf" + _completion(SAID),
    "Latin-1": _completion(SAID).decode().encode("latin-1"),
    "no error": b'{"error": null, ' + _completion(SAID)[1:],
    "no index": _completion(SAID, index=None),
    "parts": _completion(
        {"content": [{"type": "thinking", "thinking": "Hm."}, "caf", _text("\u00e9")]}
    ),
    "thoughts in parts": _completion(
        {"content": [{"type": "thinking", "thinking": [_text("Hm.")]}, _text("caf\u00e9")]}
    ),
    "refusal": _completion({"content": None, "refusal": "caf\u00e9"}),
    "refusal as a part": _completion({"content": [{"type": "refusal", "refusal": "caf\u00e9"}]}),
    "events": b"data: " + _completion(SAID) + b"\n\ndata: [DONE]\n\n",
    "several lines": b"data: " + _completion(SAID).replace(b", ", b",\ndata: ") + b"\n\n",
    "carriage returns": b"data: " + _completion(SAID) + b"\r\rdata: [DONE]\r\r",
    "no blank lines": b"data: x\ndata: " + _completion(SAID) + b"\ndata: [DONE]",
}
"""The same answer in the forms in which upstreams send it."""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [1, 3, 100_000])
async def test_what_the_client_can_read_is_recorded_and_converted(form: str, size: int) -> None:
    """The same text either way, also of events under the content type of an object."""
    sent = FORMS[form]
    blocks = [sent[i : i + size] for i in range(0, len(sent), size)]
    for stream in {b"data:" in sent, False}:
        parsing, parsed = parser(stream=stream)
        for block in blocks:
            parsing.feed(block)
        assert parsing.close().recorded_text == "caf\u00e9"
        assert parsed.understood
        assert parsed.finished

        async def arriving() -> AsyncIterator[bytes]:
            for block in blocks:
                yield block

        answer = ChatAnswer(model="m")
        async for chunk in chunks(arriving(), stream=stream):
            answer.add(chunk or {})
        assert answer.text + answer.refusal == "caf\u00e9"
        assert answer.finish == "stop"


def test_an_empty_reason_does_not_end_an_answer() -> None:
    """Some endpoints send one with every chunk; nor does it take the place of the true one."""
    answer = ChatAnswer(model="m")
    for finish, known in (("", None), ("length", "length"), ("", "length")):
        answer.add({"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": finish}]})
        assert answer.finish == known


def test_an_event_of_many_lines_is_not_held() -> None:
    """Beyond the limit of an event it is skipped, like one long line."""
    events = EventReader()
    line = b"data: {" + b"x" * 65_536 + b"\n"
    for _ in range(MAX_EVENT_BYTES // 65_536 + 1):
        assert list(events.feed(line)) == []
    assert events.skipped
    assert events.held <= 65_600


@pytest.mark.parametrize(
    ("sent", "understood"),
    [
        (b"<html>Log in</html>", False),
        (b"null", False),
        (b'{"choices": []}', False),
        (b'{"choices": [{"message": {"content": 5}}]}', False),
        (b'{"choices": [{"message": {"content": [{"type": "audio"}]}}]}', False),
        (b'{"choices": [{"message": {"content": "x"', False),
        (b'{"choices": [{"message": {"content": ""}}]}', True),
        (b'{"choices": [{"message": {"reasoning": "Hm."}}]}', True),
        (b'{"choices": [{"message": {"tool_calls": [{"id": "c"}]}}]}', True),
        (b'{"error": {"message": "busy"}}', True),
        (b"", True),
    ],
)
def test_an_answer_that_cannot_be_read_is_told(sent: bytes, understood: bool) -> None:
    """One that says nothing is none of them."""
    parsing, _ = parser(stream=False)
    parsing.feed(sent)
    parsed = parsing.close()
    assert parsed.recorded_text == ""
    assert parsed.understood is understood

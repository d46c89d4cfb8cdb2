"""What is parsed of an upstream's answer, and what it costs."""

from __future__ import annotations

import json

import pytest

from omoide.server.answer_parser import (
    MAX_ANSWER_BYTES,
    MAX_EVENT_BYTES,
    MAX_REPLY_CHARS,
    AnswerParser,
    EventLines,
    ParsedAnswer,
)
from omoide.testing.endpoint import DONE, event


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


@pytest.mark.parametrize("size", [1, 7, 64, 100_000])
@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
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
    lines = EventLines()
    sent = f"data:{space}[1]\ndata:{space}[2]\ndata:{space}[3]{end}"
    found = [*lines.feed(sent.encode()), *lines.close()]
    assert [json.loads(bytes(line)) for line in found] == [[1], [2], [3]]

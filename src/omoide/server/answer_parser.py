"""Parses an upstream's answer while its bytes are passed on unchanged."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any

from omoide.domain.jobs import reported_tokens
from omoide.domain.text import printable
from omoide.language import estimate_tokens
from omoide.server.problems import HttpProblem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""Bytes of one answer; a longer one is ended with an error."""
MAX_EVENT_BYTES = 4 * 1024 * 1024
"""Bytes of one event of a stream; a longer one is passed on without being parsed."""
MAX_REPLY_CHARS = 2_000_000
"""Characters of a reply that are recorded, about 500,000 tokens; the rest is only passed on."""


def answer_too_long() -> HttpProblem:
    """What an answer ends with that is longer than an answer may be."""
    return HttpProblem(
        502,
        "upstream-answer-too-long",
        "the upstream's answer is longer than 64 MiB and ends here: ask for a shorter one",
    )


@dataclass(kw_only=True)
class ParsedAnswer:
    """Text and usage of an answer's first choice. Tool calls are not recorded; the answer that
    follows them is."""

    model: str
    prompt: str
    """The prompt, to estimate its tokens if the upstream does not report them."""
    started_at: float = field(default_factory=monotonic)
    pieces: list[str] = field(default_factory=list)
    usage: dict[str, Any] = field(default_factory=dict)
    finished: bool = False
    cut: bool = False
    """Whether the text has more than may be recorded."""
    seconds: float = 0.0
    _room: int = MAX_REPLY_CHARS

    @property
    def recorded_text(self) -> str:
        """The text to record; empty if there was none."""
        return printable("".join(self.pieces))

    @property
    def prompt_tokens(self) -> int:
        """As reported by the upstream, else an estimate."""
        reported = reported_tokens(self.usage.get("prompt_tokens"))
        return estimate_tokens(self.prompt) if reported is None else reported

    @property
    def completion_tokens(self) -> int:
        """As reported by the upstream, else an estimate."""
        reported = reported_tokens(self.usage.get("completion_tokens"))
        return estimate_tokens("".join(self.pieces)) if reported is None else reported

    def add_chunk(self, chunk: dict[str, Any]) -> None:
        """Add one chunk of a stream, or a complete answer."""
        if isinstance(model := chunk.get("model"), str) and model.isprintable():
            self.model = model[:256] or self.model
        if isinstance(usage := chunk.get("usage"), dict):
            self.usage = usage
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if not isinstance(choice, dict) or choice.get("index", 0) != 0:
                continue
            message = choice.get("delta") or choice.get("message")
            text = message.get("content") if isinstance(message, dict) else None
            if isinstance(text, str):
                self.cut = self.cut or len(text) > self._room
                self.pieces.append(text[: self._room])
                self._room -= len(self.pieces[-1])
            if choice.get("finish_reason"):
                self.finished = True


class EventLines:
    """The data of server-sent events, one line each, however the stream is cut into blocks. Each
    byte is looked at once; a line that is too long is skipped, and not held either."""

    def __init__(self) -> None:
        self._rest = bytearray()
        """The line that has not ended yet."""
        self._skip = False
        """Whether that line is too long."""
        self.skipped = False
        """Whether any line was too long."""

    @property
    def held(self) -> int:
        """Bytes of the line that has not ended yet."""
        return len(self._rest)

    def feed(self, block: bytes) -> Iterator[bytes | bytearray]:
        """The data that the next bytes complete."""
        *ended, rest = block.split(b"\n")
        if ended:
            self._continue(ended[0])
            yield from self.close()
            for line in ended[1:]:
                if line.startswith(b"data:"):
                    yield line[5:]
        self._continue(rest)

    def close(self) -> Iterator[bytes | bytearray]:
        """The data of the line that has not ended yet."""
        line, self._rest, self._skip = self._rest, bytearray(), False
        if line.startswith(b"data:"):
            yield line[5:]

    def _continue(self, part: bytes) -> None:
        self._skip = self._skip or len(self._rest) + len(part) > MAX_EVENT_BYTES
        if self._skip:
            self._rest.clear()
            self.skipped = True
        else:
            self._rest += part


class AnswerParser:
    """Parses an answer's bytes incrementally: server-sent events, or one JSON object. Each byte is
    looked at once, however the answer is cut into blocks."""

    def __init__(self, parsed: ParsedAnswer, *, stream: bool) -> None:
        self._parsed = parsed
        self._stream = stream
        self._body = bytearray()
        """An answer that is no stream, as far as it came."""
        self._lines = EventLines()
        self._size = 0

    @property
    def too_long(self) -> bool:
        """Whether the answer is longer than an answer may be."""
        return self._size > MAX_ANSWER_BYTES

    @property
    def held(self) -> int:
        """Bytes that wait to be parsed."""
        return len(self._body) + self._lines.held

    def feed(self, block: bytes) -> None:
        """Parse the next bytes."""
        self._size += len(block)
        if self.too_long:
            self._body.clear()
        elif self._stream:
            self._parse_all(self._lines.feed(block))
        else:
            self._body += block

    def close(self) -> ParsedAnswer:
        """Finish parsing, whether the answer is complete or not."""
        self._parse_all(self._lines.close() if self._stream else [self._body])
        self._parsed.seconds = monotonic() - self._parsed.started_at
        return self._parsed

    def _parse_all(self, texts: Iterable[bytes | bytearray]) -> None:
        for data in texts:
            try:
                chunk = json.loads(data)
            except (ValueError, RecursionError):
                continue  # [DONE], or something unknown: the client gets it anyway
            if isinstance(chunk, dict):
                self._parsed.add_chunk(chunk)

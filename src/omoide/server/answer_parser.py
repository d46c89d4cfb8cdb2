"""Parses an upstream's answer while its bytes are passed on unchanged."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from omoide.domain.jobs import reported_tokens
from omoide.domain.text import printable
from omoide.language import estimate_tokens

MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""Bytes of one answer that are parsed; the rest is only passed on."""
MAX_EVENT_BYTES = 4 * 1024 * 1024
"""Bytes of one event of a stream; a longer one is passed on without being parsed."""


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
    seconds: float = 0.0

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
                self.pieces.append(text)
            if choice.get("finish_reason"):
                self.finished = True


class AnswerParser:
    """Parses an answer's bytes incrementally: server-sent events, or one JSON object. Each byte is
    looked at once, however the answer is cut into blocks."""

    def __init__(self, parsed: ParsedAnswer, *, stream: bool) -> None:
        self._parsed = parsed
        self._stream = stream
        self._rest = bytearray()
        """The answer so far, or the line of a stream that has not ended yet."""
        self._skip = False
        """Whether that line is too long to be parsed."""
        self._size = 0

    @property
    def too_long(self) -> bool:
        """Whether the answer is longer than what is parsed."""
        return self._size > MAX_ANSWER_BYTES

    @property
    def held(self) -> int:
        """Bytes that wait to be parsed."""
        return len(self._rest)

    def feed(self, block: bytes) -> None:
        """Parse the next bytes."""
        self._size += len(block)
        if self.too_long:
            self._rest.clear()
        elif self._stream:
            self._feed_lines(block)
        else:
            self._rest += block

    def close(self) -> ParsedAnswer:
        """Finish parsing, whether the answer is complete or not."""
        if self._stream:
            self._end_line()
        elif not self.too_long:
            self._parse(self._rest)
        self._parsed.seconds = monotonic() - self._parsed.started_at
        return self._parsed

    def _feed_lines(self, block: bytes) -> None:
        *ended, rest = block.split(b"\n")
        if ended:
            self._continue_line(ended[0])
            self._end_line()
            for line in ended[1:]:
                if line.startswith(b"data:"):
                    self._parse(line[5:])
        self._continue_line(rest)

    def _continue_line(self, part: bytes) -> None:
        self._skip = self._skip or len(self._rest) + len(part) > MAX_EVENT_BYTES
        if self._skip:
            self._rest.clear()
        else:
            self._rest += part

    def _end_line(self) -> None:
        if self._rest.startswith(b"data:"):
            self._parse(self._rest[5:])
        self._rest.clear()
        self._skip = False

    def _parse(self, data: bytes | bytearray) -> None:
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError):
            return  # [DONE], or something unknown: the client gets it anyway
        if isinstance(chunk, dict):
            self._parsed.add_chunk(chunk)

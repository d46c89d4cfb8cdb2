"""Parses an upstream's answer while its bytes are passed on unchanged."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any

from omoide.domain.jobs import reported_tokens
from omoide.domain.text import printable
from omoide.language import estimate_tokens
from omoide.server.problems import HttpProblem
from omoide.wire.answer_chunks import EventReader, chunks_of, first_choices, said_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omoide.wire.answer_chunks import Chunk

MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""Bytes of one answer; a longer one is ended with an error."""
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
    understood: bool = False
    """Whether it was found what is said, if only that nothing is."""
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
        self.understood = self.understood or bool(chunk.get("error"))
        for choice in first_choices(chunk):
            message = choice.get("delta") or choice.get("message") or {}
            if isinstance(message, dict):
                self._add_message(message)
            if choice.get("finish_reason"):
                self.finished = True

    def _add_message(self, message: dict[str, Any]) -> None:
        said = said_in(message)
        for kind, text in said:
            if kind != "reasoning":
                self.cut = self.cut or len(text) > self._room
                self.pieces.append(text[: self._room])
                self._room -= len(self.pieces[-1])
        if said or message.get("tool_calls") or not message.get("content"):
            self.understood = True


class AnswerParser:
    """Parses an answer's bytes incrementally: server-sent events, or one JSON object. Each byte is
    looked at once, however the answer is cut into blocks."""

    def __init__(self, parsed: ParsedAnswer, *, stream: bool) -> None:
        self._parsed = parsed
        self._stream = stream
        self._body = bytearray()
        """An answer that is no stream, as far as it came."""
        self._events = EventReader()
        self._size = 0

    @property
    def too_long(self) -> bool:
        """Whether the answer is longer than an answer may be."""
        return self._size > MAX_ANSWER_BYTES

    @property
    def held(self) -> int:
        """Bytes that wait to be parsed."""
        return len(self._body) + self._events.held

    def feed(self, block: bytes) -> None:
        """Parse the next bytes."""
        self._size += len(block)
        if self.too_long:
            self._body.clear()
        elif self._stream:
            self._add_all(self._events.feed(block))
        else:
            self._body += block

    def close(self) -> ParsedAnswer:
        """Finish parsing, whether the answer is complete or not."""
        self._add_all(self._events.close() if self._stream else chunks_of(self._body))
        self._parsed.understood = self._parsed.understood or not self._size
        self._parsed.seconds = monotonic() - self._parsed.started_at
        return self._parsed

    def _add_all(self, chunks: Iterable[Chunk | None]) -> None:
        for chunk in chunks:
            if chunk is not None:
                self._parsed.add_chunk(chunk)

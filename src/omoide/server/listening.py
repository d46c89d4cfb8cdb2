"""Hearing what an upstream answers while its bytes go by unchanged."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from omoide.domain.text import printable
from omoide.language import estimate_tokens

LONGEST = 64 * 1024 * 1024
"""Bytes of one answer that are listened to; what comes after goes by unheard."""


@dataclass(kw_only=True)
class Heard:
    """What was understood of an answer, of its first choice: its text, and what it took. Tool
    calls are not recorded: they are machinery, and the answer that follows them is."""

    model: str
    prompt: str
    """What was sent, for an estimate where the upstream does not count."""
    began: float = field(default_factory=monotonic)
    pieces: list[str] = field(default_factory=list)
    usage: dict[str, Any] = field(default_factory=dict)
    finished: bool = False
    seconds: float = 0.0

    @property
    def said(self) -> str:
        """The text as it is recorded; empty if there was none."""
        return printable("".join(self.pieces))

    @property
    def prompt_tokens(self) -> int:
        """As the upstream counted, or an estimate."""
        given = self.usage.get("prompt_tokens")
        return given if isinstance(given, int) else estimate_tokens(self.prompt)

    @property
    def completion_tokens(self) -> int:
        """As the upstream counted, or an estimate."""
        given = self.usage.get("completion_tokens")
        return given if isinstance(given, int) else estimate_tokens("".join(self.pieces))

    def id(self, turn: str) -> str:
        """An id for the reply to that turn: the same words are recorded once, another answer to
        the same words (a regenerated one) beside the first."""
        words = hashlib.blake2b(self.said.encode(), digest_size=8).hexdigest()
        return f"{turn[:200]}+{words}"

    def take(self, chunk: dict[str, Any]) -> None:
        """Note a chunk, or a whole answer."""
        if isinstance(model := chunk.get("model"), str) and model.isprintable():
            self.model = model[:256] or self.model
        if isinstance(usage := chunk.get("usage"), dict):
            self.usage = usage
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if not isinstance(choice, dict) or choice.get("index", 0) != 0:
                continue
            said = choice.get("delta") or choice.get("message")
            text = said.get("content") if isinstance(said, dict) else None
            if isinstance(text, str):
                self.pieces.append(text)
            if choice.get("finish_reason"):
                self.finished = True


class Listener:
    """Takes an answer's bytes as they come: events of a stream, or one JSON object."""

    def __init__(self, heard: Heard, *, stream: bool) -> None:
        self.heard = heard
        self._stream = stream
        self._rest = bytearray()
        self._size = 0

    def feed(self, block: bytes) -> None:
        """Note what came."""
        self._size += len(block)
        if self._size > LONGEST:
            return
        self._rest += block
        if self._stream:
            *lines, rest = self._rest.replace(b"\r\n", b"\n").split(b"\n")
            self._rest = bytearray(rest)
            for line in lines:
                if line.startswith(b"data:"):
                    self._note(line[5:])

    def close(self) -> Heard:
        """The answer is over, or broken off."""
        if self._stream and self._rest.startswith(b"data:"):
            self._note(self._rest[5:])
        elif not self._stream:
            self._note(self._rest)
        self.heard.seconds = monotonic() - self.heard.began
        return self.heard

    def _note(self, data: bytes | bytearray) -> None:
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError):
            return  # [DONE], or nothing that we understand: it went by all the same
        if isinstance(chunk, dict):
            self.heard.take(chunk)

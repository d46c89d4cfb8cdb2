"""What an upstream's answer says, in whatever form it comes: server-sent events or one object, text
or parts. Whoever records an answer and whoever converts it reads it with this."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_EVENT_BYTES = 4 * 1024 * 1024
"""Bytes of one event of a stream; a longer one is passed on without being parsed."""

Kind = Literal["text", "refusal", "reasoning", "tool"]
Chunk = dict[str, Any]
"""A chunk of a stream, or a whole completion."""


class EventReader:
    """The chunks of server-sent events, however the stream is cut into blocks; None for its end
    mark. Each byte is looked at once; an event that is too long is skipped, and not held either."""

    def __init__(self) -> None:
        self._rest = bytearray()
        """The line that has not ended yet."""
        self._skip = False
        """Whether that line is too long."""
        self._data: list[bytes | bytearray] = []
        """Lines of an event that is not complete yet."""
        self._size = 0
        self._after_return = False
        """Whether a line break may go on in the next block."""
        self.skipped = False
        """Whether any event was too long."""

    @property
    def held(self) -> int:
        """Bytes of the event that has not ended yet."""
        return len(self._rest) + self._size

    def feed(self, block: bytes | bytearray) -> Iterator[Chunk | None]:
        """The chunks that the next bytes complete."""
        if self._after_return or b"\r" in block:
            block = self._with_newlines(block)
        *ended, rest = block.split(b"\n")
        if ended:
            self._continue(ended[0])
            yield from self._end_line()
            for line in ended[1:]:
                if line.startswith(b"data:"):
                    yield from self._add(line[5:])
                elif not line and self._data:
                    yield from self._end_event()
        self._continue(rest)

    def close(self) -> Iterator[Chunk | None]:
        """The chunk of an event that has not ended yet."""
        yield from self._end_line()
        yield from self._end_event()

    def _with_newlines(self, block: bytes | bytearray) -> bytes | bytearray:
        if self._after_return:
            block = block.removeprefix(b"\n")
        self._after_return = block.endswith(b"\r")
        return block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _continue(self, part: bytes | bytearray) -> None:
        self._skip = self._skip or len(self._rest) + len(part) > MAX_EVENT_BYTES
        if self._skip:
            self._rest.clear()
            self.skipped = True
        else:
            self._rest += part

    def _end_line(self) -> list[Chunk | None]:
        line, self._rest = self._rest, bytearray()
        skipped, self._skip = self._skip, False
        if line.startswith(b"data:"):
            return self._add(line[5:])
        return [] if line or skipped else self._end_event()

    def _add(self, data: bytes | bytearray) -> list[Chunk | None]:
        """Add a line to the event. Mostly it is the whole event; some servers send no blank line
        after it, so it does not wait for one."""
        if not self._data and (found := parsed(data)):
            return found
        self._size += len(data)
        self._data.append(data)
        if self._size > MAX_EVENT_BYTES:
            self._data, self._size, self.skipped = [], 0, True
        return []

    def _end_event(self) -> list[Chunk | None]:
        lines, self._data, self._size = self._data, [], 0
        others = lines[1:]  # the first was tried
        if not others:
            return []
        return parsed(b"\n".join(lines)) or [chunk for line in others for chunk in parsed(line)]


def chunks_of(body: bytes | bytearray) -> list[Chunk | None]:
    """The chunks of an answer that came as a whole: of one object, or of events under the wrong
    content type."""
    if found := parsed(body):
        return found
    events = EventReader()
    return [*events.feed(body), *events.close()]


def parsed(data: bytes | bytearray) -> list[Chunk | None]:
    """The chunk in the data of an event; none if there is no object, None for the end mark."""
    try:
        try:
            chunk = json.loads(data)
        except UnicodeDecodeError:  # an old server's
            chunk = json.loads(data.decode("latin-1"))
    except (ValueError, RecursionError):
        return [None] if data.strip() == b"[DONE]" else []
    return [chunk] if isinstance(chunk, dict) else []


def first_choices(chunk: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Of several answers side by side, the one that most clients show."""
    choices = chunk.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, dict) and choice.get("index") in (0, None):
            yield choice


def said_in(message: Mapping[str, Any]) -> list[tuple[Kind, str]]:
    """What a message or a piece of one says, in order; tool calls aside."""
    content = message.get("content")
    said: list[tuple[Kind, object]] = [
        ("reasoning", message.get("reasoning_content") or message.get("reasoning")),
        *(map(_part, content) if isinstance(content, list) else (("text", content),)),
        ("refusal", message.get("refusal")),
    ]
    return [(kind, text) for kind, text in said if isinstance(text, str) and text]


def _part(part: object) -> tuple[Kind, object]:
    if not isinstance(part, dict):
        return "text", part
    if isinstance(thoughts := part.get("thinking"), list):
        texts = (_part(thought)[1] for thought in thoughts)
        return "reasoning", "".join(text for text in texts if isinstance(text, str))
    if thoughts is not None:
        return "reasoning", thoughts
    if part.get("refusal") is not None:
        return "refusal", part["refusal"]
    return "text", part.get("text")

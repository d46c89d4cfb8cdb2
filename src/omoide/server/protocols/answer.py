"""An upstream's answer in the one internal form, which every protocol is written from."""

from __future__ import annotations

import json
import secrets
from collections import defaultdict
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any

from omoide.wire.answer_chunks import EventReader, chunks_of, first_choices, said_in
from omoide.wire.json_parts import count

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from omoide.wire.answer_chunks import Chunk, Kind


@dataclass(frozen=True, kw_only=True)
class Piece:
    """One piece of an answer as it arrives."""

    kind: Kind
    text: str
    """Text, or a part of a tool call's arguments."""
    call: int = 0
    """Which of the answer's tool calls it belongs to."""


@dataclass(kw_only=True)
class ToolCall:
    """A function that the model wants to be called; its arguments are JSON, in pieces."""

    id: str
    name: str
    pieces: list[str] = field(default_factory=list)

    @property
    def arguments(self) -> str:
        """All pieces so far."""
        return "".join(self.pieces)

    @property
    def input(self) -> dict[str, Any]:
        """The arguments as an object; empty if the model wrote no valid JSON object. A number that
        JSON does not have, such as NaN, is null."""
        try:
            value = json.loads(
                self.arguments or "{}", parse_constant=lambda _: None, parse_float=_finite
            )
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}


@dataclass(kw_only=True)
class ChatAnswer:
    """The first choice of a chat completion, as far as it arrived. Its texts are kept in pieces:
    adding to a long string for each would take quadratic time."""

    model: str
    tool_calls: list[ToolCall] = field(default_factory=list)
    finish: str | None = None
    usage: Mapping[str, Any] = field(default_factory=dict)
    _places: dict[int, int] = field(default_factory=dict, repr=False)
    _texts: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list), repr=False)

    @property
    def text(self) -> str:
        """What it says."""
        return "".join(self._texts["text"])

    @property
    def refusal(self) -> str:
        """Why it does not answer."""
        return "".join(self._texts["refusal"])

    @property
    def reasoning(self) -> str:
        """What the model thought before."""
        return "".join(self._texts["reasoning"])

    @property
    def prompt_tokens(self) -> int:
        """As reported by the upstream; 0 if it did not."""
        return count(self.usage.get("prompt_tokens"))

    @property
    def completion_tokens(self) -> int:
        """As reported by the upstream; 0 if it did not."""
        return count(self.usage.get("completion_tokens"))

    @property
    def cached_tokens(self) -> int:
        """Tokens of the prompt that came from the upstream's cache."""
        details = self.usage.get("prompt_tokens_details")
        return count(details.get("cached_tokens")) if isinstance(details, dict) else 0

    @property
    def reasoning_tokens(self) -> int:
        """Tokens of the completion that were reasoning."""
        details = self.usage.get("completion_tokens_details")
        return count(details.get("reasoning_tokens")) if isinstance(details, dict) else 0

    def add(self, chunk: Mapping[str, Any]) -> list[Piece]:
        """Add one chunk of a stream, or a whole completion; returns what it brought."""
        if isinstance(model := chunk.get("model"), str) and model:
            self.model = model[:256]
        if isinstance(usage := chunk.get("usage"), dict):
            self.usage = usage
        pieces: list[Piece] = []
        for choice in first_choices(chunk):
            message = choice.get("delta") or choice.get("message")
            if isinstance(message, dict):
                pieces += self._message(message)
            if isinstance(finish := choice.get("finish_reason"), str) and finish:
                self.finish = finish
        return pieces

    def _message(self, message: Mapping[str, Any]) -> list[Piece]:
        pieces: list[Piece] = []
        for kind, said in said_in(message):
            self._texts[kind].append(said)
            pieces.append(Piece(kind=kind, text=said))
        calls = message.get("tool_calls")
        for position, call in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(call, dict):
                pieces.append(self._tool(call, position))
        return pieces

    def _tool(self, delta: Mapping[str, Any], position: int) -> Piece:
        index = delta.get("index")
        index = index if isinstance(index, int) else position
        id_ = delta.get("id")
        function = delta.get("function")
        function = function if isinstance(function, dict) else {}
        place = self._places.get(index)
        # Some servers number every call 0 and tell them apart by their ids.
        if place is None or (id_ and self.tool_calls[place].id != id_):
            place = self._places[index] = len(self.tool_calls)
            name = str(function.get("name") or "")
            id_ = id_ if isinstance(id_, str) and id_ else f"call_{secrets.token_hex(12)}"
            self.tool_calls.append(ToolCall(id=id_, name=name))
        arguments = function.get("arguments")
        arguments = arguments if isinstance(arguments, str) else ""
        self.tool_calls[place].pieces.append(arguments)
        return Piece(kind="tool", text=arguments, call=place)


async def chunks(blocks: AsyncIterator[bytes], *, stream: bool) -> AsyncIterator[Chunk | None]:
    """The JSON objects of an answer's bytes: of server-sent events, or one whole. None stands for
    the end mark of a stream. An event that is too long ends it with an error."""
    events, whole = EventReader(), bytearray()
    async for block in blocks:
        if not stream:
            whole += block
            continue
        for chunk in events.feed(block):
            yield chunk
        if events.skipped:
            yield {"error": {"message": "an event of the upstream's stream is too long"}}
            return
    for chunk in events.close() if stream else chunks_of(whole):
        yield chunk


def _finite(text: str) -> float | None:
    return value if isfinite(value := float(text)) else None

"""What a chat request says that was not said before, and where memory goes into it. Pure.

A client of this protocol sends its whole history each time, a part of it, or none. So:

- Only the user's words behind the last assistant message are new; what stands before them was
  recorded when it was new. Nothing is ever brought in from a history: `omoide import` does that.
- Each is recorded under an id that hashes its place: the caller's session key and every user and
  assistant message before it. A request sent again (a retry, a regenerated answer) has the same
  ids and records nothing. System messages are left out of the hash, since many hold the time.
- Where the place says too little, because the first message of a list looks the same in each
  conversation and in each request of a client without a history, `Recording` (see `recording`)
  asks what was said since.
- Tool calls and their results are machinery, not words: they are neither recorded nor hashed.
  A request that ends in tool results goes on from the user's last words, which are known.
- Of a message in parts, the text parts count.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omoide.memory.mechanism import Place
from omoide.prompts import render
from omoide.prompts.quoting import noted, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.memory.mechanism import Contribution

    Message = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Words:
    """A message of the user's."""

    id: str
    text: str
    index: int
    """Of the message in the request."""
    first: bool
    """Whether no one is heard before it in the request."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a request says."""

    words: tuple[Words, ...]
    """To be recorded, the last of them to be answered. Empty if the user says nothing."""
    follow_up: bool = False
    """Whether the words were answered before, by a tool call or the beginning of an answer."""

    @property
    def text(self) -> str:
        """What recall goes by."""
        return "\n".join(words.text for words in self.words)


def asked(messages: Sequence[Message], *, session: str | None) -> Asked:
    """What the messages say that is to be recorded and answered."""
    place = hashlib.blake2b(digest_size=16, person=b"omoide-chat")
    _feed(place, "session", session or "")
    heard: list[Words] = []
    new, anyone = 0, False
    for index, message in enumerate(messages):
        role = message.get("role")
        if role not in ("user", "assistant"):
            continue
        text = text_of(message)
        _feed(place, role, text)
        if role == "assistant":
            new = len(heard)
        elif text.strip():
            id_ = f"chat-{place.hexdigest()}"
            heard.append(Words(id=id_, text=text, index=index, first=not anyone))
        anyone = True
    if new < len(heard):
        return Asked(words=tuple(heard[new:]))
    return Asked(words=tuple(heard[-1:]), follow_up=True)


def text_of(message: Message) -> str:
    """The words of a message: its text, or that of its text parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [part.get("text") for part in content if isinstance(part, dict)]
    return "\n".join(text for text in parts if isinstance(text, str))


def remembering(
    messages: Sequence[Message],
    contributions: Sequence[Contribution],
    *,
    last: int,
    language: str,
) -> list[Message]:
    """The messages with memory put in: what is known behind the client's own system message, so
    that this stays a prefix which all its users share; what came to mind before the user's words
    in message `last`. A second system message would break many chat templates."""
    result = list(messages)
    if came := [c.text for c in contributions if c.place is Place.RECALLED]:
        result[last] = _before(result[last], _recalled(came, language))
    if known := [c.text for c in contributions if c.place is Place.MEMORY]:
        memory = _known(known, language)
        if result[0].get("role") in ("system", "developer"):
            result[0] = _behind(result[0], memory)
        else:
            result.insert(0, {"role": "system", "content": memory})
    return result


def _known(texts: Sequence[str], language: str) -> str:
    """The memory with what says what it is. Of manners and length nothing is said: those are the
    client's to choose."""
    return (
        render("proxy_memory", language, memory="\n".join(map(quoted, texts))).messages[0].content
    )


def _recalled(texts: Sequence[str], language: str) -> str:
    return render("proxy_recalled", language, recalled=noted(texts)).messages[0].content


def _before(message: Message, text: str) -> Message:
    content = message.get("content")
    if isinstance(content, list):
        return {**message, "content": [{"type": "text", "text": text}, *content]}
    return {**message, "content": f"{text}\n\n{content}"}


def _behind(message: Message, text: str) -> Message:
    content = message.get("content")
    if isinstance(content, list):
        return {**message, "content": [*content, {"type": "text", "text": text}]}
    return {**message, "content": f"{content}\n\n{text}" if content else text}


def _feed(place: hashlib.blake2b, role: str, text: str) -> None:
    words = text.encode("utf-8", "surrogatepass")
    place.update(f"{role}:{len(words)}:".encode() + words)

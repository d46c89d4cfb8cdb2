"""Messages in OpenAI's chat format: what callers pass in, and what is sent to a model.

A client of that protocol sends its whole history each time, a part of it, or none. So:

- Only the user's messages after the last assistant message are new; earlier ones were recorded when
  they were new. Nothing is ever imported from a history: `omoide import` does that.
- Each is recorded under an id that hashes its position: the caller's session key and every user and
  assistant message before it. A repeated request (a retry, a regenerated answer) has the same ids
  and records nothing. System messages are not hashed, since many contain the time.
- Sometimes the position is not enough: the first message of a list looks the same in every
  conversation, and in every request of a client without a history. Then `Recorder` looks at what
  was said since.
- Tool calls and their results are neither recorded nor hashed. A request that ends in tool results
  continues from the user's last message, which is already recorded.
- Of a message with several parts, the text parts are used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from omoide.domain import Speaker
from omoide.domain.text import MAX_NAME
from omoide.errors import BadInput
from omoide.language import both_ends
from omoide.mechanisms.base import PromptPlace
from omoide.mechanisms.events.human_time import dated
from omoide.mechanisms.memory_parts import in_parts
from omoide.prompts import render
from omoide.prompts.quoting import as_list

if TYPE_CHECKING:
    from datetime import date

    from omoide.mechanisms.base import Contribution

    ChatMessage = Mapping[str, Any]
    """A message of OpenAI's chat protocol: `role`, `content` and any other keys."""


MOST_MESSAGES = 4_000
"""How many messages of a request are looked at, the last ones: others wait meanwhile."""


@dataclass(frozen=True, kw_only=True)
class Utterance:
    """A message to record, as a caller passes it in. Only `speaker` and `text` are required."""

    speaker: Speaker
    text: str
    id: str | None = None
    time: datetime | None = None
    name: str | None = None


Words = str | Utterance | Mapping[str, Any]
"""One message, in any of the forms in which it may be passed in."""


def utterances(said: Words | Sequence[Words]) -> list[Utterance]:
    """Messages as utterances, from any of their forms. A text is the user's. A mapping has `role`
    (user or assistant) and `content`, and may have `id`, `name` and `time`. Messages of other
    roles, and those without any text, are left out."""
    if isinstance(said, str | Utterance | Mapping):
        said = [said]
    if not isinstance(said, Iterable):
        raise _no_messages(said)
    converted = (_utterance(message, index) for index, message in enumerate(said))
    return [utterance for utterance in converted if utterance is not None]


def chat_messages(given: Mapping[str, Any] | Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Messages of OpenAI's chat format, checked. A single one is a list of one."""
    messages = (given,) if isinstance(given, Mapping) else given
    if not isinstance(messages, Iterable):
        raise _no_messages(messages)
    messages = tuple(messages)
    for index, message in enumerate(messages):
        if not isinstance(message, Mapping):
            raise BadInput(
                f"message {index} is {_shortened(message)}: give a mapping with role and content"
            )
    return messages


def _no_messages(given: object) -> BadInput:
    return BadInput(
        f"there is no message in {_shortened(given)}: give a text, an Utterance, a mapping with "
        "role and content, or a list of them"
    )


def _utterance(message: Words, index: int) -> Utterance | None:
    if isinstance(message, Utterance):
        return _checked(message, index)
    if isinstance(message, str):
        return Utterance(speaker=Speaker.USER, text=message)
    if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
        raise BadInput(
            f"message {index} is {_shortened(message)}: give a text, an Utterance, or a mapping "
            "with role and content"
        )
    if message["role"] not in ("user", "assistant") or not (text := text_of(message)).strip():
        return None
    return Utterance(
        speaker=Speaker(message["role"]),
        text=text,
        id=message.get("id"),
        name=message.get("name"),
        time=_time(message.get("time"), index),
    )


def _checked(message: Utterance, index: int) -> Utterance:
    if not isinstance(message.text, str):
        raise BadInput(f"the text of message {index} is {_shortened(message.text)}: give a str")
    try:
        speaker = Speaker(message.speaker)
    except ValueError as error:
        raise BadInput(
            f"the speaker of message {index} is {_shortened(message.speaker)}: give "
            "Speaker.USER or Speaker.ASSISTANT"
        ) from error
    return message if speaker is message.speaker else replace(message, speaker=speaker)


def _time(value: object, index: int) -> datetime | None:
    if value is None or isinstance(value, datetime):
        return value
    try:
        return datetime.fromisoformat(str(value))
    except ValueError as error:
        raise BadInput(
            f"the time of message {index} is {_shortened(value)}: give a datetime or ISO 8601"
        ) from error


def _shortened(value: object) -> str:
    return f"{value!r:.80}"


def text_of(message: ChatMessage) -> str:
    """The text of a message, or of its text parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [part.get("text") for part in content if isinstance(part, dict)]
    return "\n".join(text for text in parts if isinstance(text, str))


def speaker_name(message: ChatMessage) -> str | None:
    """The name in a message, as it can be stored; None if there is none. One that cannot be used
    is no reason to lose the words."""
    name = message.get("name")
    if not isinstance(name, str):
        return None
    return "".join(c for c in one_line(name) if c.isprintable())[:MAX_NAME].strip() or None


def one_line(text: str) -> str:
    """The text with all white space as single spaces, so that copies of it compare equal."""
    return " ".join(text.split())


def spoken_words(message: ChatMessage) -> tuple[Speaker, str] | None:
    """Who speaks in a message, and the text as `compared`; None if it is no one's turn."""
    role = message.get("role")
    return (Speaker(role), compared(text_of(message))) if role in ("user", "assistant") else None


def compared(text: str) -> str:
    """The text as it is compared with others: of a long one its beginning and its end."""
    return one_line(both_ends(text))


@dataclass(frozen=True, kw_only=True)
class UserMessage:
    """A user message in a request."""

    id: str
    text: str
    index: int
    """Index of the message in the request."""
    first: bool
    """Whether no user or assistant message comes before it in the request."""
    name: str | None = None
    """The speaker's name, if it is given: in a group several people speak as the user."""


@dataclass(frozen=True, kw_only=True)
class Incoming:
    """The user messages of a request that are to be recorded and answered."""

    words: tuple[UserMessage, ...]
    """To be recorded; the last one is to be answered. Empty if the user says nothing."""
    follow_up: bool = False
    """Whether they were answered before, by a tool call or the beginning of an answer."""

    @property
    def text(self) -> str:
        """The text that recall searches for."""
        return "\n".join(words.text for words in self.words)


def latest(messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
    """The messages of a request that are looked at. A longer history is like that of a client that
    drops old messages."""
    return messages[-MOST_MESSAGES:]


def incoming(messages: Sequence[ChatMessage], *, session: str | None) -> Incoming:
    """The messages of a request that are to be recorded and answered."""
    position = history_hash(None, "session", session or "")
    from_user: list[UserMessage] = []
    dropped = max(0, len(messages) - MOST_MESSAGES)
    new, first = 0, not dropped
    for index, message in enumerate(latest(messages), start=dropped):
        role = message.get("role")
        if role not in ("user", "assistant"):
            continue
        text = text_of(message)
        position = history_hash(position, role, text)
        if role == "assistant":
            new = len(from_user)
        elif text.strip():
            id_ = message_id(position)
            name = speaker_name(message)
            from_user.append(UserMessage(id=id_, text=text, index=index, first=first, name=name))
        first = False
    if new < len(from_user):
        return Incoming(words=tuple(from_user[new:]))
    return Incoming(words=tuple(from_user[-1:]), follow_up=True)


def history_hash(before: hashlib.blake2b | None, role: str, text: str) -> hashlib.blake2b:
    """The hash of a chat's history with one more message; `before` is None at its beginning."""
    blank = hashlib.blake2b(digest_size=16, person=b"omoide-chat")
    after = before.copy() if before else blank
    data = text.encode("utf-8", "surrogatepass")
    after.update(f"{role}:{len(data)}:".encode() + data)
    return after


def message_id(history: hashlib.blake2b) -> str:
    """The id of a user's message, by the hash of a history that ends with it."""
    return f"chat-{history.hexdigest()}"


def is_same(turn: str, message: str) -> bool:
    """Whether a turn's id is that of a message, said for the first time or again."""
    return turn == message or (turn.startswith(f"{message}-") and "/" not in turn[len(message) :])


def with_memory(
    messages: Sequence[ChatMessage],
    contributions: Sequence[Contribution],
    *,
    last: int,
    language: str,
    today: date,
) -> list[dict[str, Any]]:
    """The messages with memory added. What is known goes after the text of the client's own system
    message, so that this stays a prefix that all its users share; what was recalled goes before the
    user's text in message `last`. A second system message would break many chat templates."""
    result = [dict(message) for message in messages]
    if recalled := recalled_text(contributions, language, today=today):
        result[last] = _before(result[last], recalled)
    if memory := memory_text(contributions, language, today=today):
        if result[0].get("role") in ("system", "developer"):
            result[0] = _after(result[0], memory)
        else:
            result.insert(0, {"role": "system", "content": memory})
    return result


def memory_text(contributions: Sequence[Contribution], language: str, *, today: date) -> str:
    """What is known about the user, for a system message; empty if nothing is. It says what day it
    is, since the notes are dated and many clients do not say it. It does not ask for a tone or
    length: the client chooses those."""
    known = in_parts(contributions, language)
    if not known:
        return ""
    day, memory = dated(today, language), "\n".join(known)
    return render("proxy_memory", language, memory=memory, today=day).messages[0].content


def recalled_text(contributions: Sequence[Contribution], language: str, *, today: date) -> str:
    """What was recalled for a message, to go before its text; empty if nothing was."""
    recalled = [c.text for c in contributions if c.place is PromptPlace.RECALLED]
    if not recalled:
        return ""
    day, notes = dated(today, language), as_list(recalled)
    return render("proxy_recalled", language, recalled=notes, today=day).messages[0].content


def _before(message: dict[str, Any], text: str) -> dict[str, Any]:
    content = message.get("content")
    if isinstance(content, list):
        return {**message, "content": [{"type": "text", "text": text}, *content]}
    return {**message, "content": f"{text}\n\n{content}"}


def _after(message: dict[str, Any], text: str) -> dict[str, Any]:
    content = message.get("content")
    if isinstance(content, list):
        return {**message, "content": [*content, {"type": "text", "text": text}]}
    return {**message, "content": f"{content}\n\n{text}" if content else text}

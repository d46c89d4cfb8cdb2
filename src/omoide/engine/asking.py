"""One message and its reply, as values: what is asked, what is answered, and what became of it."""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from omoide.domain import RecordedTurns
from omoide.domain.time import message_time
from omoide.engine.messages import Incoming, UserMessage, Utterance, incoming
from omoide.engine.recorder import PARTIAL

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from omoide.domain import ModelCall, Owner, Turn
    from omoide.domain.waiting import Waiting
    from omoide.engine.context import Context
    from omoide.engine.messages import ChatMessage
    from omoide.mechanisms.base import Contribution

NOTHING = RecordedTurns((), new=frozenset())


class Stored(StrEnum):
    """What became of the words of an exchange."""

    YES = "yes"
    WAITING = "waiting"
    """Not stored; they wait durably to be stored later."""
    NO = "no"
    """Not stored, and not kept either."""


@dataclass(frozen=True, kw_only=True)
class Asking:
    """The message of an exchange, and how it is to be handled."""

    owner: Owner
    incoming: Incoming
    messages: tuple[ChatMessage, ...] = ()
    """The messages of the request, if the caller keeps its own history."""
    session: str | None = None
    at: datetime | None = None
    tolerant: bool = False
    """Whether errors of memory are noted instead of raised."""
    patience: float | None = None
    """Seconds that memory may take in a tolerant exchange."""
    budget: int | None = None
    """Most tokens of memory; as configured if None."""
    replaces: tuple[str, ...] = ()
    """Ids of the turns whose place the message takes: those of open sessions are removed."""

    @classmethod
    def words(
        cls, owner: Owner, said: Utterance, *, session: str | None, at: datetime | None
    ) -> Asking:
        """One message; it is new unless its id is known."""
        spoken = None if said.time is None else message_time(said.time, "time")
        words = UserMessage(
            id=said.id or uuid.uuid4().hex, text=said.text, index=0, first=False, name=said.name
        )
        return cls(
            owner=owner,
            incoming=Incoming(words=(words,)),
            session=session,
            at=spoken if at is None else at,
        )

    @classmethod
    def chat(
        cls, owner: Owner, messages: Sequence[ChatMessage], *, session: str | None = None
    ) -> Asking:
        """A list of messages, some of which may be recorded already."""
        return cls(
            owner=owner,
            incoming=incoming(messages, session=session),
            messages=tuple(messages),
            session=session,
        )


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A model's reply."""

    text: str
    once: bool = False
    """Whether the same reply to the same message is recorded only once: for clients that ask again.
    A different reply to the same message takes the place of the former one, unless the user may
    have said the same again, or said more since."""
    complete: bool = True
    """Whether it came to its end. One that broke off is replaced when the client asks again."""
    call: ModelCall | None = None
    """What it cost, if that is not in the ledger yet."""

    def id(self, turn: Turn) -> str | None:
        """The id to record it under; None for a new one."""
        if not self.once:
            return None
        digest = hashlib.blake2b(self.text.encode(), digest_size=8).hexdigest()
        return f"{turn.id[:200]}{'+' if self.complete else PARTIAL}{digest}"


class ExchangeService(Protocol):
    """What ends an exchange."""

    async def finish(
        self, exchange: Exchange, answer: Answer, *, record: bool = True
    ) -> RecordedTurns:
        """See `Exchange.finish`."""


@dataclass(kw_only=True, eq=False)
class Exchange:
    """A recorded message, what memory adds to the prompt of its reply, and a way to record that
    reply."""

    asking: Asking
    service: ExchangeService = field(repr=False)
    turns: RecordedTurns = NOTHING
    """The user's turns, as recorded."""
    context: Context | None = None
    version: int = 0
    """The version of the summary that the context was built from."""
    problems: list[Exception] = field(default_factory=list)
    """Errors of memory, if there were any."""
    repeated: bool = False
    """Whether the message was recorded before: the client asks again."""
    changes: list[str] = field(default_factory=list)
    """What was changed to record the message: `text-cleaned`, `text-split`."""
    seconds: float = 0.0
    """How long it took to build the context."""
    prepared: list[dict[str, Any]] | None = field(default=None, repr=False)
    """The caller's messages with memory added."""
    attempt: asyncio.Task[None] | None = field(default=None, repr=False)
    """The task that still records and builds the context after `patience` ran out."""
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    time: datetime
    """When the message came."""
    stored: Stored = Stored.YES
    """Whether all that was said so far is stored."""
    answered: bool = False
    """Whether its reply came, or as much of it as will come."""
    kept: Waiting | None = field(default=None, repr=False)
    """What of it was first kept to wait, or was to be."""
    keeping: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)
    """Held while its words are kept to wait, or dropped because they are stored."""

    @property
    def owner(self) -> Owner:
        """The owner of the memory."""
        return self.asking.owner

    @property
    def turn(self) -> Turn:
        """The user's turn that is answered."""
        return self.turns[-1]

    @property
    def session(self) -> int | None:
        """The number of the session, once anything is recorded."""
        return self.turns[-1].session if self.turns else None

    @property
    def why(self) -> tuple[Contribution, ...]:
        """What memory adds to the prompt, each with its reason."""
        return self.context.contributions if self.context is not None else ()

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages to send to a model, with what memory adds."""
        if self.prepared is not None:
            return self.prepared
        if self.context is not None:
            return self.context.messages
        given = self.asking.messages or tuple(
            {"role": "user", "content": words.text} for words in self.asking.incoming.words
        )
        return [dict(message) for message in given]

    async def finish(self, reply: str | Answer, *, record: bool = True) -> RecordedTurns:
        """Record the reply and mark what was recalled for it as used. Returns the turns of the
        reply when that is durable: none if it says nothing, or if the message was erased meanwhile.
        Without `record` it only marks: for replaying a dialogue."""
        answer = Answer(text=reply) if isinstance(reply, str) else reply
        return await self.service.finish(self, answer, record=record)

"""What memory adds to a prompt, as a server says, and an exchange over HTTP."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from omoide.engine import Answer
from omoide.engine.asking import NOTHING
from omoide.errors import OmoideError
from omoide.mechanisms.base import PromptPlace

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from omoide.domain import RecordedTurns, Turn
    from omoide.mechanisms.base import Contribution

    Finish = Callable[["RemoteExchange", Answer, bool], Awaitable[RecordedTurns]]


@dataclass(frozen=True, kw_only=True)
class RemoteContext:
    """What memory adds to the prompt of one reply, and why."""

    text: str
    """The memory as one text, for your own prompt; empty if there is nothing to add."""
    messages: list[dict[str, Any]]
    """The messages to send to a model, with what memory adds."""
    contributions: tuple[Contribution, ...]

    @property
    def recalled(self) -> tuple[Contribution, ...]:
        """What was recalled for the user's message."""
        return tuple(c for c in self.contributions if c.place is PromptPlace.RECALLED)


@dataclass(kw_only=True, eq=False)
class RemoteExchange:
    """See `omoide.Exchange`: a recorded message, and a way to record its reply."""

    given: list[dict[str, Any]]
    """What the caller passed, as messages."""
    end: Finish = field(repr=False)
    tolerant: bool = False
    turns: RecordedTurns = NOTHING
    """The user's turns, as recorded."""
    context: RemoteContext | None = None
    version: int = 0
    """The version of the summary that the context was built from."""
    problems: list[Exception] = field(default_factory=list)
    """Errors of memory, in a tolerant exchange."""
    repeated: bool = False
    """Whether the message was recorded before."""
    changes: list[str] = field(default_factory=list)
    """What was changed to record the message."""

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
        return self.context.messages if self.context is not None else self.given

    async def finish(self, reply: str | Answer, *, record: bool = True) -> RecordedTurns:
        """See `omoide.Exchange.finish`."""
        if not self.turns:
            return NOTHING
        answer = Answer(text=reply) if isinstance(reply, str) else reply
        try:
            return await self.end(self, answer, record)
        except OmoideError as error:
            if not self.tolerant:
                raise
            self.problems.append(error)
        return NOTHING

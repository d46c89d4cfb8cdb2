"""What a model's answer says about facts: operations, and what was set aside with a reason.

Every entry of an answer becomes one or the other, so that the counts add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from omoide.domain import FactKind

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from omoide.domain import Fact
    from omoide.mechanisms.summary.forms import FormRequest
    from omoide.prompts.transcript import Line


class Action(StrEnum):
    """What to do with a fact."""

    ADD = "add"
    REPLACE = "replace"
    """Add a fact that makes known ones untrue."""
    END = "end"
    """A known fact no longer holds, and nothing replaces it."""
    CONFIRM = "confirm"
    """A known fact was said again."""
    FORGET = "forget"
    """The user asks to have something forgotten: known facts, lines of the session, or both."""


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One entry of an answer."""

    action: Action
    about: str = ""
    """`user`, `assistant` or a name; for known facts not needed."""
    text: str = ""
    kind: FactKind = FactKind.STATE
    facts: tuple[str, ...] = ()
    """Ids of the known facts that it is about."""
    until_then: tuple[str, ...] = ()
    """If it is a plan, the texts of facts, known or told beside it, that hold until then: who will
    move to Bergen lives in Oslo."""
    turns: tuple[str, ...] = ()
    """Ids of the turns that support it."""
    since: date | None = None
    since_last: date | None = None
    """The last day of the month or year that the answer gave for `since`."""
    until: date | None = None
    says_days: bool = False
    """Whether the answer was to say since when and until when it holds: then None means that nobody
    knows."""
    reason: str = ""
    flags: tuple[str, ...] = ()
    by_rule: bool = False
    """Whether code added it next to the answer's own entries."""


@dataclass(frozen=True, kw_only=True)
class SetAside:
    """An entry that did not become memory, and why."""

    text: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Topic:
    """A stretch of the session about one thing."""

    topic: str
    summary: str
    first: int
    """Number of its first line, from 1."""
    last: int


@dataclass(frozen=True, kw_only=True)
class FormAnswer:
    """A model's answer as it was read."""

    operations: tuple[Operation, ...] = ()
    aside: tuple[SetAside, ...] = ()
    topics: tuple[Topic, ...] = ()

    @property
    def entries(self) -> int:
        """How many entries the answer had."""
        return len(self.aside) + sum(not operation.by_rule for operation in self.operations)


class FactForm(Protocol):
    """A way of asking a model for the facts of a session."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def topics(self) -> bool:
        """Whether its answers divide the session into topics."""

    def ask(
        self, *, known: Sequence[Fact], session: Sequence[Line], language: str
    ) -> FormRequest | None:
        """The request; None if nothing in the session is worth asking about."""

    def ask_again(
        self, request: FormRequest, answer: str, *, problem: str, language: str
    ) -> FormRequest:
        """The request once more, with the answer that could not be used and what was wrong."""

    def read(
        self, answer: str, *, known: Sequence[Fact], session: Sequence[Line], language: str
    ) -> FormAnswer:
        """Read an answer. Raises `BadReply` if nothing in it can be read."""

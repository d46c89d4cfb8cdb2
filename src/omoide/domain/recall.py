"""What a recall returns: items, and how well memory supports the query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omoide.domain.words import OpenEnum

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date, datetime

    from omoide.domain.turn import Speaker


class MemoryKind(OpenEnum):
    """The kind of a memory item. A mechanism may contribute items of its own kind; a store searches
    the first four."""

    TURN = "turn"
    EVENT = "event"
    MEMO = "memo"
    FACT = "fact"
    """A fact that has not ended."""
    SENTENCE = "sentence"
    """A sentence of the summary."""


@dataclass(frozen=True, kw_only=True)
class Ending:
    """Facts that ended on the same day and were replaced by the same."""

    ended: tuple[str, ...]
    until: date
    """The last day on which they held, or the day on which memory learned that they no longer
    do."""
    since_then: str = ""
    """The fact that holds in their place, if any."""


@dataclass(frozen=True, kw_only=True)
class Outdated:
    """What no longer holds of what a turn or the summary of a topic says."""

    until: date
    """The last day on which all of it held, or the day on which memory learned that it no longer
    does."""
    ended: tuple[str, ...]
    """The facts that rest on it and have ended."""
    since_then: tuple[str, ...] = ()
    """The facts that hold in their place, if any."""
    wholly: bool = True
    """Whether no fact that rests on it still holds."""
    endings: tuple[Ending, ...] = ()
    """The same for each day and what holds since."""


@dataclass(frozen=True, kw_only=True)
class RecalledItem:
    """One recalled item."""

    kind: MemoryKind
    text: str
    score: float
    """Only comparable within one recall."""
    sources: tuple[str, ...]
    """Ids of the turns that support it; for a turn, its own id."""
    time: datetime
    tokens: int
    id: str = ""
    """Id of the turn, event, memo or fact; for a sentence, its version and number: `v3-1`."""
    session: int | None = None
    speaker: Speaker | None = None
    """Who said it, for a turn."""
    name: str | None = None
    """The speaker's name, if known."""
    counted: tuple[tuple[str, float], ...] = ()
    """For a turn: what each kind of evidence added to the score, the largest first."""
    answers: str = ""
    """For a turn that answers a question: that question."""
    outdated: Outdated | None = None
    """For a turn or memo: what no longer holds of it, if memory knows of anything."""


@dataclass(frozen=True, kw_only=True)
class Support:
    """Evidence that memory holds something about the query."""

    best: float
    """The highest score of a turn."""
    mismatch: float
    """How much better the query's words match turns of other speakers than of the one it asks
    about. Above 0, the query may attribute something to the wrong person. Good enough as a hint in
    a prompt, too weak to refuse an answer."""
    words: float = 0.0
    """The share of the query's words, weighted by rarity, that one turn and its neighbours have."""
    cosine: float | None = None
    """The highest cosine of a turn; None without vectors."""
    turns: int = 0
    """How many turns were searched."""
    asks: bool = True
    """Whether the query is a question."""
    personal: bool = False
    """Whether it asks about the asker, somebody by name, or what the other said."""
    addressed: bool = False
    """Whether it asks about the one who is asked: "Do you like tea?"."""
    known: float = 0.0
    """The probability that memory has something about the query, assuming that half of all queries
    have nothing. Calibrated by the size of the memory and the embedder
    (`omoide.mechanisms.search.gate`). It does not detect a fact that is attributed to the wrong
    person (LoCoMo's category 5)."""

    space: str = ""
    """The embedder's space for which `known` is calibrated; empty if words decided."""

    def as_dict(self) -> dict[str, float]:
        """The three numbers by name, for JSON."""
        return {"known": self.known, "best": self.best, "mismatch": self.mismatch}


class RecallResult(tuple[RecalledItem, ...]):
    """The recalled items, best first: a tuple that also carries the support for an answer.

    >>> result = RecallResult((), support=Support(best=2.0, mismatch=0.0, known=0.1))
    >>> result == (), result.support.known
    (True, 0.1)
    """

    support: Support
    degraded: str
    """Why the search used words only, if it did: the vectors could not be reached."""

    def __new__(
        cls, items: Iterable[RecalledItem], *, support: Support, degraded: str = ""
    ) -> RecallResult:
        """Make the tuple and attach the support."""
        result = super().__new__(cls, items)
        result.support = support
        result.degraded = degraded
        return result

    def __getnewargs_ex__(self) -> tuple[tuple[tuple[RecalledItem, ...]], dict[str, Any]]:
        return (tuple(self),), {"support": self.support, "degraded": self.degraded}

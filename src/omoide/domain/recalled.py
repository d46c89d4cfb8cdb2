"""What comes to mind for a query."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import exp
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from omoide.domain.turn import Speaker


class Kind(StrEnum):
    """What sort of memory an item is."""

    TURN = "turn"
    EVENT = "event"
    MEMO = "memo"
    SENTENCE = "sentence"
    """Of the summary."""


@dataclass(frozen=True, kw_only=True)
class Recalled:
    """One item that came to mind, best first in a list of them."""

    kind: Kind
    text: str
    score: float
    """Comparable within one recall only."""
    sources: tuple[str, ...]
    """The turns it rests on; for a turn, itself."""
    time: datetime
    tokens: int
    session: int | None = None
    speaker: Speaker | None = None
    """Who said it, for a turn."""


@dataclass(frozen=True, kw_only=True)
class Support:
    """What speaks for the answer being in memory at all."""

    best: float
    """The highest score of a turn."""
    mismatch: float
    """How much better the words fit turns of others than of whom the query is about. Above 0 the
    query may ascribe one's deeds to another: a hint for a prompt, too weak to refuse by."""

    @property
    def known(self) -> float:
        """The probability that memory speaks of it, if half of all questions had no answer.

        Fitted on conversations 1-5 of LoCoMo with an embedder at work. On the others, against
        questions about another conversation (31 % of all), "below 0.35" finds 70 % of them, and is
        right in 69 %; it refuses 14 % of the questions that have an answer. It does not tell a
        true story of the wrong person (LoCoMo's category 5) from one of the right person: at the
        same cut it finds 13 %, right in 20 %, no better than chance (`omoide bench abstention`).

        It holds for whole questions to an owner of some hundreds of turns: scores rise with the
        number of turns, so it is too low for a small memory, a few bare words, or no embedder.
        """
        return 1 / (1 + exp(min(6.5 - 0.53 * self.best + 0.11 * self.mismatch, 700)))

    def figures(self) -> dict[str, float]:
        """All three by name, for JSON."""
        return {"known": self.known, "best": self.best, "mismatch": self.mismatch}


class Recollection(tuple[Recalled, ...]):
    """What came to mind, best first: a tuple of items that also says what speaks for memory knowing
    anything of it at all.

    >>> found = Recollection((), support=Support(best=2.0, mismatch=0.0))
    >>> found == (), round(found.support.known, 3)
    (True, 0.004)
    """

    support: Support
    lacking: str
    """Why only words were looked at and not their meaning, if so: vectors could not be reached."""

    def __new__(
        cls, items: Iterable[Recalled], *, support: Support, lacking: str = ""
    ) -> Recollection:
        """A tuple of the items, with the support beside it."""
        made = super().__new__(cls, items)
        made.support = support
        made.lacking = lacking
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[tuple[Recalled, ...]], dict[str, Any]]:
        return (tuple(self),), {"support": self.support, "lacking": self.lacking}

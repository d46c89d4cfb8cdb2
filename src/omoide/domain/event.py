"""Events: single things that happened, with the state of their forgetting curves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.domain.forgetting import UNIT, consolidated, recall_probability

if TYPE_CHECKING:
    from datetime import datetime, timedelta


@dataclass(frozen=True, kw_only=True)
class Event:
    """One thing that happened, as the speaker told it."""

    id: str
    session: int
    text: str
    time: datetime
    """When the speaker told it."""
    sources: tuple[str, ...]
    topics: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    participants: tuple[str, ...] = ()
    feeling: float = 0.0
    """How strongly it was felt, 0 to 1."""
    last_recalled: datetime
    """When it was last recalled; equal to `time` if it never was."""
    recalls: int = 0
    consolidation: float = 1.0
    """g_n of Hou et al. 2024, eq. 9: grows with each recall, so the event fades more slowly."""
    superseded_by: str | None = None
    """Id of the newer event that made this one untrue, if any."""
    fact: str = ""
    """Id of the fact that it is the memory of, if any."""

    def probability(self, *, relevance: float, now: datetime, unit: timedelta = UNIT) -> float:
        """Probability that it is recalled at `now` (eq. 8)."""
        return recall_probability(
            relevance=relevance,
            elapsed=now - self.last_recalled,
            consolidation=self.consolidation,
            unit=unit,
        )

    def recalled(self, now: datetime, *, unit: timedelta = UNIT) -> Event:
        """The event after being recalled at `now` (eq. 9)."""
        grown = consolidated(self.consolidation, elapsed=now - self.last_recalled, unit=unit)
        return replace(
            self,
            consolidation=grown,
            recalls=self.recalls + 1,
            last_recalled=max(now, self.last_recalled),
        )

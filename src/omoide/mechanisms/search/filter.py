"""Which of the items that were found may be returned."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING

from omoide.domain import MemoryKind

if TYPE_CHECKING:
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from omoide.domain import Fact, Speaker
    from omoide.ports.store import TurnTable


@dataclass(frozen=True, kw_only=True)
class RecallFilter:
    """Which items may be returned. Neighbours and sessions still count as evidence."""

    kinds: frozenset[MemoryKind] = frozenset(MemoryKind)
    since: datetime | None = None
    until: datetime | None = None
    speaker: Speaker | None = None
    """Only turns of this speaker; everything but turns is left out."""
    about: str | None = None
    """Only facts about the person of this name; upper and lower case make no difference."""
    tags: frozenset[str] = frozenset()
    """Only facts with one of these tags."""

    def wants(self, kind: MemoryKind) -> bool:
        """Whether items of the kind may be returned."""
        if (self.about is not None or self.tags) and kind is not MemoryKind.FACT:
            return False
        return kind in self.kinds and (self.speaker is None or kind is MemoryKind.TURN)

    def admits_fact(self, fact: Fact) -> bool:
        """Whether a fact of that time, person and tags may be returned."""
        tagged = not self.tags or not self.tags.isdisjoint(fact.tags)
        of_person = self.about is None or fact.is_about(self.about)
        return of_person and tagged and self.admits(fact.said)

    def admits(self, time: datetime) -> bool:
        """Whether an item of that time may be returned."""
        after = self.since is None or time >= self.since
        return after and (self.until is None or time <= self.until)

    def rows(self, table: TurnTable) -> NDArray[np.bool_] | None:
        """Which turns may be returned; None for all."""
        import numpy as np

        if self.since is None and self.until is None and self.speaker is None:
            return None
        keep = np.ones(len(table.ids), bool)
        for limit, compare in ((self.since, np.greater_equal), (self.until, np.less_equal)):
            if limit is not None:
                bound = np.datetime64(limit.astimezone(UTC).replace(tzinfo=None), "us")
                keep &= compare(table.time, bound)
        if self.speaker is not None:
            theirs = [i for i, who in enumerate(table.speakers) if who.speaker is self.speaker]
            keep &= np.isin(table.voice, theirs)
        return keep

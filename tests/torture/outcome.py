"""What a torture came to, and how it is told."""

from __future__ import annotations

from dataclasses import asdict, dataclass

HEAD = (
    "| what is done to it | trials | acknowledged | lost | doubled | memories emptied "
    "| cross-tenant reads | seconds | beside |"
)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One row."""

    name: str
    trials: int
    acknowledged: int
    """Turns, ends, recalls and erasures that were promised."""
    lost: int
    """Of these, how many did not hold."""
    doubled: int
    emptied: int
    crossed: int
    """Words of one tenant that were seen in the other's."""
    seconds: float
    beside: str = ""

    @property
    def good(self) -> bool:
        """Whether nothing went wrong."""
        return not (self.lost or self.doubled or self.emptied or self.crossed)

    @property
    def row(self) -> str:
        """As a line of a Markdown table."""
        cells = [f"{v:,}" if isinstance(v, int) else str(v) for v in asdict(self).values()]
        cells[-2] = f"{self.seconds:.0f}"
        return f"| {' | '.join(cells)} |"


def table(outcomes: list[Outcome]) -> str:
    """All rows."""
    ruler = "|---" + "|---:" * 7 + "|---|"
    return "\n".join([HEAD, ruler, *(outcome.row for outcome in outcomes)])

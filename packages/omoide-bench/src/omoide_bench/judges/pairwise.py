"""Which of two replies to the same dialogue is better, asked in both orders, as in paper A.

The judge explains itself, then picks one of four: the first, slightly the first, slightly the
second, the second. A reply wins only if it is picked in both orders; if the order decides, the pair
is a tie and is reported as position bias. (Paper A asks in one order only.)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from omoide.ports import Request
from omoide.prompts import render
from omoide_bench.concurrency import gather_both
from omoide_bench.judges.asking import EXPLAINED, bracketed, criterion, field, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide_bench.judges.asking import Ask


class Better(StrEnum):
    """A judge's verdict on two replies, in the order it saw them."""

    FIRST = "A"
    SLIGHTLY_FIRST = "slightly A"
    SLIGHTLY_SECOND = "slightly B"
    SECOND = "B"

    @property
    def first(self) -> bool:
        """Whether the first reply is the better one."""
        return self in (Better.FIRST, Better.SLIGHTLY_FIRST)

    @property
    def slight(self) -> bool:
        """Whether the difference is slight."""
        return self in (Better.SLIGHTLY_FIRST, Better.SLIGHTLY_SECOND)


ASPECTS = ("engaging", "coherent", "consistent")
"""What paper A's judge compares replies by, all in one question."""
SCHEMA = {
    "type": "object",
    "properties": {
        "why": {"type": "string"},
        "better": {"enum": [option.value for option in Better]},
    },
    "required": ["why", "better"],
    "additionalProperties": False,
}


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two replies, ours and theirs, with the context to judge them by."""

    known: Sequence[str] | str
    dialogue: Sequence[str] | str
    ours: str
    theirs: str


@dataclass(frozen=True, kw_only=True)
class PairVerdict:
    """The verdicts in both orders."""

    ours_first: Better | None
    """The verdict with ours first; None if unreadable."""
    theirs_first: Better | None
    """The verdict with theirs first: `FIRST` then means theirs."""
    answers: tuple[str, str]
    prompt: str

    @property
    def outcome(self) -> str | None:
        """win, loss or tie; None (unscored) unless both verdicts were readable."""
        if self.ours_first is None or self.consistent is None:
            return None
        if not self.consistent:
            return "tie"
        return "win" if self.ours_first.first else "loss"

    @property
    def consistent(self) -> bool | None:
        """Whether both orders preferred the same reply; None if either was unreadable."""
        if self.ours_first is None or self.theirs_first is None:
            return None
        return self.ours_first.first is not self.theirs_first.first

    @property
    def slight(self) -> bool:
        """Whether a win or loss is slight in both orders."""
        picks = [pick for pick in (self.ours_first, self.theirs_first) if pick is not None]
        return self.outcome in ("win", "loss") and all(pick.slight for pick in picks)


@dataclass(frozen=True, kw_only=True)
class PairReport:
    """Outcomes over many pairs."""

    wins: int
    losses: int
    ties: int
    slight_wins: int
    """How many of the wins are slight in both orders."""
    slight_losses: int
    unscored: int
    consistent: float | None
    """Share of scored pairs in which both orders preferred the same reply."""
    first_picked: int
    """How often the first reply was picked, over both orders."""
    second_picked: int

    @property
    def position_bias(self) -> float | None:
        """From −1 (always the second) to 1 (always the first); 0 is no bias."""
        picked = self.first_picked + self.second_picked
        return (self.first_picked - self.second_picked) / picked if picked else None


class PairJudge:
    """Compares replies through `ask`, by one criterion or several."""

    def __init__(self, *, ask: Ask, language: str = "en", about: Sequence[str] = ASPECTS) -> None:
        self._ask = ask
        self._language = language
        self._about = "\n".join(f"- {criterion(name, language)}" for name in about)

    async def compare(self, pair: Pair) -> PairVerdict:
        """Compare in both orders, one call each. Raises `ModelError` if the model fails."""
        (ours_first, prompt, first), (theirs_first, _, second) = await gather_both(
            self._ask_once(pair, pair.ours, pair.theirs),
            self._ask_once(pair, pair.theirs, pair.ours),
        )
        return PairVerdict(
            ours_first=ours_first, theirs_first=theirs_first, answers=(first, second), prompt=prompt
        )

    async def _ask_once(
        self, pair: Pair, first: str, second: str
    ) -> tuple[Better | None, str, str]:
        prompt = render(
            "omoide_bench:judge_pair",
            self._language,
            criteria=self._about,
            known=shown(pair.known, self._language),
            dialogue=shown(pair.dialogue, self._language),
            first=shown(first, self._language),
            second=shown(second, self._language),
        )
        request = Request(messages=prompt.messages, max_tokens=EXPLAINED, schema=SCHEMA)
        done = await self._ask(request)
        return read_better(done.text), prompt.hash, done.text


_ALONE = re.compile(
    r"(?:^|answer|better|verdict|winner|choice)\W*(?:(?:is|reply)\W*)*((?:slightly )?[ab])\W*$",
    re.IGNORECASE,
)


def read_better(answer: str) -> Better | None:
    """The option in a verdict: in its JSON, in [[…]], or alone on the last line.

    >>> read_better("I like them."), read_better("Answer: slightly B")
    (None, <Better.SLIGHTLY_SECOND: 'slightly B'>)
    """
    value = field(answer, "better")
    if not isinstance(value, str):
        value = bracketed(answer)
    if value is None:
        last = answer.strip().splitlines()[-1:] or [""]
        match = _ALONE.search(last[0].strip())
        value = match[1] if match else None
    by_name = {option.value.lower(): option for option in Better}
    return by_name.get(value.strip().lower()) if value else None


def pair_report(verdicts: Sequence[PairVerdict]) -> PairReport:
    """Outcomes, consistency, and how often each position was picked."""
    outcomes = [verdict.outcome for verdict in verdicts]
    picks = [pick for v in verdicts for pick in (v.ours_first, v.theirs_first) if pick is not None]
    consistent = [v.consistent for v in verdicts if v.consistent is not None]
    return PairReport(
        wins=outcomes.count("win"),
        losses=outcomes.count("loss"),
        ties=outcomes.count("tie"),
        slight_wins=sum(v.slight for v in verdicts if v.outcome == "win"),
        slight_losses=sum(v.slight for v in verdicts if v.outcome == "loss"),
        unscored=outcomes.count(None),
        consistent=sum(consistent) / len(consistent) if consistent else None,
        first_picked=sum(pick.first for pick in picks),
        second_picked=sum(not pick.first for pick in picks),
    )

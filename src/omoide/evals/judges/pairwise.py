"""Two replies to the same dialogue: which is better, asked in both orders.

Four options: the one, the other, both equally good, neither good. A pair is won only if the same
reply is picked whichever stands first; if the order decides, it counts as a tie and is reported as
position bias. (Paper A offers "slightly" as well and asks in one order only.)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from omoide.evals.judges.asking import bracketed, criterion, field, shown
from omoide.ports import Request
from omoide.prompts import render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.evals.judges.asking import Ask


class Better(StrEnum):
    """What a judge may say of two replies in the order it saw them."""

    FIRST = "A"
    SECOND = "B"
    TIE = "tie"
    NEITHER = "neither"


SCHEMA = {
    "type": "object",
    "properties": {"better": {"enum": [option.value for option in Better]}},
    "required": ["better"],
    "additionalProperties": False,
}


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two replies, ours and theirs, and what they are to be judged by."""

    known: Sequence[str] | str
    dialogue: Sequence[str] | str
    ours: str
    theirs: str


@dataclass(frozen=True, kw_only=True)
class PairVerdict:
    """What came of asking twice."""

    ours_first: Better | None
    """As said when ours stood first; None if it could not be read."""
    theirs_first: Better | None
    """As said when theirs stood first: `FIRST` then means theirs."""
    answers: tuple[str, str]
    prompt: str

    @property
    def outcome(self) -> str | None:
        """win, loss, tie, neither; None, unscored, unless both answers could be read."""
        if self.ours_first is None or self.consistent is None:
            return None
        if not self.consistent:
            return "tie"
        return {
            Better.FIRST: "win",
            Better.SECOND: "loss",
            Better.TIE: "tie",
            Better.NEITHER: "neither",
        }[self.ours_first]

    @property
    def consistent(self) -> bool | None:
        """Whether both orders gave the same; None if either could not be read."""
        if self.ours_first is None or self.theirs_first is None:
            return None
        turned = {Better.FIRST: Better.SECOND, Better.SECOND: Better.FIRST}
        return self.ours_first is turned.get(self.theirs_first, self.theirs_first)


@dataclass(frozen=True, kw_only=True)
class PairReport:
    """Many pairs together."""

    wins: int
    losses: int
    ties: int
    neither: int
    unscored: int
    consistent: float | None
    """Share of scored pairs for which the order changed nothing."""
    first_picked: int
    """How often the reply that stood first was picked, over both orders."""
    second_picked: int

    @property
    def position_bias(self) -> float | None:
        """From −1 (always the second) to 1 (always the first); 0 where the place plays no part."""
        picked = self.first_picked + self.second_picked
        return (self.first_picked - self.second_picked) / picked if picked else None


class PairJudge:
    """Compares replies through `ask`, by one criterion."""

    def __init__(self, *, ask: Ask, language: str = "en", about: str = "consistent") -> None:
        self._ask = ask
        self._language = language
        self._about = criterion(about, language)

    async def compare(self, pair: Pair) -> PairVerdict:
        """Both orders, one call each. Raises `ModelError` if the model fails."""
        one, prompt, first = await self._asked(pair, pair.ours, pair.theirs)
        other, _, second = await self._asked(pair, pair.theirs, pair.ours)
        return PairVerdict(
            ours_first=one, theirs_first=other, answers=(first, second), prompt=prompt
        )

    async def _asked(self, pair: Pair, first: str, second: str) -> tuple[Better | None, str, str]:
        prompt = render(
            "judge_pair",
            self._language,
            criterion=self._about,
            known=shown(pair.known, self._language),
            dialogue=shown(pair.dialogue, self._language),
            first=shown(first, self._language),
            second=shown(second, self._language),
        )
        done = await self._ask(Request(messages=prompt.messages, max_tokens=24, schema=SCHEMA))
        return read_better(done.text), prompt.hash, done.text


_ALONE = re.compile(
    r"(?:^|answer|better|verdict|winner|choice)\W*(?:(?:is|reply)\W*)*(a|b|tie|neither)\W*$",
    re.IGNORECASE,
)


def read_better(answer: str) -> Better | None:
    """The option in an answer: of its JSON, in [[…]], or alone on the last line.

    >>> read_better('{"better": "tie"}'), read_better("I like them."), read_better("Answer: B")
    (<Better.TIE: 'tie'>, None, <Better.SECOND: 'B'>)
    """
    told = field(answer, "better")
    if not isinstance(told, str):
        told = bracketed(answer)
    if told is None:
        last = answer.strip().splitlines()[-1:] or [""]
        found = _ALONE.search(last[0].strip())
        told = found[1] if found else None
    by_name = {option.value.lower(): option for option in Better}
    return by_name.get(told.strip().lower()) if told else None


def pair_report(verdicts: Sequence[PairVerdict]) -> PairReport:
    """Outcomes, consistency, and how often each place was picked."""
    outcomes = [verdict.outcome for verdict in verdicts]
    said = [one for v in verdicts for one in (v.ours_first, v.theirs_first) if one is not None]
    known = [v.consistent for v in verdicts if v.consistent is not None]
    return PairReport(
        wins=outcomes.count("win"),
        losses=outcomes.count("loss"),
        ties=outcomes.count("tie"),
        neither=outcomes.count("neither"),
        unscored=outcomes.count(None),
        consistent=sum(known) / len(known) if known else None,
        first_picked=said.count(Better.FIRST),
        second_picked=said.count(Better.SECOND),
    )

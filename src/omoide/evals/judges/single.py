"""One reply, graded from 1 to 100 by a criterion at a time, as in papers A and C.

Departures: each criterion is a question and a call of its own, since a small model that is asked
for three numbers gives three equal ones; and what cannot be read is unscored, where the released
code of paper A counts 0.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.evals.bootstrap import estimate
from omoide.evals.judges.asking import bracketed, criterion, field, shown
from omoide.ports import Request
from omoide.prompts import render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.evals.bootstrap import Estimate
    from omoide.evals.judges.asking import Ask

CRITERIA = ("engaging", "coherent", "consistent", "faithful")
"""The first three are paper A's; `faithful` is what MT-Bench+ asks, in paper C and MemoChat."""
SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "integer", "minimum": 1, "maximum": 100}},
    "required": ["score"],
    "additionalProperties": False,
}


@dataclass(frozen=True, kw_only=True)
class Case:
    """A reply and what it is to be judged by."""

    known: Sequence[str] | str
    """What was said or noted in earlier sessions, as far as the judge is to know it."""
    dialogue: Sequence[str] | str
    """The current session up to the reply, a line a turn, with the speakers' names."""
    reply: str


@dataclass(frozen=True, kw_only=True)
class Rating:
    """What a judge made of a reply by one criterion."""

    criterion: str
    score: int | None
    """None: the answer could not be read, and the reply is unscored."""
    answer: str
    prompt: str
    """Hash of the prompt's template."""


@dataclass(frozen=True, kw_only=True)
class Rated:
    """The ratings of many replies by one criterion."""

    criterion: str
    mean: Estimate | None
    """Over those that were scored; None if none was."""
    scored: int
    unscored: int


class SingleJudge:
    """Grades replies through `ask`."""

    def __init__(
        self, *, ask: Ask, language: str = "en", criteria: Sequence[str] = CRITERIA[:3]
    ) -> None:
        unknown = [name for name in criteria if name not in CRITERIA]
        if unknown or not criteria:
            raise BadInput(
                f"criteria are {', '.join(CRITERIA)}; got {', '.join(unknown) or 'none'}"
            )
        self._ask = ask
        self._language = language
        self.criteria = tuple(criteria)

    async def rate(self, case: Case) -> tuple[Rating, ...]:
        """A rating by each criterion, one call each. Raises `ModelError` if the model fails."""
        return tuple(await asyncio.gather(*(self.rate_by(case, name) for name in self.criteria)))

    async def rate_by(self, case: Case, name: str) -> Rating:
        """A rating by one criterion. Raises `ModelError` if the model fails."""
        prompt = render(
            "judge_single",
            self._language,
            criterion=criterion(name, self._language),
            known=shown(case.known, self._language),
            dialogue=shown(case.dialogue, self._language),
            reply=shown(case.reply, self._language),
        )
        request = Request(messages=prompt.messages, max_tokens=24, schema=SCHEMA)
        done = await self._ask(request)
        return Rating(
            criterion=name, score=read_score(done.text), answer=done.text, prompt=prompt.hash
        )


_OUT_OF = re.compile(r"\b(\d{1,3})\s*(?:/|out of)\s*100\b")
_NUMBER = re.compile(r"(?<![\d.])\d{1,3}(?![\d.]*\d)")


def read_score(answer: str) -> int | None:
    """The grade in an answer: of its JSON, in [[…]], before "/100", or the only number from 1 to
    100 that it holds. Anything else cannot be read.

    >>> read_score('{"score": 77}'), read_score("[[80]]"), read_score("between 60 and 70")
    (77, 80, None)
    """
    told = field(answer, "score")
    if told is None:
        told = bracketed(answer)
    if isinstance(told, str):
        told = int(told) if told.isdigit() else None
    if told is None:
        numbers = _OUT_OF.findall(answer) or _NUMBER.findall(answer)
        told = int(numbers[0]) if len(set(numbers)) == 1 else None
    if isinstance(told, float) and told.is_integer():
        told = int(told)
    if isinstance(told, bool) or not isinstance(told, int):
        return None
    return told if 1 <= told <= 100 else None


def rated(ratings: Sequence[Rating]) -> dict[str, Rated]:
    """Means by criterion, over what was scored, and how much was not."""
    found = {}
    for name in dict.fromkeys(rating.criterion for rating in ratings):
        own = [rating.score for rating in ratings if rating.criterion == name]
        scores = [float(score) for score in own if score is not None]
        found[name] = Rated(
            criterion=name,
            mean=estimate(scores) if scores else None,
            scored=len(scores),
            unscored=len(own) - len(scores),
        )
    return found

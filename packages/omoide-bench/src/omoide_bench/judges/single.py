"""Grades one reply from 1 to 100, one criterion at a time, as in papers A and C. The judge explains
itself before it grades.

Departures: each criterion is a separate call, since a small model that is asked for three numbers
gives three equal ones; and an unreadable answer is unscored, where paper A's released code counts
it as 0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.ports import Request
from omoide.prompts import render
from omoide_bench.concurrency import gather_all
from omoide_bench.judges.asking import EXPLAINED, bracketed, criterion, field, shown
from omoide_bench.statistics import estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide_bench.judges.asking import Ask
    from omoide_bench.statistics import Estimate

CRITERIA = ("engaging", "coherent", "consistent", "faithful", "past")
"""The first three are paper A's; `faithful` is that of MT-Bench+, in paper C and MemoChat; `past`
is ours: whether the reply uses what is known from earlier sessions."""
SCHEMA = {
    "type": "object",
    "properties": {
        "why": {"type": "string"},
        "score": {"type": "integer", "minimum": 1, "maximum": 100},
    },
    "required": ["why", "score"],
    "additionalProperties": False,
}


@dataclass(frozen=True, kw_only=True)
class ReplyCase:
    """A reply with the context to judge it by."""

    known: Sequence[str] | str
    """What the judge is shown of earlier sessions: turns or notes."""
    dialogue: Sequence[str] | str
    """The current session up to the reply, one line per turn, with the speakers' names."""
    reply: str


@dataclass(frozen=True, kw_only=True)
class Rating:
    """A judge's grade for a reply, by one criterion."""

    criterion: str
    score: int | None
    """None if the answer was unreadable; the reply is then unscored."""
    answer: str
    prompt: str
    """Hash of the prompt template."""


@dataclass(frozen=True, kw_only=True)
class MeanRating:
    """The mean grade of many replies, by one criterion."""

    criterion: str
    mean: Estimate | None
    """Over the scored replies; None if there are none."""
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
                f"criteria must be among {', '.join(CRITERIA)}; got {', '.join(unknown) or 'none'}"
            )
        self._ask = ask
        self._language = language
        self.criteria = tuple(criteria)

    async def rate(self, case: ReplyCase) -> tuple[Rating, ...]:
        """A rating by each criterion, one call each. Raises `ModelError` if the model fails."""
        return tuple(await gather_all(self.rate_by(case, name) for name in self.criteria))

    async def rate_by(self, case: ReplyCase, name: str) -> Rating:
        """A rating by one criterion. Raises `ModelError` if the model fails."""
        prompt = render(
            "omoide_bench:judge_single",
            self._language,
            criterion=criterion(name, self._language),
            known=shown(case.known, self._language),
            dialogue=shown(case.dialogue, self._language),
            reply=shown(case.reply, self._language),
        )
        request = Request(messages=prompt.messages, max_tokens=EXPLAINED, schema=SCHEMA)
        done = await self._ask(request)
        return Rating(
            criterion=name, score=read_score(done.text), answer=done.text, prompt=prompt.hash
        )


_OUT_OF = re.compile(r"\b(\d{1,3})\s*(?:/|out of)\s*100\b")
_NUMBER = re.compile(r"(?<![\d.])\d{1,3}(?![\d.]*\d)")


def read_score(answer: str) -> int | None:
    """The grade in an answer: in its JSON, in [[…]], before "/100", or the only number from 1 to
    100 in its last line. None for anything else, such as an explanation that was cut off.

    >>> read_score('{"score": 77}'), read_score("[[80]]"), read_score("between 60 and 70")
    (77, 80, None)
    """
    value = field(answer, "score")
    if value is None:
        value = bracketed(answer)
    if isinstance(value, str):
        value = int(value) if value.isdigit() else None
    if value is None and not answer.lstrip().startswith("{"):
        last = (answer.strip().splitlines() or [""])[-1]
        numbers = _OUT_OF.findall(answer) or _NUMBER.findall(last)
        value = int(numbers[0]) if len(set(numbers)) == 1 else None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 1 <= value <= 100 else None


def rated(ratings: Sequence[Rating]) -> dict[str, MeanRating]:
    """Means by criterion over the scored replies, and the counts of unscored ones."""
    means = {}
    for name in dict.fromkeys(rating.criterion for rating in ratings):
        grades = [rating.score for rating in ratings if rating.criterion == name]
        scores = [float(score) for score in grades if score is not None]
        means[name] = MeanRating(
            criterion=name,
            mean=estimate(scores) if scores else None,
            scored=len(scores),
            unscored=len(grades) - len(scores),
        )
    return means

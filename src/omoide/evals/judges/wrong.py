"""Answers that are wrong on purpose, for finding out what a judge lets through."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.evals.metrics import parlai_f1

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from omoide.evals.judges.answers import Answered

_MONTHS = (
    "January February March April May June July August September October November December"
).split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_NUMBERS = "one two three four five six seven eight nine ten".split()
_HAN = "一二三四五六七八九"
_DIGITS = re.compile(r"\d+")
_NAME = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][a-z]{2,}\b")
_COUNTED = "个只本次天年月日号岁部首位"
"""What a Chinese number counts: elsewhere its sign is mostly part of another word."""
_CLOSED = (tuple(_MONTHS), tuple(_DAYS), tuple(_NUMBERS))
_FACT = re.compile(
    r"\d+|(?i:\b(?:" + "|".join((*_MONTHS, *_DAYS, *_NUMBERS)) + r")\b)"
    rf"|[{_HAN}](?=[{_COUNTED}])|" + _NAME.pattern
)


@dataclass(frozen=True, kw_only=True)
class Wrong:
    """A wrong answer and how it was made."""

    sort: str
    """`other` (the right answer to another question), `number`, `date` or `name`; `facts`: a whole
    reply with all of these changed."""
    answer: str


def another(given: Answered, others: Sequence[Answered], dice: random.Random) -> Wrong | None:
    """The right answer to another question, if one has little in common with this one's."""
    gold = given.gold or ""
    far = [
        other.gold
        for other in others
        if other.gold and other.question != given.question and parlai_f1(other.gold, gold) < 0.2
    ]
    return Wrong(sort="other", answer=dice.choice(far)) if far else None


def perturbed(answer: str, dice: random.Random, *, names: Sequence[str] = ()) -> Wrong | None:
    """The answer with one number, date or name changed; None if it has none.

    >>> import random
    >>> perturbed("7 May 2023", random.Random(0)).sort
    'date'
    """
    ways = [
        found
        for found in (_date(answer, dice), _number(answer, dice), _name(answer, dice, names))
        if found is not None
    ]
    return ways[0] if ways else None


def facts_changed(reply: str, dice: random.Random, *, names: Sequence[str] = ()) -> Wrong | None:
    """The reply with every number, date and name changed, the same one always to the same other;
    None if it has none.

    >>> import random
    >>> facts_changed("Two cats.", random.Random(0)).answer != "Two cats."
    True
    >>> facts_changed("It was fun.", random.Random(0)) is None
    True
    """
    known: dict[str, str] = {}

    def other(found: re.Match[str]) -> str:
        told = found[0]
        if told not in known:
            known[told] = _unlike(told, dice, names)
        return known[told]

    changed = _FACT.sub(other, reply)
    return None if changed == reply else Wrong(sort="facts", answer=changed)


def _unlike(told: str, dice: random.Random, names: Sequence[str]) -> str:
    """Something of the same sort: a month for a month, a name for a name."""
    if told.isdecimal():
        return str(int(told) + dice.choice((2, 3, 5)))
    for closed in (*_CLOSED, tuple(_HAN)):
        if told.lower() in (word.lower() for word in closed):
            word = dice.choice([word for word in closed if word.lower() != told.lower()])
            return word.title() if told[0].isupper() else word
    others = [name for name in names if name != told]
    return dice.choice(others) if others else told


def _date(answer: str, dice: random.Random) -> Wrong | None:
    for closed in _CLOSED[:2]:
        if changed := _swapped(answer, closed, dice):
            return Wrong(sort="date", answer=changed)
    year = re.search(r"\b(?:19|20)\d\d\b", answer)
    if year:
        moved = str(int(year[0]) + dice.choice((-3, -2, -1, 1, 2)))
        return Wrong(sort="date", answer=answer[: year.start()] + moved + answer[year.end() :])
    return None


def _number(answer: str, dice: random.Random) -> Wrong | None:
    if digits := _DIGITS.search(answer):
        moved = str(int(digits[0]) + dice.choice((1, 2, 3)))
        return Wrong(
            sort="number", answer=answer[: digits.start()] + moved + answer[digits.end() :]
        )
    for closed in (_CLOSED[2], tuple(_HAN)):
        if changed := _swapped(answer, closed, dice):
            return Wrong(sort="number", answer=changed)
    return None


def _name(answer: str, dice: random.Random, names: Sequence[str]) -> Wrong | None:
    found = _NAME.search(answer)
    if not found and len(answer.split()) == 1 and answer.istitle():
        found = re.match(r"\w+", answer)
    others = [name for name in names if name.lower() not in answer.lower()]
    if not found or not others:
        return None
    changed = answer[: found.start()] + dice.choice(others) + answer[found.end() :]
    return Wrong(sort="name", answer=changed)


def _swapped(answer: str, closed: Sequence[str], dice: random.Random) -> str | None:
    """One of a closed set of words put in place of another."""
    latin = closed[0].isascii()
    edge = r"\b" if latin else ""
    found = re.search(edge + "(" + "|".join(closed) + ")" + edge, answer, re.IGNORECASE)
    if not found:
        return None
    others = [word for word in closed if word.lower() != found[1].lower()]
    return answer[: found.start(1)] + dice.choice(others) + answer[found.end(1) :]

"""Deliberately wrong answers, to measure what a judge accepts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide_bench.metrics import parlai_f1

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from omoide_bench.judges.answers import AnsweredQuestion

_MONTHS = (
    "January February March April May June July August September October November December"
).split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_NUMBERS = "one two three four five six seven eight nine ten".split()
_HAN = "一二三四五六七八九"
_DIGITS = re.compile(r"\d+")
_NAME = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][a-z]{2,}\b")
_COUNTED = "个只本次天年月日号岁部首位"
"""Chinese measure words: a numeral before other characters is mostly part of another word."""
_CLOSED = (tuple(_MONTHS), tuple(_DAYS), tuple(_NUMBERS))
_FACT = re.compile(
    r"\d+|(?i:\b(?:" + "|".join((*_MONTHS, *_DAYS, *_NUMBERS)) + r")\b)"
    rf"|[{_HAN}](?=[{_COUNTED}])|" + _NAME.pattern
)


@dataclass(frozen=True, kw_only=True)
class WrongAnswer:
    """A wrong answer and its kind."""

    sort: str
    """`other` (the gold answer to another question), `number`, `date` or `name` (one changed), or
    `facts` (a reply with all of these changed)."""
    answer: str


def another(
    given: AnsweredQuestion, others: Sequence[AnsweredQuestion], dice: random.Random
) -> WrongAnswer | None:
    """The gold answer to another question that has little in common with this one's, if any."""
    gold = given.gold or ""
    different = [
        other.gold
        for other in others
        if other.gold and other.question != given.question and parlai_f1(other.gold, gold) < 0.2
    ]
    return WrongAnswer(sort="other", answer=dice.choice(different)) if different else None


def perturbed(answer: str, dice: random.Random, *, names: Sequence[str] = ()) -> WrongAnswer | None:
    """The answer with one number, date or name changed; None if it has none.

    >>> import random
    >>> perturbed("7 May 2023", random.Random(0)).sort
    'date'
    """
    options = [
        changed
        for changed in (_date(answer, dice), _number(answer, dice), _name(answer, dice, names))
        if changed is not None
    ]
    return options[0] if options else None


def facts_changed(
    reply: str, dice: random.Random, *, names: Sequence[str] = ()
) -> WrongAnswer | None:
    """The reply with every number, date and name changed, equal ones always to the same value;
    None if it has none.

    >>> import random
    >>> facts_changed("Two cats.", random.Random(0)).answer != "Two cats."
    True
    >>> facts_changed("It was fun.", random.Random(0)) is None
    True
    """
    known: dict[str, str] = {}

    def replacement(match: re.Match[str]) -> str:
        value = match[0]
        if value not in known:
            known[value] = _different(value, dice, names)
        return known[value]

    changed = _FACT.sub(replacement, reply)
    return None if changed == reply else WrongAnswer(sort="facts", answer=changed)


def _different(value: str, dice: random.Random, names: Sequence[str]) -> str:
    """A different value of the same kind: a month for a month, a name for a name."""
    if value.isdecimal():
        return str(int(value) + dice.choice((2, 3, 5)))
    for closed in (*_CLOSED, tuple(_HAN)):
        if value.lower() in (word.lower() for word in closed):
            word = dice.choice([word for word in closed if word.lower() != value.lower()])
            return word.title() if value[0].isupper() else word
    others = [name for name in names if name != value]
    return dice.choice(others) if others else value


def _date(answer: str, dice: random.Random) -> WrongAnswer | None:
    for closed in _CLOSED[:2]:
        if changed := _swapped(answer, closed, dice):
            return WrongAnswer(sort="date", answer=changed)
    year = re.search(r"\b(?:19|20)\d\d\b", answer)
    if year:
        moved = str(int(year[0]) + dice.choice((-3, -2, -1, 1, 2)))
        return WrongAnswer(
            sort="date", answer=answer[: year.start()] + moved + answer[year.end() :]
        )
    return None


def _number(answer: str, dice: random.Random) -> WrongAnswer | None:
    if digits := _DIGITS.search(answer):
        moved = str(int(digits[0]) + dice.choice((1, 2, 3)))
        return WrongAnswer(
            sort="number", answer=answer[: digits.start()] + moved + answer[digits.end() :]
        )
    for closed in (_CLOSED[2], tuple(_HAN)):
        if changed := _swapped(answer, closed, dice):
            return WrongAnswer(sort="number", answer=changed)
    return None


def _name(answer: str, dice: random.Random, names: Sequence[str]) -> WrongAnswer | None:
    match = _NAME.search(answer)
    if not match and len(answer.split()) == 1 and answer.istitle():
        match = re.match(r"\w+", answer)
    others = [name for name in names if name.lower() not in answer.lower()]
    if not match or not others:
        return None
    changed = answer[: match.start()] + dice.choice(others) + answer[match.end() :]
    return WrongAnswer(sort="name", answer=changed)


def _swapped(answer: str, closed: Sequence[str], dice: random.Random) -> str | None:
    """The answer with one word of a closed set replaced by another; None without such a word."""
    latin = closed[0].isascii()
    edge = r"\b" if latin else ""
    match = re.search(edge + "(" + "|".join(closed) + ")" + edge, answer, re.IGNORECASE)
    if not match:
        return None
    others = [word for word in closed if word.lower() != match[1].lower()]
    return answer[: match.start(1)] + dice.choice(others) + answer[match.end(1) :]

"""Hard cases: orders planted in what is said, sessions that are very long, and which kinds of
trouble an answer has to get right."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.language import estimate_tokens
from omoide.memory.summary.small_form import MOST
from omoide.memory.transcript import Line
from omoide.tuning.chains import compatible
from omoide.tuning.written import planted

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from omoide.tuning.examples import Example
    from omoide.tuning.told import Told

LONG = 1300
"""Tokens of a session that is very long: with the prompt around it, it comes near to 2,048."""
_KINDS = {
    "negation": re.compile(
        r"\b(?:not|never|no longer|cannot|nobody|without)\b|[不没]|ない|ません|않|못|없|"
        r"\bkhông\b|\bchưa\b"
    ),
    "numbers": re.compile(
        r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|forty|fifty)\b"
        r"|[二两三四五六七八九十百]|\b(?:hai|ba|bốn|năm|sáu|bảy|tám|chín|mười)\b|"
        r"(?:두|세|네|다섯|여섯) "
    ),
    "dates": re.compile(
        r"\b(?:January|February|March|April|June|July|August|September|October|November|December|"
        r"Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|(?:19|20)\d\d|May \d+|in May)\b"
        r"|\d+[月日号年]|[一二三四五六七八九十]月|曜日|星期|周[一二三四五六日]|\d+월|\d+일|요일"
        r"|\btháng \w+|\bthứ (?:hai|ba|tư|năm|sáu|bảy)\b|\bchủ nhật\b",
    ),
    "names": re.compile(r"(?<=[a-z,] )(?!I\b|User\b|Assistant\b)[A-Z][a-z]{2,}"),
}


def kinds(example: Example) -> tuple[str, ...]:
    """What was made hard about an example, and what its answer has to get right."""
    text = example.answer if example.task != "choice" else ""
    if text.startswith("{"):
        text = "\n".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text))
    found = [kind for kind, sign in _KINDS.items() if sign.search(text)]
    return tuple(dict.fromkeys((*example.hard.split(), *found)))


def ordered(told: Told, dice: random.Random) -> Told:
    """The talk with an order in it that one of the speakers gives to whoever reads along; what is
    true stays as it is."""
    orders = planted(told.language, "said")
    places = [i for i, line in enumerate(told.lines) if line.speaker is Speaker.USER]
    if not orders or not places:
        return told
    order, place = dice.choice(orders), dice.choice(places)
    line = told.lines[place]
    join = "" if told.language in ("zh", "ja") else " "
    if dice.random() < 0.5:
        pair = (line.text, order) if dice.random() < 0.7 else (order, line.text)
        said = (*told.lines[:place], replace(line, text=join.join(pair)), *told.lines[place + 1 :])
        return replace(told, lines=said, hard=(*told.hard, "injected"))
    own = Line(speaker=Speaker.USER, text=order)
    return replace(
        told,
        lines=(*told.lines[: place + 1], own, *told.lines[place + 1 :]),
        facts=tuple((i + (i > place), fact) for i, fact in told.facts),
        hard=(*told.hard, "injected"),
    )


def long(talks: Sequence[Told], dice: random.Random, *, share: float) -> Iterator[Told]:
    """Talks joined into sessions as long as the recipe allows, where their facts agree."""
    order = [told for told in talks if told.facts and max(_counts(told)) <= 2]
    dice.shuffle(order)
    wanted = round(len(talks) * share)
    while order and wanted > 0:
        whole = order.pop()
        while order and _tokens(whole) < LONG:
            other = order.pop()
            joined = whole.then(other)
            if (
                not other.changed
                and max(_counts(joined)) <= MOST
                and compatible(joined.of())
                and _tokens(joined) <= LONG * 1.2
            ):
                whole = joined
        if LONG * 0.7 <= _tokens(whole) <= LONG * 1.2:
            wanted -= 1
            yield replace(whole, hard=(*whole.hard, "long"))


def _counts(told: Told) -> list[int]:
    return [len(told.of(who)) for who in Speaker]


def _tokens(told: Told) -> int:
    return sum(estimate_tokens(line.text) + 4 for line in told.lines)

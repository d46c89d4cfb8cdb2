"""Hard cases: planted instructions, very long sessions, and details that an answer has to get
right."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.language import estimate_tokens
from omoide.mechanisms import Line
from omoide.mechanisms.summary import MAX_FACTS
from omoide_tune.chains import compatible
from omoide_tune.written import planted

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from omoide_tune.checked_talks import CheckedTalk
    from omoide_tune.examples import Example

LONG = 1300
"""Tokens of a very long session: with the prompt around it, it comes close to 2,048."""
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
    """What makes an example hard, and the kinds of detail that its answer has to get right."""
    text = example.answer if example.task != "choice" else ""
    if text.startswith("{"):
        text = "\n".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text))
    found = [kind for kind, sign in _KINDS.items() if sign.search(text)]
    return tuple(dict.fromkeys((*example.hard.split(), *found)))


def with_planted_order(checked: CheckedTalk, dice: random.Random) -> CheckedTalk:
    """The talk with an instruction to the reader planted in one of the user's lines or after it;
    the facts stay the same."""
    orders = planted(checked.language, "said")
    places = [i for i, line in enumerate(checked.lines) if line.speaker is Speaker.USER]
    if not orders or not places:
        return checked
    order, place = dice.choice(orders), dice.choice(places)
    line = checked.lines[place]
    join = "" if checked.language in ("zh", "ja") else " "
    if dice.random() < 0.5:
        pair = (line.text, order) if dice.random() < 0.7 else (order, line.text)
        said = (
            *checked.lines[:place],
            replace(line, text=join.join(pair)),
            *checked.lines[place + 1 :],
        )
        return replace(checked, lines=said, hard=(*checked.hard, "injected"))
    planted_line = Line(speaker=Speaker.USER, text=order)
    return replace(
        checked,
        lines=(*checked.lines[: place + 1], planted_line, *checked.lines[place + 1 :]),
        facts=tuple((i + (i > place), fact) for i, fact in checked.facts),
        hard=(*checked.hard, "injected"),
    )


def long_sessions(
    talks: Sequence[CheckedTalk], dice: random.Random, *, share: float
) -> Iterator[CheckedTalk]:
    """Talks joined into sessions as long as the recipe allows, if their facts are compatible."""
    order = [checked for checked in talks if checked.facts and max(_counts(checked)) <= 2]
    dice.shuffle(order)
    wanted = round(len(talks) * share)
    while order and wanted > 0:
        session = order.pop()
        while order and _tokens(session) < LONG:
            other = order.pop()
            joined = session.then(other)
            if (
                not other.changed
                and max(_counts(joined)) <= MAX_FACTS
                and compatible(joined.of())
                and _tokens(joined) <= LONG * 1.2
            ):
                session = joined
        if LONG * 0.7 <= _tokens(session) <= LONG * 1.2:
            wanted -= 1
            yield replace(session, hard=(*session.hard, "long"))


def _counts(checked: CheckedTalk) -> list[int]:
    return [len(checked.of(who)) for who in Speaker]


def _tokens(checked: CheckedTalk) -> int:
    return sum(estimate_tokens(line.text) + 4 for line in checked.lines)

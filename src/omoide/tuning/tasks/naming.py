"""Stretches with a topic and a summary, made of the facts that are told in them."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.memory.memos.topics import keywords
from omoide.memory.summary.facts import VOICES, Fact
from omoide.memory.summary.small_form import own_words
from omoide.memory.transcript import Line
from omoide.tuning.told import holds

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from omoide.tuning.told import Told

_LISTED = {"en": (", ", " and "), "zh": ("，", "，"), "vi": (", ", " và ")}
"""How predicates of one subject follow one another; elsewhere each is a sentence."""
MOST = 6
"""Facts of one summary."""


def stretch(told: Told, dice: random.Random) -> Iterator[Told]:
    """The talk itself where it comes with a summary; else a stretch of it and its facts."""
    if told.summary:
        if told.topic and 4 <= len(told.lines) <= 12:
            yield told
        return
    if told.chain:  # greeting and farewell show where it begins and ends
        if 4 <= len(told.lines) <= 12:
            yield from named(told)
        return
    size = dice.choice((4, 6, 8))
    starts = [i for i in range(len(told.lines) - size + 1) if told.lines[i].speaker is Speaker.USER]
    if starts:
        start = dice.choice(starts)
        yield from named(told.part(start, start + size))


def named(part: Told) -> Iterator[Told]:
    """The stretch with a topic and a summary, if it tells anything by itself."""
    held = []
    for who in Speaker:
        own = own_words(part.lines, who, part.language)
        session = [Line(speaker=who, text=own)]
        held += [f for f in part.of(who) if own and holds(f, session, part.language)]
    if 0 < len(held) <= MOST and (name := topic(held, part.language)):
        yield replace(part, topic=name, summary=summary(held, part.language))


def topic(facts: Sequence[Fact], language: str) -> str:
    """What facts are about, in a few of their own words."""
    join = "、" if language in ("zh", "ja") else ", "
    return join.join(topics(facts, language))


def topics(facts: Sequence[Fact], language: str) -> list[str]:
    """At most two phrases that name what facts are about."""
    texts = ". ".join(_BETWEEN.sub(",", _LEADING.sub("", fact.text)) for fact in facts)
    found = [
        name
        for phrase in keywords(texts, (), language=language, most=3)
        if (name := _DULL.sub("", phrase))
    ]
    if found:
        return found[:2]
    words = facts[0].text.split()
    return [" ".join(words[-2:]) if len(words) > 1 else facts[0].text[:12]]


_BETWEEN = re.compile(r"\b(?:called|named|who|no longer|[\w-]+-year-old|\d+(?:th|st|nd|rd))\b")
"""What stands between names, or cuts them short."""
_DULL = re.compile(r"^(?:(?:afraid|lives|fan|pair|morning|goes|got)\b ?)+")
"""What names nothing by itself."""
_LEADING = re.compile(
    r"^(?:(?:really|just|currently|always|usually|often|recently) )*"
    r"[a-z]+ (?:to (?:[a-z]+ )?|[a-z]+ing )?(?=[a-z])",
    re.IGNORECASE,
)
"""An English predicate's verb, which names nothing."""


def summary(facts: Sequence[Fact], language: str) -> str:
    """Facts in as few sentences as read well, each speaker's together."""
    sentences = []
    for who, group in groupby(facts, key=lambda fact: fact.about):
        texts = [fact.text for fact in group]
        if language in _LISTED and len(texts) <= 3 and not any("," in text for text in texts):
            comma, last = _LISTED[language]
            joined = comma.join(texts[:-1]) + last + texts[-1] if len(texts) > 1 else texts[0]
            sentences.append(Fact(about=who, text=joined).sentence(language))
        else:
            sentences += [Fact(about=who, text=text).sentence(language) for text in texts]
    return ("" if VOICES[language].stop == "。" else " ").join(sentences)

"""Stretches with a topic and a summary, made from the facts in them."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from omoide.claims import NotedFact, phrasing, speaker_lines
from omoide.domain import Speaker
from omoide.mechanisms import Line
from omoide.mechanisms.memos import keywords
from omoide_tune.checked_talks import keeps_fact

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from omoide_tune.checked_talks import CheckedTalk

_LISTED = {"en": (", ", " and "), "zh": ("，", "，"), "vi": (", ", " và ")}
"""How predicates of one subject are joined; in other languages each is a sentence."""
MAX_FACTS = 6
"""Maximum facts of one summary."""


def stretch(checked: CheckedTalk, dice: random.Random) -> Iterator[CheckedTalk]:
    """The talk itself if it has a summary; else a stretch of it with its facts."""
    if checked.summary:
        if checked.topic and 4 <= len(checked.lines) <= 12:
            yield checked
        return
    if checked.chain:  # greeting and farewell mark where it begins and ends
        if 4 <= len(checked.lines) <= 12:
            yield from named(checked)
        return
    size = dice.choice((4, 6, 8))
    starts = [
        i for i in range(len(checked.lines) - size + 1) if checked.lines[i].speaker is Speaker.USER
    ]
    if starts:
        start = dice.choice(starts)
        yield from named(checked.part(start, start + size))


def named(part: CheckedTalk) -> Iterator[CheckedTalk]:
    """The stretch with a topic and a summary, if it contains a fact."""
    held = []
    for who in Speaker:
        own = speaker_lines(part.lines, who, part.language)
        session = [Line(speaker=who, text=own)]
        held += [f for f in part.of(who) if own and keeps_fact(f, session, part.language)]
    if 0 < len(held) <= MAX_FACTS and (name := topic(held, part.language)):
        yield replace(part, topic=name, summary=summary(held, part.language))


def topic(facts: Sequence[NotedFact], language: str) -> str:
    """What the facts are about, in a few of their own words."""
    join = "、" if language in ("zh", "ja") else ", "
    return join.join(topics(facts, language))


def topics(facts: Sequence[NotedFact], language: str) -> list[str]:
    """At most two phrases that name what the facts are about."""
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
"""Words that stand between names, or end them."""
_DULL = re.compile(r"^(?:(?:afraid|lives|fan|pair|morning|goes|got)\b ?)+")
"""Words that name nothing by themselves."""
_LEADING = re.compile(
    r"^(?:(?:really|just|currently|always|usually|often|recently) )*"
    r"[a-z]+ (?:to (?:[a-z]+ )?|[a-z]+ing )?(?=[a-z])",
    re.IGNORECASE,
)
"""The verb of an English predicate, which names nothing."""


def summary(facts: Sequence[NotedFact], language: str) -> str:
    """The facts in as few sentences as read well, grouped by speaker."""
    sentences = []
    for who, group in groupby(facts, key=lambda fact: fact.about):
        texts = [fact.text for fact in group]
        if language in _LISTED and len(texts) <= 3 and not any("," in text for text in texts):
            comma, last = _LISTED[language]
            joined = comma.join(texts[:-1]) + last + texts[-1] if len(texts) > 1 else texts[0]
            sentences.append(NotedFact(about=who, text=joined).sentence(language))
        else:
            sentences += [NotedFact(about=who, text=text).sentence(language) for text in texts]
    return ("" if phrasing(language).stop == "。" else " ").join(sentences)

"""Names the topic of a dialogue segment in its own words, without a model.

It uses runs of content words that are frequent in the segment and rare outside it, after RAKE
(Rose et al. 2010). Each pack defines how its language separates phrases (`[topics]`).
"""

from __future__ import annotations

import re
from collections import Counter
from math import log
from typing import TYPE_CHECKING

from omoide.language import detect_language, pack
from omoide.language.terms import stop_words
from omoide.prompts.transcript import spoken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Turn

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_BREAK = re.compile(r"[.,;:!?…。、，！？；：()\[\]\"“”「」『』\n]+")


def topic(segment: Sequence[Turn], session: Sequence[Turn], *, language: str) -> str:
    """The topic of a segment: at most two phrases."""
    inside = Counter(p for turn in segment for p in phrases(spoken(turn), language))
    overall = Counter(p for turn in session for p in phrases(spoken(turn), language))
    best = _best(inside, overall, most=2)
    return pack(language).topics.comma.join(best)


def keywords(
    text: str, session: Sequence[Turn], *, language: str, most: int = 4
) -> tuple[str, ...]:
    """The phrases of a short text, those rarest in the session first."""
    overall = Counter(p for turn in session for p in phrases(spoken(turn), language))
    return tuple(_best(Counter(phrases(text, language)), overall, most=most))


def phrases(text: str, language: str) -> list[str]:
    """Runs of content words, in order, with repetitions."""
    how = pack(detect_language(text, default=language)).topics
    if how.find is not None:
        return [phrase for phrase in how.find.findall(text) if phrase not in how.dull]
    if how.between is not None:
        return [phrase for phrase in how.between.split(text) if 2 <= len(phrase) <= 6]
    if how.particle is not None:
        stems = (how.particle.sub("", word) for word in _WORD.findall(text))
        return [word for word in stems if len(word) >= 2 and not how.ending.search(word)]
    dull = how.dull | stop_words()
    return [run for part in _BREAK.split(text) for run in _runs(part, dull)]


def _runs(text: str, dull: frozenset[str], max_words: int = 3) -> list[str]:
    runs: list[str] = []
    run: list[str] = []
    for word in [*_WORD.findall(text), ""]:
        if word and word.lower().replace("’", "'") not in dull and len(word) > 1:
            run.append(word)
            continue
        if 0 < len(run) <= max_words:
            runs.append(" ".join(run))
        run = []
    return runs


def _best(inside: Counter[str], overall: Counter[str], *, most: int) -> list[str]:
    """The phrases that stand out most, without those that share a word with a better one."""
    folded: dict[str, str] = {}
    score: dict[str, float] = {}
    for phrase, count in inside.items():
        key = phrase.lower()
        folded.setdefault(key, phrase)
        length = len(phrase.split()) if " " in phrase else 1 + len(phrase) / 20
        rare = log(2 + sum(overall.values()) / (1 + overall[phrase]))
        score[key] = score.get(key, 0.0) + count * rare * length**0.5
    kept: list[str] = []
    for key in sorted(score, key=lambda k: (-score[k], k)):
        if not any(set(key.split()) & set(other.lower().split()) for other in kept):
            kept.append(folded[key])
        if len(kept) == most:
            break
    return kept

"""Shortens, by rule, a memory that is right but has too many sentences.

A model that repeats the memory word for word and adds what is new exceeds the limit as soon as
the memory is nearly full. Rejecting its answer would lose everything new in the session. So the
sentences that have most in common are joined, as in `claims.noted_facts.pack`. The others stay as
the model wrote them, and nothing is dropped.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.claims.names import name_facts
from omoide.claims.noted_facts import NotedFact, grouped, phrasing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Sentence

MAX_LENGTH_RATIO = 2
"""How many times the limit an answer may have to be shortened. A longer one is more likely a
transcript than a memory, and is rejected."""


def shortened(
    sentences: Sequence[Sentence], language: str, *, limit: int, max_chars: int = 200
) -> tuple[Sentence, ...]:
    """The sentences in order, joined in pairs up to `max_chars` characters until at most `limit`
    are left. A joined sentence has the sources of both. If the limit cannot be reached (sentences
    do not begin with their subject, are too long, or exceed `MAX_LENGTH_RATIO` times the limit),
    they are returned unchanged."""
    if not limit < len(sentences) <= MAX_LENGTH_RATIO * limit:
        return tuple(sentences)
    facts = {fact: i for i, s in enumerate(sentences) if (fact := _fact(s, language))}
    free = [fact for fact in facts if fact not in name_facts(list(facts), language)]
    room = limit - (len(sentences) - len(free))
    groups = grouped(free, limit=room, max_chars=max_chars) if room > 0 else []
    if not groups or len(groups) > room:
        return tuple(sentences)
    joined = {facts[group[0]]: [facts[fact] for fact in group] for group in groups}
    absorbed = {i for rows in joined.values() for i in rows[1:]}
    return tuple(
        _joined([sentences[j] for j in joined.get(i, [i])], language)
        for i in range(len(sentences))
        if i not in absorbed
    )


def _fact(sentence: Sentence, language: str) -> NotedFact | None:
    """The sentence as a fact; None if it does not begin with its subject."""
    if sentence.about is None:
        return None
    subject = phrasing(language).subject(sentence.about)
    if not sentence.text.startswith(subject):
        return None
    return NotedFact(about=sentence.about, text=sentence.text[len(subject) :].rstrip(" .。．"))


def _joined(sentences: Sequence[Sentence], language: str) -> Sentence:
    """The sentences joined into one."""
    first = sentences[0]
    if len(sentences) == 1 or first.about is None:
        return first
    fact_texts = [fact.text for s in sentences if (fact := _fact(s, language))]
    text = NotedFact(about=first.about, text=phrasing(language).join.join(fact_texts)).sentence(
        language
    )
    sources = tuple(dict.fromkeys(source for s in sentences for source in s.sources))
    return replace(first, text=text, sources=sources)

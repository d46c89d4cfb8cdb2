"""A memory that is right but too long is made to fit by rule.

A model that carries a memory along word for word and adds what is new goes over the limit as soon
as the memory is nearly full. To turn its answer away would lose all that the session told. So what
has most in common shares a sentence, as in `facts.pack`, but sentence by sentence: what need not be
joined stays as the model wrote it, and nothing is left out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.memory.summary.facts import VOICES, Fact, grouped
from omoide.memory.summary.naming import names_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Sentence

MOST = 2
"""How many times as long as the limit an answer may be to be joined: whatever is longer is no
memory that ran over but a transcript, and is turned away."""


def fitted(
    sentences: Sequence[Sentence], language: str, *, limit: int, longest: int = 200
) -> tuple[Sentence, ...]:
    """The sentences in their order; more than `limit` are joined two by two, up to `longest`
    characters, until they are so many, and rest on what both rested on. Where they cannot be made
    so few (they do not begin with whom they are about, or are too long, or there are more than
    `MOST` times the limit), they come back as they are."""
    if not limit < len(sentences) <= MOST * limit:
        return tuple(sentences)
    facts = {fact: i for i, s in enumerate(sentences) if (fact := _fact(s, language))}
    free = [fact for fact in facts if fact not in names_in(list(facts), language)]
    room = limit - (len(sentences) - len(free))
    groups = grouped(free, limit=room, longest=longest) if room > 0 else []
    if not groups or len(groups) > room:
        return tuple(sentences)
    joined = {facts[group[0]]: [facts[fact] for fact in group] for group in groups}
    taken = {i for places in joined.values() for i in places[1:]}
    return tuple(
        _one([sentences[j] for j in joined.get(i, [i])], language)
        for i in range(len(sentences))
        if i not in taken
    )


def _fact(sentence: Sentence, language: str) -> Fact | None:
    """All that a sentence tells of whom it begins with; nothing if it begins otherwise."""
    voice = VOICES[language]
    if sentence.about is None:
        return None
    subject = voice.subject(sentence.about)
    if not sentence.text.startswith(subject):
        return None
    return Fact(about=sentence.about, text=sentence.text[len(subject) :].rstrip(" .。．"))


def _one(sentences: Sequence[Sentence], language: str) -> Sentence:
    """The sentences as one, the first if there is only one."""
    first = sentences[0]
    if len(sentences) == 1 or first.about is None:
        return first
    told = [fact.text for s in sentences if (fact := _fact(s, language))]
    text = Fact(about=first.about, text=VOICES[language].join.join(told)).sentence(language)
    sources = tuple(dict.fromkeys(source for s in sentences for source in s.sources))
    return replace(first, text=text, sources=sources)

"""Whom a sentence is about, and which words of a speaker are about themselves.

Wang et al. 2023 remember both speakers, and both of theirs are people: what they say about
themselves is true. A model says "I work at a bakery too" only to be friendly. Once remembered, that
is in every prompt, and the next invention builds on it. So of a model only its persona and what it
promised or advised are remembered.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.claims.overlap import stems
from omoide.claims.support import addresses, share
from omoide.domain import Speaker
from omoide.language import pack, split_clauses, split_sentences
from omoide.language.sentences import QUESTION
from omoide.prompts import vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide.claims.noted_facts import NotedFact
    from omoide.prompts.transcript import Line


@dataclass(frozen=True, kw_only=True)
class Partner:
    """The user's conversation partner: a person or an assistant."""

    person: bool = True
    """Whether to remember everything that they say about themselves."""
    persona: str = ""
    """The assistant's persona from the settings, if they are not a person."""

    def keeps(self, sentence: str, language: str) -> bool:
        """Whether to remember a sentence of a partner who is not a person: a promise, advice or
        part of its persona."""
        promised = pack(language).note.commitment.search(sentence)
        return bool(promised) or self._in_persona(sentence)

    def _in_persona(self, sentence: str, least: float = 0.5) -> bool:
        wanted = stems(sentence)
        return bool(wanted) and len(wanted & stems(self.persona)) >= least * len(wanted)


def subject(text: str, language: str) -> Speaker | None:
    """The speaker a sentence is about: the one named first; None if neither is."""
    lowered = text.lower()
    positions = {
        speaker: lowered.find(vocabulary(language)[speaker.value].lower()) for speaker in Speaker
    }
    named = {speaker: position for speaker, position in positions.items() if position >= 0}
    return min(named, key=lambda speaker: named[speaker]) if named else None


def owner(fact: NotedFact, said: Mapping[Speaker, str], language: str) -> NotedFact:
    """The fact, moved to the other speaker if only their words support it."""
    (other,) = (who for who in Speaker if who is not fact.about)
    theirs = replace(fact, about=other)
    least = pack(language).note.support
    if share(fact, said[fact.about]) < least <= share(theirs, said[other]):
        return theirs
    return fact


def speaker_lines(
    session: Sequence[Line], speaker: Speaker, language: str, *, partner: Partner | None = None
) -> str:
    """What one speaker said about themselves, one line per turn.

    Questions are left out: they say nothing about who asks. Most of what an assistant says is
    about the user or the world ("Great that you adopted a cat!"), so only its sentences about
    itself are kept; if it is not a person, only those that `Partner.keeps`.
    """
    keeps = partner or Partner()
    lines = []
    for line in session:
        if line.speaker is speaker:
            sentences = [s for s in split_sentences(line.text) if not QUESTION.search(s)]
            if speaker is Speaker.ASSISTANT:
                sentences = [s for s in sentences if _about_itself(s, language, keeps)]
            lines += _listed(sentences, language)
    return "\n".join(lines)


def _listed(sentences: Sequence[str], language: str) -> list[str]:
    """The sentences of a turn on one line, or one line per clause if a sentence is a chain of
    clauses. A turn with a colon stays whole: a forged "System: …" must not begin a line."""
    clauses = [clause for s in sentences for clause in split_clauses(s, language)]
    if len(clauses) == len(sentences) or any(":" in s or "：" in s for s in sentences):
        clauses = [" ".join(sentences)]
    return [f"- {clause}" for clause in clauses if clause]


def _about_itself(sentence: str, language: str, partner: Partner) -> bool:
    person, note = pack(language).person, pack(language).note
    if note.boilerplate.search(sentence):
        return False
    if not partner.person:
        return partner.keeps(sentence, language)
    if addresses(sentence, language):
        return False
    return person.dropped or bool(person.first.search(sentence))

"""The small form in one question: both speakers' own words, apart, and notes about each.

Where only one of them said anything to note, it is the small form itself. A model of 1.5 B
parameters still takes one speaker's facts for the other's now and then; since it was shown who
wrote what, code can tell: a fact that its speaker's words do not bear out and the other's do is
the other's (docs/LOG.md has what that costs and gives).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.memory.summary.facts import VOICES
from omoide.memory.summary.forms import Question
from omoide.memory.summary.small_form import LEAST, MOST, SmallForm, grammar, own_words, share
from omoide.ports import Request, Skill
from omoide.prompts import render, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide.domain import Sentence
    from omoide.memory.summary.facts import Fact
    from omoide.memory.transcript import Line


class BothForm(SmallForm):
    """Notes about both speakers by one call."""

    name = "both"

    def ask(
        self, *, old: Sequence[Sentence], session: Sequence[Line], language: str, limit: int
    ) -> tuple[Question, ...]:
        """One question, whoever spoke; none if nothing was told."""
        own = {who: own_words(session, who, language, partner=self.partner) for who in Speaker}
        if not all(own.values()):
            return super().ask(old=old, session=session, language=language, limit=limit)
        voice = VOICES[language]
        prompt = render(
            "memory_both",
            language,
            session=own[Speaker.USER],
            other=own[Speaker.ASSISTANT],
            first=voice.user.strip(),
            second=voice.assistant.strip(),
            user=words(language)["user"],
            assistant=words(language)["assistant"],
            limit=str(MOST),
            none=words(language)["none"],
        )
        request = Request(
            messages=prompt.messages,
            max_tokens=480,
            grammar=grammar(*Speaker, language=language),
            skill=Skill.FUSED,
        )
        return (Question(request=request, prompt=prompt.hash),)

    def owned(self, fact: Fact, said: Mapping[Speaker, str], language: str) -> Fact:
        """The fact, given to the other speaker if only their words bear it out."""
        (other,) = (who for who in Speaker if who is not fact.about)
        theirs = replace(fact, about=other)
        least = LEAST[language]
        if share(fact, said[fact.about]) < least <= share(theirs, said[other]):
            return theirs
        return fact

"""The small form as one call: it shows both speakers' words, separately, and asks for notes on
both.

If only one speaker said anything worth noting, it works like `SmallForm`. A model of 1.5 B
parameters sometimes attributes a fact to the wrong speaker. Code corrects that: a fact supported
only by the other speaker's words is moved to the other speaker (cost and benefit:
docs/experiments/*-fused-writer.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.claims.attribution import owner, speaker_lines
from omoide.claims.noted_facts import phrasing
from omoide.domain import Speaker
from omoide.mechanisms.summary.forms import FormRequest
from omoide.mechanisms.summary.small_form import MAX_FACTS, SmallForm, grammar
from omoide.ports import Request, Skill
from omoide.prompts import render, vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide.claims.noted_facts import NotedFact
    from omoide.domain import Sentence
    from omoide.prompts.transcript import Line


class BothForm(SmallForm):
    """Notes about both speakers from one call."""

    name = "both"

    def ask(
        self, *, old: Sequence[Sentence], session: Sequence[Line], language: str, limit: int
    ) -> tuple[FormRequest, ...]:
        """One question about both speakers; as `SmallForm` unless both said something to note."""
        words = {
            speaker: speaker_lines(session, speaker, language, partner=self.partner)
            for speaker in Speaker
        }
        if not all(words.values()):
            return super().ask(old=old, session=session, language=language, limit=limit)
        how = phrasing(language)
        prompt = render(
            "memory_both",
            language,
            session=words[Speaker.USER],
            other=words[Speaker.ASSISTANT],
            first=how.user.strip(),
            second=how.assistant.strip(),
            user=vocabulary(language)["user"],
            assistant=vocabulary(language)["assistant"],
            limit=str(MAX_FACTS),
            none=vocabulary(language)["none"],
        )
        request = Request(
            messages=prompt.messages,
            max_tokens=480,
            grammar=grammar(*Speaker, language=language),
            skill=Skill.FUSED,
        )
        return (FormRequest(request=request, prompt=prompt.hash),)

    def with_owner(self, fact: NotedFact, said: Mapping[Speaker, str], language: str) -> NotedFact:
        """The fact, moved to the other speaker if only their words support it."""
        return owner(fact, said, language)

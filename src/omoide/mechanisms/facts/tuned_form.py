"""The form for small models with an adapter for facts: the chat as it was held, and what is known
by number.

Each note may end with the numbers of what it makes untrue. After the notes the model says of every
known fact whether it still holds: asked for each, it finds more of what is over than when it only
adds numbers to its notes (docs/experiments/*-what-is-over.md).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.claims.attribution import speaker_lines
from omoide.claims.noted_facts import phrasing
from omoide.domain import Speaker
from omoide.language import split_sentences
from omoide.language.sentences import QUESTION
from omoide.mechanisms.facts.small_form import SHOWN, SmallForm
from omoide.mechanisms.summary.forms import FormRequest
from omoide.mechanisms.summary.small_form import MAX_FACTS, grammar
from omoide.ports import Request, Skill
from omoide.prompts import render, vocabulary

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from omoide.domain import Fact
    from omoide.mechanisms.facts.operations import FormAnswer
    from omoide.prompts.transcript import Line

HOLDS, OVER = "=", "x"
"""What stands after a number in the last line of an answer."""
_STANDING = re.compile(rf"^\s*\d+[{HOLDS}{OVER}](?:\s+\d+[{HOLDS}{OVER}])*\s*$", re.MULTILINE)


def standing(over: Collection[int], *, known: int) -> str:
    """The last line of an answer, for so many known facts of which those numbers are over.

    >>> standing({2}, known=3)
    '1= 2x 3='
    """
    return " ".join(f"{n}{OVER if n in over else HOLDS}" for n in range(1, known + 1))


class TunedForm(SmallForm):
    """Notes from the chat as it was held, then what of the known is over. For models with an
    adapter for `Skill.FACTS`."""

    name = "tuned"
    rules = False
    together = 0.4  # it rarely mixes statements, and 0.6 sets 7 to 16 % of right notes aside

    def ask(
        self, *, known: Sequence[Fact], session: Sequence[Line], language: str
    ) -> FormRequest | None:
        """One question about whoever said something to note; None if nobody did."""
        words = {
            speaker: speaker_lines(session, speaker, language, partner=self._partner)
            for speaker in Speaker
        }
        speaking = [speaker for speaker in Speaker if words[speaker]]
        if not speaking:
            return None
        shown = known[:SHOWN]
        numbered = "\n".join(f"{number}. {fact.text}" for number, fact in enumerate(shown, 1))
        prompt = render(
            "facts_small",
            language,
            known=numbered or "-",
            session=self._chat(session, language),
            first=phrasing(language).user.strip(),
            second=phrasing(language).assistant.strip(),
            user=vocabulary(language)["user"],
            assistant=vocabulary(language)["assistant"],
            limit=str(MAX_FACTS),
            none=vocabulary(language)["none"],
        )
        request = Request(
            messages=prompt.messages,
            max_tokens=480,
            grammar=grammar(*speaking, language=language, numbered=len(shown), leave_out=True),
            skill=Skill.FACTS,
        )
        return FormRequest(request=request, prompt=prompt.hash)

    def read(
        self, answer: str, *, known: Sequence[Fact], session: Sequence[Line], language: str
    ) -> FormAnswer:
        """As a small model's answer, without the line that says what is over."""
        shown = known[:SHOWN]
        found = [
            int(number)
            for line in _STANDING.findall(answer)
            for number in re.findall(rf"(\d+){OVER}", line)
        ]
        return self._read(
            _STANDING.sub("", answer),
            known=known,
            session=session,
            language=language,
            over=[shown[n - 1].id for n in dict.fromkeys(found) if 0 < n <= len(shown)],
        )

    def _chat(self, session: Sequence[Line], language: str) -> str:
        """The session line by line. Of what an assistant says only its questions, without which
        "They said six" tells nothing, and its promises."""
        shown = []
        for line in session:
            text = line.text
            if line.speaker is Speaker.ASSISTANT and not self._partner.person:
                text = " ".join(
                    sentence
                    for sentence in split_sentences(text)
                    if QUESTION.search(sentence) or self._partner.keeps(sentence, language)
                )
            if text:
                shown.append(replace(line, text=text).labelled(language))
        return "\n".join(shown)

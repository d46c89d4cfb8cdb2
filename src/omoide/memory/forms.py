"""The forms in which a model is asked to rewrite a memory, and in which its answer is read.

`paper` is Wang et al. 2023, Table 1: one long instruction with numbered steps, free text back.
Large models follow it; small ones copy the dialogue. `small` is what makes a model of 1.5 B
parameters write a memory (docs/LOG.md has the measurements).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from omoide.domain import Sentence, Speaker
from omoide.language import split_sentences
from omoide.ports import Request
from omoide.prompts import render, words

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class Question:
    """A filled form: what to send, and where its instructions come from."""

    request: Request
    prompt: str
    """Hash of the template."""


class Form(Protocol):
    """A way of asking for the new memory."""

    @property
    def name(self) -> str:
        """What it is called in settings."""

    def ask(self, *, old: Sequence[Sentence], session: str, language: str, limit: int) -> Question:
        """The question that asks for the new memory."""

    def read(self, text: str, *, old: Sequence[Sentence], language: str) -> tuple[Sentence, ...]:
        """The whole new memory out of the answer. Raises `BadReply` if it has not the form."""


class PaperForm:
    """The paper's own: instructions, old memory and session in one message; prose comes back."""

    name = "paper"

    def ask(self, *, old: Sequence[Sentence], session: str, language: str, limit: int) -> Question:
        """Fill the paper's three-part prompt."""
        memory = "\n".join(sentence.text for sentence in old) or words(language)["none"]
        prompt = render("memory_paper", language, memory=memory, session=session, limit=str(limit))
        request = Request(messages=prompt.messages, max_tokens=40 * limit)
        return Question(request=request, prompt=prompt.hash)

    def read(self, text: str, *, old: Sequence[Sentence], language: str) -> tuple[Sentence, ...]:
        """Each sentence of the prose; headings, bullets and numbers are not part of one."""
        del old  # the paper's answer is the whole memory
        sentences = [
            cleaned
            for line in text.splitlines()
            if not line.rstrip().endswith((":", "：")) and not line.startswith("#")
            for piece in split_sentences(unmarked(line))
            if (cleaned := piece.strip()) and cleaned.strip(".") != words(language)["none"]
        ]
        return tuple(Sentence(text=s, about=subject(s, language)) for s in sentences)


_MARK = re.compile(r"^\s*(?:[-*•·]|\(?\d{1,2}[.)、．]|[“\"'])\s*")


def unmarked(line: str) -> str:
    """The line without a bullet, a number or bold marks in front of it."""
    return _MARK.sub("", line.replace("**", "")).strip()


def subject(text: str, language: str) -> Speaker | None:
    """Which speaker a sentence is about, by which is named first."""
    lowered = text.lower()
    places = {speaker: lowered.find(words(language)[speaker.value].lower()) for speaker in Speaker}
    named = {speaker: place for speaker, place in places.items() if place >= 0}
    return min(named, key=lambda speaker: named[speaker]) if named else None


FORMS: dict[str, Form] = {"paper": PaperForm(), "small": PaperForm()}

"""The forms in which a model is asked to rewrite a memory, and in which its answer is read.

`paper` is Wang et al. 2023, Table 1: one long instruction with numbered steps, free text back.
Large models follow it; small ones copy the dialogue. `small` is what makes a model of 1.5 B
parameters write a memory; it has a file of its own, `small_form`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from omoide.domain import Sentence, Speaker
from omoide.language import estimate_tokens, split_sentences
from omoide.ports import Request, Skill
from omoide.prompts import render, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.memory.transcript import Line


@dataclass(frozen=True, kw_only=True)
class Question:
    """A filled form: what to send, and where its instructions come from."""

    request: Request
    prompt: str
    """Hash of the template."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The whole new memory, as read out of a model's answers."""

    sentences: tuple[Sentence, ...]
    notes: tuple[str, ...] = ()
    """What was not kept, and why."""
    replaced: tuple[str, ...] = ()
    """Parts of the old memory that are gone because something newer took their place."""
    told: tuple[Sentence, ...] = ()
    """What this session alone told, where the form keeps it apart from what was known."""
    nothing: bool = False
    """Whether the model says, in so many words, that there is nothing to note."""


class Form(Protocol):
    """A way of asking for the new memory."""

    @property
    def name(self) -> str:
        """What it is called in settings."""

    @property
    def retry(self) -> str:
        """The prompt that tells what was wrong and asks once more."""

    def ask(
        self, *, old: Sequence[Sentence], session: Sequence[Line], language: str, limit: int
    ) -> tuple[Question, ...]:
        """The questions that together ask for the new memory; none if there is nothing to ask."""

    def read(
        self,
        answers: Sequence[str],
        *,
        old: Sequence[Sentence],
        session: Sequence[Line],
        language: str,
        limit: int,
    ) -> Reading:
        """The new memory out of the answers. Raises `BadReply` if they have not the form."""


class PaperForm:
    """The paper's own: instructions, old memory and session in one message; prose comes back."""

    name = "paper"
    retry = "memory_retry"

    def ask(
        self, *, old: Sequence[Sentence], session: Sequence[Line], language: str, limit: int
    ) -> tuple[Question, ...]:
        """Fill the paper's three-part prompt. The answer may be as long as the memory that it has
        to carry along, and what is new beside it."""
        memory = "\n".join(sentence.text for sentence in old) or words(language)["none"]
        prompt = render(
            "memory_paper",
            language,
            memory=memory,
            session="\n".join(line.labelled(language) for line in session),
            limit=str(limit),
        )
        room = max(40 * limit, estimate_tokens(memory) + 20 * limit)
        request = Request(messages=prompt.messages, max_tokens=room, skill=Skill.ITERATION)
        return (Question(request=request, prompt=prompt.hash),)

    def read(
        self,
        answers: Sequence[str],
        *,
        old: Sequence[Sentence],
        session: Sequence[Line],
        language: str,
        limit: int,
    ) -> Reading:
        """Each sentence of the prose; headings, bullets and numbers are not part of one."""
        del old, session, limit  # the paper's answer is the whole memory
        sentences = [
            cleaned
            for line in "\n".join(answers).splitlines()
            if not line.rstrip().endswith((":", "：")) and not line.startswith("#")
            for piece in split_sentences(unmarked(line))
            if (cleaned := piece.strip()) and cleaned.strip(".") != words(language)["none"]
        ]
        return Reading(
            sentences=tuple(Sentence(text=s, about=subject(s, language)) for s in sentences)
        )


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

"""Forms: how a model is asked to rewrite the memory, and how its answer is parsed.

`paper` is Wang et al. 2023, Table 1: one long instruction with numbered steps; the answer is free
text. Large models follow it; small ones copy the dialogue. `small` (see `small_form`) gets a
memory out of a model of 1.5 B parameters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from omoide.claims.attribution import subject
from omoide.domain import Sentence
from omoide.language import estimate_tokens, split_sentences
from omoide.ports import Request, Skill
from omoide.prompts import render, vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.prompts.transcript import Line


@dataclass(frozen=True, kw_only=True)
class FormRequest:
    """A request to send, with the hash of its prompt."""

    request: Request
    prompt: str
    """Hash of the prompt template."""


@dataclass(frozen=True, kw_only=True)
class FormReading:
    """The complete new memory, as parsed from a model's answers."""

    sentences: tuple[Sentence, ...]
    notes: tuple[str, ...] = ()
    """What was dropped, and why."""
    replaced: tuple[str, ...] = ()
    """Parts of the old memory that something newer replaced."""
    new_sentences: tuple[Sentence, ...] = ()
    """What is new in this session, if the form separates it from what was known."""
    nothing: bool = False
    """Whether the model answered explicitly that there is nothing to note."""


class SummaryForm(Protocol):
    """A way of asking for the new memory."""

    @property
    def name(self) -> str:
        """Its name in the settings."""

    @property
    def retry(self) -> str:
        """Name of the prompt that lists the problems and asks again."""

    def ask(
        self, *, old: Sequence[Sentence], session: Sequence[Line], language: str, limit: int
    ) -> tuple[FormRequest, ...]:
        """The requests that together ask for the new memory; none if there is nothing to ask."""

    def read(
        self,
        answers: Sequence[str],
        *,
        old: Sequence[Sentence],
        session: Sequence[Line],
        language: str,
        limit: int,
    ) -> FormReading:
        """Parse the new memory from the answers. Raises `BadReply` if they do not fit the form."""


SENTENCE = 40
"""Tokens of an answer for each sentence of the new memory."""


class PaperForm:
    """The paper's form: instructions, old memory and session in one message; the answer is
    prose."""

    name = "paper"
    retry = "memory_retry"

    def ask(
        self, *, old: Sequence[Sentence], session: Sequence[Line], language: str, limit: int
    ) -> tuple[FormRequest, ...]:
        """Fill the paper's three-part prompt. The answer may be as long as the old memory, which
        it must repeat, plus what is new."""
        memory = "\n".join(sentence.text for sentence in old) or vocabulary(language)["none"]
        prompt = render(
            "memory_paper",
            language,
            memory=memory,
            session="\n".join(line.labelled(language) for line in session),
            limit=str(limit),
        )
        room = max(SENTENCE * limit, estimate_tokens(memory) + SENTENCE * limit // 2)
        request = Request(messages=prompt.messages, max_tokens=room, skill=Skill.ITERATION)
        return (FormRequest(request=request, prompt=prompt.hash),)

    def read(
        self,
        answers: Sequence[str],
        *,
        old: Sequence[Sentence],
        session: Sequence[Line],
        language: str,
        limit: int,
    ) -> FormReading:
        """Parse the sentences of the prose, without headings, bullets and numbers."""
        del old, session, limit  # the paper's answer is the whole memory
        sentences = [
            cleaned
            for line in "\n".join(answers).splitlines()
            if not line.rstrip().endswith((":", "：")) and not line.startswith("#")
            for piece in split_sentences(unmarked(line))
            if (cleaned := piece.strip()) and cleaned.strip(".") != vocabulary(language)["none"]
        ]
        return FormReading(
            sentences=tuple(Sentence(text=s, about=subject(s, language)) for s in sentences)
        )


_MARK = re.compile(r"^\s*(?:[-*•·]|\(?\d{1,2}[.)、．]|[“\"'])\s*")


def unmarked(line: str) -> str:
    """The line without a bullet, a number or bold marks in front of it."""
    return _MARK.sub("", line.replace("**", "")).strip()

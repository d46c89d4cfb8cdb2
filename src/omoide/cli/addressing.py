"""Memory as said to the person who reads it: "You live in Oslo", not "The user lives in Oslo"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.claims.names import name_in
from omoide.domain.fact import ASSISTANT, USER
from omoide.language import detect_language
from omoide.language.addressing import all_to_user, apposed_name, from_user, to_user

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omoide.domain import Fact, Summary
    from omoide.engine.versions import Because


@dataclass(frozen=True, kw_only=True)
class Reader:
    """Whom the output speaks to. Notes about anybody else stay in the third person."""

    you: bool = True
    name: str = ""
    """The user's name, if memory has it."""

    @classmethod
    def of(cls, summary: Summary, *, you: bool = True) -> Reader:
        """The user, with the name that the summary states last."""
        name = ""
        for sentence in summary.sentences:
            language = detect_language(sentence.text)
            found = name_in(sentence.text, language) or apposed_name(sentence.text, language)
            name = found or name
        return cls(you=you, name=name)

    def told(self, note: str, language: str = "", *, about_user: bool = True) -> str:
        """A note of memory as it is shown to the reader."""
        if not self.you:
            return note
        language = language or detect_language(note)
        return to_user(note, language, name=self.name, about_user=about_user)

    def fact(self, fact: Fact) -> str:
        """A fact as it is shown to the reader."""
        return self.told(fact.text, fact.language, about_user=fact.about == USER)

    def notes(self, text: str) -> str:
        """Several notes in one text, as they are shown to the reader."""
        return all_to_user(text, detect_language(text), name=self.name) if self.you else text

    def saying(self, words: str, reasons: Iterable[Because]) -> tuple[Because, ...]:
        """Those whose sentence has these words, as it is stored or as it is shown."""
        return tuple(
            reason
            for reason in reasons
            for text in [reason.sentence.text]
            if words.casefold() in f"{text}\n{self.told(text)}".casefold()
        )

    def noted(self, words: str, fact: Fact) -> str:
        """What the reader wrote instead of a fact, as memory notes it."""
        if not self.you or fact.about not in (USER, ASSISTANT):
            return words
        return from_user(words, fact.language, instead_of=fact.text)


ANYBODY = Reader(you=False)
"""A reader who is not the user."""

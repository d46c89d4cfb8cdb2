"""Memory as said to the person who reads it: "You live in Oslo", not "The user lives in Oslo"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.claims.names import name_in
from omoide.language import detect_language
from omoide.language.addressing import apposed_name, to_user

if TYPE_CHECKING:
    from omoide.domain import Summary


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

    def told(self, note: str) -> str:
        """A note of memory as it is shown to the reader."""
        return to_user(note, detect_language(note), name=self.name) if self.you else note


ANYBODY = Reader(you=False)
"""A reader who is not the user."""

"""What takes text apart: word analysers and tokenizers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class Role(StrEnum):
    """What a word does in its sentence, as far as compression must know."""

    FUNCTION = "function"
    """Grammar that a reader can supply: particles, auxiliaries, articles, prepositions."""
    FIXED = "fixed"
    """Names, numbers, dates, negation: without it the sentence would say something else."""
    CONTENT = "content"


@dataclass(frozen=True, kw_only=True)
class Word:
    """A word as it stands in a text."""

    text: str
    role: Role
    space: str = ""
    """What stands between it and the next word."""


class Analyser(Protocol):
    """Knows the words of one language."""

    async def words(self, text: str) -> tuple[Word, ...]:
        """The words of `text` in order; their texts and spaces joined are `text` without the
        blanks in front of it. Raises `MissingExtra` if it cannot be got ready at its first use."""


class Tokenizer(Protocol):
    """Cuts text as a model does."""

    async def pieces(self, text: str) -> Sequence[str]:
        """The model's tokens as text, in order; joined they are `text`. Tokens that are parts of
        one character come as one piece."""

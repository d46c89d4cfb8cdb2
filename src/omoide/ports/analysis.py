"""Ports that split text: word analysers and tokenizers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class Role(StrEnum):
    """The role of a word in its sentence, as far as compression needs it."""

    FUNCTION = "function"
    """Grammar that a reader can supply: particles, auxiliaries, articles, prepositions."""
    FIXED = "fixed"
    """Names, numbers, dates, negation: dropping it would change the meaning."""
    NEGATION = "negation"
    """An auxiliary that negates: both grammar and fixed."""
    CONTENT = "content"


@dataclass(frozen=True, kw_only=True)
class Word:
    """A word of a text."""

    text: str
    role: Role
    space: str = ""
    """The white space between this word and the next."""


class Analyser(Protocol):
    """Splits text of one language into words."""

    async def words(self, text: str) -> tuple[Word, ...]:
        """The words of `text` in order. Their texts and spaces joined give `text` without leading
        white space. Raises `MissingExtra` if it cannot be loaded at first use."""


class Tokenizer(Protocol):
    """Splits text into a model's tokens."""

    async def pieces(self, text: str) -> Sequence[str]:
        """The model's tokens as text, in order; joined they give `text`. Tokens that are parts of
        one character are returned as one piece."""

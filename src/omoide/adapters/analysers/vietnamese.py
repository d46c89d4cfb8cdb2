"""Vietnamese, with underthesea."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from omoide.adapters.analysers.tagged import TaggedSpan, TaggingAnalyser, located, vendor
from omoide.ports.analysis import Role

if TYPE_CHECKING:
    from collections.abc import Iterable

_NEGATION = frozenset({"không", "chưa", "chẳng", "chả", "đừng", "chớ", "không phải", "chưa từng"})
_MEANT = frozenset({"đã", "sẽ", "sắp", "vừa", "mới", "từng", "hay", "hoặc", "từ", "đến", "bị"})
"""Words for tense, alternatives, from and to, and the passive (bị)."""
_GRAMMAR = frozenset({"E", "C", "T", "I"})
"""Prepositions, conjunctions, particles, exclamations."""
_WORDS = frozenset(
    "rất cũng thì là mà đang lại cứ những các cái được ấy này đó kia vậy thế thật khá lắm quá"
    " luôn vẫn".split()
)
"""Adverbs, plural markers and demonstratives that mean little, whatever their tag."""


class Vietnamese(TaggingAnalyser):
    """Prepositions, conjunctions, particles and empty adverbs are grammar."""

    @cached_property
    def _tagger(self) -> Any:  # noqa: ANN401 - underthesea ships no types
        return vendor("underthesea", "Vietnamese").pos_tag

    def tag(self, text: str) -> Iterable[TaggedSpan]:
        """underthesea's tags, such as `E` for a preposition."""
        return located(text, self._tagger(text)) if text.strip() else ()

    def role(self, word: str, tag: str) -> Role:
        """By tag and word; names (Np), numbers (M) and negation are fixed."""
        plain = word.lower()
        if plain in _NEGATION or tag in ("Np", "M", "Ny") or any(c.isdigit() for c in word):
            return Role.FIXED
        if plain in _MEANT:
            return Role.CONTENT
        return Role.FUNCTION if tag in _GRAMMAR or plain in _WORDS else Role.CONTENT

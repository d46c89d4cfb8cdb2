"""Chinese, with jieba's dictionary (rjieba: the same words and tags, in Rust)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from omoide.adapters.analysers.tagged import TaggedSpan, TaggingAnalyser, located, vendor
from omoide.ports.analysis import Role

if TYPE_CHECKING:
    from collections.abc import Iterable

_NEGATION = "不没無无未别莫勿非否甭"
_MEANT = frozenset(
    {"比", "被", "把", "跟", "和", "与", "或", "或者", "还是", "从", "到", "至", "给"}
)
"""Prepositions and conjunctions that mark who did what to whom, or a choice."""
_GRAMMAR = ("u", "y", "e", "o", "p", "c")
"""Auxiliaries (的 了 着), modal particles (吗 呢), exclamations, prepositions, conjunctions."""


class Chinese(TaggingAnalyser):
    """Particles, prepositions and conjunctions are grammar, unless they change the meaning."""

    @cached_property
    def _tagger(self) -> Any:  # noqa: ANN401 - untyped like the other vendors
        return vendor("rjieba", "Chinese").Jieba()

    def tag(self, text: str) -> Iterable[TaggedSpan]:
        """jieba's tags, such as `uj` for 的."""
        return located(text, self._tagger.tag(text))

    def role(self, word: str, tag: str) -> Role:
        """By tag; names (nr, ns, nt, nz), numbers (m), times (t) and negation are fixed."""
        if any(sign in word for sign in _NEGATION) or any(c.isdigit() for c in word):
            return Role.FIXED
        if tag in ("nr", "nrt", "nrfg", "ns", "nt", "nz", "m", "mq", "t"):
            return Role.FIXED
        if tag.startswith(_GRAMMAR) and word not in _MEANT:
            return Role.FUNCTION
        return Role.CONTENT

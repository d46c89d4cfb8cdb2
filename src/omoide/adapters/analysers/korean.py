"""Korean, with kiwipiepy."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from omoide.adapters.analysers.tagged import TaggedSpan, TaggingAnalyser, vendor
from omoide.ports.analysis import Role

if TYPE_CHECKING:
    from collections.abc import Iterable

_NEGATION = frozenset({"안", "못", "않", "말", "아니", "없", "모르"})
_GRAMMAR = ("J", "IC", "MAJ")
"""Particles (조사), interjections, conjunctive adverbs. Endings are kept: a Korean verb without its
ending is not a word, and the ending carries tense and negation."""


class Korean(TaggingAnalyser):
    """Particles are grammar. One that is contracted with its noun (난, 걸) stays with it."""

    @cached_property
    def _tagger(self) -> Any:  # noqa: ANN401 - untyped like the other vendors
        return vendor("kiwipiepy", "Korean").Kiwi(num_workers=1)

    def tag(self, text: str) -> Iterable[TaggedSpan]:
        """Kiwi's tags, such as JKO for the object particle."""
        for token in self._tagger.tokenize(text):
            yield TaggedSpan(first=token.start, last=token.end, tag=f"{token.tag}/{token.form}")

    def role(self, word: str, tag: str) -> Role:
        """By tag; names (NNP), numbers (SN, NR, MM) and negation are fixed."""
        parts = [part.partition("/") for part in tag.split("+")]
        if any(
            kind.startswith(("NNP", "SN", "NR", "MM", "VCN")) or form in _NEGATION
            for kind, _, form in parts
        ):
            return Role.FIXED
        grammar = all(kind.startswith(_GRAMMAR) for kind, _, _ in parts)
        return Role.FUNCTION if grammar and word.strip() else Role.CONTENT

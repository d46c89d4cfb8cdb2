"""Japanese, with MeCab and UniDic (fugashi, unidic-lite), as in paper C."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from omoide.adapters.analysers.tagged import TaggedSpan, TaggingAnalyser, vendor
from omoide.ports.analysis import Role

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omoide.ports.analysis import Word

_NEGATION = frozenset({"ない", "無い", "ず", "ぬ", "まい", "なし", "無し", "非", "不", "未"})
"""Lemmas."""
_GRAMMAR = frozenset({"助詞", "助動詞"})


class Japanese(TaggingAnalyser):
    """Particles (助詞) and auxiliaries (助動詞) are grammar. Auxiliaries that negate, such as ない
    and ず, have a role of their own; the paper drops them too."""

    @cached_property
    def _tagger(self) -> Any:  # noqa: ANN401 - fugashi ships no types
        vendor("unidic_lite", "Japanese")
        return vendor("fugashi", "Japanese").Tagger()

    def tag(self, text: str) -> Iterable[TaggedSpan]:
        """Tags are `part of speech/kind/lemma`."""
        reached = 0
        for node in self._tagger(text):
            at = text.find(node.surface, reached)
            if at < 0:  # MeCab skips characters it does not know
                continue
            reached = at + len(node.surface)
            feature = node.feature
            tag = f"{feature.pos1}/{feature.pos2}/{feature.lemma or node.surface}"
            yield TaggedSpan(first=at, last=reached, tag=tag)

    def judge(self, pairs: tuple[tuple[Word, str], ...]) -> tuple[Word, ...]:
        """As in the base class, and a negation keeps the auxiliary before it (ませ in ません)."""
        words = list(super().judge(pairs))
        for i in range(len(words) - 1, 0, -1):
            negates = words[i].role is Role.NEGATION
            if negates and words[i - 1].role is Role.FUNCTION and not words[i - 1].space:
                words[i - 1] = replace(words[i - 1], role=Role.NEGATION)
        return tuple(words)

    def role(self, word: str, tag: str) -> Role:
        """By part of speech; proper nouns, numerals and other negation are fixed."""
        part, _, rest = tag.partition("/")
        kind, _, lemma = rest.partition("/")
        if lemma in _NEGATION:
            return Role.NEGATION if part in _GRAMMAR else Role.FIXED
        if kind in ("固有名詞", "数詞") or any(c.isdigit() for c in word):
            return Role.FIXED
        return Role.FUNCTION if part in _GRAMMAR else Role.CONTENT

"""Overlap of short texts, measured by their content terms."""

from __future__ import annotations

import re
import unicodedata
from math import log
from typing import TYPE_CHECKING

from omoide.language import content_terms
from omoide.language.pack import over_packs, packs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def coverage(part: set[str], whole: set[str], weight: Mapping[str, float] | None = None) -> float:
    """Share of `part` found in `whole`, 0 to 1; weighted by term if weights are given."""
    if not part:
        return 0.0
    if weight is None:
        return len(part & whole) / len(part)
    total = sum(weight.get(term, 1.0) for term in part)
    return sum(weight.get(term, 1.0) for term in part & whole) / total


def rarity(texts: Iterable[set[str]]) -> dict[str, float]:
    """Weight of each term: the fewer texts have it, the higher."""
    documents = list(texts)
    count: dict[str, int] = {}
    for document in documents:
        for term in document:
            count[term] = count.get(term, 0) + 1
    return {term: log(1 + len(documents) / n) for term, n in count.items()}


def same_terms(one: str, other: str) -> bool:
    """Whether two sentences have the same content terms. Anything looser would equate "two cats"
    with "three cats"."""
    return one == other or content_terms(one) == content_terms(other) != set()


@over_packs
def _plain_words() -> frozenset[str]:
    """Words that are ignored when notes are compared, of all packs."""
    return frozenset[str]().union(*(pack.words.plain for pack in packs()))


_HANGUL = re.compile(r"[\uac00-\ud7af]")
_HIRAGANA = re.compile(r"[\u3040-\u309f]+")
UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Kana, Han and Hangul: endings and particles follow a word without a space."""


def marks(text: str) -> frozenset[str]:
    """The features by which predicates are compared: content words; in Korean the first two
    characters of words, since particles follow; in Chinese and Japanese character bigrams other
    than pure hiragana."""
    if _HANGUL.search(text):
        return frozenset(word[:2] for word in re.findall(r"\w+", text))
    if UNSPACED.search(text):
        runs = re.findall(r"\w+", text)
        pairs = {run[i : i + 2] for run in runs for i in range(max(1, len(run) - 1))}
        return frozenset(p for p in pairs if not _HIRAGANA.fullmatch(p)) or frozenset(pairs)
    plain = _plain_words()
    words = (word for word in re.findall(r"\w+", text.lower()) if word not in plain)
    return frozenset(
        word[:-1] if len(word) > 3 and word.endswith("s") and word.isascii() else word
        for word in words
    )


_KANA = re.compile(r"[\u3040-\u30ff]")
_JAPANESE = re.compile(r"[\u3400-\u9fff]|[\u30a0-\u30ff]{2,}|[a-z0-9]+")


def stems(text: str) -> frozenset[str]:
    """The marks of a text with inflection flattened, so that any form of a word matches."""
    text = unicodedata.normalize("NFKC", text)
    if _KANA.search(text):
        return frozenset(_JAPANESE.findall(text.lower()))
    if UNSPACED.search(text):
        return marks(text)
    return frozenset(w[:4] if len(w) > 4 and w.isascii() else w for w in marks(text))

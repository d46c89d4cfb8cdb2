"""The part of a long turn that a message is about: a page that was pasted into a chat does not fit
into a prompt whole."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from omoide.language import content_terms, estimate_tokens, split_sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

GAP = "…"
"""Stands for what is left out."""
_LONGEST = 200
"""Most characters of a piece: a table or a line without full stops is cut into such."""
_BETWEEN_WORDS = re.compile(
    r"(?<=\s)|(?<=[\u3000-\u30ff\u3400-\u9fff])(?=[\u3000-\u30ff\u3400-\u9fff])"
)
"""Where a line may be cut: after white space, and between two characters of Chinese or Japanese."""
_AFTER_MARKS = re.compile(r"(?<=\W)")
"""Where one is cut that has no such place, as a row of a table without spaces."""


def excerpt(text: str, about: str, *, tokens: int) -> str:
    """At most `tokens` of a text, in its order: the sentences that share most with the other text,
    and what stands around them. If none shares anything, its beginning."""
    spans = list(_spans(text))
    pieces = [text[start:end] for start, end in spans]
    if not pieces or estimate_tokens(text) <= tokens:
        return text if pieces else ""
    shared = _shared(pieces, content_terms(about))
    best = max(range(len(pieces)), key=lambda i: (shared[i], -i))
    order = sorted(range(len(pieces)), key=lambda i: (-shared[i], abs(i - best), i))
    gap = estimate_tokens(f" {GAP} ")
    left, kept = tokens - 2 * gap, set[int]()
    for i in order:
        needed = estimate_tokens(pieces[i]) + gap
        if needed <= left:
            kept.add(i)
            left -= needed
    return _joined(text, spans, sorted(kept))


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Where the pieces are."""
    at = 0
    for sentence in split_sentences(text):
        start = text.find(sentence, at)
        if start < 0:  # its white space was changed
            continue
        at = start + len(sentence)
        while start < at:
            end = _cut(text, start, at)
            if piece := text[start:end].rstrip():
                yield start, start + len(piece)
            start = end


def _cut(text: str, start: int, end: int) -> int:
    """Where a piece that begins at `start` ends: not within a word or a number if that can be."""
    if end - start <= _LONGEST:
        return end
    for places in (_BETWEEN_WORDS, _AFTER_MARKS):
        found = [place.start() for place in places.finditer(text, start + 1, start + _LONGEST + 1)]
        if found:
            return found[-1]
    return start + _LONGEST


def _shared(pieces: Sequence[str], wanted: set[str]) -> list[float]:
    """How much of what is wanted each piece has; a word that many have counts little."""
    beginnings = [term[: max(3, len(term) - 1)] for term in wanted]  # "happy" is "happi" as a term
    found = [
        wanted & content_terms(piece) if any(b in lower for b in beginnings) else set()
        for piece, lower in zip(pieces, map(str.casefold, pieces), strict=True)
    ]
    having = Counter(term for terms in found for term in terms)
    return [sum(1 / having[term] for term in terms) for terms in found]


def _joined(text: str, spans: Sequence[tuple[int, int]], kept: Sequence[int]) -> str:
    if not kept:
        return ""
    shown = GAP + " " if kept[0] else ""
    for i, following in pairwise([*kept, len(spans)]):
        end = spans[i][1]
        if following == i + 1 < len(spans):
            end = spans[following][0]  # with the space between them
        shown += text[spans[i][0] : end]
        if following > i + 1:
            shown += f" {GAP} "
    return shown.rstrip()

"""Memos against gold memos: topics, splits and retrieval, as in Table 1 of paper C.

"Memo with compression" (NLP 2025) reports precision, recall and F1 of topics, exact matches only;
BERTScore of the summaries whose topic matched (`matched_topics` pairs them); whether the split
covers the dialogue without loss; and F1 over the numbers of the chosen memos.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from omoide_bench.metrics.overlap import Score, word_score

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from omoide.domain import Span


def topic_score(found: Sequence[Sequence[str]], wanted: Sequence[Sequence[str]]) -> Score:
    """Topics over all dialogues: a topic counts only if it equals one of its dialogue's topics,
    ignoring case and outer spaces.

    >>> topic_score([["taxi", "food"]], [["Taxi"]])
    Score(precision=0.5, recall=1.0)
    """
    matched = found_count = wanted_count = 0
    for ours, theirs in zip(found, wanted, strict=True):
        ours_counts, theirs_counts = (
            Counter(topic.strip().lower() for topic in t) for t in (ours, theirs)
        )
        matched += (ours_counts & theirs_counts).total()
        found_count += len(ours)
        wanted_count += len(theirs)
    return Score(
        precision=matched / found_count if found_count else 0.0,
        recall=matched / wanted_count if wanted_count else 0.0,
    )


def matched_topics(found: Sequence[str], wanted: Sequence[str]) -> list[tuple[int, int]]:
    """Index pairs of topics that match exactly, each used once: compare their summaries.

    >>> matched_topics(["food", "taxi"], ["Taxi", "music"])
    [(1, 0)]
    """
    unmatched = {index: topic.strip().lower() for index, topic in enumerate(wanted)}
    pairs = []
    for index, topic in enumerate(found):
        match = next((at for at, name in unmatched.items() if name == topic.strip().lower()), None)
        if match is not None:
            pairs.append((index, match))
            del unmatched[match]
    return pairs


def divides(spans: Sequence[Span], *, lines: int) -> bool:
    """Whether the spans cover lines 1 to `lines` in order, without gap or overlap. The share of
    dialogues for which they do is the paper's "split"; an unreadable answer has no spans. For
    whether the cuts are in the right places, see `boundary_score`."""
    expected = 1
    for span in spans:
        if span.first != expected or span.last < span.first:
            return False
        expected = span.last + 1
    return bool(spans) and expected == lines + 1


def boundary_score(found: Sequence[Span], wanted: Sequence[Span]) -> Score:
    """The first lines of topics (except line 1), found against gold; precision and recall are 1 if
    both are empty."""
    ours = {str(span.first) for span in found} - {"1"}
    theirs = {str(span.first) for span in wanted} - {"1"}
    if not ours and not theirs:
        return Score(precision=1.0, recall=1.0)
    return word_score(sorted(ours), sorted(theirs))


def chosen_score(found: Collection[int], right: Collection[int]) -> Score:
    """The chosen numbers against the right ones, for one query. The mean F1 over queries is the
    paper's retrieval F1 (we assume per query: the paper does not say).

    >>> chosen_score({1, 3}, {1}).f1
    0.6666666666666666
    """
    return word_score([str(n) for n in set(found)], [str(n) for n in set(right)])

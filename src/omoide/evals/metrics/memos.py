"""Memos against what people wrote: topics, division, and choosing, as in Table 1 of paper C.

"Memo with compression" (NLP 2025) gives for topics precision, recall and F1 where only an exact
match counts; for summaries BERTScore of those whose topic matched (`matched_topics` pairs them);
for the division whether the dialogue is covered without loss; for choosing an F1 over the numbers
that were picked.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from omoide.evals.metrics.overlap import Score, word_score

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from omoide.domain import Span


def topic_score(found: Sequence[Sequence[str]], wanted: Sequence[Sequence[str]]) -> Score:
    """Topics of all dialogues together: a topic counts only where it is letter for letter (case
    and outer spaces aside) one of its dialogue's.

    >>> topic_score([["taxi", "food"]], [["Taxi"]])
    Score(precision=0.5, recall=1.0)
    """
    matched = written = given = 0
    for ours, theirs in zip(found, wanted, strict=True):
        one, other = (Counter(topic.strip().lower() for topic in t) for t in (ours, theirs))
        matched += (one & other).total()
        written += len(ours)
        given += len(theirs)
    return Score(
        precision=matched / written if written else 0.0, recall=matched / given if given else 0.0
    )


def matched_topics(found: Sequence[str], wanted: Sequence[str]) -> list[tuple[int, int]]:
    """The places of topics that match exactly, each used once: whose summaries are to be compared.

    >>> matched_topics(["food", "taxi"], ["Taxi", "music"])
    [(1, 0)]
    """
    left = {place: topic.strip().lower() for place, topic in enumerate(wanted)}
    pairs = []
    for place, topic in enumerate(found):
        twin = next((at for at, name in left.items() if name == topic.strip().lower()), None)
        if twin is not None:
            pairs.append((place, twin))
            del left[twin]
    return pairs


def divides(spans: Sequence[Span], *, lines: int) -> bool:
    """Whether the spans cover lines 1 to `lines` in order, without gap or overlap. The share of
    dialogues for which they do is the paper's "split"; an answer that cannot be read counts as
    none. It says nothing of whether the cuts are in the right places: see `boundary_score`."""
    expected = 1
    for span in spans:
        if span.first != expected or span.last < span.first:
            return False
        expected = span.last + 1
    return bool(spans) and expected == lines + 1


def boundary_score(found: Sequence[Span], wanted: Sequence[Span]) -> Score:
    """The lines at which a new topic begins (the first line does not count), found against wanted;
    both 1 where there is nothing to find and nothing was found."""
    ours = {str(span.first) for span in found} - {"1"}
    theirs = {str(span.first) for span in wanted} - {"1"}
    if not ours and not theirs:
        return Score(precision=1.0, recall=1.0)
    return word_score(sorted(ours), sorted(theirs))


def chosen_score(found: Collection[int], right: Collection[int]) -> Score:
    """The numbers picked against the right ones, for one query; the mean of F1 over queries is the
    paper's retrieval F1 (taken to be per query: it does not say).

    >>> chosen_score({1, 3}, {1}).f1
    0.6666666666666666
    """
    return word_score([str(n) for n in set(found)], [str(n) for n in set(right)])

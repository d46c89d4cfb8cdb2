"""BLEU, and what Wang et al. 2023 published under that name.

`corpus_bleu` is BLEU of Papineni et al. 2002 over a corpus with one reference each: clipped n-gram
precisions up to the order, their geometric mean, times the brevity penalty, without smoothing.

`bleu_against_characters` is the formula in the released evaluation of the recursive summary: NLTK's
corpus BLEU given each reference as a bare list of words, so that every *word* of it is taken for
a reference and its *characters* for that reference's tokens. Only words of one letter can match;
the brevity penalty compares the number of words with the length of the longest word; "BLEU-1" has
the weights (½, ½) and "BLEU-2" (⅓, ⅓, ⅓), with NLTK's smoothing method 7, which by itself gives
about 0.2 and 0.1. So the figures lie near 21 and 12 whatever is said: they cannot tell methods
apart, which a test demonstrates. It is here for setting our figures beside the paper's, and for
nothing else.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from omoide.evals.metrics.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Sequence


def corpus_bleu(
    replies: Sequence[str], gold: Sequence[str], *, order: int, language: str = "en"
) -> float:
    """BLEU of all replies together, 0 to 1, over the words that ParlAI's F1 counts.

    >>> round(corpus_bleu(["a cat sat down"], ["the cat sat up"], order=1), 3)
    0.667
    """
    return bleu_of_tokens(
        [tokens(reply, language) for reply in replies],
        [tokens(one, language) for one in gold],
        order=order,
    )


def bleu_of_tokens(
    replies: Sequence[Sequence[str]], gold: Sequence[Sequence[str]], *, order: int
) -> float:
    """The same over tokens."""
    said = sum(map(len, replies))
    wanted = sum(map(len, gold))
    if not said:
        return 0.0
    total = 0.0
    for n in range(1, order + 1):
        matched = possible = 0
        for reply, one in zip(replies, gold, strict=True):
            grams = _grams(reply, n)
            matched += (grams & _grams(one, n)).total()
            possible += grams.total()
        if not matched:
            return 0.0
        total += math.log(matched / possible) / order
    return math.exp(total + min(0.0, 1 - wanted / said))


def bleu_against_characters(replies: Sequence[str], gold: Sequence[str], *, order: int) -> float:
    """What the paper reports as "BLEU-`order`", 0 to 1: see above. Never to be called BLEU."""
    heard = [reply.split() for reply in replies]
    words = [one.split() for one in gold]
    orders = order + 1  # its weights are one longer than the name says
    matched, possible = [0] * orders, [0] * orders
    length = nearest = 0
    for reply, references in zip(heard, words, strict=True):
        for n in range(1, orders + 1):
            hits, total = _clipped(reply, references, n)
            matched[n - 1] += hits
            possible[n - 1] += total
        length += len(reply)
        nearest += min(
            (len(word) for word in references),
            key=lambda size: (abs(size - len(reply)), size),
            default=0,
        )
    if not matched[0] or not length:
        return 0.0
    precisions = _smoothed(matched, possible, length, _clipped(heard[-1], words[-1], 5))
    penalty = min(0.0, 1 - nearest / length)
    return math.exp(penalty + sum(math.log(p) for p in precisions) / orders)


def _clipped(reply: Sequence[str], references: Sequence[str], n: int) -> tuple[int, int]:
    """Matches of the reply's n-grams with runs of characters in a word, each at most as often as
    one word has it, and the number of n-grams (at least 1)."""
    grams = _grams(reply, n)
    hits = 0
    for gram, count in grams.items():
        if all(len(token) == 1 for token in gram):  # a character can be nothing longer
            most = max((_grams(word, n)[gram] for word in references), default=0)
            hits += min(count, most)
    return hits, max(1, grams.total())


def _smoothed(
    matched: Sequence[int], possible: Sequence[int], length: int, fifth: tuple[int, int]
) -> list[float]:
    """NLTK's method 7: method 4 for precisions of 0, then method 5, the mean with neighbours, in
    which the order after the last is the fifth of the last sentence alone."""
    precisions, halvings = [], 1
    for hits, total in zip(matched, possible, strict=True):
        if hits == 0 and length > 1:
            precisions.append(math.log(length) / (2**halvings * 5) / total)
            halvings += 1
        else:
            precisions.append(hits / total)
    after = [*precisions[1:], fifth[0] / fifth[1]]
    smooth, before = [], precisions[0] + 1
    for own, next_one in zip(precisions, after, strict=True):
        before = (before + own + next_one) / 3
        smooth.append(before)
    return smooth


def _grams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))

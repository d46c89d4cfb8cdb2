"""BLEU, and the formula that Wang et al. 2023 published under that name.

`corpus_bleu` is corpus BLEU (Papineni et al. 2002) with one reference each: the geometric mean of
clipped n-gram precisions up to the order, times the brevity penalty, without smoothing. It is our
own: NLTK counts an n-gram even for a reply too short to have one, which would change figures.

`bleu_against_characters` is the formula in the paper's released evaluation: NLTK's corpus BLEU with
each reference passed as a bare list of words, so that every *word* is taken for a reference and its
*characters* for tokens. Only words of one letter can match. The brevity penalty compares the number
of words with the length of the longest word. "BLEU-1" has the weights (½, ½) and "BLEU-2"
(⅓, ⅓, ⅓), with NLTK's smoothing method 7, which alone gives about 0.2 and 0.1. So the figures are
near 21 and 12 for any reply and cannot distinguish methods, as a test demonstrates. Use it only to
compare with the paper's figures.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from typing import TYPE_CHECKING

from omoide_bench.metrics.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Sequence


def corpus_bleu(
    replies: Sequence[str], gold: Sequence[str], *, order: int, language: str = "en"
) -> float:
    """Corpus BLEU, 0 to 1, over ParlAI's words.

    >>> round(corpus_bleu(["a cat sat down"], ["the cat sat up"], order=1), 3)
    0.667
    """
    return bleu_of_tokens(
        [tokens(reply, language) for reply in replies],
        [tokens(reference, language) for reference in gold],
        order=order,
    )


def bleu_of_tokens(
    replies: Sequence[Sequence[str]], gold: Sequence[Sequence[str]], *, order: int
) -> float:
    """Corpus BLEU over tokens, 0 to 1."""
    reply_length = sum(map(len, replies))
    gold_length = sum(map(len, gold))
    if not reply_length:
        return 0.0
    total = 0.0
    for n in range(1, order + 1):
        matched = possible = 0
        for reply, reference in zip(replies, gold, strict=True):
            grams = _grams(reply, n)
            matched += (grams & _grams(reference, n)).total()
            possible += grams.total()
        if not matched:
            return 0.0
        total += math.log(matched / possible) / order
    return math.exp(total + min(0.0, 1 - gold_length / reply_length))


def bleu_against_characters(replies: Sequence[str], gold: Sequence[str], *, order: int) -> float:
    """The paper's "BLEU-`order`", 0 to 1; see the module docstring. Never call it BLEU."""
    from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NLTK warns of zero precisions, which smoothing handles
        return float(
            corpus_bleu(
                [reference.split() or [""] for reference in gold],
                [reply.split() for reply in replies],
                weights=(1 / (order + 1),) * (order + 1),  # one order more than the name says
                smoothing_function=SmoothingFunction().method7,
            )
        )


def _grams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))

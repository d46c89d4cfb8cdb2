"""How long and how varied replies are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.evals.metrics.tokens import BY_CHARACTER, characters

if TYPE_CHECKING:
    from collections.abc import Sequence


def distinct(replies: Sequence[str], n: int, *, language: str = "en") -> float:
    """Distinct-n (Li et al. 2016): different n-grams over all n-grams of all replies together, 0
    to 1. It falls as more replies are taken, so only equal numbers of replies compare.

    >>> distinct(["so so good", "so bad"], 1)
    0.6
    """
    grams = [
        tuple(said[i : i + n])
        for said in (_words(reply, language) for reply in replies)
        for i in range(len(said) - n + 1)
    ]
    return len(set(grams)) / len(grams) if grams else 0.0


def reply_length(reply: str, *, language: str = "en") -> int:
    """Words of a reply (characters in Chinese, Japanese and Korean), articles and all. The paper
    counts the tokens of a model's tokenizer, which are some thirty per cent more in English."""
    return len(_words(reply, language))


def _words(text: str, language: str) -> list[str]:
    return characters(text) if language in BY_CHARACTER else text.lower().split()

"""How long and how varied replies are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide_bench.metrics.tokens import BY_CHARACTER, characters

if TYPE_CHECKING:
    from collections.abc import Sequence


def distinct(replies: Sequence[str], n: int, *, language: str = "en") -> float:
    """Distinct-n (Li et al. 2016): distinct n-grams divided by all n-grams, over all replies, 0 to
    1. It falls with more replies, so compare only equal numbers of replies.

    >>> distinct(["so so good", "so bad"], 1)
    0.6
    """
    grams = [
        tuple(words[i : i + n])
        for words in (_words(reply, language) for reply in replies)
        for i in range(len(words) - n + 1)
    ]
    return len(set(grams)) / len(grams) if grams else 0.0


def reply_length(reply: str, *, language: str = "en") -> int:
    """Words of a reply (characters in Chinese, Japanese and Korean), including articles. The paper
    counts a model's tokens, about 30 % more in English."""
    return len(_words(reply, language))


def _words(text: str, language: str) -> list[str]:
    return characters(text) if language in BY_CHARACTER else text.lower().split()

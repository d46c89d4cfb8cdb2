"""Splits text into the tokens that measures count."""

from __future__ import annotations

import re
import unicodedata

_PUNCTUATION = re.compile(r"[!\"#$%&()*+,\-./:;<=>?@\[\]\\^`{|}~_']")
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_SIGN = r"\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af"
_CHARACTERS = re.compile(rf"[{_SIGN}]|[^\W{_SIGN}_]+")
BY_CHARACTER = ("zh", "ja", "ko")
"""Languages without spaces, or with particles attached to words. Character F1 is usual for them
(CMRC 2018, KorQuAD)."""


def parlai_words(text: str) -> list[str]:
    """Words as ParlAI normalises them for F1 and BLEU: lower case, ASCII punctuation replaced by
    spaces, articles dropped, split at spaces.

    >>> parlai_words("The cat's hat, a red one!")
    ['cat', 's', 'hat', 'red', 'one']
    """
    return _ARTICLES.sub(" ", _PUNCTUATION.sub(" ", text.lower())).split()


def characters(text: str) -> list[str]:
    """Single Chinese, Japanese or Korean characters, and runs of letters and digits.

    >>> characters("ＩＴ部門で、3年。")
    ['it', '部', '門', 'で', '3', '年']
    """
    return _CHARACTERS.findall(unicodedata.normalize("NFKC", text).lower())


def tokens(text: str, language: str = "en") -> list[str]:
    """ParlAI's words, or characters for the languages in `BY_CHARACTER`, which is our departure."""
    return characters(text) if language in BY_CHARACTER else parlai_words(text)

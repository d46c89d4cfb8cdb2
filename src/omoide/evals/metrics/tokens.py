"""Text into the tokens that measures count."""

from __future__ import annotations

import re
import unicodedata

_PUNCTUATION = re.compile(r"[!\"#$%&()*+,\-./:;<=>?@\[\]\\^`{|}~_']")
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_SIGN = r"\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af"
_CHARACTERS = re.compile(rf"[{_SIGN}]|[^\W{_SIGN}_]+")
BY_CHARACTER = ("zh", "ja", "ko")
"""Languages whose words do not stand apart, or carry their particles with them. Character F1 is
the custom there (CMRC 2018, KorQuAD)."""


def parlai_words(text: str) -> list[str]:
    """As ParlAI normalises before F1 and BLEU: lower case, ASCII punctuation to spaces, articles
    dropped, split at spaces.

    >>> parlai_words("The cat's hat, a red one!")
    ['cat', 's', 'hat', 'red', 'one']
    """
    return _ARTICLES.sub(" ", _PUNCTUATION.sub(" ", text.lower())).split()


def characters(text: str) -> list[str]:
    """Each Chinese, Japanese or Korean sign by itself; letters and digits in their runs.

    >>> characters("ＩＴ部門で、3年。")
    ['it', '部', '門', 'で', '3', '年']
    """
    return _CHARACTERS.findall(unicodedata.normalize("NFKC", text).lower())


def tokens(text: str, language: str = "en") -> list[str]:
    """ParlAI's words; by characters in `BY_CHARACTER`, which is our departure."""
    return characters(text) if language in BY_CHARACTER else parlai_words(text)

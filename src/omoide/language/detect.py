"""Which of our five languages a text is in, by its script and, for Vietnamese, its letters.

Statistical detectors are unreliable on chat lines of a few words; scripts are not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

LANGUAGES = ("en", "zh", "ja", "ko", "vi")

_KANA = re.compile(r"[\u3041-\u30ff\uff66-\uff9f]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3005]")
_HANGUL = re.compile(r"[\uac00-\ud7af\u1100-\u11ff\u3130-\u318f]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_VIETNAMESE = re.compile(
    r"[đĐăĂơƠưƯ\u1ea0-\u1ef9]"  # letters and toned vowels that only Vietnamese uses together
)


def detect(text: str, *, default: str = "en") -> str:
    """The language of `text`: en, zh, ja, ko or vi; `default` where nothing tells.

    Latin text without Vietnamese letters is called English, since our English prompts ask the
    model to keep to the language of the dialogue.
    """
    if text.isascii():
        return "en" if _LATIN.search(text) else default
    kana, han, hangul = (len(p.findall(text)) for p in (_KANA, _HAN, _HANGUL))
    latin = len(_LATIN.findall(text)) / 4  # a Latin word is about four letters, a Han one is one
    if hangul and hangul >= max(han, kana, latin / 2):
        return "ko"
    if kana + han and kana + han >= latin / 2:
        # Japanese writes at least every tenth sign in kana; Chinese borrows a の now and then.
        enough = 0.1 if kana > 1 else 0.2
        return "ja" if kana >= enough * (kana + han) else "zh"
    if len(_VIETNAMESE.findall(text)) >= max(1, latin * 4 * 0.03):
        return "vi"
    return "en" if latin else default


def dominant(texts: Iterable[str], *, default: str = "en") -> str:
    """The language most of the characters are in, so that one foreign line decides nothing."""
    weight: dict[str, int] = {}
    for text in texts:
        if language := detect(text, default=""):
            # CJK says more with fewer characters.
            size = len(text) * (1 if language in ("en", "vi") else 3)
            weight[language] = weight.get(language, 0) + size
    if weight.get("zh") and weight.get("ja"):  # a line without kana amid Japanese is Japanese
        weight["ja"] += weight.pop("zh") if weight["ja"] * 4 > weight["zh"] else 0
    return max(weight, key=lambda code: weight[code]) if weight else default

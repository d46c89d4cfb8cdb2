"""Emotional intensity of a text, without a model: words, intensifiers, punctuation.

Paper B names emotional significance as a factor but leaves it open. The word lists (`[feeling]` of
a pack) are small and our own, made for everyday talk in the first person. A text without any of
their words and without marks of excitement scores 0. `benchmarks/recall_protocol.py` measures
what the score is worth for recall.
"""

from __future__ import annotations

import re

from omoide.language import detect_language, pack
from omoide.language.pack import over_packs

STRONG = 0.6
"""Weight of a word for a life event: a death, a birth, a wedding, a dismissal."""
MILD = 0.25
"""Weight of a word for an everyday feeling."""
VERY = 1.4
"""Factor of an intensifier."""

_LOUD = re.compile(r"[!！]{1,}|[😀-🙏🤗-🤯🥰-🥺💔❤]|(?<!\S)[A-Z]{4,}(?!\S)")


def feeling(text: str, language: str | None = None) -> float:
    """From 0 (matter of fact) to 1 (a life event, said with emphasis)."""
    code = language or detect_language(text)
    lowered = text.lower()
    strong = len(_pattern(code, "strong").findall(lowered))
    mild = len(_pattern(code, "mild").findall(lowered))
    weight = STRONG * strong + MILD * mild
    if weight and _pattern(code, "very").search(lowered):
        weight *= VERY
    loud = min(len(_LOUD.findall(text)) + len(pack(code).feeling.loud.findall(text)), 3)
    return min(weight + 0.05 * loud * (1 + (weight > 0)), 1.0)


@over_packs
def _pattern(language: str, which: str) -> re.Pattern[str]:
    rules = pack(language)
    words = "|".join(map(re.escape, getattr(rules.feeling, which))) or "(?!)"
    return re.compile(rf"\b(?:{words})\b" if rules.words.bounded else f"(?:{words})")

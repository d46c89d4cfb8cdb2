"""Splits text into sentences, in Latin and CJK scripts."""

from __future__ import annotations

import re

from omoide.language.pack import over_packs, packs

# A full stop ends a sentence only before a space and a capital, digit or quote, and not after
# an initial or a common abbreviation.
_END = re.compile(
    r"(?<=[。！？!?…])(?=[^。！？!?…」』”’\")\]])|(?<=[。！？!?…][」』”’\")\]])"
    r"|(?<=[.])\s+(?=[\"“'(\[]?[A-Z0-9À-Ỹ\u3040-\u9fff\uac00-\ud7af])|\n+"
)
QUESTION_MARK = re.compile("[?？؟]")
QUESTION = re.compile(rf"{QUESTION_MARK.pattern}[\"”」』)]*\s*$")
"""How a question ends, in any script."""


@over_packs
def _short() -> re.Pattern[str]:
    forms = "|".join(form for pack in packs() for form in pack.words.short_forms)
    return re.compile(rf"(?:\b(?:{forms})|\b[A-Z])\.$")


def split_sentences(text: str) -> list[str]:
    """The sentences of `text`, stripped, none empty."""
    pieces: list[str] = []
    for piece in _END.split(text):
        if pieces and "\n" not in piece and _short().search(pieces[-1]):
            pieces[-1] = f"{pieces[-1]} {piece.strip()}"
        elif piece.strip():
            pieces.append(piece.strip())
    return pieces

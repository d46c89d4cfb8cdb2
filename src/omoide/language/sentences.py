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


SHORT_FORM = 40
"""Characters at the end of a piece in which an abbreviation may stand: none is as long."""
MOST_READ = 4_000
"""Characters of a text that are read to learn what it is about and in which language."""


def both_ends(text: str, *, most: int = MOST_READ) -> str:
    """The beginning and the end of a long text, which is where people ask when they paste a
    document; a short text as it is.

    >>> both_ends("What is this? (a long document) Is it true?", most=26).splitlines()
    ['What is this?', ') Is it true?']
    """
    if len(text) <= most:
        return text
    return f"{text[: most // 2]}\n{text[-(most // 2) :]}"


def split_sentences(text: str) -> list[str]:
    """The sentences of `text`, stripped, none empty."""
    pieces: list[str] = []
    for piece in _END.split(text):
        if pieces and "\n" not in piece and _short().search(pieces[-1][-SHORT_FORM:]):
            pieces[-1] = f"{pieces[-1]} {piece.strip()}"
        elif piece.strip():
            pieces.append(piece.strip())
    return pieces

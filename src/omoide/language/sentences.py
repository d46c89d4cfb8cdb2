"""Where sentences end, in Latin and CJK scripts."""

from __future__ import annotations

import re

# A full stop ends a sentence only before a space and a capital, digit or quote, and not after
# an initial or a common short form.
_END = re.compile(
    r"(?<=[。！？!?…])(?=[^。！？!?…」』”’\")\]])|(?<=[。！？!?…][」』”’\")\]])"
    r"|(?<=[.])\s+(?=[\"“'(\[]?[A-Z0-9À-Ỹ\u3040-\u9fff\uac00-\ud7af])|\n+"
)
_SHORT = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Prof|vs|etc|e\.g|i\.e|No|Jr|Sr|TP|Th|Tp)|\b[A-Z])\.$")


def split_sentences(text: str) -> list[str]:
    """The sentences of `text`, stripped, none empty."""
    pieces: list[str] = []
    for piece in _END.split(text):
        if pieces and _SHORT.search(pieces[-1]) and "\n" not in piece:
            pieces[-1] = f"{pieces[-1]} {piece.strip()}"
        elif piece.strip():
            pieces.append(piece.strip())
    return pieces

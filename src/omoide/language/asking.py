"""Detects questions about the asker's own life, which only memory can answer."""

from __future__ import annotations

from omoide.language.pack import pack
from omoide.language.sentences import split_sentences


def asks_about_oneself(text: str, language: str) -> bool:
    """Whether a sentence of the text asks about its speaker's own life ("What is my sister
    called?"), and not for advice, for help or about the person asked."""
    first, how = pack(language).person.first, pack(language).questions
    return any(
        how.asks.search(sentence) and first.search(sentence) and not how.help.search(sentence)
        for sentence in map(str.strip, split_sentences(text))
    )

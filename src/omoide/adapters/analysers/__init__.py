"""Word analysers, by language; and the tokenizer of a GGUF file."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from omoide.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from omoide.ports.analysis import Analyser


@lru_cache(maxsize=8)
def choose(language: str) -> Analyser:
    """The analyser of a language, shared by all who ask: dictionaries are large."""
    makers: dict[str, Callable[[], Analyser]] = {
        "en": _english,
        "ja": _japanese,
        "ko": _korean,
        "vi": _vietnamese,
        "zh": _chinese,
    }
    if language not in makers:
        raise BadInput(f"no words are known of {language!r}; wanted one of {', '.join(makers)}")
    return makers[language]()


def _english() -> Analyser:
    from omoide.adapters.analysers.english import English

    return English()


def _japanese() -> Analyser:
    from omoide.adapters.analysers.japanese import Japanese

    return Japanese()


def _korean() -> Analyser:
    from omoide.adapters.analysers.korean import Korean

    return Korean()


def _vietnamese() -> Analyser:
    from omoide.adapters.analysers.vietnamese import Vietnamese

    return Vietnamese()


def _chinese() -> Analyser:
    from omoide.adapters.analysers.chinese import Chinese

    return Chinese()

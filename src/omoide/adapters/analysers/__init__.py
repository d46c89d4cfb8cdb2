"""Word analysers by language, and the tokenizer of a GGUF file."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.language import packs

if TYPE_CHECKING:
    from omoide.ports.analysis import Analyser


@lru_cache(maxsize=8)
def analyser_for(language: str) -> Analyser:
    """The analyser of a language. Shared by all callers, because dictionaries are large."""
    known = {pack.code: pack.analyser for pack in packs() if pack.analyser}
    if language not in known:
        raise BadInput(
            f"there is no word analyser for {language!r}; expected one of {', '.join(known)}"
        )
    module, _, name = known[language].partition(":")
    analyser: Analyser = getattr(import_module(module), name)()
    return analyser

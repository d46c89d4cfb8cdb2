"""The compressors that a configuration can name, and what they need to split text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.errors import MissingExtra
from omoide.mechanisms.memos.compression import (
    FunctionWordCompressor,
    NoCompression,
    RandomTokenCompressor,
)
from omoide.mechanisms.memos.compression_budget import BudgetCompressor

if TYPE_CHECKING:
    from collections.abc import Callable

    from omoide.mechanisms.memos.compression import Compressor
    from omoide.ports.analysis import Analyser, Tokenizer


def no_analyser(language: str) -> Analyser:
    """Stands in where nobody gave an analyser. Raises `MissingExtra`."""
    raise MissingExtra(
        f"dropping words of {language!r} needs its word analyser: pip install 'omoide[compress]'; "
        "nothing was dropped"
    )


@dataclass(frozen=True, kw_only=True)
class TextTools:
    """Word analysers by language, and the tokenizer of the model that replies."""

    analyser: Callable[[str], Analyser] = no_analyser
    """Raises `MissingExtra`, now or when it is used, if the language's is not installed."""
    tokenizer: Tokenizer | None = None
    """None if the model's tokens are not known: then words count, and characters in Chinese,
    Japanese and Korean."""
    keep_negation: bool = True
    """Whether auxiliaries that negate stay where function words are dropped."""


COMPRESSORS: dict[str, Callable[[float, TextTools], Compressor]] = {
    "none": lambda share, tools: NoCompression(),
    "random": lambda share, tools: RandomTokenCompressor(share=share, tokenizer=tools.tokenizer),
    "function-words": lambda share, tools: FunctionWordCompressor(
        share=share, analyser=tools.analyser, keep_negation=tools.keep_negation
    ),
    "budget": lambda share, tools: BudgetCompressor(share=share, unspaced=tools.analyser),
}
"""By the name in `Settings.compression`: takes the share to drop and the tools."""

"""Language handling: detection, sentence splitting, index terms, dates and names.

Everything specific to one language is in its pack (`pack`, `tables`); the modules here hold the
rules that use it.
"""

from typing import TYPE_CHECKING

from omoide.language.clauses import as_last_clause, in_written_style, split_clauses
from omoide.language.dates import DatedText, with_absolute_dates
from omoide.language.detect import detect_language, dominant_language
from omoide.language.names import introduced_name
from omoide.language.pack import BUILT_IN, LanguagePack, languages, pack, packs, register
from omoide.language.sentences import both_ends, split_sentences
from omoide.language.terms import content_terms, query_terms, terms
from omoide.language.tokens import estimate_tokens

if TYPE_CHECKING:
    LANGUAGES: tuple[str, ...]

__all__ = [
    "BUILT_IN",
    "LANGUAGES",
    "DatedText",
    "LanguagePack",
    "as_last_clause",
    "both_ends",
    "content_terms",
    "detect_language",
    "dominant_language",
    "estimate_tokens",
    "in_written_style",
    "introduced_name",
    "languages",
    "pack",
    "packs",
    "query_terms",
    "register",
    "split_clauses",
    "split_sentences",
    "terms",
    "with_absolute_dates",
]


def __getattr__(name: str) -> tuple[str, ...]:
    """`LANGUAGES`, the codes of all packs, computed on access."""
    if name == "LANGUAGES":
        return languages()
    raise AttributeError(name)

"""Languages: which one a text is in, where its sentences end, and which terms it is found by."""

from omoide.language.clauses import concluded, plainly, split_clauses
from omoide.language.detect import LANGUAGES, detect, dominant
from omoide.language.names import introduced
from omoide.language.sentences import split_sentences
from omoide.language.terms import content_terms, query_terms, terms
from omoide.language.tokens import estimate_tokens

__all__ = [
    "LANGUAGES",
    "concluded",
    "content_terms",
    "detect",
    "dominant",
    "estimate_tokens",
    "introduced",
    "plainly",
    "query_terms",
    "split_clauses",
    "split_sentences",
    "terms",
]

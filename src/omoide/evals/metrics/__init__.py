"""Measures of replies, answers and memories: pure functions, each against its reference.

Where a published measure works on English words, text in Chinese, Japanese or Korean is counted by
characters instead (`tokens`): that is our departure, and such figures are not the paper's.
"""

from omoide.evals.metrics.auditing import Fault, Finding, audit, audit_rates
from omoide.evals.metrics.bleu import bleu_against_characters, corpus_bleu
from omoide.evals.metrics.encoded import (
    EncodedScores,
    encoded_scores,
    greedy_match,
    library_scores,
)
from omoide.evals.metrics.locomo import locomo_f1
from omoide.evals.metrics.memory import memory_score, plain_memory_score
from omoide.evals.metrics.memos import (
    boundary_score,
    chosen_score,
    divides,
    matched_topics,
    topic_score,
)
from omoide.evals.metrics.overlap import Score, parlai_f1, word_score
from omoide.evals.metrics.protocol import choice_loss
from omoide.evals.metrics.replies import distinct, reply_length

__all__ = [
    "EncodedScores",
    "Fault",
    "Finding",
    "Score",
    "audit",
    "audit_rates",
    "bleu_against_characters",
    "boundary_score",
    "choice_loss",
    "chosen_score",
    "corpus_bleu",
    "distinct",
    "divides",
    "encoded_scores",
    "greedy_match",
    "library_scores",
    "locomo_f1",
    "matched_topics",
    "memory_score",
    "parlai_f1",
    "plain_memory_score",
    "reply_length",
    "topic_score",
    "word_score",
]

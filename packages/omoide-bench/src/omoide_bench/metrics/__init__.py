"""Measures of replies, answers and memories against a reference: pure functions.

Where a published measure counts English words, Chinese, Japanese and Korean are counted by
characters (`tokens`). This is our departure: such figures are not comparable with the paper's.
"""

from omoide_bench.metrics.auditing import Fault, Finding, audit, audit_rates
from omoide_bench.metrics.bleu import bleu_against_characters, corpus_bleu
from omoide_bench.metrics.encoded import (
    EncodedScores,
    encoded_scores,
    greedy_match,
    library_scores,
)
from omoide_bench.metrics.locomo import locomo_f1
from omoide_bench.metrics.memory import memory_score, plain_memory_score
from omoide_bench.metrics.memos import (
    boundary_score,
    chosen_score,
    divides,
    matched_topics,
    topic_score,
)
from omoide_bench.metrics.overlap import Score, parlai_f1, word_score
from omoide_bench.metrics.protocol import choice_loss
from omoide_bench.metrics.replies import distinct, reply_length

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

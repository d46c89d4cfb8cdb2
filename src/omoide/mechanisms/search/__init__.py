"""Recall without a model call: a weighted sum of ten kinds of evidence, and a gate."""

from omoide.mechanisms.search.evidence import weigh_evidence
from omoide.mechanisms.search.features import FeatureReader
from omoide.mechanisms.search.mechanism import SearchMechanism
from omoide.mechanisms.search.question import indexed_terms, parse_query
from omoide.mechanisms.search.question_map import search_vector
from omoide.mechanisms.search.recall import Recall
from omoide.mechanisms.search.weights import KINDS, EvidenceWeights, reads, weights_for

__all__ = [
    "KINDS",
    "EvidenceWeights",
    "FeatureReader",
    "Recall",
    "SearchMechanism",
    "indexed_terms",
    "parse_query",
    "reads",
    "search_vector",
    "weigh_evidence",
    "weights_for",
]

"""Recall without a model call: a weighted sum of ten kinds of evidence, and a gate."""

from omoide.mechanisms.search.evidence import weigh_evidence
from omoide.mechanisms.search.features import FeatureReader
from omoide.mechanisms.search.mechanism import SearchMechanism
from omoide.mechanisms.search.question import parse_query, search_terms
from omoide.mechanisms.search.recall import Recall
from omoide.mechanisms.search.weights import KINDS, EvidenceWeights, reads

__all__ = [
    "KINDS",
    "EvidenceWeights",
    "FeatureReader",
    "Recall",
    "SearchMechanism",
    "parse_query",
    "reads",
    "search_terms",
    "weigh_evidence",
]

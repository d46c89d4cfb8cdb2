"""Recall without a model call: a weighted sum of ten kinds of evidence, and a gate."""

from omoide.mechanisms.search.mechanism import SearchMechanism
from omoide.mechanisms.search.recall import Recall
from omoide.mechanisms.search.weights import EvidenceWeights

__all__ = ["EvidenceWeights", "Recall", "SearchMechanism"]

"""Baselines that the three papers are compared with."""

from omoide.mechanisms.baselines import generative_agents_scoring
from omoide.mechanisms.baselines.generative_agents import GenerativeAgents, importance_request
from omoide.mechanisms.baselines.generative_agents_answers import read_ratings
from omoide.mechanisms.baselines.memory_bank import MemoryBank
from omoide.mechanisms.baselines.plain import (
    Bm25Baseline,
    FullContext,
    GoldMemory,
    SessionOnly,
    VectorBaseline,
    add_gold,
)

__all__ = [
    "Bm25Baseline",
    "FullContext",
    "GenerativeAgents",
    "GoldMemory",
    "MemoryBank",
    "SessionOnly",
    "VectorBaseline",
    "add_gold",
    "generative_agents_scoring",
    "importance_request",
    "read_ratings",
]

"""LoCoMo, under the name it had before `evals.data` held all data sets."""

from __future__ import annotations

from omoide.evals.data.locomo import (
    ADVERSARIAL,
    CATEGORIES,
    FILE,
    TUNED_ON,
    Asked,
    Conversation,
    load,
)
from omoide.evals.data.shapes import Line

__all__ = [
    "ADVERSARIAL",
    "CATEGORIES",
    "FILE",
    "TUNED_ON",
    "Asked",
    "Conversation",
    "Line",
    "load",
]

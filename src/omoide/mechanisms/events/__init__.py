"""Human-like recall of paper B: events, their calibration, and how newer events replace older."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omoide.mechanisms.events import calibration, form
    from omoide.mechanisms.events.calibration import Calibration
    from omoide.mechanisms.events.feeling import feeling as emotion
    from omoide.mechanisms.events.human_recall import HumanRecall
    from omoide.mechanisms.events.scoring import RecallSettings, word_similarity
    from omoide.mechanisms.events.writer import read_drafts

__all__ = [
    "Calibration",
    "HumanRecall",
    "RecallSettings",
    "calibration",
    "emotion",
    "form",
    "read_drafts",
    "word_similarity",
]

_LATE = {
    "Calibration": ("calibration", "Calibration"),
    "HumanRecall": ("human_recall", "HumanRecall"),
    "RecallSettings": ("scoring", "RecallSettings"),
    "calibration": ("calibration", ""),
    "emotion": ("feeling", "feeling"),
    "form": ("form", ""),
    "read_drafts": ("writer", "read_drafts"),
    "word_similarity": ("scoring", "word_similarity"),
}
"""Module and name of what is imported on first access, since `import omoide` loads this package."""


def __getattr__(name: str) -> object:
    """Import a name of `_LATE`; the module itself if no name in it is given."""
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, original = _LATE[name]
    loaded = import_module(f"{__name__}.{module}")
    return getattr(loaded, original) if original else loaded

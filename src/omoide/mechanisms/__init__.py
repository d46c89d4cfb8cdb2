"""Memory mechanisms: the interface that they share, and the registry that lists them.

The mechanisms themselves are in the subpackages `summary`, `memos`, `events`, `search`,
`baselines` and `fused`. `MECHANISMS` lists them by name; a plug-in adds a `MechanismEntry`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from omoide.mechanisms.base import (
    Contribution,
    DigestsOpenSessions,
    Mechanism,
    Participants,
    PromptPlace,
    ReadOnlyMechanism,
    ReplyRequest,
    SessionToDigest,
    fit_budget,
)
from omoide.mechanisms.entry import MechanismEntry
from omoide.mechanisms.reply_forms import FORMS as REPLY_FORMS
from omoide.mechanisms.reply_forms import FewShotForm, ReplyForm, WorkedExample, is_looping
from omoide.prompts.transcript import Line, lines

if TYPE_CHECKING:
    from omoide.mechanisms.registry import (
        MECHANISMS,
        WRITERS,
        MechanismParts,
        lookup,
        recall_settings,
        reply_tokens_for,
    )

__all__ = [
    "MECHANISMS",
    "REPLY_FORMS",
    "WRITERS",
    "Contribution",
    "DigestsOpenSessions",
    "FewShotForm",
    "Line",
    "Mechanism",
    "MechanismEntry",
    "MechanismParts",
    "Participants",
    "PromptPlace",
    "ReadOnlyMechanism",
    "ReplyForm",
    "ReplyRequest",
    "SessionToDigest",
    "WorkedExample",
    "fit_budget",
    "is_looping",
    "lines",
    "lookup",
    "recall_settings",
    "reply_tokens_for",
]

_LATE = frozenset(
    "MECHANISMS WRITERS MechanismParts lookup recall_settings reply_tokens_for".split()
)
"""Names imported on first use: the registry loads every mechanism."""


def __getattr__(name: str) -> object:
    """Import a name of `_LATE` from the registry."""
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.registry"), name)

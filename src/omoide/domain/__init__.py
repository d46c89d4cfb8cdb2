"""Domain values and pure formulas. Imports the standard library only."""

from omoide.domain import forgetting
from omoide.domain.event import Event
from omoide.domain.fact import (
    Fact,
    FactChanges,
    FactConfirmation,
    FactEnd,
    FactFilter,
    FactKind,
    FactMarks,
    Trust,
    weakest,
)
from omoide.domain.fact_changes import AppliedChanges, applied
from omoide.domain.fact_erasure import ErasedFacts, FactErasure, TurnPlace
from omoide.domain.jobs import CallPurpose, Job, JobState, JobTask, ModelCall, RejectedAnswer
from omoide.domain.memo import Memo, Span
from omoide.domain.note import Note
from omoide.domain.recall import Ending, MemoryKind, Outdated, RecalledItem, RecallResult, Support
from omoide.domain.receipt import Receipt
from omoide.domain.summary import (
    ChangeKind,
    Origin,
    Sentence,
    SentenceChange,
    Summary,
    diff,
    empty_summary,
)
from omoide.domain.timeline import FactChange, TimelineEntry, timeline
from omoide.domain.turn import NewTurn, Owner, RecordedTurns, Session, Speaker, Turn
from omoide.domain.words import OpenEnum

__all__ = [
    "AppliedChanges",
    "CallPurpose",
    "ChangeKind",
    "Ending",
    "ErasedFacts",
    "Event",
    "Fact",
    "FactChange",
    "FactChanges",
    "FactConfirmation",
    "FactEnd",
    "FactErasure",
    "FactFilter",
    "FactKind",
    "FactMarks",
    "Job",
    "JobState",
    "JobTask",
    "Memo",
    "MemoryKind",
    "ModelCall",
    "NewTurn",
    "Note",
    "OpenEnum",
    "Origin",
    "Outdated",
    "Owner",
    "RecallResult",
    "RecalledItem",
    "Receipt",
    "RecordedTurns",
    "RejectedAnswer",
    "Sentence",
    "SentenceChange",
    "Session",
    "Span",
    "Speaker",
    "Summary",
    "Support",
    "TimelineEntry",
    "Trust",
    "Turn",
    "TurnPlace",
    "applied",
    "diff",
    "empty_summary",
    "forgetting",
    "timeline",
    "weakest",
]

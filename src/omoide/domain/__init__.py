"""The words of the domain: values and pure formulas, on the standard library alone."""

from omoide.domain.event import Event
from omoide.domain.memo import Memo, Span
from omoide.domain.note import Note
from omoide.domain.recalled import Kind, Recalled, Recollection, Support
from omoide.domain.summary import Change, Origin, Sentence, SentenceChange, Summary, diff, nothing
from omoide.domain.turn import Owner, Recorded, Said, Session, Speaker, Turn
from omoide.domain.work import Call, Job, Purpose, Rejected, State, Task

__all__ = [
    "Call",
    "Change",
    "Event",
    "Job",
    "Kind",
    "Memo",
    "Note",
    "Origin",
    "Owner",
    "Purpose",
    "Recalled",
    "Recollection",
    "Recorded",
    "Rejected",
    "Said",
    "Sentence",
    "SentenceChange",
    "Session",
    "Span",
    "Speaker",
    "State",
    "Summary",
    "Support",
    "Task",
    "Turn",
    "diff",
    "nothing",
]

"""The words of the domain: values and pure formulas, on the standard library alone."""

from omoide.domain.recalled import Kind, Recalled
from omoide.domain.summary import Change, Origin, Sentence, SentenceChange, Summary, diff
from omoide.domain.turn import Owner, Said, Session, Speaker, Turn
from omoide.domain.work import Call, Job, Purpose, Rejected, State, Task

__all__ = [
    "Call",
    "Change",
    "Job",
    "Kind",
    "Origin",
    "Owner",
    "Purpose",
    "Recalled",
    "Rejected",
    "Said",
    "Sentence",
    "SentenceChange",
    "Session",
    "Speaker",
    "State",
    "Summary",
    "Task",
    "Turn",
    "diff",
]

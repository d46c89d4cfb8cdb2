"""Whether a memory is up to date, and what went wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.cli.show import ago, dim, one_line, plural, warning
from omoide.domain import JobState, JobTask, Origin

if TYPE_CHECKING:
    from datetime import datetime

    from omoide.domain import Job, RejectedAnswer, Session
    from omoide.engine.memory import Memory


@dataclass(frozen=True, kw_only=True)
class PendingSession:
    """A session that ended but is not digested, with its job if there is one."""

    session: Session
    job: Job | None

    @property
    def dead(self) -> bool:
        """Whether its job was given up."""
        return self.job is not None and self.job.state is JobState.DEAD


@dataclass(frozen=True, kw_only=True)
class MemoryStatus:
    """Sessions that are not digested yet, and rejected answers."""

    sessions: int
    versions: int
    last: datetime | None
    """Time of the last turn."""
    open: tuple[Session, ...]
    behind: tuple[PendingSession, ...]
    aside: tuple[RejectedAnswer, ...]

    @property
    def current(self) -> bool:
        """Whether every ended session is digested."""
        return not self.behind


async def memory_status(memory: Memory, user: str) -> MemoryStatus:
    """The status of a user's memory. Without the summary mechanism there are no versions to judge
    by; then a session is behind while it has an unfinished job."""
    sessions = await memory.sessions(user)
    history = await memory.history(user)
    digested = {v.session for v in history if v.origin in (Origin.DIGEST, Origin.EDIT)}
    jobs = {j.session: j for j in await memory.jobs(user) if j.task is JobTask.DIGEST}
    if "summary" not in memory.about.mechanisms:
        unfinished = {number for number, job in jobs.items() if job.state is not JobState.DONE}
        digested |= {session.number for session in sessions} - unfinished
    return MemoryStatus(
        sessions=len(sessions),
        versions=len(history),
        last=max((session.last for session in sessions), default=None),
        open=tuple(session for session in sessions if session.open),
        behind=tuple(
            PendingSession(session=session, job=jobs.get(session.number))
            for session in sessions
            if not session.open and session.turns and session.number not in digested
        ),
        aside=await memory.rejected(user),
    )


def status_lines(status: MemoryStatus, now: datetime) -> list[str]:
    """What a user should know before trusting the memory; empty if all is well."""
    lines = [_behind_line(behind, now) for behind in status.behind]
    lines += [
        dim(
            f"· session {session.number} is still open: it is remembered when it ends "
            "(/end, or omoide chat --end)"
        )
        for session in status.open
        if session.turns
    ]
    return lines


def aside_lines(status: MemoryStatus) -> list[str]:
    """How much of what the model noted was not taken over, for those who look at the memory."""
    if not status.aside:
        return []
    notes = plural(len(status.aside), "note")
    were = "was" if len(status.aside) == 1 else "were"
    return [
        dim(
            f"· {notes} by the model failed a check and {were} not remembered; what you said is "
            "kept (details: omoide memory rejected)"
        )
    ]


def _behind_line(behind: PendingSession, now: datetime) -> str:
    session, job = behind.session, behind.job
    ended = ago(session.ended or session.last, now)
    what = f"session {session.number}, ended {ended}, is not in the memory"
    if job is None or job.state is JobState.DONE:
        return warning(
            f"! {what} and no job is queued: omoide jobs retry --session {session.number}"
        )
    if job.state is JobState.DEAD:
        return warning(f"! {what}: {one_line(job.error)} Try again: omoide jobs retry {job.id}")
    if job.state is JobState.RUNNING:
        return dim(f"· {what} yet: it is being digested")
    if job.error:
        tries = plural(job.attempts, "try", "tries")
        due = (
            f"next {ago(job.due, now)}" if job.due > now else "next with omoide chat or omoide work"
        )
        return warning(f"! {what} yet: {one_line(job.error)} ({tries}, {due})")
    return dim(f"· {what} yet: it is waiting to be digested")

"""How far the memory is behind what was said, and what went wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.cli.show import ago, dim, many, one_line, warning
from omoide.domain import Origin, State, Task

if TYPE_CHECKING:
    from datetime import datetime

    from omoide.domain import Job, Rejected, Session
    from omoide.engine import Memory


@dataclass(frozen=True, kw_only=True)
class Behind:
    """A session that ended and is not in the memory, with its job if there is one."""

    session: Session
    job: Job | None

    @property
    def dead(self) -> bool:
        """Whether its digestion was given up."""
        return self.job is not None and self.job.state is State.DEAD


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What the memory does not know yet, and answers that were kept out of it."""

    sessions: int
    versions: int
    last: datetime | None
    """When anything was last said."""
    open: tuple[Session, ...]
    behind: tuple[Behind, ...]
    aside: tuple[Rejected, ...]

    @property
    def current(self) -> bool:
        """Whether everything that ended is in the memory."""
        return not self.behind


async def standing(memory: Memory, user: str) -> Standing:
    """How a user's memory stands. Where no summary is kept there are no versions to go by, and a
    session is behind as long as work is left of it."""
    sessions = await memory.sessions(user)
    history = await memory.history(user)
    digested = {v.session for v in history if v.origin in (Origin.DIGEST, Origin.EDIT)}
    jobs = {j.session: j for j in await memory.jobs(user) if j.task is Task.DIGEST}
    if not any(mechanism.name == "summary" for mechanism in memory.mechanisms):
        left = {number for number, job in jobs.items() if job.state is not State.DONE}
        digested |= {session.number for session in sessions} - left
    return Standing(
        sessions=len(sessions),
        versions=len(history),
        last=max((session.last for session in sessions), default=None),
        open=tuple(session for session in sessions if session.open),
        behind=tuple(
            Behind(session=session, job=jobs.get(session.number))
            for session in sessions
            if not session.open and session.turns and session.number not in digested
        ),
        aside=await memory.aside(user),
    )


def standing_lines(found: Standing, now: datetime) -> list[str]:
    """What a person should know before trusting the memory; nothing if all is well."""
    lines = [_behind_line(behind, now) for behind in found.behind]
    if found.aside:
        answers = many(len(found.aside), "answer")
        lines.append(dim(f"· {answers} of the model set aside: omoide memory aside"))
    return lines


def _behind_line(behind: Behind, now: datetime) -> str:
    session, job = behind.session, behind.job
    ended = ago(session.ended or session.last, now)
    what = f"session {session.number}, ended {ended}, is not in the memory"
    if job is None or job.state is State.DONE:
        return warning(
            f"! {what}: no update is queued: omoide jobs retry --session {session.number}"
        )
    if job.state is State.DEAD:
        return warning(f"! {what}: {one_line(job.error)} Try again: omoide jobs retry {job.id}")
    if job.state is State.RUNNING:
        return dim(f"· {what} yet: it is being digested")
    if job.error:
        tries = many(job.attempts, "try", "tries")
        return warning(f"! {what} yet: {one_line(job.error)} ({tries}, next {ago(job.due, now)})")
    return dim(f"· {what} yet: it is waiting to be digested")

"""Jobs as a person sees them: why one has not been done, and what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.bootstrap import describe_worker
from omoide.cli.show import ago, plural
from omoide.domain import JobState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from omoide.domain import Job

LEFT = (JobState.WAITING, JobState.RUNNING, JobState.DEAD)
"""States of a job that is not done."""
_NAMED = 3
"""How many jobs are named at most."""


def reason(job: Job, now: datetime) -> str:
    """Why it is not done: where it runs, when it is tried again, or what went wrong."""
    if job.state is JobState.RUNNING:
        return f"in {describe_worker(job.worker)}"
    if job.state is JobState.WAITING and job.due > now:
        return f"due {ago(job.due, now)}" + (f": {job.error}" if job.error else "")
    return job.error


def due_line(jobs: Sequence[Job], now: datetime) -> str:
    """What is about to be run, for the wait until it is done; empty if nothing is."""
    due = [job for job in jobs if job.state is not JobState.DEAD and job.due <= now]
    tasks = ", ".join(f"{job.task.value} for {job.owner.user}" for job in due[:_NAMED])
    more = f" and {len(due) - _NAMED} more" if len(due) > _NAMED else ""
    return f"running {tasks}{more}; a local model may take minutes for each …" if due else ""


def left_lines(jobs: Sequence[Job], now: datetime) -> list[str]:
    """What is left after all jobs that could be run were, and what it waits for."""
    running = [job for job in jobs if job.state is JobState.RUNNING]
    waiting = [job for job in jobs if job.state is JobState.WAITING]
    later = [job for job in waiting if job.due > now]
    dead = [job for job in jobs if job.state is JobState.DEAD]
    lines = []
    for job in running:
        where = describe_worker(job.worker)
        lines.append(
            f"Job {job.id} ({job.task.value}) is running in {where}. Others can take it as soon "
            "as that process ends; on another machine, a minute after that."
        )
    if len(waiting) > len(later):
        lines.append(f"{plural(len(waiting) - len(later), 'job')} waiting.")
    if later:
        first = ago(min(job.due for job in later), now)
        lines.append(f"{plural(len(later), 'job')} to be tried again, the next {first}.")
    if dead:
        lines.append(f"{plural(len(dead), 'job')} given up: see omoide jobs list --state dead.")
    return lines

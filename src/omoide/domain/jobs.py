"""Background jobs, what model calls cost, and rejected answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from omoide.domain.words import OpenEnum

if TYPE_CHECKING:
    from datetime import datetime

    from omoide.domain.turn import Owner


class JobTask(OpenEnum):
    """What a job does. The engine handles the tasks below; a store queues any task."""

    DIGEST = "digest"
    """Digest a session that has ended."""
    EMBED = "embed"
    """Embed turns, events and memos that have no vector yet."""
    NOTIFY = "notify"
    """Tell webhooks what became of a session or of given-up work."""
    DIGEST_OPEN = "keep_up"
    """Digest the earlier part of a session that is still open and has grown long."""


class JobState(StrEnum):
    """The state of a job."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    DEAD = "dead"
    """Given up. A person may look at it and retry it."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """One piece of durable work. Jobs of one owner and task run in order."""

    id: int
    owner: Owner
    task: JobTask
    session: int | None
    state: JobState
    attempts: int
    created: datetime
    due: datetime
    """Not to be run before this time."""
    error: str = ""
    worker: str = ""


class CallPurpose(OpenEnum):
    """Why a model was called. A mechanism may add a purpose of its own; costs are listed by it."""

    REPLY = "reply"
    DIGEST = "digest"
    CHOOSE = "choose"
    """Choose the memos that are related to the user's message."""
    EMBED = "embed"


@dataclass(frozen=True, kw_only=True)
class ModelCall:
    """One call of a model and what it cost."""

    purpose: CallPurpose
    model: str
    session: int | None
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    time: datetime
    failed: bool = False
    """Whether its answer was discarded. The call still counts towards the cost."""


MAX_TOKENS = 10**9
"""Most tokens that one call can have used. A larger number is a fault of whoever reported it."""


def reported_tokens(value: object) -> int | None:
    """A number of tokens as an endpoint reported it; None if it is not a plausible number.

    >>> reported_tokens(12), reported_tokens(10**23), reported_tokens(True), reported_tokens("9")
    (12, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= MAX_TOKENS else None


@dataclass(frozen=True, kw_only=True)
class RejectedAnswer:
    """A model's answer that did not pass the guards, kept for people to see."""

    session: int
    text: str
    problems: tuple[str, ...]
    model: str
    time: datetime

"""Durable work for a model, what it cost, and what came out unusable."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from omoide.domain.turn import Owner


class Task(StrEnum):
    """What a job does."""

    DIGEST = "digest"
    """Rewrite the summary from a session that ended."""
    EMBED = "embed"
    """Give vectors to turns, events and memos that have none yet."""
    KEEP_UP = "keep_up"
    """Write down the earlier part of a session that goes on and has grown long."""


class State(StrEnum):
    """Where a job stands."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    DEAD = "dead"
    """Given up: a person may look at it and ask for another try."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """One piece of durable work, done in order for each owner."""

    id: int
    owner: Owner
    task: Task
    session: int | None
    state: State
    attempts: int
    created: datetime
    due: datetime
    """Not to be tried before then."""
    error: str = ""
    worker: str = ""


class Purpose(StrEnum):
    """Why a model was called."""

    REPLY = "reply"
    DIGEST = "digest"
    CHOOSE = "choose"
    """Which memos are related to what was said."""
    EMBED = "embed"


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call of a model, for the account."""

    purpose: Purpose
    model: str
    session: int | None
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    time: datetime
    failed: bool = False
    """Whether its answer was thrown away; it was paid for all the same."""


@dataclass(frozen=True, kw_only=True)
class Rejected:
    """An answer that was not allowed to become memory, kept for a person to see."""

    session: int
    text: str
    problems: tuple[str, ...]
    model: str
    time: datetime

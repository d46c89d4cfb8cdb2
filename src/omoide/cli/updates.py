"""Changes of the memory since the last look, made by any process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.cli.show import dim, one_line, warning
from omoide.domain import ChangeKind, JobState, JobTask, Origin, diff

if TYPE_CHECKING:
    from omoide.domain import Sentence, Summary
    from omoide.engine.memory import Memory


class UpdateWatcher:
    """Watches one user's memory by polling the database."""

    def __init__(self, *, memory: Memory, user: str) -> None:
        self._memory = memory
        self._user = user
        self._version = 0
        self._sentences: tuple[Sentence, ...] = ()
        self._dead: set[int] = set()
        self._tried: dict[int, str] = {}

    async def catch_up(self) -> None:
        """Skip everything up to now."""
        await self.fetch()

    async def fetch(self) -> list[str]:
        """A line for each new version, and for each update that failed or has to wait."""
        return [*await self._versions(), *await self._failures()]

    async def _versions(self) -> list[str]:
        newest = await self._memory.summary(self._user)
        if newest.number == self._version:
            return []
        lines = [_version_line(newest, self._sentences)]
        self._version, self._sentences = newest.number, newest.sentences
        return lines

    async def _failures(self) -> list[str]:
        lines = []
        for job in await self._memory.jobs(self._user, states=[JobState.DEAD, JobState.WAITING]):
            if job.task is not JobTask.DIGEST:
                continue
            error = one_line(job.error)
            if job.state is JobState.DEAD and job.id not in self._dead:
                self._dead.add(job.id)
                lines.append(warning(f"! the memory was not updated: {error}"))
            elif job.state is JobState.WAITING and error and self._tried.get(job.id) != error:
                self._tried[job.id] = error
                lines.append(warning(f"! the update of the memory has to wait: {error}"))
            if job.state is JobState.WAITING:
                self._dead.discard(job.id)
        return lines


def _version_line(newest: Summary, before: tuple[Sentence, ...]) -> str:
    changes = diff(before, newest.sentences)
    counts = [
        f"{count} {word}"
        for kind, word in (
            (ChangeKind.ADDED, "new"),
            (ChangeKind.CHANGED, "changed"),
            (ChangeKind.REMOVED, "gone"),
        )
        if (count := sum(change.change is kind for change in changes))
    ]
    after = f" after session {newest.session}" if newest.origin is Origin.DIGEST else ""
    return dim(
        f"· memory updated{after}: version {newest.number}, {', '.join(counts) or 'no change'}"
    )

"""What every file of stories has in common: titles, days, and what is said on them.

    # A school nurse who moved to Bergen
    @ 2026-02-03
    U: Hi! I'm Nora. I live in Oslo.
    A: Nice to meet you, Nora!

Other lines are of the file's own kinds.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from importlib import resources
from typing import TYPE_CHECKING

from omoide.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LINE_GAP = timedelta(minutes=1)
_BEGIN = time(19, 30, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class StorySession:
    """One talk."""

    day: date
    lines: tuple[tuple[str, str], ...]
    """`U` for the user or `A` for the assistant, and the text."""

    def timed(self) -> Iterator[tuple[str, str, datetime]]:
        """The lines with their times, an evening's talk."""
        begin = datetime.combine(self.day, _BEGIN)
        for number, (who, text) in enumerate(self.lines):
            yield who, text, begin + number * LINE_GAP


@dataclass(frozen=True, kw_only=True)
class StoryText:
    """A story as it stands in its file."""

    id: str
    title: str
    lines: tuple[str, ...]

    def sessions(
        self, take: Callable[[str, list[StorySession]], None], *, kinds: str, see: str
    ) -> tuple[StorySession, ...]:
        """Its talks. `take` reads every line of the file's own `kinds`, given the talks so far, and
        raises `ValueError` or `IndexError` at one that it does not understand. Raises `BadInput`
        that names the first such line, and the module to `see`."""
        found: list[StorySession] = []
        for line in filter(None, map(str.strip, self.lines)):
            try:
                if not _added(line, found):
                    take(line, found)
            except (ValueError, IndexError) as error:
                raise BadInput(
                    f"story {self.id}: wanted '@ day', 'U: …', 'A: …'{kinds}, "
                    f"got {line[:80]!r}; see {see}"
                ) from error
        return tuple(found)


def _added(line: str, sessions: list[StorySession]) -> bool:
    """Whether the line is a day or something said; it is then added."""
    if line.startswith("@ "):
        sessions.append(StorySession(day=date.fromisoformat(line[2:].strip()), lines=()))
        return True
    if line.startswith(("U: ", "A: ")):
        last = sessions[-1]
        said = (*last.lines, (line[0], line[3:].strip()))
        sessions[-1] = StorySession(day=last.day, lines=said)
        return True
    return False


def packaged_text(package: str, language: str) -> str:
    """The file of one language in a package."""
    return (resources.files(package) / f"{language}.txt").read_text("utf-8")


def split_stories(text: str, language: str) -> tuple[str, tuple[StoryText, ...]]:
    """What stands before the first story of a file, and its stories."""
    head, *rest = f"\n{text}".split("\n# ")
    bodies = [part.splitlines() for part in rest]
    return head, tuple(
        StoryText(id=f"{language}-{number}", title=title.strip(), lines=tuple(lines))
        for number, (title, *lines) in enumerate(bodies, 1)
    )

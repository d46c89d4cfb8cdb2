"""What every data set is read into: dialogues of sessions of lines, and questions about them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FIRST_DAY = datetime(2026, 1, 5, 12, tzinfo=UTC)
"""When the first session of a data set without dates is taken to begin."""
LINE_GAP = timedelta(seconds=30)
"""Between two lines of a session whose lines have no times of their own."""
SESSION_GAP = timedelta(days=1)
"""Between the end of a session and the next, where the data set does not say."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One turn."""

    id: str
    """Unlike any other in its dialogue."""
    session: int
    speaker: str
    text: str
    time: datetime


@dataclass(frozen=True, kw_only=True)
class Session:
    """What was said at one sitting."""

    number: int
    """From 1."""
    lines: tuple[Line, ...]
    facts: tuple[tuple[str, ...], ...] = ()
    """What people noted of each speaker after it, in the order of `Dialogue.speakers`; empty
    where the data set has no such notes."""
    memory: tuple[str, ...] = ()
    """What people held to be true before it, where the data set says so (CareCall)."""
    whole: bool = True
    """False where its last turn is missing from the file."""

    @property
    def start(self) -> datetime:
        """When its first line was said."""
        return self.lines[0].time

    def replies(self, speaker: str) -> tuple[int, ...]:
        """The places, from 0, of what `speaker` said in answer to another: a session that the
        speaker opens does not begin with a reply."""
        return tuple(
            place
            for place, line in enumerate(self.lines)
            if place and line.speaker == speaker != self.lines[place - 1].speaker
        )


@dataclass(frozen=True, kw_only=True)
class Question:
    """Something asked of the whole dialogue."""

    id: str
    text: str
    at: datetime
    """When it is asked; a day after the last line where the data set does not say."""
    answer: str | None = None
    """None where the data set has none, which is not the same as a question without an answer."""
    category: str = ""
    evidence: frozenset[str] = frozenset()
    """Ids of the lines that hold the answer."""
    wrong: str | None = None
    """An answer that is known to be wrong (LoCoMo's category 5)."""


@dataclass(frozen=True, kw_only=True)
class Dialogue:
    """Two or more people over one or more sessions, in the order they were held."""

    id: str
    language: str
    speakers: tuple[str, ...]
    """The one who is taken to be the user first, the one taken to be the assistant second."""
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...] = ()
    personas: tuple[tuple[str, ...], ...] = ()
    """What each speaker was given to play, in the order of `speakers`."""
    topic: str = ""
    summaries: tuple[str, ...] = ()
    """Of the whole, by people; several where several people wrote one."""
    dated: bool = True
    """False where the times are made up here (see `FIRST_DAY`, `SESSION_GAP`)."""

    @property
    def lines(self) -> tuple[Line, ...]:
        """All lines of all sessions."""
        return tuple(line for session in self.sessions for line in session.lines)

    def facts(self, until: int) -> tuple[tuple[str, ...], ...]:
        """What was noted of each speaker in sessions 1 to `until`, repetitions and all."""
        told = [s.facts for s in self.sessions if s.number <= until and s.facts]
        return tuple(
            tuple(fact for facts in told for fact in facts[place])
            for place in range(len(self.speakers))
        )


def timed(
    said: Iterable[tuple[str, str]], *, session: int, start: datetime, name: str = "s{session}.{n}"
) -> tuple[Line, ...]:
    """Lines (speaker, text) of a session without times, `LINE_GAP` apart, numbered from 1."""
    return tuple(
        Line(
            id=name.format(session=session, n=n),
            session=session,
            speaker=speaker,
            text=text,
            time=start + (n - 1) * LINE_GAP,
        )
        for n, (speaker, text) in enumerate(said, start=1)
    )


def next_day(lines: Sequence[Line]) -> datetime:
    """A day after the last line: when questions without a date are taken to be asked."""
    return lines[-1].time + timedelta(days=1)

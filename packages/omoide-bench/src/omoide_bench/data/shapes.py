"""The common form of all data sets: dialogues of sessions of lines, and questions about them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FIRST_DAY = datetime(2026, 1, 5, 12, tzinfo=UTC)
"""Assumed start of the first session in a data set without dates."""
LINE_GAP = timedelta(seconds=30)
"""Assumed time between two lines without times."""
SESSION_GAP = timedelta(days=1)
"""Assumed time between two sessions, if the data set does not say."""


@dataclass(frozen=True, kw_only=True)
class DatasetLine:
    """One turn of a dialogue."""

    id: str
    """Unique in its dialogue."""
    session: int
    speaker: str
    text: str
    time: datetime


@dataclass(frozen=True, kw_only=True)
class DatasetSession:
    """One session of a dialogue."""

    number: int
    """From 1."""
    lines: tuple[DatasetLine, ...]
    facts: tuple[tuple[str, ...], ...] = ()
    """Facts that annotators noted about each speaker in it, in the order of `Dialogue.speakers`;
    empty if the data set has none."""
    memory: tuple[str, ...] = ()
    """Facts annotated as true before it, if the data set has them (CareCall)."""
    whole: bool = True
    """False if its last turn is missing from the file."""

    @property
    def start(self) -> datetime:
        """Time of its first line."""
        return self.lines[0].time

    def replies(self, speaker: str) -> tuple[int, ...]:
        """Indices, from 0, of the lines with which `speaker` replies to another: an opening line
        is not a reply."""
        return tuple(
            index
            for index, line in enumerate(self.lines)
            if index and line.speaker == speaker != self.lines[index - 1].speaker
        )


@dataclass(frozen=True, kw_only=True)
class DatasetQuestion:
    """A question about a whole dialogue."""

    id: str
    text: str
    at: datetime
    """When it is asked; a day after the last line if the data set does not say."""
    answer: str | None = None
    """None if the data set has no gold answer; that is not the same as an unanswerable question."""
    category: str = ""
    evidence: frozenset[str] = frozenset()
    """Ids of the lines with the answer."""
    wrong: str | None = None
    """A known wrong answer (LoCoMo's category 5)."""
    choices: tuple[str, ...] = ()
    """The options of a multiple-choice question."""
    right_choice: int | None = None
    """Index of the right option."""
    rubric: tuple[str, ...] = ()
    """What a good answer must meet, one requirement each (BEAM)."""
    audited: DatasetQuestion | None = None
    """The question with the gold as an audit corrected it; None if the published gold stands."""


@dataclass(frozen=True, kw_only=True)
class Dialogue:
    """A conversation of two or more people over one or more sessions, in order."""

    id: str
    language: str
    speakers: tuple[str, ...]
    """First the one that plays the user, second the one that plays the assistant."""
    sessions: tuple[DatasetSession, ...]
    questions: tuple[DatasetQuestion, ...] = ()
    personas: tuple[tuple[str, ...], ...] = ()
    """The assigned persona of each speaker, in the order of `speakers`."""
    topic: str = ""
    summaries: tuple[str, ...] = ()
    """Gold summaries of the whole dialogue, one per annotator."""
    dated: bool = True
    """False if we invented the times (see `FIRST_DAY`, `SESSION_GAP`)."""

    @property
    def lines(self) -> tuple[DatasetLine, ...]:
        """All lines of all sessions."""
        return tuple(line for session in self.sessions for line in session.lines)

    def facts(self, until: int) -> tuple[tuple[str, ...], ...]:
        """The facts noted about each speaker in sessions 1 to `until`, including repetitions."""
        raw = [s.facts for s in self.sessions if s.number <= until and s.facts]
        return tuple(
            tuple(fact for facts in raw for fact in facts[index])
            for index in range(len(self.speakers))
        )


def timed(
    said: Iterable[tuple[str, str]], *, session: int, start: datetime, name: str = "s{session}.{n}"
) -> tuple[DatasetLine, ...]:
    """Lines from (speaker, text) pairs, `LINE_GAP` apart, numbered from 1."""
    return tuple(
        DatasetLine(
            id=name.format(session=session, n=n),
            session=session,
            speaker=speaker,
            text=text,
            time=start + (n - 1) * LINE_GAP,
        )
        for n, (speaker, text) in enumerate(said, start=1)
    )


def next_day(lines: Sequence[DatasetLine]) -> datetime:
    """A day after the last line: the assumed time of questions without a date."""
    return lines[-1].time + timedelta(days=1)

"""How text, times and tables look, and how times are read."""

from __future__ import annotations

import asyncio
import io
import json
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.cli.screen import CLEAR, Spinner
from omoide.cli.show import ago, as_json, clean, one_line, plural, table, width
from omoide.cli.status import MemoryStatus, PendingSession, status_lines
from omoide.cli.time_parsing import parse_time
from omoide.domain import CallPurpose, Job, JobState, JobTask, Owner, Session
from omoide.testing import FrozenClock

NOW = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)


@given(st.text())
def test_clean_text_has_no_controls(text: str) -> None:
    """Nothing is left that a terminal would obey, and printable text stays as it is."""
    cleaned = clean(text)
    assert not any(ord(c) < 32 and c not in "\n\t" for c in cleaned)
    assert not any(0x7F <= ord(c) < 0xA0 for c in cleaned)
    assert clean(cleaned) == cleaned
    if text.isprintable():
        assert cleaned == text


def test_controls_are_shown() -> None:
    """An escape sequence is visible, so that nobody is fooled."""
    assert clean("a\x1b[31mb\x9bc\r\u202e") == "a␛[31mb<U+009B>c␍<U+202E>"
    assert one_line("a\n  b\tc") == "a b c"
    assert one_line("abcdef", max_chars=4) == "abc…"


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (timedelta(seconds=3), "just now"),
        (timedelta(seconds=59), "59 seconds ago"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(hours=23, minutes=59), "23 hours ago"),
        (timedelta(days=1), "1 day ago"),
        (timedelta(days=21), "3 weeks ago"),
        (timedelta(days=70), "2 months ago"),
        (timedelta(days=800), "2 years ago"),
        (-timedelta(hours=2), "in 2 hours"),
    ],
)
def test_times_in_words(before: timedelta, words: str) -> None:
    """The largest unit that fits, counted down."""
    assert ago(NOW - before, NOW) == words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("now", NOW),
        ("3 days ago", NOW - timedelta(days=3)),
        ("an hour ago", NOW - timedelta(hours=1)),
        ("2 Weeks Ago", NOW - timedelta(weeks=2)),
        ("2026-01-05T09:30:00+09:00", datetime(2026, 1, 5, 0, 30, tzinfo=UTC)),
        ("2026-01-05T09:30Z", datetime(2026, 1, 5, 9, 30, tzinfo=UTC)),
    ],
)
def test_moments_are_read(text: str, expected: datetime) -> None:
    """ISO times and simple words."""
    assert parse_time(text, now=NOW, day=time.max) == expected


def test_days_are_local_and_mean_the_time_asked_for() -> None:
    """A day is taken at the wall clock's time that the command wants."""
    noon = parse_time("2026-01-05", now=NOW, day=time(12)).astimezone()
    assert (noon.date().isoformat(), noon.hour) == ("2026-01-05", 12)
    yesterday = parse_time("yesterday", now=NOW, day=time.max).astimezone()
    assert yesterday.date() == (NOW.astimezone() - timedelta(days=1)).date()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-05", datetime(2026, 1, 5, 3, tzinfo=UTC)),
        ("2026-01-05T09:30", datetime(2026, 1, 5, 0, 30, tzinfo=UTC)),
        ("2026-01-05T09:30Z", datetime(2026, 1, 5, 9, 30, tzinfo=UTC)),
        ("today", datetime(2026, 1, 6, 3, tzinfo=UTC)),
    ],
)
def test_days_and_times_are_those_of_the_zone(text: str, expected: datetime) -> None:
    """What names no zone is of the one that is given: noon in Tokyo is three o'clock in UTC, and
    its day begins earlier."""
    now = datetime(2026, 1, 5, 20, tzinfo=UTC)
    assert parse_time(text, now=now, day=time(12), zone=ZoneInfo("Asia/Tokyo")) == expected


@given(st.text())
def test_any_text_is_a_moment_or_a_value_error(text: str) -> None:
    """Nonsense never raises anything that the command does not expect."""
    try:
        request = parse_time(text, now=NOW, day=time.max)
    except (ValueError, OverflowError):
        return
    assert request.tzinfo is not None


def test_tables_line_up_in_every_script() -> None:
    """Wide characters count double, so that columns stay straight."""
    lines = table(("who", "n"), [("思い出", "1"), ("ana", "22")], right=(1,)).splitlines()
    assert [width(line) for line in lines[1:]] == [width("思い出") + 2 + 2] * 2


def test_json_of_values() -> None:
    """Times are ISO in UTC, enums are words, dataclasses are objects."""
    value = {"clock": FrozenClock(), "purpose": CallPurpose.REPLY, "many": (1, None, True)}
    assert json.loads(json.dumps(as_json(value))) == {
        "clock": {"time": "2026-01-05T09:00:00+00:00"},
        "purpose": "reply",
        "many": [1, None, True],
    }


def test_counts_have_their_nouns() -> None:
    """One is singular, and thousands are set apart."""
    assert [plural(1, "try", "tries"), plural(0, "turn"), plural(1200, "turn")] == [
        "1 try",
        "0 turns",
        "1,200 turns",
    ]


class Glass(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """It is."""
        return True


async def test_a_spinner_leaves_no_trace_off_a_terminal() -> None:
    """Into a pipe nothing is written."""
    stream = io.StringIO()
    async with Spinner("thinking", stream=stream, lively=True):
        pass
    assert stream.getvalue() == ""


async def test_a_spinner_fits_the_line_and_clears_it() -> None:
    """A long text is cut to the columns there are, and nothing of it stays."""
    stream = Glass()
    async with Spinner("x" * 200, stream=stream, lively=True, columns=20) as sign:
        await asyncio.sleep(0)
        sign.say("half done")
    first, *_ = stream.getvalue().split(CLEAR)[1:]
    assert len(first) == 19
    assert stream.getvalue().endswith(CLEAR)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("", "thinking"),
        ("You live\nin Bergen", "You live in Bergen"),
        ("You moved to Bergen in May.", "…to Bergen in May."),
        ("札幌から仙台に引っ越したんだよね。", "…越したんだよね。"),
    ],
)
@pytest.mark.parametrize("colour", [False, True])
async def test_a_spinner_shows_the_end_of_what_is_forming(
    written: str, shown: str, colour: bool
) -> None:
    """In place of its text, within the line, faint where there are colours."""
    stream = Glass()
    async with Spinner("thinking", stream=stream, lively=True, columns=21, colour=colour) as sign:
        sign.watch(lambda: written)
        await asyncio.sleep(0)
    first, *_ = stream.getvalue().split(CLEAR)[1:]
    assert click.unstyle(first)[2:] == shown
    assert width(click.unstyle(first)) < 21
    assert (click.unstyle(first) != first) == (colour and written != "")


async def test_a_spinner_on_a_dumb_terminal_is_a_line() -> None:
    """Where the cursor cannot be moved, one line says that it thinks."""
    stream = Glass()
    async with Spinner("thinking", stream=stream, lively=False):
        pass
    assert stream.getvalue() == "(thinking …)\n"


@pytest.mark.parametrize(
    ("due", "told"),
    [
        (timedelta(minutes=5), "(1 try, next in 5 minutes)"),
        (-timedelta(minutes=5), "(1 try, next with omoide chat or omoide work)"),
    ],
)
def test_a_failed_update_says_when_it_is_tried_again(due: timedelta, told: str) -> None:
    """Or what does it, if its time has come and nothing is running."""
    session = Session(number=1, key=None, started=NOW, last=NOW, ended=NOW, turns=2)
    job = Job(
        id=1,
        owner=Owner(tenant="t", user="ana"),
        task=JobTask.DIGEST,
        session=1,
        state=JobState.WAITING,
        attempts=1,
        created=NOW,
        due=NOW + due,
        error="it timed out",
    )
    behind = PendingSession(session=session, job=job)
    status = MemoryStatus(sessions=1, versions=0, last=NOW, open=(), behind=(behind,), aside=())
    (line,) = status_lines(status, NOW)
    assert "it timed out" in line
    assert told in line

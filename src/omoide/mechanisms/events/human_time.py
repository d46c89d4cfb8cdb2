"""Formats times as people say them: "three weeks ago, on a Thursday", in the words of a pack.

Paper B gives its agent a sense of time: recalled events come with how long ago they were, and the
agent knows the current day and part of the day.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.domain.time import in_zone
from omoide.errors import BadLanguage
from omoide.language.pack import DEFAULT, pack

if TYPE_CHECKING:
    from datetime import date, datetime

    from omoide.language.tables import Ago


def _ago(language: str) -> Ago:
    """How the language says when; in English if its pack does not define it."""
    words = pack(language).ago or pack(DEFAULT).ago
    if words is None:
        raise BadLanguage("the English pack has no table [ago]")
    return words


def human_time(then: datetime, now: datetime, language: str) -> str:
    """How a person would say at `now` when `then` was, in the time zone of `now`.

    A time in the future, after the clock was set back, is "just now".
    """
    words = _ago(language)
    then = in_zone(then, now.tzinfo)
    elapsed = now - then
    if elapsed < timedelta(minutes=1):
        return words.just_now
    days = (now.date() - then.date()).days
    if elapsed < timedelta(hours=1):
        return _phrase(words, "minutes", elapsed // timedelta(minutes=1), then)
    if elapsed < timedelta(hours=6):
        return _phrase(words, "hours", elapsed // timedelta(hours=1), then)
    if days == 0:
        return _phrase(words, "today", 0, then)
    if days == 1:
        return _phrase(words, "yesterday", 1, then)
    if days < 7:
        return _phrase(words, "days", days, then)
    if days < 60:
        return _phrase(words, "weeks", round(days / 7), then)
    if days < 365:
        return _phrase(words, "months", round(days / 30.44), then)
    anniversary_ahead = (now.month, now.day) < (then.month, then.day)
    years = now.year - then.year - anniversary_ahead
    return _phrase(words, "years", max(years, 1), then)  # 365 days with a leap day are almost one


def present(now: datetime, language: str) -> str:
    """The current time for a prompt: day of the week, date, time and part of the day."""
    words = _ago(language)
    return words.now.format(
        day=words.weekdays[now.weekday()],
        date=f"{now:%Y-%m-%d}",
        clock=f"{now:%H:%M}",
        part=words.parts[_part(now)],
    )


def today(now: datetime, language: str) -> str:
    """`present` without the clock time. It changes only a few times a day, so that a prompt that
    begins with it stays cached."""
    words = _ago(language)
    template = words.now.replace(", {clock}", "").replace(" {clock}", "")
    return template.format(
        day=words.weekdays[now.weekday()], date=f"{now:%Y-%m-%d}", part=words.parts[_part(now)]
    )


def dated(day: date, language: str) -> str:
    """A day with the day of the week: "2026-11-18, Wednesday"."""
    return f"{day.isoformat()}, {weekday(day, language)}"


def weekday(day: date, language: str) -> str:
    """The day of the week: "Monday"."""
    return _ago(language).weekdays[day.weekday()]


def weekday_named(text: str, language: str) -> int | None:
    """The day of the week that a text names (Monday is 0); None unless it names exactly one."""
    lowered = text.lower()
    ago = _ago(language)
    called = [names.split() for names in ago.called] or [[day.lower()] for day in ago.weekdays]
    named = {i for i, names in enumerate(called) if any(name in lowered for name in names)}
    return named.pop() if len(named) == 1 else None


def _phrase(words: Ago, unit: str, n: int, then: datetime) -> str:
    form = words.one.get(unit) if n == 1 else None
    template = form or str(getattr(words, unit))
    number = words.numbers[n] if n < len(words.numbers) else str(n)
    day, part = words.weekdays[then.weekday()], words.parts[_part(then)]
    return template.format(n=number, day=day, part=part)


def _part(time: datetime) -> int:
    return 0 if time.hour < 5 else 1 if time.hour < 12 else 2 if time.hour < 18 else 3

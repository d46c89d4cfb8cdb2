"""Time expressions: the days a text mentions, resolved against the day it was said.

Each pack defines how its language names days (`[dates]`); this module interprets the parts of an
expression. No model, no dictionary: a few regular expressions, about 0.1 ms a turn. What has no
year ("in April", "on Friday") means the day that it means in a note (`omoide.language.dates`).
"""

from __future__ import annotations

import re
import unicodedata
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from omoide.language.dates import named_periods
from omoide.language.detect import detect_language
from omoide.language.pack import over_packs, packs
from omoide.language.tables import Dates, with_numbered_groups

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide.language.dates import NamedPeriod
    from omoide.language.pack import LanguagePack

Span = tuple[date, date]
"""First and last day."""

_WRITTEN = r"(?<!\d)(?P<y>(?:19|20)\d\d)[-/.]\s*(?P<m>\d\d?)[-/.]\s*(?P<d>\d\d?)(?!\d)"
"""Numeric dates, year first, as in any language."""


@dataclass(frozen=True, kw_only=True)
class _Calendar:
    """The date rules of one language."""

    texts: tuple[str, ...]
    """The patterns of its dates."""
    dates: Dates
    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    ascii: bool
    """Whether it can match in ASCII text."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """All patterns in one, compiled when a text first needs it: five languages take 60 ms."""
        return re.compile(_any_of(self.texts), re.IGNORECASE)

    @cached_property
    def _groups(self) -> tuple[tuple[int, str], ...]:
        """The number of each named group of the pattern, and its name in the pack."""
        numbers = self.pattern.groupindex.items()
        return tuple((number - 1, name.rstrip("0123456789")) for name, number in numbers)

    def parts(self, match: re.Match[str]) -> dict[str, str]:
        """What was matched, by name: `groupdict` takes long, since there are dozens of groups."""
        texts = match.groups()
        return {name: text for place, name in self._groups if (text := texts[place])}


@over_packs
def _calendars() -> tuple[_Calendar, ...]:
    named = (_calendar(pack) for pack in packs() if pack.dates.patterns or pack.dates.near)
    numeric = _Calendar(texts=(_WRITTEN,), dates=Dates(), months={}, weekdays={}, ascii=True)
    return (*named, numeric)


def _calendar(pack: LanguagePack) -> _Calendar:
    texts = [pattern.pattern for pattern in pack.dates.patterns]
    if near := sorted(pack.dates.near, key=len, reverse=True):
        edge = r"\b" if pack.words.bounded else ""
        words = "|".join(r"\s+".join(map(re.escape, word.split())) for word in near)
        texts.append(f"{edge}(?P<near>{words}){edge}")
    months = {name: i for i, names in enumerate(pack.dates.months, 1) for name in names.split()}
    days = {name.lower(): i for i, name in enumerate(pack.ago.weekdays)} if pack.ago else {}
    return _Calendar(
        texts=tuple(texts),
        dates=pack.dates,
        months=months,
        weekdays=days,
        ascii=all(name.isascii() for name in (*months, *pack.dates.near)),
    )


def _any_of(texts: Sequence[str]) -> str:
    """One pattern for all. If each begins with a word, beginnings of words are looked for first:
    most places of a text are none, and each would be tried with every pattern."""
    if any(not text.startswith(r"\b") or _has_branches(text) for text in texts):
        return "|".join(with_numbered_groups(list(texts)))
    either = "|".join(with_numbered_groups([text.removeprefix(r"\b") for text in texts]))
    return rf"\b(?=\w)(?:{either})"


def _has_branches(pattern: str) -> bool:
    """Whether a pattern has alternatives outside of groups.

    >>> _has_branches(r"\bon (?:a|b)[|]"), _has_branches("(a)|b")
    (False, True)
    """
    bare = re.sub(r"\\.|\[\^?\]?[^\]]*\]", "", pattern)
    while (inner := re.sub(r"\([^()]*\)", "", bare)) != bare:
        bare = inner
    return "|" in bare


def spans(text: str, said_on: date) -> list[Span]:
    """The periods that `text`, said on that day, mentions, in order of mention.

    Invalid dates are skipped. If several languages match a date, the longest match wins.

    >>> spans("We met two days ago and again in May 2022.", date(2023, 6, 10))[1][0].isoformat()
    '2022-05-01'
    """
    text = unicodedata.normalize("NFKC", text)
    found: list[tuple[re.Match[str], Mapping[str, str], Span]] = []
    done = 0
    for match, calendar in _matches(text):
        if match.start() >= done:
            done = match.end()
            parts = calendar.parts(match)
            if (span := _resolved(parts, calendar, said_on)) is not None:
                found.append((match, parts, span))
    if all("y" in parts for _, parts, _ in found):
        return [span for _, _, span in found]
    named = named_periods(text, day=said_on, language=detect_language(text))
    meant = (_meant(match, parts, span, named) for match, parts, span in found)
    return list(dict.fromkeys(span for span in meant if span))


def _matches(text: str) -> list[tuple[re.Match[str], _Calendar]]:
    """What may be a date, in the order of beginning, the longest first."""
    ascii_only = text.isascii()
    matches = [
        (match, calendar)
        for calendar in _calendars()
        if calendar.ascii or not ascii_only
        for match in calendar.pattern.finditer(text)
    ]
    matches.sort(key=lambda pair: (pair[0].start(), -pair[0].end()))
    return matches


def _meant(
    match: re.Match[str], parts: Mapping[str, str], span: Span, named: Sequence[NamedPeriod]
) -> Span | None:
    """What a match means, whose own words say `span`: the period of the expression of a note that
    it is in, if the text around it tells which is meant, if that expression is longer, as "the day
    after tomorrow" is, or if the days near to now that the match stands for are not all of it. None
    if the longer one is vague, such as "a few months ago" (vài tháng trước)."""
    around = (p for p in named if p.start < match.end() and match.start() < p.end)
    if "y" in parts or (period := next(around, None)) is None:
        return span
    longer = period.end - period.start > match.end() - match.start()
    if period.vague:
        return None if longer and "n" not in parts else span
    missed = "near" in parts and not span[0] <= period.first <= period.last <= span[1]
    by_note = longer or missed or _lacks_year(parts)
    return (period.first, period.last) if by_note else span


def _lacks_year(got: Mapping[str, str]) -> bool:
    """Whether only the text around it can tell which day is meant: "in April", "on Friday"."""
    return "weekday" in got or "m" in got


def day_numbers(text: str, said_on: date) -> list[tuple[int, int]]:
    """`spans` as day numbers (`date.toordinal`)."""
    return [(first.toordinal(), last.toordinal()) for first, last in spans(text, said_on)]


def _resolved(got: Mapping[str, str], calendar: _Calendar, said_on: date) -> Span | None:
    try:
        return _span(got, calendar, said_on)
    except (ValueError, OverflowError):  # 30 February, or before the year 1
        return None


def _span(got: Mapping[str, str], calendar: _Calendar, said_on: date) -> Span | None:
    dates = calendar.dates
    lowered = {name: " ".join(text.lower().split()) for name, text in got.items()}
    if "near" in got:
        first, last = dates.near[lowered["near"]]
        return said_on + timedelta(first), said_on + timedelta(last)
    if "season" in got:
        return _season(int(got["y"]), dates.seasons[lowered["season"]])
    if "n" in got:
        return _ago(lowered["n"], lowered["unit"], dates, said_on)
    if "way" in got:
        return _period(dates.directions[lowered["way"]], lowered["period"], calendar, said_on)
    if "weekday" in got:
        back = (said_on.weekday() - calendar.weekdays[lowered["weekday"]]) % 7
        return (said_on - timedelta(back),) * 2
    only_month = "m" in got and not ("d" in got or "y" in got)
    if only_month and lowered["m"] in dates.not_months and not got["m"][:1].isupper():
        return None
    return _date(lowered, calendar.months, said_on)


def _date(got: Mapping[str, str], months: Mapping[str, int], said_on: date) -> Span:
    """A day, a month or a year."""
    year = got.get("y")
    if "m" not in got:
        return date(int(got["y"]), 1, 1), date(int(got["y"]), 12, 31)
    month = months[got["m"]] if got["m"] in months else int(got["m"])
    if day := got.get("d"):
        return _day(year, month, int(day), said_on)
    return _month(int(year) if year else _likely_year(month, 1, said_on), month)


def _ago(count: str, unit: str, dates: Dates, said_on: date) -> Span:
    number = int(count) if count.isdigit() else dates.counts.get(count) or dates.vague[count]
    step = dates.units[unit]
    centre = said_on - timedelta(number * step)
    if step == _YEAR and dates.counts:
        return date(centre.year, 1, 1), date(centre.year, 12, 31)
    slack = timedelta(max(step // 2, number * step // 2 if count in dates.vague else 0))
    return centre - slack, centre + slack


_WEEK, _MONTH, _YEAR = 7, 30, 365


def _period(way: int, unit: str, calendar: _Calendar, said_on: date) -> Span:
    monday = said_on - timedelta(said_on.weekday())
    step = calendar.dates.units.get(unit)
    if step == _WEEK and unit.endswith("end"):
        saturday = monday + timedelta(7 * way + 5)
        return saturday - timedelta(1), saturday + timedelta(1)
    if step == _WEEK:
        return monday + timedelta(7 * way), monday + timedelta(7 * way + 6)
    if step == 1:
        return (said_on + timedelta(way),) * 2
    if step == _MONTH:
        months = said_on.year * 12 + said_on.month - 1 + way
        return _month(months // 12, months % 12 + 1)
    if step == _YEAR:
        return date(said_on.year + way, 1, 1), date(said_on.year + way, 12, 31)
    if unit in calendar.weekdays:
        ahead = (calendar.weekdays[unit] - said_on.weekday()) % 7
        return (said_on + timedelta(ahead - 7 if way < 0 else ahead),) * 2
    if unit in calendar.dates.seasons:
        first = calendar.dates.seasons[unit]
        this = _season(said_on.year, first)
        late, early = way < 0 and this[1] >= said_on, way > 0 and this[1] < said_on
        return _season(said_on.year - late + early, first)
    month = calendar.months[unit]
    late, early = way < 0 and month >= said_on.month, way > 0 and month <= said_on.month
    return _month(said_on.year - late + early, month)


def _day(year: str | None, month: int, day: int, said_on: date) -> Span:
    exact = date(int(year) if year else _likely_year(month, day, said_on), month, day)
    return exact, exact


def _month(year: int, month: int) -> Span:
    return date(year, month, 1), date(year, month, monthrange(year, month)[1])


def _season(year: int, first: int) -> Span:
    last = _month(year + (first == 12), (first + 1) % 12 + 1)[1]
    return date(year, first, 1), last


def _likely_year(month: int, day: int, said_on: date) -> int:
    """The latest year in which the date is at most a month ahead, where the words around it do not
    tell: people mostly mean the past."""
    return said_on.year - ((month, day) > (said_on.month + 1, said_on.day))

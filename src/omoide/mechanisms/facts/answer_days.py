"""The days in a model's answer: ISO dates, months and years are asked for, and what models write
instead of them is read as well."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta

_DATE = re.compile(
    r"""(?<![\w-])(?P<year>\d{4})(?:
          -?Q(?P<quarter>[1-4])
        | -?W(?P<week>\d{1,2})
        | ([-/.])(?P<month>\d{1,2})(?:\4(?P<day>\d{1,2})(?:T[\d:.+Z-]*)?)?
        | 年(?:(?P<month_2>\d{1,2})月(?:(?P<day_2>\d{1,2})日)?)?
    )?(?![\w-]|/(?!\d{4})|\.\d)""",
    re.VERBOSE,
)


@dataclass(frozen=True, kw_only=True)
class WrittenDays:
    """What stands in a field for a day: the first and the last day that it may mean."""

    first: date | None = None
    last: date | None = None
    unread: bool = False
    """Whether something stands there that is no date."""


def written_days(text: str) -> WrittenDays:
    """The days of a date, a week, a month, a quarter or a year; of several, from the first to the
    last.

    >>> written_days("2028-02").last
    datetime.date(2028, 2, 29)
    >>> written_days("2026/09/20 to 2026/09/25").last
    datetime.date(2026, 9, 25)
    """
    spans, rest = [], _DATE.sub("", text)
    for found in _DATE.finditer(text):
        if found.group() == found["year"] and any(map(str.isalnum, rest)):
            return WrittenDays(unread=True)  # "May 2026" is not all of that year
        try:
            spans.append(_span({k: int(v) for k, v in found.groupdict().items() if v}))
        except ValueError:  # there is no 30 February
            return WrittenDays(unread=True)
    if not spans:
        return WrittenDays(unread=bool(text.strip()))
    return WrittenDays(first=min(first for first, _ in spans), last=max(last for _, last in spans))


def _span(parts: dict[str, int]) -> tuple[date, date]:
    year = parts["year"]
    if week := parts.get("week"):
        monday = date.fromisocalendar(year, week, 1)
        return monday, monday + timedelta(days=6)
    if quarter := parts.get("quarter"):
        return date(year, 3 * quarter - 2, 1), _month_end(year, 3 * quarter)
    month = parts.get("month", parts.get("month_2"))
    if month is None:
        return date(year, 1, 1), date(year, 12, 31)
    day = parts.get("day", parts.get("day_2"))
    if day is None:
        return date(year, month, 1), _month_end(year, month)
    return date(year, month, day), date(year, month, day)


def _month_end(year: int, month: int) -> date:
    return date(year, month, monthrange(year, month)[1])

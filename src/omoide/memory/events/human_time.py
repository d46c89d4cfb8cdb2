"""Time as people say it: "three weeks ago, on a Thursday", in five languages.

Paper B gives its agent a sense of time: what came to mind is told with how long ago it was, and
the agent knows what day and what part of the day it is now.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

_EN_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()


@dataclass(frozen=True, kw_only=True)
class _Words:
    """How one language says when. `{n}` is a number, `{day}` a day of the week."""

    weekdays: tuple[str, ...]
    parts: tuple[str, ...]
    """Of a day: night, morning, afternoon, evening."""
    just_now: str
    minutes: str
    hours: str
    today: str
    """`{part}` is the part of the day."""
    yesterday: str
    days: str
    weeks: str
    months: str
    years: str
    singular: Mapping[str, str]
    """Forms for one of a unit, where the language has its own."""
    now: str


_WORDS = {
    "en": _Words(
        weekdays=("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
        parts=("night", "morning", "afternoon", "evening"),
        just_now="just now",
        minutes="{n} minutes ago",
        hours="{n} hours ago",
        today="earlier today, in the {part}",
        yesterday="yesterday, {day}, in the {part}",
        days="{n} days ago, on {day}",
        weeks="{n} weeks ago, on a {day}",
        months="{n} months ago",
        years="{n} years ago",
        singular={
            "minutes": "a minute ago",
            "hours": "an hour ago",
            "weeks": "a week ago, on {day}",
            "months": "a month ago",
            "years": "a year ago",
        },
        now="{day}, {date}, {clock} ({part})",
    ),
    "zh": _Words(
        weekdays=("星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日"),
        parts=("夜里", "上午", "下午", "晚上"),
        just_now="刚才",
        minutes="{n}分钟前",
        hours="{n}小时前",
        today="今天{part}",
        yesterday="昨天（{day}）{part}",
        days="{n}天前的{day}",
        weeks="{n}周前的{day}",
        months="{n}个月前",
        years="{n}年前",
        singular={"weeks": "上周的{day}"},
        now="{date} {day} {clock}（{part}）",
    ),
    "ja": _Words(
        weekdays=("月曜日", "火曜日", "水曜日", "木曜日", "金曜日", "土曜日", "日曜日"),
        parts=("夜中", "午前", "午後", "夜"),
        just_now="ついさっき",
        minutes="{n}分前",
        hours="{n}時間前",
        today="今日の{part}",
        yesterday="昨日（{day}）の{part}",
        days="{n}日前の{day}",
        weeks="{n}週間前の{day}",
        months="{n}か月前",
        years="{n}年前",
        singular={"weeks": "先週の{day}"},
        now="{date} {day} {clock}（{part}）",
    ),
    "ko": _Words(
        weekdays=("월요일", "화요일", "수요일", "목요일", "금요일", "토요일", "일요일"),
        parts=("밤중", "오전", "오후", "저녁"),
        just_now="방금",
        minutes="{n}분 전",
        hours="{n}시간 전",
        today="오늘 {part}",
        yesterday="어제({day}) {part}",
        days="{n}일 전 {day}",
        weeks="{n}주 전 {day}",
        months="{n}개월 전",
        years="{n}년 전",
        singular={"weeks": "지난주 {day}"},
        now="{date} {day} {clock} ({part})",
    ),
    "vi": _Words(
        weekdays=("thứ hai", "thứ ba", "thứ tư", "thứ năm", "thứ sáu", "thứ bảy", "chủ nhật"),
        parts=("đêm", "buổi sáng", "buổi chiều", "buổi tối"),
        just_now="vừa xong",
        minutes="{n} phút trước",
        hours="{n} tiếng trước",
        today="{part} hôm nay",
        yesterday="{part} hôm qua, {day}",
        days="{n} ngày trước, hôm {day}",
        weeks="{n} tuần trước, vào một ngày {day}",
        months="{n} tháng trước",
        years="{n} năm trước",
        singular={"weeks": "{day} tuần trước"},
        now="{day}, {date}, {clock} ({part})",
    ),
}


def human_time(then: datetime, now: datetime, language: str) -> str:
    """How a person would say at `now` when `then` was, in the time zone of `now`.

    A moment that is not past, by a clock that went back, is "just now".
    """
    words = _WORDS.get(language, _WORDS["en"])
    then = then.astimezone(now.tzinfo)
    gone = now - then
    if gone < timedelta(minutes=1):
        return words.just_now
    days = (now.date() - then.date()).days
    if gone < timedelta(hours=1):
        return _said(words, "minutes", gone // timedelta(minutes=1), then, language)
    if gone < timedelta(hours=6):
        return _said(words, "hours", gone // timedelta(hours=1), then, language)
    if days == 0:
        return _said(words, "today", 0, then, language)
    if days == 1:
        return _said(words, "yesterday", 1, then, language)
    if days < 7:
        return _said(words, "days", days, then, language)
    if days < 60:
        return _said(words, "weeks", max(round(days / 7), 1), then, language)
    if days < 365:
        return _said(words, "months", max(round(days / 30.44), 2), then, language)
    return _said(words, "years", max(int(days / 365.25), 1), then, language)


def present(now: datetime, language: str) -> str:
    """The current time for a prompt: day of the week, date, time and part of the day."""
    words = _WORDS.get(language, _WORDS["en"])
    return words.now.format(
        day=words.weekdays[now.weekday()],
        date=f"{now:%Y-%m-%d}",
        clock=f"{now:%H:%M}",
        part=words.parts[_part(now)],
    )


def today(now: datetime, language: str) -> str:
    """The same without the clock: it changes a few times a day only, so that a prompt that begins
    with it stays the same for a while."""
    words = _WORDS.get(language, _WORDS["en"])
    told = words.now.replace(", {clock}", "").replace(" {clock}", "")
    return told.format(
        day=words.weekdays[now.weekday()], date=f"{now:%Y-%m-%d}", part=words.parts[_part(now)]
    )


def weekday_named(text: str, language: str) -> int | None:
    """The day of the week that a text names, Monday as 0, if it names just one."""
    lowered = text.lower()
    named = {
        i
        for i, names in enumerate(_NAMES.get(language, _NAMES["en"]))
        if any(name in lowered for name in names)
    }
    return named.pop() if len(named) == 1 else None


_NAMES = {code: tuple((name.lower(),) for name in words.weekdays) for code, words in _WORDS.items()}
_NAMES["zh"] = tuple(
    (f"星期{c}", f"周{c}", f"礼拜{c}", *(("星期天", "周天", "礼拜天") if c == "日" else ()))
    for c in "一二三四五六日"
)
_NAMES["ja"] = tuple((f"{c}曜",) for c in "月火水木金土日")


def _said(words: _Words, unit: str, n: int, then: datetime, language: str) -> str:
    form = words.singular.get(unit) if n == 1 else None
    template = form or str(getattr(words, unit))
    number = _EN_NUMBERS[n] if language == "en" and n < len(_EN_NUMBERS) else str(n)
    day, part = words.weekdays[then.weekday()], words.parts[_part(then)]
    return template.format(n=number, day=day, part=part)


def _part(time: datetime) -> int:
    return 0 if time.hour < 5 else 1 if time.hour < 12 else 2 if time.hour < 18 else 3

"""Relative dates become absolute: "next week" is written as the week that it was.

A memory is read months after it was written, when "User will move next week" has become untrue.
Each pack says how its language names days (`[relative]`) and writes dates; this module resolves
the parts of an expression against the day on which it was said. What is not sure from the text
stays as it is; a "next Friday" that may be either of two days is written as both. Weeks begin on
Monday; seasons are those of the northern half of the earth.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Final

from omoide.language import periods
from omoide.language.pack import over_packs, pack
from omoide.language.periods import Period, unit_and_step
from omoide.language.places import Place
from omoide.language.tables import with_numbered_groups
from omoide.language.tense import SENTENCE, recurs, tense_at, tense_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from omoide.language.relative import Relative, Written

_PASSES: Final = 4
"""Times that a text is gone through: a date that was written may free the words beside it."""
_FAR: Final = {"future": 10, None: 8, "past": 6}
"""How many months ahead a month without a year may be, by the tense of its sentence, if its clause
has none. Chosen on half of 627 labelled notes (docs/experiments/2026-11-18-bare-months.md)."""
_NUMBER_FOLLOWS: Final = re.compile(r"\W*\w{0,7}\W*\d{1,2}(?!\d)")
"""A number after at most one word."""


@dataclass(frozen=True, kw_only=True)
class DatedText:
    """A text without relative dates, and the days that it speaks of."""

    text: str
    """The text, every relative expression replaced by an absolute one in its own language."""
    since: date | None
    """First day that the first time expression covers; None if it has no first day ("until
    June"), or if there is no expression."""
    until: date | None
    """Last day of it, equal to `since` for one day; None likewise ("since June")."""
    found: tuple[str, ...]
    """The expressions that were replaced."""


@dataclass(frozen=True, kw_only=True)
class NamedPeriod:
    """A period that a text names, and where."""

    start: int
    end: int
    first: date
    last: date
    vague: bool
    """Whether it only says about how long ago or ahead, and `first` is the day of speaking."""


@dataclass(frozen=True, kw_only=True)
class _Rules:
    """The compiled rules of one language."""

    table: Relative
    pattern: re.Pattern[str]
    first_rule: int
    """Alternatives from this one on are relative; before it are those that stay."""
    counted: Mapping[str, tuple[str, int]]
    """The unit and step of each word of `periods`."""
    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    capitalised: frozenset[str]
    """Words that some write with a capital: names of days and months, numbers and units."""


@dataclass(frozen=True, kw_only=True)
class _Mention:
    """A time expression and what it means."""

    place: Place
    meant: tuple[Period, ...]
    """One period, or two of which one is meant."""
    got: Mapping[str, str]
    relative: bool

    @property
    def begins_range(self) -> bool:
        """Whether it is a day of a month, and another number follows."""
        after = self.place.text[self.place.end :]
        return "d" in self.got and _NUMBER_FOLLOWS.match(after) is not None


def with_absolute_dates(
    text: str,
    *,
    day: date,
    language: str,
    ranges: bool = True,
    names: bool = True,
    habits: bool = True,
) -> DatedText:
    """The text as it reads on any day, if it was said on `day`.

    Unless `ranges`, a day of a month with another number after it ("December 15 to 31") stays as it
    is, for one that has the days from elsewhere: with the year after its first day a range cannot
    be read. Unless `names`, quotations and what has a capital within a sentence stay ("USA Today");
    unless `habits`, also what moves along with a habit ("always pays this month's rent"): for a
    writer who was asked for dates, so that what still looks relative may be meant as it is.

    >>> with_absolute_dates("User will move to Oslo next week.", day=date(2026, 5, 19),
    ...                     language="en").text
    'User will move to Oslo in the week of 25 May 2026.'
    """
    rules = _rules(language)

    def mentions_in(text: str) -> list[_Mention]:
        return [
            mention
            for mention in _mentions(text, rules, day)
            if (names or not mention.place.is_name(besides=rules.capitalised))
            and (habits or not recurs(mention.place, rules.table))
        ]

    mentions = mentions_in(text)
    since, until = _covered(mentions, rules.table)
    found: list[str] = []
    for _ in range(_PASSES):
        # What stands for a vague time has its words: "a few days after 20 May 2026".
        replaced = [m for m in mentions if m.relative and m.place.words not in found]
        replaced = [m for m in replaced if ranges or not m.begins_range]
        if not replaced:
            break
        found += [mention.place.words for mention in replaced]
        text = _replaced(text, replaced, rules)
        mentions = mentions_in(text)
    return DatedText(text=text, since=since, until=until, found=tuple(found))


def named_periods(text: str, *, day: date, language: str) -> tuple[NamedPeriod, ...]:
    """The periods that a text, said on `day`, names, in order. Where one of two is meant, it is
    from the first day of the one to the last of the other."""
    return tuple(
        NamedPeriod(
            start=mention.place.start,
            end=mention.place.end,
            first=mention.meant[0].first,
            last=mention.meant[-1].last,
            vague="vague" in mention.got,
        )
        for mention in _mentions(text, _rules(language), day)
    )


def _replaced(text: str, mentions: list[_Mention], rules: _Rules) -> str:
    """The text with the mentions written as dates."""
    pieces, done = [], 0
    for mention in mentions:
        pieces += [text[done : mention.place.start], _written(mention, rules)]
        done = mention.place.end
    return "".join([*pieces, text[done:]])


@over_packs
def _rules(language: str) -> _Rules:
    table = pack(language).relative
    texts = [table.fixed.pattern, *(rule.pattern for rule in (*table.absolute, *table.rules))]
    numbered = enumerate(with_numbered_groups(texts))
    alternatives = "|".join(f"(?P<rule{i}>{text})" for i, text in numbered)
    weekdays = (name for names in table.weekday_names for name in names)
    named = (*weekdays, *table.month_names, *table.season_names, *table.numbers, *table.spans)
    begins = r"\b(?=\w)" if pack(language).words.bounded else ""
    return _Rules(
        table=table,
        pattern=re.compile(f"{begins}(?:{alternatives})", re.IGNORECASE),
        first_rule=1 + len(table.absolute),
        counted={
            word.lower(): unit_and_step(key)
            for key, words in table.periods.items()
            for word in words
        },
        months={
            name.lower(): number
            for number, names in enumerate(table.month_names, 1)
            for name in names.split()
        },
        weekdays={
            name.lower(): number
            for number, names in enumerate(table.weekday_names)
            for name in names
        },
        capitalised=frozenset(" ".join(named).casefold().split()),
    )


def _mentions(text: str, rules: _Rules, day: date) -> Iterator[_Mention]:
    """The time expressions of a text that can be resolved, in order."""
    for match in rules.pattern.finditer(text):
        rule = int((match.lastgroup or "rule0").removeprefix("rule"))
        if rule == 0:
            continue
        got = {
            name.rstrip("0123456789"): " ".join(words.lower().split())
            for name, words in match.groupdict().items()
            if words is not None and not name.startswith("rule")
        }
        place = Place(text=text, start=match.start(), end=match.end())
        try:
            meant = _meant(got, place, rules, day)
        except (ValueError, OverflowError):  # month 13, or beyond the calendar
            continue
        except KeyError:  # a letter that equals another of its word but for its case: "laſt week"
            continue
        if meant:
            relative = rule >= rules.first_rule
            yield _Mention(place=place, meant=meant, got=got, relative=relative)


def _meant(got: Mapping[str, str], place: Place, rules: _Rules, day: date) -> tuple[Period, ...]:
    """The period that an expression means, or the two that it may mean; none if that is unsure."""
    table = rules.table
    if "left" in got:
        return ()
    if "y" in got:
        return (_absolute(got, rules),)
    if "period" in got:
        unit, step = rules.counted[got["period"]]
        return (_within(periods.counted(unit, step, day=day), got, rules),)
    tense = tense_at(place, table, alone="d" in got, weekday={*got} == {"weekday"})
    if ("within" in got and tense != "future") or ("ahead" in got and tense == "past"):
        return ()
    if "vague" in got:
        return (periods.one_day(day),)
    if "n" in got:
        count = _number(got["n"], table)
        unit = table.spans[got["span"]] if "span" in got else "day"
        return (periods.counted(unit, -count if "ago" in got else count, day=day),)
    if "way" in got:
        return _directed(table.ways[got["way"]], got, rules, day, past=tense == "past")
    if "m" in got or "close" in got:
        return _without_year(got, place, rules, day)
    if tense is None or (tense == "past" and table.until.search(place.around)):
        return ()
    future = tense == "future"
    if "d" in got:
        return (periods.nearest_day(_number(got["d"], table), day=day, future=future),)
    return (periods.nearest_weekday(rules.weekdays[got["weekday"]], day=day, future=future),)


def _without_year(
    got: Mapping[str, str], place: Place, rules: _Rules, day: date
) -> tuple[Period, ...]:
    """The month, or the day of a month, that is meant where no year is said; none if it comes
    every year.

    The tense of the clause decides. Without one it is the next such month unless that is far
    ahead: what a person tells is mostly about to come or has just been. How far depends on the
    tense of the sentence. What lasts until a month, and is not over, looks ahead however far."""
    table = rules.table
    sentence, clause = place.clause(SENTENCE), place.clause(table.boundary)
    tense, until = tense_of(clause, table), table.until.search(place.around)
    recurs = tense is None and table.habit.search(clause)
    if recurs or table.timeless.search(sentence) or table.unsure.search(sentence):
        return ()
    if "close" in got:
        unit = table.spans[got["span"]] if "span" in got else "month"
        return (periods.counted(unit, 0, day=day),) if tense == "future" else ()
    month, number = _month(got["m"], rules), _number(got["d"], table) if "d" in got else None
    coming = periods.nearest_date(month, number, day=day, future=True)
    gone = periods.nearest_date(month, number, day=day, future=False)
    if coming.number:
        return ()
    if tense == "future" or (until and tense != "past"):
        return (coming,)
    if tense == "past" and not until:
        return (gone,)
    leans = tense_of(sentence, table)
    return (coming,) if periods.months_ahead(coming, day=day) <= _FAR[leans] else (gone,)


def _absolute(got: Mapping[str, str], rules: _Rules) -> Period:
    """A date with a year."""
    year = periods.counted("year", 0, day=date(int(got["y"]), 1, 1))
    found = _within(year, got, rules)
    for unit in ("week", "weekend"):
        if unit in got:
            found = periods.counted(unit, 0, day=found.first)
    return found


def _within(whole: Period, got: Mapping[str, str], rules: _Rules) -> Period:
    """The part of a week, month or year that is named with it."""
    year = whole.first.year
    if whole.unit == "week" and "weekday" in got:
        return periods.counted("day", rules.weekdays[got["weekday"]], day=whole.first)
    if whole.unit == "year" and "season" in got:
        name = got["season"]
        return periods.season_of(year, rules.table.season_names[name], name=name)
    if whole.unit == "year" and "m" in got:
        whole = periods.month_of(year, _month(got["m"], rules))
    if whole.unit == "month" and "d" in got:
        return periods.day_of(year, whole.first.month, _number(got["d"], rules.table))
    return whole


def _directed(
    way: int, got: Mapping[str, str], rules: _Rules, day: date, *, past: bool
) -> tuple[Period, ...]:
    """What "last" or "next" with a weekday, a weekend, a month or a season may mean."""
    if "weekday" in got:
        return periods.weekdays_meant(way, rules.weekdays[got["weekday"]], day=day, past=past)
    if "weekend" in got:
        return periods.weekends_meant(way, day=day, past=past)
    if "m" in got:
        return periods.months_meant(way, _month(got["m"], rules), day=day)
    name = got["season"]
    return periods.seasons_meant(way, rules.table.season_names[name], name=name, day=day)


def _month(said: str, rules: _Rules) -> int:
    return rules.months[said] if said in rules.months else _number(said, rules.table)


def _number(said: str, table: Relative) -> int:
    return table.numbers[said] if said in table.numbers else int(said)


def _covered(mentions: list[_Mention], table: Relative) -> tuple[date | None, date | None]:
    """First and last day of the first expression."""
    if not mentions:
        return None, None
    mention = mentions[0]
    place, first, last = mention.place, mention.meant[0].first, mention.meant[-1].last
    if "vague" in mention.got:  # for the last three years, some weeks ago
        return (first if "ahead" in mention.got or "within" in mention.got else None), None
    if table.since.search(place.around):
        return first, _end_of_range(mentions, table, first)
    if table.until.search(place.around):
        return None, last
    if len(mentions) > 1:
        between = place.text[place.end : mentions[1].place.start]
        last = mentions[1].meant[-1].last if between == table.alone.either else last
    return first, last


def _end_of_range(mentions: list[_Mention], table: Relative, first: date) -> date | None:
    """The last day of the second expression, if the same clause says that it lasts until then."""
    if len(mentions) == 1:
        return None
    begins, ends = (mention.place for mention in mentions[:2])
    last = mentions[1].meant[-1].last
    apart = table.boundary.search(begins.text[begins.end : ends.start])
    return last if not apart and table.until.search(ends.around) and first <= last else None


def _written(mention: _Mention, rules: _Rules) -> str:
    """An expression as an absolute one."""
    table, got, place = rules.table, mention.got, mention.place
    beside = table.beside or table.alone
    attached = "tail" in got or table.bare.search(place.around)
    style = beside if attached else table.alone
    bare = [_date(period, beside, rules) for period in mention.meant]
    written = style.either.join([_date(mention.meant[0], style, rules), *bare[1:]])
    if part := got.get("part") or table.parts.get(got.get("period", "")):
        written = style.part.format(day=style.either.join(bare), part=part)
    if "whose" in got:
        written = style.possessive.format(day=bare[0])
    if "vague" in got:
        form = style.before if "ago" in got else style.after
        written = form.format(day=bare[0], vague=got["vague"])
    written += table.tails.get(got.get("tail", ""), got.get("tail", ""))
    before = place.text[max(0, place.start - 3) : place.start].strip()
    if place.words[0].isupper() and (not before or before[-1] in ".!?"):
        written = written[:1].upper() + written[1:]
    return written


def _date(period: Period, style: Written, rules: _Rules) -> str:
    first = period.first
    names = rules.table.month_names
    form = {
        "day": style.day,
        "week": style.week,
        "weekend": style.weekend,
        "month": style.day if period.number else style.month,
        "season": style.winter if first.year < period.last.year else style.season,
        "year": style.year,
    }[period.unit]
    return form.format(
        y=first.year,
        m=first.month,
        d=period.number or first.day,
        next=period.last.year,
        month=names[first.month - 1].split()[0] if names else first.month,
        season=period.season,
    )

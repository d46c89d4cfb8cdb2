"""The days of a fact: since when and until when it holds, and how its sentence names them."""

from __future__ import annotations

import re
from datetime import date, timedelta
from string import Template
from typing import TYPE_CHECKING
from unicodedata import normalize

from omoide.domain import FactKind
from omoide.language import pack
from omoide.language.dates import DatedText, with_absolute_dates
from omoide.language.times import spans
from omoide.prompts import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omoide.domain import Fact
    from omoide.mechanisms.facts.operations import Operation

OPEN = (FactKind.PLAN, FactKind.PROMISE)
"""Kinds that are about what is to come."""
DATED = (*OPEN, FactKind.EVENT)
"""Kinds whose days are when they happen, not how long they hold."""
REWRITTEN = "dates were put in place of what the model wrote"
_DAY = timedelta(days=1)


def dated_sentence(operation: Operation, day: date, *, language: str) -> DatedText:
    """The sentence with absolute dates. One whose days the answer gives beside it is left alone
    if it names them, and a range ("December 15 to 31") in any case. A model that was asked for
    dates writes names, quotations and habits as they are."""
    first, last = operation.since or operation.until, operation.until or operation.since
    text, beside = operation.text, operation.says_days and first is not None
    if beside and first and last and names_days(text, first, last, said=day):
        return DatedText(text=text, since=None, until=None, found=())
    return with_absolute_dates(
        text,
        day=day,
        language=language,
        ranges=not beside,
        names=not operation.says_days,
        habits=beside or not operation.says_days,
    )


def days_of(
    operation: Operation, dated: DatedText, *, said: date
) -> tuple[date | None, date | None]:
    """Since when and until when it holds: as the answer says. A date in the text is often of
    something else: a dog "who turned four in April" did not end then. So what an answer leaves out
    is taken from its text only if it gives neither day; and if it was to give them, only where its
    text had a relative one, for what happens on a day or begins later."""
    if operation.since or operation.until:
        return operation.since, operation.until
    begins = operation.kind is FactKind.STATE and dated.since is not None and dated.since > said
    relative = bool(dated.found) and (operation.kind in DATED or begins)
    if operation.says_days and not relative:
        return None, None
    return dated.since, dated.until


def last_day_ahead(operation: Operation, *, said: date, language: str) -> date | None:
    """The last day of something ahead of which an answer gives none: that which its text tells with
    the first day, or that of the first day or month. None if it happens again and again, or from
    then on."""
    first = operation.since
    if operation.kind not in DATED or operation.until or first is None or first <= said:
        return None
    words = "|".join(map(re.escape, vocabulary(language)["recurring"].split(", ")))
    edge = r"\b" if pack(language).words.bounded else ""
    if re.search(f"{edge}(?:{words}){edge}", operation.text, re.IGNORECASE):
        return None
    dated = with_absolute_dates(operation.text, day=said, language=language)
    return dated.until if dated.since == first else operation.since_last or first


def in_order(since: date, until: date, *, text: str, said: date) -> tuple[date | None, date | None]:
    """The likelier of two days in the wrong order: the first, unless the text names the last."""
    named, other = (names_days(text, day, day, said=said) for day in (until, since))
    return (None, until) if named and not other else (since, None)


def with_days(
    text: str,
    since: date | None,
    until: date | None,
    *,
    said: date,
    kind: FactKind,
    language: str,
) -> str:
    """A sentence with its days, if it does not name them: an answer may give them beside it, and
    prompts show the sentence alone. Of what is no plan or event it is the last day."""
    days = _beside(since, until, said=said, kind=kind, language=language)
    if not days or _tells_days(text, since, until, said=said, kind=kind, language=language):
        return text
    stop = text[-1] if text[-1] in ".!?。！？．" else ""
    return f"{text.removesuffix(stop)}{days}{stop}"


def without_days(fact: Fact) -> str:
    """The sentence of a fact as it was before `with_days`."""
    days = _beside(
        fact.since,
        fact.until,
        said=fact.said.date(),
        kind=fact.kind,
        language=fact.language,
    )
    return fact.text.replace(days, "") if days else fact.text


def _beside(
    since: date | None, until: date | None, *, said: date, kind: FactKind, language: str
) -> str:
    """The days in brackets, as they stand behind a sentence; empty if there are none to show."""
    if kind not in DATED:
        if until is None:
            return ""
        since = since if since and since > said else None
    elif kind in OPEN and until is None and since and since <= said:
        return ""  # open since then, for no day
    if since and until:
        form, days = "days_on", _written(since, until) if since <= until else ""
    elif until:
        form, days = "days_by" if kind in OPEN else "days_until", f"{until}"
    else:
        form, days = "days_from" if kind in OPEN else "days_on", f"{since or ''}"
    if not days:
        return ""
    brackets = Template(vocabulary(language)[form]).substitute(day=days)
    return f" {brackets}" if brackets.startswith("(") else brackets


def _written(first: date, last: date) -> str:
    """A day, or all days from the first to the last: whole months and years by their name."""
    form = "%Y-%m-%d"
    if first.day == 1 and _is_last_of_month(last):
        years = first.month == 1 and last.month == 12
        form = "%Y" if years else "%Y-%m"
    return " – ".join(dict.fromkeys(day.strftime(form) for day in (first, last)))


def _is_last_of_month(day: date) -> bool:
    return (day + _DAY).day == 1


def _tells_days(
    text: str,
    since: date | None,
    until: date | None,
    *,
    said: date,
    kind: FactKind,
    language: str,
) -> bool:
    """Whether a sentence tells the days that would stand beside it. Of several months, and of what
    begins or ends with a year, the year is enough: "early 2027", "Q3 2027", 2027年底."""
    if kind not in DATED and until:
        told = with_absolute_dates(text, day=said, language=language)
        return told.until == until or names_days(text, until, until, said=said)
    first, last = since or until, until or since
    if first is None or last is None:
        return False
    begins_year = since is not None and (since.month, since.day) == (1, 1)
    ends_year = until is not None and (until.month, until.day) == (12, 31)
    months = first.day == 1 and _is_last_of_month(last) and first.month != last.month
    if (begins_year or ends_year or months) and _has_year(text, first, last):
        return True
    return names_days(text, first, last, said=said)


def names_days(text: str, first: date, last: date, *, said: date) -> bool:
    """Whether a sentence names a time that has any of these days, with the year."""
    named = any(begins <= last and ends >= first for begins, ends in spans(text, said))
    return named and _has_year(text, first, last)


def _has_year(text: str, first: date, last: date) -> bool:
    digits = normalize("NFKC", text)
    return any(str(day.year) in digits for day in (first, last))


def kind_by_days(kind: FactKind, *, since: date | None, until: date | None, day: date) -> FactKind:
    """The kind by the days: what begins after `day` is planned, and what was over then is no
    plan."""
    first, last = since or until, until or since
    if kind is FactKind.STATE and since is not None and since > day:
        return FactKind.PLAN
    if kind is FactKind.EVENT and first is not None and first > day:
        return FactKind.PLAN
    if kind is FactKind.PLAN and last is not None and last < day:
        return FactKind.EVENT
    return kind


def day_of_end(new: Fact, old: Fact) -> date:
    """The last day of what a fact replaces: that of an event, for who died in the evening lived in
    the morning; else the day before it began, or the day it was said. One that holds for as long as
    the old one, such as a contract that is extended, says nothing of its end."""
    began, said = new.since, new.said.date()
    if new.kind is FactKind.EVENT and (happened := new.until or began):
        return min(happened, said)
    if began is None or began > said or (old.since and began <= old.since):
        return said
    return began - _DAY


def last_day_of(old: Fact, day: date) -> date | None:
    """The last day of a fact that ends on `day`. The days of a plan or an event are its own, and
    nothing ends before it began or before it was said: "moved in January" may mean its end. What
    had a last day before ended then, though it is told late."""
    if old.kind in DATED and (old.since or old.until):
        return old.until
    days = [max(day, old.since or day, old.said.date()), own_last_day(old)]
    return min(last for last in days if last)


def own_last_day(fact: Fact) -> date | None:
    """Until when something that is no plan or event was to hold when it was said, if no plan has
    set its end. A time that its sentence only names is when something in it happened: "got a cat
    this month"."""
    said = fact.said.date()
    if fact.kind in DATED or fact.ended_by or fact.until is None or fact.until < said:
        return None
    told = with_absolute_dates(fact.text, day=said, language=fact.language)
    until = told.since is None and told.until == fact.until
    if until or without_days(fact) != fact.text:
        return fact.until
    return None if names_days(fact.text, fact.until, fact.until, said=said) else fact.until


def as_shown(fact: Fact, text: str, today: date) -> str:
    """The text of a fact that is no plan or event, as a prompt shows it: with its last day, and
    once that has passed, with the mark that says so."""
    if own_last_day(fact) is None:
        return text
    text = with_days(
        text,
        fact.since,
        fact.until,
        said=fact.said.date(),
        kind=fact.kind,
        language=fact.language,
    )
    passed = vocabulary(fact.language)["state_passed"]
    return f"{text} {passed}" if may_be_over(fact, today) else text


def may_be_over(fact: Fact, today: date) -> bool:
    """Whether the last day of something that is no plan or event has passed."""
    if fact.until is None or fact.until >= today:
        return False
    return own_last_day(fact) is not None


def rewritten(operation: Operation, dated: DatedText) -> Iterable[str]:
    """What to tell people if a model that was asked for dates wrote others: its own words."""
    if operation.says_days and dated.found:
        yield f"{REWRITTEN}: {'; '.join(dated.found)}"

"""The days of a fact: since when and until when it holds, and how its sentence names them."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

from omoide.domain import FactKind
from omoide.language.times import spans

if TYPE_CHECKING:
    from omoide.domain import Fact
    from omoide.language.dates import DatedText
    from omoide.mechanisms.facts.operations import Operation

OPEN = (FactKind.PLAN, FactKind.PROMISE)
"""Kinds that are about what is to come."""
DATED = (*OPEN, FactKind.EVENT)
"""Kinds whose days are when they happen, not how long they hold."""


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


def with_days(
    text: str, since: date | None, until: date | None, *, said: date, kind: FactKind
) -> str:
    """A sentence with its days, if it does not name them: an answer may give them beside it, and
    prompts show the sentence alone."""
    first, last = since or until, until or since
    if first is None or last is None or first > last:
        return text
    if kind in OPEN and until is None and first <= said:  # open since then, for no day
        return text
    if names_days(text, first, last, said=said):
        return text
    days = f"{first}" if first == last else f"{first} – {last}"
    mark = text[-1] if text[-1] in ".!?。！？．" else ""
    return f"{text.removesuffix(mark)} ({days}){mark}"


def names_days(text: str, first: date, last: date, *, said: date) -> bool:
    """Whether a sentence names a time that has any of these days, with the year."""
    named = any(begins <= last and ends >= first for begins, ends in spans(text, said))
    return named and any(str(day.year) in text for day in (first, last))


def kind_by_days(kind: FactKind, *, since: date | None, until: date | None, day: date) -> FactKind:
    """The kind by the days: what begins after `day` is planned, and what was over then is no
    plan."""
    if kind is FactKind.STATE and since is not None and since > day:
        return FactKind.PLAN
    last = until or since
    if kind is FactKind.PLAN and last is not None and last < day:
        return FactKind.EVENT
    return kind


def day_of_end(new: Fact) -> date:
    """The last day of what a fact replaces: that of an event, for who died in the evening lived in
    the morning; else the day before it began, or the day it was said."""
    began = new.since
    if new.kind is FactKind.EVENT and (happened := new.until or began):
        return min(happened, new.said.date())
    return began - timedelta(days=1) if began and began <= new.said.date() else new.said.date()


def last_day_of(old: Fact, day: date) -> date | None:
    """The last day of a fact that ends on `day`. The days of a plan or an event are its own, and
    nothing ends before it began or before it was said: "moved in January" may mean its end."""
    if old.kind in DATED and (old.since or old.until):
        return old.until
    return max(day, old.since or day, old.said.date())

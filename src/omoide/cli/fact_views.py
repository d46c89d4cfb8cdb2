"""Facts and their timeline as lines for people."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from omoide.cli.addressing import ANYBODY
from omoide.cli.show import bold, dim, format_time, one_line, warning
from omoide.cli.zone import local
from omoide.domain import FactChange, FactKind, Trust
from omoide.domain.fact import ASSISTANT, USER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from omoide.cli.addressing import Reader
    from omoide.domain import Fact, Memo, TimelineEntry, Turn

SHORT = 8
"""Characters of an id that are shown; enough to name the fact."""
GROUPS = ("{who}", "Plans and promises", "Likes and dislikes", "Other people", "The assistant")
_MARKS = {
    FactChange.BEGAN: "+",
    FactChange.CHANGED: "~",
    FactChange.CONFIRMED: "=",
    FactChange.ENDED: "-",
    FactChange.EXPIRED: "-",
}


def fact_lines(
    facts: Sequence[Fact], *, user: str, now: datetime, reader: Reader = ANYBODY
) -> list[str]:
    """Facts in groups, each with its short id, when it was said, and what became of it."""
    who = "you" if reader.you else one_line(user)
    if not facts:
        return [f"No facts are known about {who}."]
    lines: list[str] = []
    ranked = sorted(facts, key=lambda fact: (GROUPS.index(_group(fact)), fact.said))
    for group, members in groupby(ranked, key=_group):
        title = "You" if reader.you else who
        lines += [*([""] if lines else []), bold(group.format(who=title))]
        for fact in members:
            lines.append(f"{fact.id[:SHORT]}  {one_line(reader.fact(fact))} {_remarks(fact, now)}")
            lines += [warning(f"{'':10}? {one_line(flag)}") for flag in fact.flags]
            if fact.ended is not None:
                reason = one_line(_reason(fact, fact.end_reason, reader))
                why = f": {reason}" if reason else ""
                ends = "ended" if fact.has_ended(now) else "ends"
                lines.append(dim(f"{'':10}{ends} {format_time(fact.ended, now)}{why}"))
    return lines


def timeline_lines(
    entries: Sequence[TimelineEntry], turns: Mapping[str, Turn], *, reader: Reader = ANYBODY
) -> list[str]:
    """One line for each change, and below it what it replaced, why, and the words behind it."""
    if not entries:
        return ["Nothing is known yet."]
    lines: list[str] = []
    for day, changes in groupby(entries, key=lambda entry: f"{local(entry.time):%Y-%m-%d}"):
        lines += [*([""] if lines else []), bold(day)]
        for entry in changes:
            lines.append(f"{_MARKS[entry.change]} {_told(entry, reader)}")
            lines += [dim(f"    before: {one_line(reader.fact(old))}") for old in entry.replaced]
            if entry.reason:
                reason = _reason(entry.fact, entry.reason, reader)
                lines.append(dim(f"    because: {one_line(reason)}"))
            lines += _words(entry, turns)
    return [*lines, "", dim("+ new  ~ changed  = said again  - no longer")]


def memo_lines(
    memos: Sequence[Memo], *, user: str, now: datetime, reader: Reader = ANYBODY
) -> list[str]:
    """Each memo's topic, when it was talked about, and its summary. Memos that were folded into
    another are left out."""
    current = [memo for memo in memos if memo.folded_into is None]
    if not current:
        return [f"There are no memos about {'you' if reader.you else one_line(user)} yet."]
    lines: list[str] = []
    for memo in current:
        when = dim(f"(session {memo.session}, {format_time(memo.time, now)})")
        topic = one_line(memo.topic) if memo.whole else "(topic unknown)"
        lines += [f"{bold(topic)} {when}", f"  {one_line(reader.notes(memo.summary))}"]
    return lines


def _group(fact: Fact) -> str:
    if fact.about == ASSISTANT and fact.kind is not FactKind.PROMISE:
        return GROUPS[4]
    if fact.kind in (FactKind.PLAN, FactKind.PROMISE):
        return GROUPS[1]
    if fact.about != USER or fact.kind is FactKind.RELATION:
        return GROUPS[3]
    return GROUPS[2] if fact.kind is FactKind.PREFERENCE else GROUPS[0]


def _remarks(fact: Fact, now: datetime) -> str:
    said = "corrected" if fact.trust is Trust.CORRECTED else "said"
    remarks = [f"{said} {format_time(fact.said, now)}"]
    if fact.about not in (USER, ASSISTANT):
        remarks.insert(0, one_line(fact.about))
    if fact.since and fact.until:
        same = fact.since == fact.until
        remarks.append(str(fact.since) if same else f"{fact.since} – {fact.until}")
    elif fact.since or fact.until:
        remarks.append(f"since {fact.since}" if fact.since else f"until {fact.until}")
    if fact.overdue(local(now).date()):
        remarks.append("the day has passed")
    if fact.pinned:
        remarks.append("pinned")
    if fact.expires:
        remarks.append(f"expires {format_time(fact.expires, now)}")
    remarks += [f"#{one_line(tag)}" for tag in fact.tags]
    return dim(f"({'; '.join(remarks)})")


def _reason(fact: Fact, reason: str, reader: Reader) -> str:
    return reader.told(reason, fact.language, about_user=fact.about == USER)


def _told(entry: TimelineEntry, reader: Reader) -> str:
    text = one_line(reader.fact(entry.fact))
    tails = {FactChange.CONFIRMED: "said again", FactChange.EXPIRED: "expired"}
    tail = tails.get(entry.change)
    return f"{text} {dim(f'({tail})')}" if tail else text


def _words(entry: TimelineEntry, turns: Mapping[str, Turn]) -> Iterable[str]:
    if entry.change is FactChange.CONFIRMED:
        return []
    found = [turns[source] for source in entry.sources if source in turns]
    return [dim(f"    “{one_line(turn.text, max_chars=120)}”") for turn in found[-1:]]

"""Memories, versions and recalled items as lines for people. Shared with the chat."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import click

from omoide.cli.addressing import ANYBODY
from omoide.cli.show import bold, clean, dim, format_time, one_line, plural, stamp, table, warning
from omoide.domain import ChangeKind, MemoryKind, Origin, Speaker, diff
from omoide.domain.forgetting import THRESHOLD, recall_probability
from omoide.mechanisms.facts.applying import Outcome
from omoide.mechanisms.facts.writing import COUNTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from omoide.cli.addressing import Reader
    from omoide.domain import Fact, RecalledItem, SentenceChange, Summary, Turn
    from omoide.engine.versions import Because
    from omoide.mechanisms.base import Contribution
    from omoide.mechanisms.events.calibration import Calibration
    from omoide.mechanisms.events.human_recall import RecallExplanation

UNSUPPORTED = "no turn supports this"
_MARKS = {
    ChangeKind.KEPT: " ",
    ChangeKind.ADDED: "+",
    ChangeKind.REMOVED: "-",
    ChangeKind.CHANGED: "~",
}


def memory_lines(
    summary: Summary, *, user: str, now: datetime, reader: Reader = ANYBODY
) -> list[str]:
    """A version of the summary, with unsupported sentences flagged."""
    who = "you" if reader.you else one_line(user)
    if not summary.number:
        return [f"Nothing is remembered about {who} yet."]
    title = bold(f"What is remembered about {who}")
    lines = [title, dim(version_line(summary, now)), ""]
    for number, sentence in enumerate(summary.sentences, 1):
        doubt = "" if sentence.supported else warning(f"  [? {UNSUPPORTED}]")
        lines.append(f"{number:3d}. {one_line(reader.told(sentence.text))}{doubt}")
    if not summary.sentences:
        lines.append("     (empty)")
    lines += [dim(f"     note: {one_line(note)}") for note in summary.notes if _matters(note)]
    return lines


def _matters(note: str) -> bool:
    """Whether a person should see a note: the counts of an answer only if not all was taken up."""
    return not note.startswith(COUNTS) or Outcome.ASIDE in note


def version_line(summary: Summary, now: datetime) -> str:
    """The number of a version and how it was made."""
    how = {
        Origin.DIGEST: f"after session {summary.session}",
        Origin.ROLLBACK: f"brought back from version {summary.restored}",
        Origin.ERASURE: "after an erasure",
        Origin.EDIT: "corrected by the user",
    }[summary.origin]
    by = f", by {one_line(summary.model)}" if summary.model else ""
    return f"version {summary.number}, {how}, {format_time(summary.time, now)}{by}"


def history_lines(history: Sequence[Summary], now: datetime) -> list[str]:
    """One line per version: when, how, and how many sentences were added and removed."""
    if not history:
        return ["There is no version of the memory yet."]
    rows = []
    for i, summary in enumerate(history):
        changes = diff(history[i - 1].sentences if i else (), summary.sentences)
        counts = [
            f"{_MARKS[kind]}{count}"
            for kind in (ChangeKind.ADDED, ChangeKind.CHANGED, ChangeKind.REMOVED)
            if (count := sum(c.change is kind for c in changes))
        ]
        origin = f"from {summary.restored}" if summary.restored else summary.origin.value
        rows.append(
            (
                str(summary.number),
                str(summary.session or ""),
                format_time(summary.time, now),
                origin,
                str(len(summary.sentences)),
                " ".join(counts) or "same",
                summary.model,
            )
        )
    head = ("version", "session", "time", "how", "sentences", "changes", "model")
    return [table(head, rows, right=(0, 1, 4))]


def diff_lines(changes: Iterable[SentenceChange], *, reader: Reader = ANYBODY) -> list[str]:
    """What changed between two versions; kept sentences are dimmed."""
    lines = []
    for change in changes:
        mark = _MARKS[change.change]
        old, new = (one_line(reader.told(text or "")) for text in (change.old, change.new))
        if change.change is ChangeKind.CHANGED:
            lines.append(click.style(f"- {old}", fg="red"))
            lines.append(click.style(f"+ {new}", fg="green"))
        elif change.change is ChangeKind.ADDED:
            lines.append(click.style(f"{mark} {new}", fg="green"))
        elif change.change is ChangeKind.REMOVED:
            lines.append(click.style(f"{mark} {old}", fg="red"))
        else:
            lines.append(dim(f"{mark} {new}"))
    return lines or ["Nothing changed: both are empty."]


def why_lines(
    because: Sequence[Because], now: datetime, *, user: str = "you", reader: Reader = ANYBODY
) -> list[str]:
    """Each sentence, and below it the turns that support it. A session's date is given once."""
    lines: list[str] = []
    dated: set[int] = set()
    for reason in because:
        lines.append(bold(one_line(reader.told(reason.sentence.text))))
        for turn in reason.turns:
            shown = turn_line(turn, now, user=user, dated=turn.session not in dated)
            lines.append(f"    {shown}")
            dated.add(turn.session)
        if not reason.sentence.supported:
            lines.append(warning(f"    ? {UNSUPPORTED}"))
        elif not reason.turns:
            lines.append(warning("    ? the turns that support it are erased"))
    return lines or ["There is nothing in the memory to give reasons for."]


def turn_line(turn: Turn, now: datetime, *, user: str = "you", dated: bool = True) -> str:
    """A turn on one line, with its date if `dated`. `user` is what the user is called."""
    who = one_line(turn.name or "") or (user if turn.speaker is Speaker.USER else "assistant")
    when = f", {format_time(turn.time, now)}" if dated else ""
    return f"{who}: {one_line(turn.text, max_chars=200)} {dim(f'(session {turn.session}{when})')}"


def screenful(lines: Sequence[str], *, rows: int, more: str) -> list[str]:
    """As many lines as a screen of `rows` shows beside the prompt; then how many more there are,
    and how to see them."""
    room = max(rows - 4, 5)
    if len(lines) <= room:
        return list(lines)
    return [*lines[:room], dim(f"… {plural(len(lines) - room, 'more line')}: {more}")]


def recalled_lines(
    items: Sequence[RecalledItem], now: datetime, *, counted: bool = False
) -> list[str]:
    """What was recalled, best first; with `counted`, also what each kind of evidence added."""
    if not items:
        return ["Nothing was recalled."]
    lines = []
    for item in items:
        where = f"session {item.session}, " if item.session else ""
        tail = dim(f"({where}{format_time(item.time, now)}, {plural(item.tokens, 'token')})")
        lines.append(f"{item.score:7.4f}  {item.kind:8}  {one_line(item.text)} {tail}")
        for end in item.outdated.endings if item.outdated else ():
            tail = f"; since then: {one_line(end.since_then)}" if end.since_then else ""
            old = one_line(" ".join(end.ended))
            lines.append(dim(f"{'':19}until {end.until}: {old}{tail}"))
        if counted and item.counted:
            parts = (f"{kind.replace('_', ' ')} {points:+.2f}" for kind, points in item.counted)
            lines.append(dim(f"{'':19}{', '.join(parts)}"))
    return lines


def contribution_lines(
    items: Sequence[Contribution],
    now: datetime,
    *,
    reader: Reader = ANYBODY,
    over: Sequence[Fact] = (),
) -> list[str]:
    """What memory added to the last prompt, and why. What was said stays as it was said; below it
    are the facts in `over` that it supports or states and that hold no longer."""
    lines = []
    for item in items:
        text = item.text if item.kind is MemoryKind.TURN else reader.told(item.text)
        lines.append(f"{one_line(text)} {dim(f'({item.why}, {format_time(item.time, now)})')}")
        lines += [
            warning(f"    no longer true since {stamp(fact.ended)}: {one_line(reader.fact(fact))}")
            for fact in over
            if fact.ended is not None and _told(item, fact)
        ]
    return lines


def _told(item: Contribution, fact: Fact) -> bool:
    """Whether a recalled item is a turn that supports the fact, or states it."""
    if item.kind is MemoryKind.TURN:
        return item.id in fact.sources
    return item.text == fact.text or item.id == fact.id


def explained_lines(explained: RecallExplanation) -> list[str]:
    """Every event that was considered, with the figures of eq. 8 and the reason."""
    if not explained.candidates:
        return ["There are no events yet.", dim(explained.calibration)]
    lines = [dim("     p      r   t, days      g")]
    for c in explained.candidates:
        days = c.elapsed.total_seconds() / 86400
        mark = "*" if c.recalled else " "
        figures = f"{c.probability:5.3f}  {c.relevance:5.3f}  {days:8.1f}  {c.consolidation:5.2f}"
        lines.append(f"{mark} {figures}  {one_line(c.event.text)} {dim(f'({c.why})')}")
    return [*lines, dim("* recalled"), dim(explained.calibration)]


def calibration_lines(calibration: Calibration) -> list[str]:
    """The map from similarity to relevance, with the recall probability of a new event."""
    embedder = f"{calibration.embedder} {calibration.version}"
    lines = [
        f"Fitted for {embedder} to {calibration.n:,} pairs: {calibration.data}.",
        dim("similarity  relevance  recall probability of a new event"),
    ]
    for raw, relevance in calibration.points:
        chance = recall_probability(relevance=relevance, elapsed=timedelta(), consolidation=1.0)
        mark = dim("  ← the threshold") if abs(chance - THRESHOLD) < 5e-4 else ""
        lines.append(f"{raw:10.3f}  {relevance:9.3f}  {chance:6.3f}{mark}")
    return lines


def paragraph(text: str, indent: str = "    ") -> str:
    """Text of several lines, indented."""
    return "\n".join(f"{indent}{line}" for line in clean(text).splitlines())

"""Memories, versions and what came to mind, as lines for people. Shared with the chat."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import click

from omoide.cli.show import bold, clean, dim, many, moment, one_line, table, warning
from omoide.domain import Change, Origin, Speaker, diff
from omoide.domain.forgetting import THRESHOLD, recall_probability

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from omoide.domain import Recalled, SentenceChange, Summary, Turn
    from omoide.memory.events.calibration import Calibration
    from omoide.memory.events.human_recall import Explained
    from omoide.memory.mechanism import Contribution
    from omoide.versions import Because

UNSUPPORTED = "no turn supports this"
_MARKS = {Change.KEPT: " ", Change.ADDED: "+", Change.REMOVED: "-", Change.CHANGED: "~"}


def memory_lines(summary: Summary, *, user: str, now: datetime) -> list[str]:
    """A version of the memory, its doubtful sentences flagged."""
    if not summary.number:
        return [f"Nothing is remembered of {one_line(user)} yet."]
    lines = [bold(f"What is remembered of {one_line(user)}"), dim(version_line(summary, now)), ""]
    for number, sentence in enumerate(summary.sentences, 1):
        doubt = "" if sentence.supported else warning(f"  [? {UNSUPPORTED}]")
        lines.append(f"{number:3d}. {one_line(sentence.text)}{doubt}")
    if not summary.sentences:
        lines.append("     (empty)")
    lines += [dim(f"     note: {one_line(note)}") for note in summary.notes]
    return lines


def version_line(summary: Summary, now: datetime) -> str:
    """Which version it is and how it came to be."""
    how = {
        Origin.DIGEST: f"after session {summary.session}",
        Origin.ROLLBACK: f"brought back from version {summary.restored}",
        Origin.ERASURE: "after an erasure",
        Origin.EDIT: "corrected by the user",
    }[summary.origin]
    made = f", by {one_line(summary.model)}" if summary.model else ""
    return f"version {summary.number}, {how}, {moment(summary.time, now)}{made}"


def history_lines(history: Sequence[Summary], now: datetime) -> list[str]:
    """One line a version: when, from what, and how many sentences came and went."""
    if not history:
        return ["There is no version of the memory yet."]
    rows = []
    for i, summary in enumerate(history):
        changes = diff(history[i - 1].sentences if i else (), summary.sentences)
        counts = [
            f"{_MARKS[kind]}{count}"
            for kind in (Change.ADDED, Change.CHANGED, Change.REMOVED)
            if (count := sum(c.change is kind for c in changes))
        ]
        origin = f"from {summary.restored}" if summary.restored else summary.origin.value
        rows.append(
            (
                str(summary.number),
                str(summary.session or ""),
                moment(summary.time, now),
                origin,
                str(len(summary.sentences)),
                " ".join(counts) or "same",
                summary.model,
            )
        )
    head = ("version", "session", "time", "how", "sentences", "changes", "model")
    return [table(head, rows, right=(0, 1, 4))]


def diff_lines(changes: Iterable[SentenceChange]) -> list[str]:
    """What changed between two versions, kept sentences dimmed."""
    lines = []
    for change in changes:
        mark = _MARKS[change.change]
        if change.change is Change.CHANGED:
            lines.append(click.style(f"- {one_line(change.old or '')}", fg="red"))
            lines.append(click.style(f"+ {one_line(change.new or '')}", fg="green"))
        elif change.change is Change.ADDED:
            lines.append(click.style(f"{mark} {one_line(change.new or '')}", fg="green"))
        elif change.change is Change.REMOVED:
            lines.append(click.style(f"{mark} {one_line(change.old or '')}", fg="red"))
        else:
            lines.append(dim(f"{mark} {one_line(change.new or '')}"))
    return lines or ["Nothing changed: both are empty."]


def why_lines(because: Sequence[Because], now: datetime) -> list[str]:
    """Each sentence, and under it what was said."""
    lines: list[str] = []
    for reason in because:
        lines.append(bold(one_line(reason.sentence.text)))
        lines += [f"    {turn_line(turn, now)}" for turn in reason.turns]
        if not reason.sentence.supported:
            lines.append(warning(f"    ? {UNSUPPORTED}"))
        elif not reason.turns:
            lines.append(warning("    ? the turns it rests on are erased"))
    return lines or ["There is nothing in the memory to give reasons for."]


def turn_line(turn: Turn, now: datetime) -> str:
    """A turn on one line."""
    who = one_line(turn.name or "") or ("user" if turn.speaker is Speaker.USER else "assistant")
    when = dim(f"(session {turn.session}, {moment(turn.time, now)})")
    return f"{who}: {one_line(turn.text, longest=200)} {when}"


def recalled_lines(items: Sequence[Recalled], now: datetime) -> list[str]:
    """What came to mind, best first."""
    if not items:
        return ["Nothing comes to mind."]
    lines = []
    for item in items:
        where = f"session {item.session}, " if item.session else ""
        tail = dim(f"({where}{moment(item.time, now)}, {many(item.tokens, 'token')})")
        lines.append(f"{item.score:7.4f}  {item.kind:8}  {one_line(item.text)} {tail}")
    return lines


def contribution_lines(items: Sequence[Contribution], now: datetime) -> list[str]:
    """What memory put into the last prompt, and why."""
    return [
        f"{one_line(item.text)} {dim(f'({item.why}, {moment(item.time, now)})')}" for item in items
    ]


def explained_lines(explained: Explained) -> list[str]:
    """Every event that was weighed, with the figures of eq. 8 and the reason."""
    if not explained.candidates:
        return ["There are no events to weigh yet.", dim(explained.calibration)]
    lines = [dim("     p      r   t, days      g")]
    for one in explained.candidates:
        days = one.elapsed.total_seconds() / 86400
        mark = "*" if one.recalled else " "
        figures = (
            f"{one.probability:5.3f}  {one.relevance:5.3f}  {days:8.1f}  {one.consolidation:5.2f}"
        )
        lines.append(f"{mark} {figures}  {one_line(one.event.text)} {dim(f'({one.why})')}")
    return [*lines, dim("* comes to mind"), dim(explained.calibration)]


def calibration_lines(made: Calibration) -> list[str]:
    """A map from likeness to relevance, by the chance that a fresh event comes to mind."""
    lines = [
        f"Fitted for {made.embedder} {made.version} to {made.n:,} pairs: {made.data}.",
        dim("likeness  relevance  chance of a fresh event"),
    ]
    for raw, relevance in made.points:
        chance = recall_probability(relevance=relevance, elapsed=timedelta(), consolidation=1.0)
        mark = dim("  ← the threshold") if abs(chance - THRESHOLD) < 5e-4 else ""
        lines.append(f"{raw:8.3f}  {relevance:9.3f}  {chance:6.3f}{mark}")
    return lines


def paragraph(text: str, indent: str = "    ") -> str:
    """Text of several lines, moved in."""
    return "\n".join(f"{indent}{line}" for line in clean(text).splitlines())

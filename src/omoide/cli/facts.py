"""Shows a fact before it is forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.cli.show import bold, dim, one_line
from omoide.cli.views import turn_line

if TYPE_CHECKING:
    from datetime import datetime

    from omoide.cli.addressing import Reader
    from omoide.engine.forgetting import FactMentions


def fact_lines(
    fact: FactMentions, now: datetime, *, user: str = "you", reader: Reader
) -> list[str]:
    """What will be removed. `user` is what the user is called."""
    lines = []
    if fact.sentences:
        lines += [bold("Sentences of the memory, in every version:")]
        lines += [f"  - {one_line(reader.told(text))}" for text in fact.sentences]
    if fact.stored:
        lines += [bold("Facts:")]
        lines += [f"  - {one_line(reader.fact(stored))}" for stored in fact.stored]
    if fact.turns:
        lines += [bold("Turns:")]
        lines += [f"  - {turn_line(turn, now, user=user)}" for turn in fact.turns]
    if fact.also_removed:
        lines += [bold("What goes too, since the same turns support it:")]
        lines += [f"  - {one_line(reader.told(text))}" for text in fact.also_removed]
    if fact.turns:
        lines += [dim("Sentences without any source may go too.")]
    return lines

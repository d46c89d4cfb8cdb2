"""A question and the reply to it as one unit: "Three times a week" says nothing alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from omoide.language.sentences import QUESTION, split_sentences
from omoide.mechanisms.search.table_shape import shape_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.ports.store import TurnTable

ONLY_ASKS: Final = 0.9
"""The share from which a turn gives way to its answer: it tells nothing itself."""
LONG_ANSWER: Final = 80
"""Terms of an answer to which its question does not give way: a user tells an assistant much in
questions, and the reply to one takes the room of ten."""
LONGEST: Final = 200
"""Most characters of a question that are shown with its answer."""


@dataclass(frozen=True, kw_only=True)
class AnswerPair:
    """A turn and the question that it answers, both by id."""

    turn: str
    question: str

    @property
    def ids(self) -> tuple[str, str]:
        """Both ids."""
        return self.turn, self.question


def pair_turns(
    table: TurnTable, rows: Sequence[int], *, joined: bool = False
) -> dict[str, AnswerPair]:
    """The pairs that the turns in these rows belong to, by the turn's id: as the answer or, if
    `joined`, as the question."""
    shape, pairs = shape_of(table), dict[str, AnswerPair]()
    answered, last = shape.answered, len(table.ids) - 1
    for row in rows:
        name = table.ids[row]
        if row > 0 and answered[row - 1]:
            pairs[name] = AnswerPair(turn=name, question=table.ids[row - 1])
        elif joined and row < last and _gives_way(table, row):
            pairs[name] = AnswerPair(turn=table.ids[row + 1], question=name)
    return pairs


def _gives_way(table: TurnTable, row: int) -> bool:
    """Whether a turn only asks, and the next one is its answer and not long."""
    shape = shape_of(table)
    only_asks = shape.answered[row] and shape.asking[row] >= ONLY_ASKS
    return bool(only_asks and table.length[row + 1] <= LONG_ANSWER)


def last_question(text: str) -> str:
    """The last question of a turn on one line, shortened; the whole turn if it has none.

    >>> last_question("Nice! How often do you train?")
    'How often do you train?'
    """
    asked = [s for s in split_sentences(text) if QUESTION.search(s)]
    line = " ".join((asked[-1] if asked else text).split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"

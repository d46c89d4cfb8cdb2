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
    `joined`, as a question that only asks and whose answer is not long."""
    shape, ids, pairs = shape_of(table), table.ids, dict[str, AnswerPair]()
    answered, asking, length = shape.answered, shape.asking, table.length
    last = len(ids) - 1
    for row in rows:
        if row > 0 and answered[row - 1]:
            pairs[ids[row]] = AnswerPair(turn=ids[row], question=ids[row - 1])
        elif (
            joined
            and row < last
            and answered[row]
            and asking[row] >= ONLY_ASKS
            and length[row + 1] <= LONG_ANSWER
        ):
            pairs[ids[row]] = AnswerPair(turn=ids[row + 1], question=ids[row])
    return pairs


def last_question(text: str) -> str:
    """The last question of a turn on one line, shortened; the whole turn if it has none.

    >>> last_question("Nice! How often do you train?")
    'How often do you train?'
    """
    asked = [s for s in split_sentences(text) if QUESTION.search(s)]
    line = " ".join((asked[-1] if asked else text).split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"

"""Whether an answer to a question about the past is right, by a model that sees the right one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.evals.judges.asking import bracketed, field, shown
from omoide.ports import Request
from omoide.prompts import render, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.evals.judges.asking import Ask

SCHEMA = {
    "type": "object",
    "properties": {"correct": {"type": "boolean"}},
    "required": ["correct"],
    "additionalProperties": False,
}


@dataclass(frozen=True, kw_only=True)
class Answered:
    """A question, the right answer, and the one that was given."""

    question: str
    gold: str | None
    """None where the right answer is that it was never told."""
    answer: str


@dataclass(frozen=True, kw_only=True)
class Marked:
    """What the judge made of it."""

    correct: bool | None
    """None: the judge's answer could not be read, and the answer is unscored."""
    answer: str
    prompt: str


class AnswerJudge:
    """Marks answers through `ask`."""

    def __init__(self, *, ask: Ask, language: str = "en") -> None:
        self._ask = ask
        self._language = language

    async def mark(self, given: Answered) -> Marked:
        """One call. Raises `ModelError` if the model fails."""
        nothing = words(self._language)["never_told"]
        prompt = render(
            "judge_answer",
            self._language,
            question=given.question,
            gold=nothing if given.gold is None else given.gold,
            answer=shown(given.answer, self._language),
            nothing=nothing,
        )
        done = await self._ask(Request(messages=prompt.messages, max_tokens=24, schema=SCHEMA))
        return Marked(correct=read_correct(done.text), answer=done.text, prompt=prompt.hash)


_YES = frozenset({"true", "yes", "correct", "right"})
_NO = frozenset({"false", "no", "incorrect", "wrong", "not correct"})
_ALONE = re.compile(
    r"(?:^|answer|verdict|judg(?:e)?ment)\W*(?:is\W*)?"
    r"(true|yes|correct|right|false|no|incorrect|wrong|not correct)\W*$",
    re.IGNORECASE,
)


def read_correct(answer: str) -> bool | None:
    """The mark in an answer: of its JSON, in [[…]], or alone on the last line.

    >>> read_correct('{"correct": false}'), read_correct("It is hard to say."), read_correct("Yes.")
    (False, None, True)
    """
    told = field(answer, "correct")
    if isinstance(told, bool):
        return told
    if not isinstance(told, str):
        told = bracketed(answer)
    if told is None:
        last = answer.strip().splitlines()[-1:] or [""]
        found = _ALONE.search(last[0].strip())
        told = found[1] if found else ""
    plain = told.strip().lower()
    return True if plain in _YES else False if plain in _NO else None


def share_correct(marks: Sequence[Marked]) -> tuple[float | None, int]:
    """The share that is right among those scored (None if none is), and how many are not."""
    known = [mark.correct for mark in marks if mark.correct is not None]
    return (sum(known) / len(known) if known else None), len(marks) - len(known)

"""Whether an answer to a question about the past is right, by a judge that sees the gold answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.ports import Request
from omoide.prompts import render
from omoide_bench.judges.asking import bracketed, field, shown
from omoide_bench.prompts import judge_words

if TYPE_CHECKING:
    from omoide_bench.judges.asking import Ask

SCHEMA = {
    "type": "object",
    "properties": {"correct": {"type": "boolean"}},
    "required": ["correct"],
    "additionalProperties": False,
}


@dataclass(frozen=True, kw_only=True)
class AnsweredQuestion:
    """A question, the gold answer, and the given answer."""

    question: str
    gold: str | None
    """None if the right answer is that it was never mentioned."""
    answer: str


@dataclass(frozen=True, kw_only=True)
class MarkedAnswer:
    """The judge's mark for an answer."""

    correct: bool | None
    """None if the verdict was unreadable; the answer is then unscored."""
    answer: str
    prompt: str


class AnswerJudge:
    """Marks answers through `ask`."""

    def __init__(self, *, ask: Ask, language: str = "en") -> None:
        self._ask = ask
        self._language = language

    async def mark(self, given: AnsweredQuestion) -> MarkedAnswer:
        """Mark an answer with one call. Raises `ModelError` if the model fails."""
        nothing = judge_words(self._language)["never_told"]
        prompt = render(
            "omoide_bench:judge_answer",
            self._language,
            question=given.question,
            gold=nothing if given.gold is None else given.gold,
            answer=shown(given.answer, self._language),
            nothing=nothing,
        )
        done = await self._ask(Request(messages=prompt.messages, max_tokens=24, schema=SCHEMA))
        return MarkedAnswer(correct=read_correct(done.text), answer=done.text, prompt=prompt.hash)


_YES = frozenset({"true", "yes", "correct", "right"})
_NO = frozenset({"false", "no", "incorrect", "wrong", "not correct"})
_ALONE = re.compile(
    r"(?:^|answer|verdict|judg(?:e)?ment)\W*(?:is\W*)?"
    r"(true|yes|correct|right|false|no|incorrect|wrong|not correct)\W*$",
    re.IGNORECASE,
)


def read_correct(answer: str) -> bool | None:
    """The mark in a verdict: in its JSON, in [[…]], or alone on the last line.

    >>> read_correct('{"correct": false}'), read_correct("It is hard to say."), read_correct("Yes.")
    (False, None, True)
    """
    value = field(answer, "correct")
    if isinstance(value, bool):
        return value
    if not isinstance(value, str):
        value = bracketed(answer)
    if value is None:
        last = answer.strip().splitlines()[-1:] or [""]
        match = _ALONE.search(last[0].strip())
        value = match[1] if match else ""
    plain = value.strip().lower()
    return True if plain in _YES else False if plain in _NO else None

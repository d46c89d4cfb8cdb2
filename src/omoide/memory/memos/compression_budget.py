"""Compression that keeps what a question would need, within a budget of tokens.

Paper C leaves a stronger compressor open and names distillation from a large model; this one asks
no model. Words are worth what they tell: rare in what the user has said, said for the first time
in this memo, a name, a number, a date. Clauses are taken by worth per token until the budget is
spent; a short answer brings the question it answers along.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from omoide.language import content_terms, estimate_tokens
from omoide.memory.memos.compression import checked_share, rejoined
from omoide.memory.transcript import spoken
from omoide.ports.analysis import Role, Word

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from omoide.domain import Turn
    from omoide.ports.analysis import Analyser

FIXED = 1.5
"""How much more a name, a number or a negation is worth than another word of its rarity."""
AGAIN = 0.15
"""What is left of a word's worth when this memo has it already."""
ASKED = 0.4
"""What is left of a clause's worth when it is a question, unless its answer is taken with it."""
SHORT = 4
"""An answer of no more telling terms than this is nothing without its question."""
LABEL = 3
"""Tokens of `User: ` and the end of the line."""


@dataclass(eq=False)
class _Clause:
    """A run of words of one turn, taken or left as a whole."""

    turn: int
    words: tuple[Word, ...]
    asks: bool
    question: _Clause | None = None
    taken: bool = False

    @property
    def text(self) -> str:
        return rejoined((word, word.role is not Role.FUNCTION) for word in self.words)


class Budget:
    """Keeps the clauses that tell most, and drops function words where an analyser is at hand."""

    def __init__(
        self,
        *,
        share: float,
        analyser: Callable[[str], Analyser] | None = None,
        most: int | None = None,
    ) -> None:
        self._share = checked_share(share)
        self._analyser = analyser
        self._most = most

    @property
    def name(self) -> str:
        """With the ratio."""
        return f"budget {self._share:.0%}"

    async def shorten(
        self, turns: Sequence[Turn], *, language: str, weight: Mapping[str, float]
    ) -> tuple[str, ...]:
        """Each turn's text cut to the clauses that were taken."""
        said = [" ".join(spoken(turn).split()) for turn in turns]
        if not self._share and self._most is None:
            return tuple(said)
        whole = sum(estimate_tokens(text) + LABEL for text in said if text)
        budget = whole - round(self._share * whole)
        budget = budget if self._most is None else min(budget, self._most)
        clauses = [
            clause
            for i, text in enumerate(said)
            for clause in _clauses(i, await self._words(text, language))
        ]
        _ask(clauses)
        _take(clauses, budget=budget, weight=weight)
        return tuple(
            "".join(c.text + c.words[-1].space for c in clauses if c.turn == i and c.taken).strip()
            for i in range(len(turns))
        )

    async def _words(self, text: str, language: str) -> tuple[Word, ...]:
        if self._analyser is not None:
            return await self._analyser(language).words(text)
        return tuple(
            Word(text=found[1], space=found[2], role=_guessed(found[1]))
            for found in _WORD.finditer(text)
        )


_WORD = re.compile(r"([^\W_]+(?:['’.,:-][^\W_]+)*|[^\w\s]+|_+)(\s*)")
_END = re.compile(r"[.!?。！？…,;:、，；—]+[\"'”’」』)]*")
_STOP = re.compile(r"[.!?。！？…]")


def _guessed(word: str) -> Role:
    return Role.FIXED if any(c.isdigit() for c in word) else Role.CONTENT


def _clauses(turn: int, words: Sequence[Word], least: int = 4) -> list[_Clause]:
    """The words cut after sentences, and at commas where enough words stand on both sides."""
    cut: list[list[Word]] = [[]]
    for word in words:
        cut[-1].append(word)
        ends = _END.fullmatch(word.text) or word.text[-1:] in "。！？"
        if ends and (_STOP.search(word.text) or len(cut[-1]) > least):
            cut.append([])
    clauses: list[_Clause] = []
    for run in cut:
        if run and not (clauses and len(run) <= 1):
            clauses.append(_Clause(turn=turn, words=tuple(run), asks=_asks(run)))
        elif run:
            last = clauses[-1]
            clauses[-1] = replace(last, words=(*last.words, *run), asks=last.asks or _asks(run))
    return clauses


def _asks(words: Sequence[Word]) -> bool:
    return any("?" in word.text or "？" in word.text for word in words[-2:])


def _ask(clauses: Sequence[_Clause]) -> None:
    """Tie a short answer to the question at the end of the other's turn before it."""
    for before, clause in pairwise(clauses):
        answers = before.asks and clause.turn == before.turn + 1
        if answers and not clause.asks and len(content_terms(clause.text)) <= SHORT:
            clause.question = before


def _take(clauses: Sequence[_Clause], *, budget: int, weight: Mapping[str, float]) -> None:
    """Mark the clauses that tell most for their length, as many as fit."""
    rarest = max(weight.values(), default=1.0)
    worth = [_worth(clause, weight, rarest) for clause in clauses]
    cost = [estimate_tokens(clause.text) for clause in clauses]
    place = {id(clause): i for i, clause in enumerate(clauses)}
    told: set[str] = set()
    opened: set[int] = set()
    left = set(range(len(clauses)))
    while left:
        best, density, price = -1, 0.0, 0
        for i in left:
            clause = clauses[i]
            together = [i]
            if clause.question is not None and not clause.question.taken:
                together.append(place[id(clause.question)])
            spend = sum(cost[j] for j in together) + LABEL * len(
                {clauses[j].turn for j in together} - opened
            )
            gain = sum(
                value * (AGAIN if term in told else 1.0) / (1.0 if j == i else ASKED)
                for j in together
                for term, value in worth[j].items()
            )
            if spend <= budget and gain / spend > density:
                best, density, price = i, gain / spend, spend
        if best < 0:
            return
        budget -= price
        clause = clauses[best]
        for taken in (clause, clause.question):
            if taken is not None and not taken.taken:
                taken.taken = True
                opened.add(taken.turn)
                told |= worth[place[id(taken)]].keys()
                left.discard(place[id(taken)])


def _worth(clause: _Clause, weight: Mapping[str, float], rarest: float) -> dict[str, float]:
    """What each term of a clause tells."""
    fixed: set[str] = set()
    for word in clause.words:
        if word.role is Role.FIXED:
            fixed |= content_terms(word.text)
    factor = ASKED if clause.asks else 1.0
    return {
        term: weight.get(term, rarest) * factor * (FIXED if term in fixed or _dated(term) else 1.0)
        for term in content_terms(clause.text)
    }


_DATED = re.compile(
    r"\d|^(?:yesterday|today|tomorrow|tonight|week|month|year|weekend|(?:mon|tue|wednes|thur|fri|"
    r"satur|sun)day|januari|februari|march|april|june|juli|august|septemb|octob|novemb|decemb"
    r"|ago|last|next|昨日|今日|明日|先週|来週|今週|先月|来月|去年|来年|月曜|火曜|水曜|木曜|金曜|土曜|日曜"
    r"|昨天|今天|明天|上周|下周|上个|下个|明年|周末|어제|오늘|내일|지난|다음|주말|작년|내년|qua|mai|tuần|tháng|năm)"
)


def _dated(term: str) -> bool:
    return _DATED.search(term) is not None

"""Compression to a token budget that keeps what a later question would need.

Paper C leaves a stronger compressor open and suggests distillation from a large model; this one
needs no model. A word is worth more if it is rare in what the user has said, new in this memo, a
name, a number or a date. Clauses are chosen by value per token until the budget is spent; a short
answer is kept with its question.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from omoide.language import content_terms, estimate_tokens
from omoide.language.pack import over_packs, packs
from omoide.mechanisms.memos.compression import checked_share, rejoined
from omoide.ports.analysis import Role, Word
from omoide.prompts.transcript import spoken

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from omoide.domain import Turn
    from omoide.ports.analysis import Analyser

FIXED = 1.5
"""Factor for a name, a number or a negation, compared with another word of its rarity."""
AGAIN = 0.15
"""Factor for a word that this memo already has."""
ASKED = 0.4
"""Factor for a question, unless its answer is kept with it."""
SHORT = 4
"""An answer of at most this many content terms means nothing without its question."""
LABEL = 3
"""Tokens of `User: ` and the end of the line."""


@dataclass(eq=False)
class _Clause:
    """A run of words of one turn, kept or dropped as a whole."""

    turn: int
    words: tuple[Word, ...]
    asks: bool
    question: _Clause | None = None
    taken: bool = False

    @property
    def text(self) -> str:
        return rejoined((word, word.role is not Role.FUNCTION) for word in self.words)


class BudgetCompressor:
    """Keeps the most informative clauses, and drops function words if there is an `analyser`.

    Text written without spaces has no words to weigh: `unspaced` splits it, and raises
    `MissingExtra` if its dictionary is not installed. Without it a whole turn would be one word,
    kept or lost.
    """

    def __init__(
        self,
        *,
        share: float,
        analyser: Callable[[str], Analyser] | None = None,
        unspaced: Callable[[str], Analyser] | None = None,
        most: int | None = None,
    ) -> None:
        self._share = checked_share(share)
        self._analyser = analyser
        self._unspaced = unspaced
        self._most = most

    @property
    def name(self) -> str:
        """The method with its ratio."""
        return f"budget {self._share:.0%}"

    async def shorten(
        self, turns: Sequence[Turn], *, language: str, weight: Mapping[str, float]
    ) -> tuple[str, ...]:
        """Each turn's text, reduced to the clauses that are kept."""
        texts = [" ".join(spoken(turn).split()) for turn in turns]
        if not self._share and self._most is None:
            return tuple(texts)
        total = sum(estimate_tokens(text) + LABEL for text in texts if text)
        budget = total - round(self._share * total)
        budget = budget if self._most is None else min(budget, self._most)
        clauses = [
            clause
            for i, text in enumerate(texts)
            for clause in _clauses(i, await self._words(text, language))
        ]
        _link_answers(clauses)
        _Choice(clauses, weight).spend(budget)
        return tuple(
            "".join(c.text + c.words[-1].space for c in clauses if c.turn == i and c.taken).strip()
            for i in range(len(turns))
        )

    async def _words(self, text: str, language: str) -> tuple[Word, ...]:
        if self._analyser is not None:
            return await self._analyser(language).words(text)
        if self._unspaced is not None and _is_unspaced(text):
            words = await self._unspaced(language).words(text)
            return tuple(_kept(word) for word in words)
        return tuple(
            Word(text=match[1], space=match[2], role=_guessed(match[1]))
            for match in _WORD.finditer(text)
        )


def _is_unspaced(text: str) -> bool:
    """Whether most of the letters are of scripts that are written without spaces."""
    letters = sum(c.isalpha() for c in text)
    return bool(letters) and 2 * len(_UNSPACED.findall(text)) > letters


def _kept(word: Word) -> Word:
    """The word as one to weigh: function words stay with their clause."""
    return replace(word, role=Role.CONTENT) if word.role is Role.FUNCTION else word


_UNSPACED = re.compile(r"[\u3005\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_WORD = re.compile(r"([^\W_]+(?:['’.,:-][^\W_]+)*|[^\w\s]+|_+)(\s*)")
_END = re.compile(r"[.!?。！？…,;:、，；—]+[\"'”’」』)]*")
_STOP = re.compile(r"[.!?。！？…]")


def _guessed(word: str) -> Role:
    return Role.FIXED if any(c.isdigit() for c in word) else Role.CONTENT


def _clauses(turn: int, words: Sequence[Word], least: int = 4) -> list[_Clause]:
    """The words split after sentences, and at commas that come after enough words."""
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


def _link_answers(clauses: Sequence[_Clause]) -> None:
    """Link each short answer to the question at the end of the turn before it."""
    for before, clause in pairwise(clauses):
        answers = before.asks and clause.turn == before.turn + 1
        if answers and not clause.asks and len(content_terms(clause.text)) <= SHORT:
            clause.question = before


class _Choice:
    """Which clauses are kept: those with the most value per token, as many as fit.

    What a clause is worth is computed again only when one that was taken changes it: a long
    session has thousands of clauses.
    """

    def __init__(self, clauses: Sequence[_Clause], weight: Mapping[str, float]) -> None:
        rarest = max(weight.values(), default=1.0)
        self._clauses = clauses
        self._values = [_term_values(clause, weight, rarest) for clause in clauses]
        self._cost = [estimate_tokens(clause.text) for clause in clauses]
        self._row = {id(clause): i for i, clause in enumerate(clauses)}
        self._covered: set[str] = set()
        self._opened: set[int] = set()
        self._with_term: defaultdict[str, set[int]] = defaultdict(set)
        self._with_turn: defaultdict[int, set[int]] = defaultdict(set)
        for i, clause in enumerate(clauses):
            self._with_turn[clause.turn].add(i)
            for j in self._together(i):
                for term in self._values[j]:
                    self._with_term[term].add(i)
        self._worth = {i: self._weigh(i) for i in range(len(clauses))}

    def spend(self, budget: int) -> None:
        """Mark clauses as taken until none fits."""
        while True:
            best, density, price = -1, 0.0, 0
            for i, (each, tokens) in self._worth.items():
                if tokens <= budget and each > density:
                    best, density, price = i, each, tokens
            if best < 0:
                return
            budget -= price
            changed = set[int]().union(*(self._take(i) for i in self._together(best)))
            self._worth.update((i, self._weigh(i)) for i in changed & self._worth.keys())

    def _together(self, i: int) -> list[int]:
        """The clause, and the question that it answers if that is not taken yet."""
        question = self._clauses[i].question
        if question is None or question.taken:
            return [i]
        return [i, self._row[id(question)]]

    def _weigh(self, i: int) -> tuple[float, int]:
        """A clause's value per token, and its tokens."""
        together = self._together(i)
        turns = {self._clauses[j].turn for j in together}
        tokens = sum(self._cost[j] for j in together) + LABEL * len(turns - self._opened)
        value = sum(
            value * (AGAIN if term in self._covered else 1.0) / (1.0 if j == i else ASKED)
            for j in together
            for term, value in self._values[j].items()
        )
        return value / tokens, tokens

    def _take(self, i: int) -> set[int]:
        """Keep a clause; which others are worth more or less now."""
        clause, terms = self._clauses[i], self._values[i].keys()
        changed = set[int]().union(*(self._with_term[term] for term in terms - self._covered))
        if clause.asks or clause.turn not in self._opened:
            changed |= self._with_turn[clause.turn] | self._with_turn[clause.turn + 1]
        clause.taken = True
        self._opened.add(clause.turn)
        self._covered |= terms
        del self._worth[i]
        return changed


def _term_values(clause: _Clause, weight: Mapping[str, float], rarest: float) -> dict[str, float]:
    """The value of each term of a clause."""
    fixed: set[str] = set()
    for word in clause.words:
        if word.role in (Role.FIXED, Role.NEGATION):
            fixed |= content_terms(word.text)
    factor = ASKED if clause.asks else 1.0
    return {
        term: weight.get(term, rarest) * factor * (FIXED if term in fixed or _dated(term) else 1.0)
        for term in content_terms(clause.text)
    }


@over_packs
def _dates() -> re.Pattern[str]:
    """Matches terms that express a time: digits, and the words of every pack."""
    return re.compile("|".join((r"\d", *(pack.dates.dated.pattern for pack in packs()))))


def _dated(term: str) -> bool:
    return _dates().search(term) is not None

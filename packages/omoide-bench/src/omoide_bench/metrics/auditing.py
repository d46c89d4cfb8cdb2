"""The error audit of Wang et al. 2023 (Table 6), automated without a model.

The paper's authors read the memories of 100 dialogues and counted three faults: facts that the
history does not support, wrong relations (who or what a fact belongs to), and missing details.
Here each sentence of a memory is compared with the dialogue:

- *fabricated*: no single statement of either speaker has enough of its content terms, or it has a
  number that nobody said;
- *relation*: a statement of the other speaker supports it, and none of its own speaker does nearly
  as well. A question says nothing about the asker unless it mentions "I", but its words count for
  the answer; "you are …" is about the other speaker; "me too" repeats the statement before it;
- *missing*: the supporting clause has a name, number or date that the sentence leaves out, or one
  of the two negates the other, or a wish became a fact.

A memory says "on 9 May 2026" where a speaker said "on Saturday": a statement supports a date, and
loses none, in either form.

A sentence with several facts is split, and its worst fault counts, in this order.

The audit works on words: it takes a paraphrase without common words for fabricated, cannot see a
wrong cause, and recognises names only by capitals. `tests/bench/test_evals_audit.py` measures
agreement with hand labels. Rates over many sentences are more reliable than single findings.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from omoide.language import content_terms, split_sentences, with_absolute_dates
from omoide_bench.metrics.memory import fair_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date

    from omoide_bench.data.shapes import DatasetLine


class Fault(StrEnum):
    """A fault of a sentence in a memory, or none (`SOUND`)."""

    SOUND = "sound"
    FABRICATED = "fabricated"
    RELATION = "relation"
    MISSING = "missing"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The audit's result for a sentence."""

    fault: Fault
    why: str
    line: str | None
    """Id of the line with the best support, whichever speaker it is about."""
    support: float
    """Share of its terms in that line."""


@dataclass(frozen=True, kw_only=True)
class AuditStatement:
    """A sentence of the dialogue, whom it is about, and words it inherits from the turn before."""

    line: str
    about: str
    text: str
    dated: str
    """The text with its relative dates as absolute ones; the same text if it has none."""
    lent: str = ""


SUPPORT = 0.6
"""Share of a sentence's terms that one statement must have."""
MARGIN = 0.25
"""How much better the other speaker's support must be."""

_KEPT = 8192
_NEGATION = {
    "en": re.compile(
        r"\b(?:not|no|never|none|nobody|nothing|neither|without|cannot|rarely)\b|n['’]t\b", re.I
    ),
    "zh": re.compile(r"[不没未别无]"),
    "ja": re.compile(r"ない|なかった|ません|なく|ず(?:に|、)"),
    "ko": re.compile(r"않|없|못|안 "),
    "vi": re.compile(r"\b(?:không|chưa|chẳng|đừng)\b", re.I),
}
_SECOND = {
    "en": re.compile(r"\b(?:you|your|yours|you're|you've|yourself)\b", re.I),
    "zh": re.compile(r"[你您]"),
    "ja": re.compile(r"あなた|君"),
    "ko": re.compile(r"당신|너"),
    "vi": re.compile(r"\b(?:bạn|cậu)\b", re.I),
}
_FIRST = {
    "en": re.compile(r"\b(?:i|i'm|i've|i'd|i'll|im|my|mine|me|we|our|us|myself)\b", re.I),
    "zh": re.compile(r"[我咱]"),
    "ja": re.compile(r"私|僕|俺|うち"),
    "ko": re.compile(r"나는|저는|제가|내가|우리|저도|나도"),
    "vi": re.compile(r"\b(?:tôi|mình|tớ|em|chúng)\b", re.I),
}
_SAME = re.compile(
    r"^\W*(?:me too|same|so do i|i do too|me as well|i agree|我也|私も|僕も|저도|나도|tôi cũng)",
    re.I,
)
_SURE = re.compile(
    r"\b(?:i['’]?m sure|i am sure|i think|i hope|i bet|i guess|i can (?:imagine|tell))\b",
    re.I,
)
"""Openings before a statement about the other speaker."""
_QUESTION = re.compile(r"[?？]\W*$")
_TOLD = re.compile(
    r"\b(?:says?|said|repl(?:y|ies|ied)|mention(?:s|ed)?|states?|expresses|hello|hi|they)\b",
    re.I,
)
_ASKED = re.compile(r"\bask(?:s|ed)?\b(?:\s+(?:about|if|whether|how|what|which))?", re.I)
_NUMBERS = {
    word: str(n)
    for n, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()
    )
} | {
    word: str(n)
    for n, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth".split(), start=1
    )
}
del _NUMBERS["one"], _NUMBERS["second"], _NUMBERS["first"]
_DATE = re.compile(
    r"\b(?:(?:next|last|this) (?:week|month|year|spring|summer|autumn|fall|winter)|spring|summer|"
    r"autumn|winter|yesterday|tomorrow|monday|tuesday|wednesday|thursday|friday|saturday|sunday|"
    r"january|february|march|april|june|july|august|september|october|november|december)\b",
    re.I,
)
_NAME = re.compile(r"(?<=[\w,;:] )[A-Z][\w&]+(?:['’]s)?")
_NOT_NAMES = frozenset(
    {"I", "I'm", "I've", "I'd", "I'll", "Oh", "Yes", "No", "Ok", "OK", "Mom", "Dad"}
)
_LIKING = frozenset(
    term
    for word in "like love enjoy prefer favorite favourite fan interested passionate".split()
    for term in content_terms(word)
)
_JOINT = re.compile(r"[,;，；]\s+(?:and\s+|but\s+|who\s+)?|\s+(?:and|but|who)\s+", re.I)
"""Where a sentence of a memory joins several facts."""
_GRAVITY = (Fault.FABRICATED, Fault.RELATION, Fault.MISSING, Fault.SOUND)
_WISH = re.compile(
    r"\b(?:want(?:s|ed)?|hop(?:e|es|ed|ing)|plan(?:s|ned|ning)?|would|wish(?:es)?|"
    r"think(?:s|ing)?|interested|look(?:s|ing)? forward|dream(?:s|ing)?|used to|will|if)\b|['’]d\b",
    re.I,
)
"""Marks of what is not, not yet, or no longer true."""
_CLAUSE = re.compile(r"[,;，、]\s*|\s+(?:and|but|so|because|although|which|who)\s+", re.I)


def audit(
    sentence: str, *, about: str, lines: Sequence[DatasetLine], language: str = "en"
) -> Finding:
    """Audit a sentence of a memory that is about the speaker `about`."""
    questions = language == "en" and bool(_ASKED.search(sentence))
    predicate = _predicate(sentence, lines)
    units = statements(lines, language, questions=questions)
    known_numbers = {
        number
        for line in lines
        for said in (line.text, _dated(line.text, line.time.date(), language))
        for number in numbers(said)
    }
    parts = [part for part in _JOINT.split(predicate) if _meaning(part, language)] or [predicate]
    findings = [
        _part(part, about=about, units=units, known_numbers=known_numbers, language=language)
        for part in parts
    ]
    return min(findings, key=lambda finding: _GRAVITY.index(finding.fault))


def _part(
    predicate: str,
    *,
    about: str,
    units: Sequence[AuditStatement],
    known_numbers: set[str],
    language: str,
) -> Finding:
    wanted = _meaning(predicate, language)
    ranked = sorted(
        ((_support(wanted, predicate, unit, language), unit) for unit in units),
        key=lambda pair: pair[0],
        reverse=True,
    )
    best_own = next(((s, u) for s, u in ranked if u.about == about), None)
    best_other = next(((s, u) for s, u in ranked if u.about != about), None)
    best = max((s[0] for s, _ in ranked), default=0.0)
    unknown_numbers = numbers(predicate) - known_numbers
    if best < SUPPORT or unknown_numbers:
        why = (
            f"nobody said {', '.join(sorted(unknown_numbers))}"
            if unknown_numbers
            else "nobody said so"
        )
        return _finding(Fault.FABRICATED, why, ranked[0] if ranked else None)
    share = best_own[0][0] if best_own else 0.0
    if best_other and best_other[0][0] >= max(SUPPORT, share + MARGIN):
        return _finding(Fault.RELATION, f"said of {best_other[1].about}", best_other)
    if best_own is None or share < SUPPORT:
        return _finding(Fault.FABRICATED, f"{about} said nothing like it", best_own)
    if why := _lost(predicate, best_own[1], wanted, language):
        return _finding(Fault.MISSING, why, best_own)
    return _finding(Fault.SOUND, "", best_own)


def _meaning(text: str, language: str) -> set[str]:
    """The terms that need support: without the many words for liking something, if others are
    left."""
    terms = content_terms(text)
    return terms - _LIKING or terms or set(fair_words(text, language))


def audit_rates(findings: Iterable[Finding]) -> dict[Fault, float]:
    """The share of sentences with each fault; the paper has 2.7, 3.2 and 3.9 %."""
    faults = Counter(finding.fault for finding in findings)
    return {fault: faults[fault] / faults.total() if faults.total() else 0.0 for fault in Fault}


def statements(
    lines: Sequence[DatasetLine], language: str, *, questions: bool = False
) -> list[AuditStatement]:
    """The statements of a dialogue, sentence by sentence, with whom they are about; or the
    questions instead."""
    names = list(dict.fromkeys(line.speaker for line in lines))
    units = []
    before = ""
    for line in lines:
        other = next((name for name in names if name != line.speaker), line.speaker)
        pieces = split_sentences(line.text)
        lent = before
        for piece in pieces:
            bare = _SURE.sub(" ", piece)
            first = bool(_FIRST[language].search(bare))
            asks = bool(_QUESTION.search(piece))
            if asks != questions and not (asks and first):
                continue
            of_other = _SECOND[language].search(bare) and not first
            units.append(
                AuditStatement(
                    line=line.id,
                    about=other if of_other and not questions else line.speaker,
                    text=piece,
                    dated=_dated(piece, line.time.date(), language),
                    lent="" if questions else lent,
                )
            )
        before = _inherited(line.text, pieces, following=lines, line_id=line.id)
    return units


def _inherited(
    text: str, pieces: Sequence[str], *, following: Sequence[DatasetLine], line_id: str
) -> str:
    """The words of a line that count for the answer after it: its questions, or all of it if the
    answer is "me too"."""
    after = next((b for a, b in pairwise(following) if a.id == line_id), None)
    if after is not None and _SAME.search(after.text):
        return text
    return " ".join(piece for piece in pieces if _QUESTION.search(piece))


def _support(
    wanted: set[str], predicate: str, unit: AuditStatement, language: str
) -> tuple[float, float, float]:
    """Support of a statement: the share of terms in it and its inherited words. Ties are broken by
    the share of all words in the statement itself, then by how little else it says."""
    unit_terms = _terms(unit.text) | _terms(unit.dated) | _terms(unit.lent)
    share = len(wanted & unit_terms) / len(wanted) if wanted else 0.0
    words, unit_words = _words(predicate, language), _words(unit.text, language)
    common = (words & unit_words).total()
    return (
        share,
        common / words.total() if words else 0.0,
        common / (words | unit_words).total() if words or unit_words else 0.0,
    )


@lru_cache(maxsize=_KEPT)
def _dated(text: str, day: date, language: str) -> str:
    """The text with absolute dates, cached like its terms."""
    return with_absolute_dates(text, day=day, language=language).text


@lru_cache(maxsize=_KEPT)
def _terms(text: str) -> frozenset[str]:
    """Content terms, cached: every sentence of a memory is compared with every statement."""
    return frozenset(content_terms(text))


@lru_cache(maxsize=_KEPT)
def _words(text: str, language: str) -> Counter[str]:
    """Word counts, cached; do not modify."""
    return Counter(fair_words(_expanded(text), language))


def _lost(predicate: str, unit: AuditStatement, wanted: set[str], language: str) -> str:
    """What the sentence leaves out of the statement, or negates; empty if nothing."""
    clause = _supporting_clause(unit.text, wanted)
    stated, remembered = (bool(_NEGATION[language].search(text)) for text in (clause, predicate))
    if stated != remembered:
        return "a negation is left out" if stated else "a negation was put in"
    if language == "en" and _WISH.search(clause) and not _WISH.search(predicate):
        return "a wish, or what is over, became a fact"
    missing = min((_left_out(text, predicate, wanted) for text in (unit.text, unit.dated)), key=len)
    return f"{', '.join(sorted(missing))} is left out" if missing else ""


def _left_out(statement: str, predicate: str, wanted: set[str]) -> set[str]:
    """The details of the statement's supporting clause that the predicate does not have."""
    clause = _supporting_clause(statement, wanted)
    return {
        detail
        for detail in _details(clause if wanted & content_terms(clause) else statement)
        if detail.lower() not in predicate.lower() and detail not in numbers(predicate)
    }


def _supporting_clause(statement: str, wanted: set[str]) -> str:
    clauses = [clause for clause in _CLAUSE.split(statement) if clause.strip()] or [statement]
    return max(clauses, key=lambda clause: len(wanted & content_terms(clause)))


def _details(text: str) -> set[str]:
    """Names, numbers and dates in a statement."""
    names = {name.removesuffix("'s") for name in _NAME.findall(text)} - _NOT_NAMES
    return names | numbers(text) | {named.lower() for named in _DATE.findall(text)}


def numbers(text: str) -> set[str]:
    """The numbers in a text as digits, including small ones written as words.

    >>> sorted(numbers("two cats, 15 years, fifth grade"))
    ['15', '2', '5']
    """
    digits = set(re.findall(r"\d+", text))
    return digits | {_NUMBERS[w] for w in re.findall(r"[a-z]+", text.lower()) if w in _NUMBERS}


def _predicate(sentence: str, lines: Sequence[DatasetLine]) -> str:
    """The sentence without the speakers' names and reporting verbs such as "says"."""
    names = {"the user", "the assistant", "user", "assistant", *(line.speaker for line in lines)}
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    subject = "|".join(re.escape(name) for name in longest_first)
    sentence = re.sub(rf"\b(?:{subject})(?:['’]s)?\b", " ", sentence, flags=re.I)
    return _TOLD.sub(" ", _ASKED.sub(" ", sentence))


def _expanded(text: str) -> str:
    """The text with contractions expanded."""
    text = re.sub(r"['’]m\b", " am", text)
    text = re.sub(r"['’]ve\b", " have", text)
    text = re.sub(r"['’]re\b", " are", text)
    return re.sub(r"n['’]t\b", " not", text)


def _finding(
    fault: Fault, why: str, supporting: tuple[tuple[float, float, float], AuditStatement] | None
) -> Finding:
    return Finding(
        fault=fault,
        why=why,
        line=supporting[1].line if supporting else None,
        support=supporting[0][0] if supporting else 0.0,
    )

"""The error audit of Wang et al. 2023 (Table 6), without people and without a model.

The paper's authors read the memories of 100 dialogues and counted three faults: facts that the
history does not bear out, wrong relations (who or what a fact belongs to), and missing details.
Here each sentence of a memory is held against what was said:

- *fabricated*: too few of its meaningful terms stand in any one statement of either speaker, or it
  holds a number that nobody said;
- *relation*: a statement of the other speaker bears it out, and none of the one it is about nearly
  as well. A question tells nothing of who asks it unless it speaks of "I", but lends its words to
  the answer; "you are …" tells of the other; "me too" repeats what was said before it;
- *missing*: the clause that bears it out has a name, number or date that the sentence leaves out,
  or one of the two denies what the other affirms, or a wish became a fact.

A sentence that joins several facts is taken apart, and its gravest fault counts, in this order.

It goes by words: it takes a paraphrase without a common word for fabricated, sees no wrong cause,
and names only where they are written with capitals. How far it agrees with hand labels is measured
by `tests/unit/test_evals_audit.py`; rates over many sentences are worth more than single findings.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from omoide.evals.metrics.memory import fair_words
from omoide.language import content_terms, split_sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from omoide.evals.data.shapes import Line


class Fault(StrEnum):
    """What is wrong with a sentence of a memory."""

    SOUND = "sound"
    FABRICATED = "fabricated"
    RELATION = "relation"
    MISSING = "missing"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What the audit makes of a sentence."""

    fault: Fault
    why: str
    line: str | None
    """Id of the line that bears it out best, or would if it were of that speaker."""
    support: float
    """Share of its terms in that line."""


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A sentence that somebody said, about whom it tells, and the words lent to it."""

    line: str
    about: str
    text: str
    lent: str = ""


SUPPORT = 0.6
"""Share of a sentence's terms that one statement must hold."""
MARGIN = 0.25
"""By how much the other speaker must bear it out better."""

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
"""What a speaker says before telling of the other."""
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
"""Where a sentence of a memory joins facts."""
_GRAVITY = (Fault.FABRICATED, Fault.RELATION, Fault.MISSING, Fault.SOUND)
_WISH = re.compile(
    r"\b(?:want(?:s|ed)?|hop(?:e|es|ed|ing)|plan(?:s|ned|ning)?|would|wish(?:es)?|"
    r"think(?:s|ing)?|interested|look(?:s|ing)? forward|dream(?:s|ing)?|used to|will|if)\b|['’]d\b",
    re.I,
)
"""What is not, or not yet, or no longer so."""
_CLAUSE = re.compile(r"[,;，、]\s*|\s+(?:and|but|so|because|although|which|who)\s+", re.I)


def audit(sentence: str, *, about: str, lines: Sequence[Line], language: str = "en") -> Finding:
    """What is wrong with a sentence of a memory that is about the speaker `about`, if anything."""
    asked = language == "en" and bool(_ASKED.search(sentence))
    told = _predicate(sentence, lines)
    units = statements(lines, language, questions=asked)
    heard = {n for line in lines for n in numbers(line.text)}
    parts = [part for part in _JOINT.split(told) if _meaning(part, language)] or [told]
    findings = [
        _part(part, about=about, units=units, heard=heard, language=language) for part in parts
    ]
    return min(findings, key=lambda finding: _GRAVITY.index(finding.fault))


def _part(
    told: str, *, about: str, units: Sequence[Statement], heard: set[str], language: str
) -> Finding:
    wanted = _meaning(told, language)
    ranked = sorted(
        ((_support(wanted, told, unit, language), unit) for unit in units),
        key=lambda pair: pair[0],
        reverse=True,
    )
    own = next(((s, u) for s, u in ranked if u.about == about), None)
    other = next(((s, u) for s, u in ranked if u.about != about), None)
    best = max((s[0] for s, _ in ranked), default=0.0)
    unheard = numbers(told) - heard
    if best < SUPPORT or unheard:
        why = f"nobody said {', '.join(sorted(unheard))}" if unheard else "nobody said so"
        return _finding(Fault.FABRICATED, why, ranked[0] if ranked else None)
    share = own[0][0] if own else 0.0
    if other and other[0][0] >= max(SUPPORT, share + MARGIN):
        return _finding(Fault.RELATION, f"said of {other[1].about}", other)
    if own is None or share < SUPPORT:
        return _finding(Fault.FABRICATED, f"{about} said nothing like it", own)
    if why := _lost(told, own[1], wanted, language):
        return _finding(Fault.MISSING, why, own)
    return _finding(Fault.SOUND, "", own)


def _meaning(text: str, language: str) -> set[str]:
    """The terms that must be borne out: not the many words for liking something, if others are
    there."""
    terms = content_terms(text)
    return terms - _LIKING or terms or set(fair_words(text, language))


def audit_rates(findings: Iterable[Finding]) -> dict[Fault, float]:
    """The share of sentences with each fault; the paper has 2.7, 3.2 and 3.9 %."""
    faults = Counter(finding.fault for finding in findings)
    return {fault: faults[fault] / faults.total() if faults.total() else 0.0 for fault in Fault}


def statements(lines: Sequence[Line], language: str, *, questions: bool = False) -> list[Statement]:
    """Everything said, a sentence at a time, with whom it tells of; or the questions instead."""
    names = list(dict.fromkeys(line.speaker for line in lines))
    found = []
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
            found.append(
                Statement(
                    line=line.id,
                    about=other if of_other and not questions else line.speaker,
                    text=piece,
                    lent="" if questions else lent,
                )
            )
        before = _lends(line.text, pieces, following=lines, place=line.id)
    return found


def _lends(text: str, pieces: Sequence[str], *, following: Sequence[Line], place: str) -> str:
    """What a line lends to the answer after it: its questions; all of it to a "me too"."""
    after = next((b for a, b in pairwise(following) if a.id == place), None)
    if after is not None and _SAME.search(after.text):
        return text
    return " ".join(piece for piece in pieces if _QUESTION.search(piece))


def _support(
    wanted: set[str], told: str, unit: Statement, language: str
) -> tuple[float, float, float]:
    """Share of the terms in the statement and what was lent to it; then, where that is equal, of
    all words in the statement itself, and how little else it says."""
    told_of = _terms(unit.text) | _terms(unit.lent)
    share = len(wanted & told_of) / len(wanted) if wanted else 0.0
    words, said = _words(told, language), _words(unit.text, language)
    common = (words & said).total()
    return (
        share,
        common / words.total() if words else 0.0,
        common / (words | said).total() if words or said else 0.0,
    )


@lru_cache(maxsize=_KEPT)
def _terms(text: str) -> frozenset[str]:
    """Every sentence of a memory is held against every statement of a dialogue."""
    return frozenset(content_terms(text))


@lru_cache(maxsize=_KEPT)
def _words(text: str, language: str) -> Counter[str]:
    """How often each word is there; not to be changed."""
    return Counter(fair_words(_open(text), language))


def _lost(told: str, unit: Statement, wanted: set[str], language: str) -> str:
    """What of the statement the sentence leaves out or turns round."""
    clauses = [clause for clause in _CLAUSE.split(unit.text) if clause.strip()] or [unit.text]
    clause = max(clauses, key=lambda c: len(wanted & content_terms(c)))
    said, kept = (bool(_NEGATION[language].search(text)) for text in (clause, told))
    if said != kept:
        return "a negation is left out" if said else "a negation was put in"
    if language == "en" and _WISH.search(clause) and not _WISH.search(told):
        return "a wish, or what is over, became a fact"
    met = wanted & content_terms(clause)
    lost = {
        detail
        for detail in _details(clause if met else unit.text)
        if detail.lower() not in told.lower() and detail not in numbers(told)
    }
    return f"{', '.join(sorted(lost))} is left out" if lost else ""


def _details(text: str) -> set[str]:
    """Names, numbers and dates of a statement."""
    names = {name.removesuffix("'s") for name in _NAME.findall(text)} - _NOT_NAMES
    return names | numbers(text) | {date.lower() for date in _DATE.findall(text)}


def numbers(text: str) -> set[str]:
    """The numbers in a text, as digits, small ones also where they are written as words.

    >>> sorted(numbers("two cats, 15 years, fifth grade"))
    ['15', '2', '5']
    """
    found = set(re.findall(r"\d+", text))
    return found | {_NUMBERS[w] for w in re.findall(r"[a-z]+", text.lower()) if w in _NUMBERS}


def _predicate(sentence: str, lines: Sequence[Line]) -> str:
    """The sentence without the speakers' names and without "says that" and the like."""
    names = {"the user", "the assistant", "user", "assistant", *(line.speaker for line in lines)}
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    subject = "|".join(re.escape(name) for name in longest_first)
    sentence = re.sub(rf"\b(?:{subject})(?:['’]s)?\b", " ", sentence, flags=re.I)
    return _TOLD.sub(" ", _ASKED.sub(" ", sentence))


def _open(text: str) -> str:
    """Short forms written out."""
    text = re.sub(r"['’]m\b", " am", text)
    text = re.sub(r"['’]ve\b", " have", text)
    text = re.sub(r"['’]re\b", " are", text)
    return re.sub(r"n['’]t\b", " not", text)


def _finding(
    fault: Fault, why: str, found: tuple[tuple[float, float, float], Statement] | None
) -> Finding:
    return Finding(
        fault=fault,
        why=why,
        line=found[1].line if found else None,
        support=found[0][0] if found else 0.0,
    )

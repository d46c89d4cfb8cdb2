"""Whether one thing that a speaker said bears a fact out.

That its words were said somewhere in a session is not enough: a small model joins words of two
statements to what neither tells ("keeps bees in the office"), takes what was said to the other
("you are a brilliant cook") for the speaker's, and a wish for a fact. So one statement, with
the question that it answers and the sentence before it, must hold enough of the fact, and must not
be a mere wish. docs/results/tuning-earlier.md, "Read by hand", has what that turns
away, and what it cannot see.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from omoide.language import split_sentences
from omoide.memory.overlap import coverage, stems

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omoide.domain import Speaker
    from omoide.memory.summary.facts import Fact
    from omoide.memory.transcript import Line

QUESTION = re.compile(r"[?？؟]\s*$")
SELF = {
    "en": re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|mine|me|myself|we|our)\b", re.IGNORECASE),
    "zh": re.compile(r"[我咱]"),
    "vi": re.compile(r"\b(?:tôi|mình|tớ|em|chúng tôi)\b", re.IGNORECASE),
}
"""How a speaker names themselves, in languages that hardly ever leave the subject out."""
OTHER = {
    "en": re.compile(r"\b(?:you|your|yours|yourself|you're|you've)\b", re.IGNORECASE),
    "zh": re.compile(r"[你您]"),
    "vi": re.compile(r"\b(?:bạn|cậu|anh|chị)\b", re.IGNORECASE),
    "ja": re.compile(r"あなた|君は|さん(?:は|が|の|も)|お(?:仕事|住まい|子さん)"),
    "ko": re.compile(r"당신|님(?:은|이|의|도|께)|시(?:군요|네요|는군요|겠어요)"),
}
"""How the one spoken to is named or honoured."""
_WISH = re.compile(
    r"\b(?:would|might|could|wish(?:ed)?|want(?:ed)?|hop(?:e|ed|ing)|dream(?:ed|ing)?|"
    r"used to|use to|(?:can't|cannot|can’t) wait|(?:think|thinking|thought) (?:of|about)|"
    r"look(?:ing)? (?:at|into|for)|sav(?:e|ing)(?: up)? for|once I|if I|going to be)\b|['’]d\b"
)
"""What tells that the words after it are not so, or not yet, or no longer."""
_FACT = re.compile(r"(?:is(?! \w+ing\b)|has(?! to\b)|works|lives|owns|drives|plays)\b")
"""How a note begins that says how things are."""
_OPEN = re.compile(
    r"\b(?:want|hope|wish|dream|plan|look|think|consider|would|could|might|used|was|were|had|will|"
    r"going|someday|sav|fan|idea|goal|chance|who|not|never)\w*\b"
)
"""What leaves it open in a note, or tells it of somebody else."""
_CLAUSE = re.compile(r"[,;]\s*|\s+(?:but|so|because|although|and|as)\s+")


@dataclass(frozen=True, kw_only=True)
class Statement:
    """Something that a speaker said of themselves."""

    text: str
    around: str
    """The words lent to it: of the question before, and of the speaker's sentence before."""


def statements(session: Sequence[Line], speaker: Speaker, language: str) -> Iterator[Statement]:
    """What may bear out a fact about the speaker: in English a sentence at a time, elsewhere,
    where much is left unsaid that the sentence before has said, a turn at a time."""
    for before, line in pairwise((None, *session)):
        if line is None or line.speaker is not speaker:
            continue
        asked = ""
        if before is not None and before.speaker is not speaker:
            asked = " ".join(s for s in split_sentences(before.text) if QUESTION.search(s))
        said = split_sentences(line.text)
        if language != "en":
            told = " ".join(s for s in said if _of_speaker(s, language))
            yield Statement(text=told, around=asked)
            continue
        for last, sentence in pairwise(("", *said)):
            if _of_speaker(sentence, language):
                yield Statement(text=sentence, around=f"{last} {asked}")


def unborne(fact: Fact, session: Sequence[Line], language: str, *, least: float) -> str:
    """Why no one statement of its speaker bears the fact out, or nothing if one does; `least` is
    the share of its words that a statement must hold."""
    wanted = set(stems(fact.text))
    told = [
        statement
        for statement in statements(session, fact.about, language)
        if coverage(wanted, set(stems(f"{statement.text} {statement.around}"))) >= least
    ]
    if not told:
        return "no one thing said supports it"
    if language == "en" and all(_wished(fact, wanted, statement) for statement in told):
        return "it was wished for, or is over"
    return ""


def _of_speaker(sentence: str, language: str) -> bool:
    """Whether a sentence may tell of who says it: not a question, nor "you are …", unless it also
    speaks of themselves."""
    if language not in SELF:
        return not QUESTION.search(sentence)
    if SELF[language].search(sentence):
        return True
    return not QUESTION.search(sentence) and not OTHER[language].search(sentence)


def _wished(fact: Fact, wanted: set[str], statement: Statement) -> bool:
    """Whether the note says that something is so of which the statement only wishes, imagines or
    remembers it: a word for that stands before all the words they share, in their clause, and
    nothing is told of "I" or "my" in between."""
    if not _FACT.match(fact.text) or _OPEN.search(fact.text):
        return False
    clauses = [(wanted & stems(c), c) for c in _CLAUSE.split(statement.text)]
    shared, clause = max(clauses, key=lambda pair: len(pair[0]))
    words = list(re.finditer(r"[\w'’-]+", clause))
    first = next((w.start() for w in words if shared & stems(w[0])), len(clause))
    wishes = list(_WISH.finditer(clause, 0, first))
    between = clause[wishes[-1].end() : first] if wishes else ""
    return bool(shared and wishes) and not re.search(r"\b(?:I|my)\b", between)

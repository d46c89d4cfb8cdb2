"""Whether a single statement of a speaker supports a fact.

It is not enough that the words occur somewhere in the session. A small model combines words of two
statements into what neither says ("keeps bees in the office"), takes what was said to the other
("you are a brilliant cook") as a fact about the speaker, and takes a wish for a fact. So one
statement, with the question it answers and the sentence before it, must contain enough of the
fact, most of those of its words that were said at all, and must not be only a wish. Words of the
fact that nobody said are a paraphrase; words from elsewhere are a second statement.
docs/experiments/2026-11-16-rules.md shows what this rejects.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from omoide.claims.overlap import coverage, stems
from omoide.language import pack, split_sentences
from omoide.language.sentences import QUESTION
from omoide.language.tables import NEVER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omoide.claims.noted_facts import NotedFact
    from omoide.domain import Speaker
    from omoide.prompts.transcript import Line


TOGETHER = 0.6
"""Share of the words that a fact takes from the session which must stand in one statement."""


@dataclass(frozen=True, kw_only=True)
class Statement:
    """Something that a speaker said about themselves."""

    text: str
    around: str
    """Its context: the question before it, and the speaker's sentence before it."""


def share(fact: NotedFact, said: str) -> float:
    """Share of the fact's content that was said, 0 to 1."""
    return coverage(set(stems(fact.text)), set(stems(said)))


def unsupported(
    fact: NotedFact, session: Sequence[Line], language: str, *, together: float = TOGETHER
) -> str:
    """Why no single statement of its speaker supports the fact; empty if one does. `together` is
    the share of the fact's words from the session that must stand in that statement."""
    least = pack(language).note.support
    wanted = set(stems(fact.text))
    used = wanted & set(stems(" ".join(line.text for line in session)))
    supporting = []
    for statement in statements(session, fact.about, language):
        words = set(stems(f"{statement.text} {statement.around}"))
        if coverage(wanted, words) >= least and coverage(used, words) >= together:
            supporting.append(statement)
    if not supporting:
        return "nothing said supports it"
    if all(_only_wished(fact, wanted, statement, language) for statement in supporting):
        return "it was only wished for, or is over"
    return ""


def statements(session: Sequence[Line], speaker: Speaker, language: str) -> Iterator[Statement]:
    """The statements that may support a fact about the speaker: single sentences if the pack says
    so; otherwise whole turns, for languages that leave out what the sentence before has said."""
    for before, line in pairwise((None, *session)):
        if line is None or line.speaker is not speaker:
            continue
        asked = ""
        if before is not None and before.speaker is not speaker:
            asked = " ".join(s for s in split_sentences(before.text) if QUESTION.search(s))
        sentences = split_sentences(line.text)
        if not pack(language).note.by_sentence:
            text = " ".join(s for s in sentences if of_speaker(s, language))
            yield Statement(text=text, around=asked)
            continue
        for last, sentence in pairwise(("", *sentences)):
            if of_speaker(sentence, language):
                yield Statement(text=sentence, around=f"{last} {asked}")


def of_speaker(sentence: str, language: str) -> bool:
    """Whether a sentence may be about its speaker: not a question or "you are …", unless it also
    uses the first person. In languages that drop the subject, "you" is no evidence."""
    person = pack(language).person
    if person.dropped:
        return not QUESTION.search(sentence)
    if person.first.search(sentence):
        return True
    return not (QUESTION.search(sentence) or addresses(sentence, language))


def addresses(sentence: str, language: str) -> bool:
    """Whether a sentence is about the person addressed."""
    person = pack(language).person
    return bool(person.second.search(sentence) or person.polite.search(sentence))


def _only_wished(fact: NotedFact, wanted: set[str], statement: Statement, language: str) -> bool:
    """Whether the note states as fact what the statement only wishes, imagines or remembers: a
    word for that comes before all the words they share, in the same clause, with no first person
    in between."""
    how, first = pack(language).note, pack(language).person.first
    if how.wish is NEVER or not how.states.match(fact.text) or how.open.search(fact.text):
        return False
    clauses = [(wanted & stems(c), c) for c in how.clause.split(statement.text)]
    shared, clause = max(clauses, key=lambda pair: len(pair[0]))
    words = list(re.finditer(r"[\w'’-]+", clause))
    begin = next((w.start() for w in words if shared & stems(w[0])), len(clause))
    wishes = list(how.wish.finditer(clause, 0, begin))
    between = clause[wishes[-1].end() : begin] if wishes else ""
    return bool(shared and wishes) and not first.search(between)

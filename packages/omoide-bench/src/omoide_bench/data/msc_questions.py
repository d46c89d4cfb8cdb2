"""Questions in the shape of Deep Memory Retrieval, made from MSC's own annotations.

DMR's file (`msc_self_instruct`) has questions that a model made up. Here nobody makes anything up:
`msc_questions.txt` turns a sentence that annotators wrote about a speaker into a question, and the
gold answer is the rest of that sentence:

    I work as {answer} | What is my job? | What is your job?

From "I work as a bee keeper.", noted about the one who plays the user, comes "What is my job?",
"a bee keeper". A question is kept only if the answer's content words stand together in exactly one
turn of the whole dialogue, said by that speaker in the session of the note, and if nothing else was
noted as its answer. That turn is the evidence, and no other turn has the answer. So things that
people keep coming back to are left out: the questions are about what was said once.

Speakers do look back by themselves, but rarely in a way that can be scored: of the 8,275 questions
in later sessions of the test split 71 have words such as "again", "remind me" or "you mentioned",
and most of those ask for something new.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from omoide.language import content_terms
from omoide_bench.data import msc
from omoide_bench.data.shapes import DatasetQuestion, next_day

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from omoide_bench.data.shapes import Dialogue

LONGEST = 4
"""Words of an answer, and of any other part of a sentence that goes into the question, at most."""
_PART = re.compile(r"\{(\w+)\}")
_MORE = frozenset({"at", "in", "on", "with", "about", "for", "from", "to", "how", "because"})
"""Words of an answer that says more than was asked, or something else ("I teach at a school")."""
_SPELT = {"I'm ": "I am ", "favourite": "favorite"}


@dataclass(frozen=True, kw_only=True)
class QuestionTemplate:
    """A form of sentence, and the question for what it says."""

    sentence: re.Pattern[str]
    own: str
    """The question if the sentence is about the one who asks."""
    other: str

    def asked(self, sentence: str, *, own: bool) -> tuple[str, str] | None:
        """The question and its answer; None if the sentence has another form."""
        for written, usual in _SPELT.items():
            sentence = sentence.replace(written, usual)
        match = self.sentence.fullmatch(sentence.strip(" ."))
        if match is None or any(len(part.split()) > LONGEST for part in match.groups()):
            return None
        answer = match["answer"].strip('" ')
        if _MORE & set(answer.lower().split()):
            return None
        return (self.own if own else self.other).format(**match.groupdict()), answer


@cache
def templates() -> tuple[QuestionTemplate, ...]:
    """The templates of `msc_questions.txt`."""
    text = resources.files(__package__).joinpath("msc_questions.txt").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in text.splitlines() if not line.startswith("#")]
    return tuple(
        QuestionTemplate(
            sentence=re.compile(_PART.sub(r"(?P<\1>.+?)", sentence), re.IGNORECASE),
            own=own,
            other=other,
        )
        for sentence, own, other in rows
    )


def load(data: Path | None, split: str = "test") -> list[Dialogue]:
    """The dialogues of a split that have questions."""
    dialogues = (replace(one, questions=tuple(_questions(one))) for one in msc.load(data, split))
    return [dialogue for dialogue in dialogues if dialogue.questions]


def _questions(dialogue: Dialogue) -> Iterator[DatasetQuestion]:
    """The questions that have one answer, which is in one turn only."""
    terms = {line.id: content_terms(line.text) for line in dialogue.lines}
    for n, (text, notes) in enumerate(_notes(dialogue).items(), start=1):
        wanted = content_terms(notes[0].answer)
        saying = [line for line in dialogue.lines if wanted <= terms[line.id]]
        if len(saying) != 1 or any(content_terms(note.answer) != wanted for note in notes):
            continue
        if not wanted or wanted & content_terms(text):
            continue
        [line] = saying
        if any((line.speaker, line.session) == (note.speaker, note.session) for note in notes):
            yield DatasetQuestion(
                id=f"q{n}",
                text=text,
                at=next_day(dialogue.lines),
                answer=notes[0].answer,
                category=f"told in session {line.session}",
                evidence=frozenset({line.id}),
            )


@dataclass(frozen=True, kw_only=True)
class _Note:
    """An answer that annotators noted about a speaker in a session."""

    answer: str
    speaker: str
    session: int


def _notes(dialogue: Dialogue) -> dict[str, list[_Note]]:
    """What was noted that fits a template, by question."""
    found: dict[str, list[_Note]] = {}
    for session in dialogue.sessions:
        for speaker, facts in zip(dialogue.speakers, session.facts, strict=False):
            for fact in facts:
                own = speaker == dialogue.speakers[0]
                pairs = (template.asked(fact, own=own) for template in templates())
                if (pair := next(filter(None, pairs), None)) is not None:
                    note = _Note(answer=pair[1], speaker=speaker, session=session.number)
                    found.setdefault(pair[0], []).append(note)
    return found

"""Multi-Session Chat (Xu et al. 2022), valid part: a sentence of a gold persona summary, and the
turn that it was written from.

The corpus does not say which turn that is. Taken is the one turn of that speaker in that session
that has at least 60 % of the sentence's content words, by rarity, and more than any other; a
sentence without such a turn, or with fewer than three content words, is left out. **The evidence
shares words with the query by construction**: the set tells that statements are found among four
sessions, not how well questions are.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.evals.corpora.asking import Asked, Conversation, conversation
from omoide.evals.data import msc
from omoide.language import content_terms
from omoide.memory.overlap import coverage, rarity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from omoide.evals.data.shapes import Dialogue, Line, Session

FILE = "valid.jsonl.gz"
CATEGORY = 15
DIALOGUES = 60
LEAST = 0.6


def load(folder: Path) -> tuple[Conversation, ...]:
    """The first dialogues, each an owner."""
    return tuple(map(_conversation, msc.load(folder, "valid", limit=DIALOGUES)))


def _conversation(dialogue: Dialogue) -> Conversation:
    lines = [line for line in dialogue.lines if line.text.strip()]
    terms = {line.id: content_terms(line.text) for line in lines}
    weight = rarity(list(terms.values()))
    asked = (
        asked
        for session in dialogue.sessions
        for asked in _asked(session, dialogue.speakers, lines, terms=terms, weight=weight)
    )
    return conversation(dialogue, asked)


def _asked(
    session: Session,
    speakers: tuple[str, ...],
    lines: list[Line],
    *,
    terms: Mapping[str, set[str]],
    weight: Mapping[str, float],
) -> Iterator[Asked]:
    for speaker, facts in zip(speakers, session.facts, strict=False):
        own = [x for x in lines if x.session == session.number and x.speaker == speaker]
        for sentence in facts:
            wanted = content_terms(sentence)
            shares = sorted((coverage(wanted, terms[x.id], weight), x.id) for x in own)
            if len(wanted) < 3 or not shares or shares[-1][0] < LEAST:
                continue
            if len(shares) > 1 and shares[-2][0] == shares[-1][0]:
                continue
            yield Asked(
                text=sentence,
                category=CATEGORY,
                evidence=frozenset({shares[-1][1]}),
                at=lines[-1].time + timedelta(days=1),
                asker=Speaker.USER if speaker == speakers[0] else Speaker.ASSISTANT,
            )
